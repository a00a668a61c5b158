"""Formulas of species, minerals and gases."""

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fathometer.apps.reactive.chemistry.formula import parse_formula
from fathometer.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "elements", "charge"),
    [
        ("Ca+2", {"Ca": 1}, 2),
        ("H+", {"H": 1}, 1),
        ("CO3-2", {"C": 1, "O": 3}, -2),
        ("HCO3-", {"H": 1, "C": 1, "O": 3}, -1),
        ("CaCO3", {"Ca": 1, "C": 1, "O": 3}, 0),
        ("CO2(aq)", {"C": 1, "O": 2}, 0),
        ("CO2(g)", {"C": 1, "O": 2}, 0),
        ("Ca(OH)2", {"Ca": 1, "O": 2, "H": 2}, 0),
        ("CaSO4:2H2O", {"Ca": 1, "S": 1, "O": 6, "H": 4}, 0),
        ("KAl(Al(OH)3)2(OH)+", {"K": 1, "Al": 3, "O": 7, "H": 7}, 1),
        ("Mg2Si3O7.5OH:3H2O", {"Mg": 2, "Si": 3, "O": Fraction(23, 2), "H": 7}, 0),
        ("Fe+3", {"Fe": 1}, 3),
        ("Tracer", {"Tracer": 1}, 0),
    ],
)
def test_what_is_in_a_formula(text: str, elements: dict[str, Fraction], charge: int) -> None:
    formula = parse_formula(text)
    assert dict(formula.elements) == elements
    assert formula.charge == charge


@pytest.mark.parametrize(
    "text",
    [
        *("", "+2", "ca", "Ca++", "Ca+0", "Ca0", "Ca(OH", "CaOH)2", "Ca()", "2", "CaSO4:", ":H2O", "Ca.5", "Ca1.2.3"),
        *("Ca OH", "e-", "Ca+12", "H2O(s)(aq)x", "(" * 60 + "H" + ")" * 60, "Ca\u0663"),
    ],
)
def test_what_is_no_formula_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match=r'^found ".*"; allowed: elements'):
        parse_formula(text)


ELEMENTS = st.from_regex(r"[A-Z][a-z]{0,2}", fullmatch=True)
NUMBERS = st.one_of(st.just(1), st.integers(2, 99), st.decimals("0.01", "9.99", places=2).filter(lambda n: n != 1))
LEAVES = st.tuples(ELEMENTS, NUMBERS)
GROUPS = st.recursive(
    st.lists(LEAVES, min_size=1, max_size=4),
    lambda inner: st.lists(st.one_of(LEAVES, st.tuples(inner, NUMBERS)), min_size=1, max_size=3),
    max_leaves=8,
)


def written(groups: list) -> str:
    return "".join(
        (part if isinstance(part, str) else f"({written(part)})") + ("" if number == 1 else str(number))
        for part, number in groups
    )


def counted(groups: list, factor: Fraction, total: dict[str, Fraction]) -> None:
    for part, number in groups:
        if isinstance(part, str):
            total[part] += factor * Fraction(number)
        else:
            counted(part, factor * Fraction(number), total)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NUMBERS, GROUPS), min_size=1, max_size=2), st.integers(-9, 9))
def test_any_formula_is_read_as_it_was_written(parts: list, charge: int) -> None:
    """Parts of a hydrate, brackets within brackets, numbers with decimals, all charges."""
    text = ":".join(("" if number == 1 else str(number)) + written(groups) for number, groups in parts)
    text += "" if not charge else ("+" if charge > 0 else "-") + (str(abs(charge)) if abs(charge) > 1 else "")
    total: dict[str, Fraction] = defaultdict(Fraction)
    for number, groups in parts:
        counted(groups, Fraction(number), total)
    if len(text) <= 100:
        formula = parse_formula(text)
        assert (dict(formula.elements), formula.charge) == (dict(total), charge)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("CaOH2(+-):. 1"), max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        formula = parse_formula(text)
    except InputError:
        return
    assert formula.elements
    assert all(number > 0 for number in formula.elements.values())
