"""Reactions as they are written."""

from fractions import Fraction

import pytest

from fathometer.apps.reactive.chemistry.formula import parse_formula
from fathometer.apps.reactive.chemistry.reaction import check_balance, parse_reaction
from fathometer.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "net"),
    [
        ("CO3-2 + 2 H+ = CO2(aq) + H2O", {"CO3-2": -1, "H+": -2, "CO2(aq)": 1, "H2O": 1}),
        ("2H2O  =  O2 + 4 H+", {"H2O": -2, "O2": 1, "H+": 4}),
        ("Ca+2 + 0.5 X- = CaX", {"Ca+2": -1, "X-": Fraction(-1, 2), "CaX": 1}),
        ("A + B + A = C + B", {"A": -2, "C": 1}),
    ],
)
def test_what_a_reaction_makes_and_uses(text: str, net: dict[str, Fraction]) -> None:
    assert parse_reaction(text, 0.0).net() == net


@pytest.mark.parametrize(
    "text", ["", "A + B", "A = B = C", "A = ", " = B", "A + = B", "0 A = B", "A + + B = C", "A B = C"]
)
def test_what_is_no_reaction_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r'^reaction: found ".*"; allowed: terms with blanks around'):
        parse_reaction(text, 0.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ca+2 + CO3-2 = CaCO3", ""),
        ("CaSO4:2H2O = Ca+2 + SO4-2 + 2 H2O", ""),
        ("Ca+2 + HCO3- = CaCO3", "charge 1 on the left and 0 on the right, H 1 on the left and 0 on the right"),
        ("Ca+2 + 2 CO3-2 = CaCO3", "C 2 on the left and 1 on the right"),
        ("Ca+2 + CO3-2 = CaCO3+", "with charge 0 on the left and 1 on the right; allowed"),
        ("CaSO4:2H2O = Ca+2 + SO4-2 + H2O", "H 4 on the left and 2 on the right"),
        ("0.5 Ca+2 + 0.51 CO3-2 = 0.5 CaCO3", "charge -0.02 on the left and 0 on the right"),
    ],
)
def test_elements_and_charge_balance_exactly(text: str, words: str) -> None:
    reaction = parse_reaction(text, 0.0)
    formulas = {name: parse_formula(name) for name in reaction.names}
    if not words:
        check_balance(reaction, formulas)
        return
    with pytest.raises(InputError) as error:
        check_balance(reaction, formulas)
    for part in words.split(", "):
        assert part in str(error.value)
