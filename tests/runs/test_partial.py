"""What shots add to an image, on disk: checksums of parts, and the sum of windows."""

import errno
import fcntl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI

from fathometer.base.errors import FathometerError, NotFiniteError
from fathometer.grid.grid import Grid
from fathometer.runs.checksum import MODULUS, checksum
from fathometer.runs.contributions import Window, contribute, peak_of
from fathometer.runs.folder_lock import FolderLock
from fathometer.runs.held_sums import HeldSums
from fathometer.runs.journal import Journal, read_journal
from fathometer.runs.journal_folder import write_fingerprint
from fathometer.runs.options import RunKind
from fathometer.runs.run_input import RunInput
from fathometer.runs.summation import Terms, fold, total

NAMES = ("image", "illumination")
SHAPE = (9, 5, 7)


@given(st.integers(1, 8), st.integers(1, 6), st.sampled_from([np.float32, np.float64, np.int64]), st.data())
def test_checksums_of_parts_add_up_and_one_bit_changes_them(nx, nz, dtype, data):
    shape = (nx, 3, nz)
    values = np.frombuffer(data.draw(st.binary(min_size=24 * nx * nz, max_size=24 * nx * nz)), np.uint8)
    values = values[: 3 * nx * nz * np.dtype(dtype).itemsize].view(dtype).reshape(shape).copy()
    whole = checksum(values, shape, (0, 0, 0))
    cut = data.draw(st.integers(0, nx))
    parts = checksum(values[:cut], shape, (0, 0, 0)) + checksum(values[cut:], shape, (cut, 0, 0))
    assert parts % MODULUS == whole
    octets = values.view(np.uint8).reshape(-1)
    octets[data.draw(st.integers(0, octets.size - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert checksum(values, shape, (0, 0, 0)) != whole


def mixed(bits, place):
    mix = bits ^ (place + 1) * 0x9E3779B97F4A7C15 % MODULUS
    mix = (mix ^ mix >> 30) * 0xBF58476D1CE4E5B9 % MODULUS
    mix = (mix ^ mix >> 27) * 0x94D049BB133111EB % MODULUS
    return (mix ^ mix >> 31) * (bits != 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_changes_of_several_cells_do_not_cancel(dtype):
    """Signs, exponents and values of two and more cells, as damage and mistakes change them."""
    values = np.random.default_rng(3).standard_normal((4, 5, 6)).astype(dtype)
    whole, flat = checksum(values, values.shape, (0, 0, 0)), values.reshape(-1)
    for first in range(40):
        for second in range(first + 1, 60):
            changed = flat.copy()
            changed[[first, second]] *= -1
            assert checksum(changed.reshape(values.shape), values.shape, (0, 0, 0)) != whole
            changed = flat.copy()
            changed[[first, second]] = flat[[second, first]]
            assert checksum(changed.reshape(values.shape), values.shape, (0, 0, 0)) != whole
    assert checksum(-values, values.shape, (0, 0, 0)) != whole
    assert checksum(2 * values, values.shape, (0, 0, 0)) != whole


def test_checksums_are_what_they_are_said_to_be():
    """And of slices of a larger array the same."""
    wide = np.random.default_rng(2).standard_normal((9, 6, 5)).astype(np.float32)
    values, lo = wide[1:8, 2:6], (3, 1, 0)
    cells = np.ndenumerate(values.view(np.uint32))
    wanted = sum(mixed(int(bits), ((x + 3) * 7 + y + 1) * 5 + z) for (x, y, z), bits in cells)
    assert checksum(values, (12, 7, 5), lo) == wanted % MODULUS == checksum(values.copy(), (12, 7, 5), lo)


def contributions(folder, count=6, dtype=np.float32):
    """A journal of shots in random windows, and the sum of what they add, in float64."""
    rng = np.random.default_rng(7)
    (folder / "journal").mkdir()
    write_fingerprint(folder / "journal", RunInput({}), RunKind())
    journal = Journal(folder / "journal", run="run")
    wanted = {name: np.zeros(SHAPE) for name in NAMES}
    for task in range(count):
        lo = [int(rng.integers(0, n - 2)) for n in SHAPE[:2]] + [0]
        hi = [int(rng.integers(a + 1, n + 1)) for a, n in zip(lo[:2], SHAPE[:2], strict=True)] + [SHAPE[2]]
        window = tuple(b - a for a, b in zip(lo, hi, strict=True))
        scale = 10.0 ** rng.integers(-3, 4)
        volumes = {name: (scale * rng.standard_normal(window)).astype(dtype) for name in NAMES}
        grid = Grid(window, (1.0, 1.0, 1.0), first=tuple(lo))
        contribute(journal, 0, task, Window(grid, (0, 0, 0), volumes), 1.0, MPI.COMM_SELF)
        for name in NAMES:
            wanted[name][tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))] += volumes[name]
    return journal, wanted


def terms_of(journal) -> Terms:
    return Terms(journal, tuple(journal.sums), tuple(journal.loose))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_totals(tmp_path, dtype):
    """Of contributions, of a sum of some of them and the others, and of a sum of sums: bitwise the same."""
    journal, wanted = contributions(tmp_path, dtype=dtype)
    whole = ((0, 0, 0), SHAPE)
    found = {name: total(terms_of(journal), name, whole, np.dtype(np.float64), MPI.COMM_SELF) for name in NAMES}
    for name in NAMES:
        largest = max(entry.parts[name].peak for entry in journal.done.values())
        np.testing.assert_allclose(found[name], wanted[name], atol=6 * largest * 2.0**-40)
        assert np.abs(found[name]).max() > 0
    some = Terms(journal, (), tuple(journal.done[n] for n in (4, 1)))
    fold(some, NAMES, SHAPE, journal.folder / "a.sum", MPI.COMM_SELF)
    again = read_journal(journal.folder)
    assert [sum_file.tasks for sum_file in again.sums] == [(1, 4)]
    assert sorted(again.done) == list(range(6))
    more = Terms(again, tuple(again.sums), tuple(again.done[n] for n in (0, 5)))
    fold(more, NAMES, SHAPE, journal.folder / "b.sum", MPI.COMM_SELF)
    last = read_journal(journal.folder)
    assert [sum_file.tasks for sum_file in last.sums] == [(0, 1, 4, 5)]
    for name in NAMES:
        assert (total(terms_of(last), name, whole, np.dtype(np.float64), MPI.COMM_SELF) == found[name]).all()


@pytest.mark.parametrize("held", [(0, 1, 2, 3, 4, 5), (5, 2, 0), ()])
def test_sums_in_memory(tmp_path, held):
    """Bitwise what files give, with the terms that are in no memory; files of the others are not read."""
    journal, _ = contributions(tmp_path)
    wanted = totals(terms_of(journal))
    sums = held_sums(journal, held)
    for task in held:
        for name in NAMES:
            journal.contribution(task, name).write_bytes(b"")
    terms = Terms(journal, (), tuple(journal.loose), sums)
    assert terms.in_memory is sums
    assert not terms.is_read(held)
    assert (totals(terms) == wanted).all()
    folded = fold(terms, NAMES, SHAPE, journal.folder / "a.sum", MPI.COMM_SELF)
    for again in (Terms(journal, (folded,), ()), Terms(journal, (folded,), (), sums)):
        assert (totals(again) == wanted).all()


def test_sums_in_memory_that_are_no_part(tmp_path):
    """A sum on disk with something else beside what is in memory is read; and terms without what is in memory."""
    journal, _ = contributions(tmp_path)
    wanted, sums = totals(terms_of(journal)), held_sums(journal, (1, 4))
    assert Terms(journal, (), (journal.done[1],), sums).in_memory is None
    some = Terms(journal, (), tuple(journal.done[n] for n in (4, 0)))
    folded = fold(some, NAMES, SHAPE, journal.folder / "a.sum", MPI.COMM_SELF)
    mixed = Terms(journal, (folded,), tuple(journal.done[n] for n in (1, 2, 3, 5)), sums)
    assert mixed.in_memory is None
    assert (totals(mixed) == wanted).all()


def totals(terms) -> np.ndarray:
    """The totals of all volumes."""
    return np.array([total(terms, name, ((0, 0, 0), SHAPE), np.dtype(np.float32), MPI.COMM_SELF) for name in NAMES])


def held_sums(journal, tasks) -> HeldSums:
    """The sums of these contributions, added up in that order."""
    sums = HeldSums(NAMES, SHAPE)
    for task in tasks:
        sums.add(journal.done[task], {name: np.load(journal.contribution(task, name)) for name in NAMES})
    return sums


def test_a_changed_sum_is_an_error_and_is_removed(tmp_path):
    journal, _ = contributions(tmp_path)
    made = fold(terms_of(journal), NAMES, SHAPE, journal.folder / "a.sum", MPI.COMM_SELF)
    raw = bytearray(made.path.read_bytes())
    raw[made.data + 1000] ^= 1
    made.path.write_bytes(raw)
    found = read_journal(journal.folder)
    with pytest.raises(FathometerError, match=r"a\.sum: its values have changed"):
        total(terms_of(found), "image", ((0, 0, 0), SHAPE), np.dtype(np.float32), MPI.COMM_SELF)
    assert read_journal(journal.folder).done == {}


LINE = (
    '{"shot": SHOT, "parts": {"image": {"peak": 1, "checksum": SUM}}, "lo": [0, 0, 0], "hi": [1, 1, 1], '
    '"seconds": 1, "ranks": 1}'
)


@pytest.mark.parametrize(
    "line",
    [
        '{"shot": 1e400, "failed": "x"}',
        LINE.replace("SHOT", "7").replace("SUM", "1e400"),
        LINE.replace("SHOT", "1e308").replace("SUM", "1"),
        LINE.replace("SHOT", "-1").replace("SUM", "1"),
        LINE.replace("SHOT", "1" + "0" * 39).replace("SUM", "1"),
        '{"shot": 7, "parts": "all", "lo": [0, 0, 0], "hi": [1, 1, 1], "seconds": 1, "ranks": 1}',
        "[" * 100_000,
        "5",
    ],
)
def test_lines_that_no_run_writes_count_for_nothing(tmp_path, line):
    journal, _ = contributions(tmp_path, 2)
    (journal.folder / "other-0000.jsonl").write_text(line + "\n")
    (journal.folder / "survey.json").write_text("[]")
    found = read_journal(journal.folder)
    assert sorted(found.done) == [0, 1]
    assert found.failed == {}


def test_what_is_not_finite_does_not_get_in(tmp_path):
    journal, _ = contributions(tmp_path, 1)
    volumes = {name: np.full(SHAPE, np.inf, np.float32) for name in NAMES}
    with pytest.raises(NotFiniteError, match="task 10: the image is not finite"):
        contribute(journal, 0, 9, Window(Grid(SHAPE, (1.0, 1.0, 1.0)), (0, 0, 0), volumes), 1.0, MPI.COMM_SELF)
    assert sorted(read_journal(journal.folder).done) == [0]


def test_a_peak_tells_of_numbers_that_are_not_finite():
    """On any rank: of NaN and a number either may be the maximum over ranks, by their order."""
    for wrong in (np.nan, np.inf, -np.inf):
        assert peak_of(np.array([1.0, wrong, 2.0])) == np.inf
    assert peak_of(np.array([1.0, -3.0, 2.0])) == 3
    assert peak_of(np.zeros((0, 4))) == 0


def test_a_journal_that_cannot_be_read_is_an_error(tmp_path):
    journal, _ = contributions(tmp_path, 1)
    (journal.folder / "other.jsonl").mkdir()
    with pytest.raises(FathometerError, match=r"other\.jsonl: cannot be read"):
        read_journal(journal.folder)


def test_a_file_system_without_locks_is_not_in_use(tmp_path, monkeypatch):
    def refuse(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(FathometerError, match="lock: cannot be locked: No locks available"):
        FolderLock(tmp_path / "journal")
