"""Sums that do not depend on the order of their terms: bitwise, against math.fsum, and through files."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathometer.base.errors import FathometerError
from fathometer.runs.checksum import checksum_of_bytes
from fathometer.runs.exact_sum import BITS, LIMBS, LOWEST, add, top_of, value, with_top
from fathometer.runs.sum_file import SumFile

FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
FLOAT64 = st.floats(min_value=-1e300, max_value=1e300, allow_nan=False)


def total(terms, order, dtype) -> np.ndarray:
    """The sum as it grows term by term, its top rising as it must."""
    limbs, top = np.zeros((LIMBS, 1, 1, 1), np.int64), LOWEST
    for n in order:
        needed = max(top, top_of(abs(terms[n])))
        limbs, top = with_top(limbs, top, needed), needed
        add(limbs, top, np.full((1, 1, 1), terms[n], dtype))
    return np.append(limbs.ravel(), top)


@pytest.mark.parametrize(("floats", "dtype"), [(FLOAT32, np.float32), (FLOAT64, np.float64)])
def test_the_order_is_of_no_consequence(floats, dtype):
    @given(
        st.lists(floats, min_size=1, max_size=12).flatmap(
            lambda t: st.tuples(st.just(t), st.permutations(range(len(t))))
        )
    )
    def check(case):
        terms, order = case
        assert (total(terms, range(len(terms)), dtype) == total(terms, order, dtype)).all()

    check()


@given(st.lists(FLOAT32, min_size=1, max_size=12), st.integers(0, 12))
def test_two_sums_give_that_of_all(terms, cut):
    """As groups of ranks have them: each with a top of its own."""
    parts = []
    for some in (terms[:cut], terms[cut:]):
        limbs, top = np.zeros((LIMBS, 1, 1, 1), np.int64), max((top_of(abs(x)) for x in some), default=LOWEST)
        for x in some:
            add(limbs, top, np.full((1, 1, 1), x, np.float32))
        parts.append((limbs, top))
    top = max(t for _, t in parts)
    both = sum(with_top(limbs, t, top) for limbs, t in parts)
    assert (np.append(both.ravel(), top) == total(terms, range(len(terms)), np.float32)).all()


@given(st.lists(FLOAT32, min_size=1, max_size=12))
def test_the_sum_is_right(terms):
    """What is left out of each term is below 2^-40 of the largest."""
    peak = max(abs(x) for x in terms)
    top = top_of(peak)
    limbs = np.zeros((LIMBS, 1, 1, 1), np.int64)
    for x in terms:
        add(limbs, top, np.full((1, 1, 1), x, np.float32))
    exact = sum(int(limb[0, 0, 0]) * Fraction(2) ** (BITS * (top - n)) for n, limb in enumerate(limbs))
    wanted = sum(Fraction(x) for x in terms)
    least = Fraction(2) ** (BITS * (LOWEST - 1))
    assert abs(exact - wanted) <= len(terms) * max(Fraction(peak) / 2**BITS, least)
    got = value(limbs, top, np.dtype(np.float64))[0, 0, 0]
    assert got == pytest.approx(math.fsum(terms), rel=1e-15, abs=len(terms) * peak * 2.0**-BITS)


@pytest.mark.parametrize("peak", [0.0, 1e-45, 1.0, 2.0**39, 2.0**40, np.nextafter(2.0**40, 0), 3e38, 1e300, 1e-300])
def test_tops(peak):
    top = top_of(peak)
    assert peak < 2.0 ** (BITS * (top + 1))
    assert top == LOWEST or peak >= 2.0 ** (BITS * top)


def test_many_terms_do_not_overflow():
    limbs = np.zeros((LIMBS, 1, 1, 1), np.int64)
    limbs[:] = (2**23 - 1) * (2**40 - 1)  # as many terms of the largest size
    assert (limbs > 0).all()
    add(limbs, 0, np.full((1, 1, 1), np.nextafter(2.0**40, 0)))
    assert (limbs > 0).all()


def test_files_of_sums(tmp_path):
    """What is written is read, plane by plane; a file that is cut is told."""
    shape = (5, 3, 4)
    planned = SumFile.planned(tmp_path / "a.sum", {3: "c", 1: "a"}, shape, {"image": 2, "illumination": -1})
    data = np.random.default_rng(1).integers(-(2**62), 2**62, (2, LIMBS, *shape))
    made = replace(planned, checksums={"image": 2**64 - 1, "illumination": 0})
    (tmp_path / "a.sum").write_bytes(made.head + data.tobytes())
    (found,) = SumFile.all_in(tmp_path)
    assert found == made
    assert (found.limbs("illumination", 1, 4) == data[1][:, 1:4]).all()
    assert found.places("illumination", 1)[0] == found.data + data[0].nbytes + 8 * 12
    (tmp_path / "a.sum").write_bytes(made.head + data.tobytes()[:-1])
    with pytest.raises(FathometerError, match="damaged"):
        SumFile.all_in(tmp_path)


def test_checksums_of_bytes_are_those_of_earlier_journals():
    """The first 64 bits of XXH3: other numbers would not be those in the files that a run goes on with."""
    assert checksum_of_bytes([b"abc"]) == checksum_of_bytes([b"a", b"bc"]) == 0x06B05AB6733A6185
    assert checksum_of_bytes([b""]) == 0x99AA06D3014798D8
