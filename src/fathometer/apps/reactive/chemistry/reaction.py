"""Reactions as they are written, such as "CO3-2 + 2 H+ = CO2(aq) + H2O", and whether they balance."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fathometer.apps.reactive.chemistry.formula import Formula
from fathometer.base.errors import InputError, shortened

LONGEST = 500  # letters
ALLOWED = 'terms with blanks around + and =, each a name with or without a number before it: "CO3-2 + 2 H+ = CO2 + H2O"'
_TERM = re.compile(r"(?:([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*)?([^\s0-9.]\S*)")


@dataclass(frozen=True)
class Reaction:
    """text: as it is written. left, right: the number of each name's particles on both sides, above 0.
    log_k: log10 of the product of activities of the right side over that of the left."""

    text: str
    left: Mapping[str, Fraction]
    right: Mapping[str, Fraction]
    log_k: float

    @property
    def names(self) -> tuple[str, ...]:
        """What takes part, in the order of the text, each name once."""
        return tuple(dict.fromkeys((*self.left, *self.right)))

    def net(self) -> dict[str, Fraction]:
        """Particles that the reaction makes of each name (above 0) or uses (below), without those that stay."""
        made = {name: self.right.get(name, Fraction(0)) - self.left.get(name, Fraction(0)) for name in self.names}
        return {name: number for name, number in made.items() if number}


def parse_reaction(text: str, log_k: float) -> Reaction:
    """The reaction in a text. Raises InputError of the form "found …; allowed: …"."""
    sides = text.split("=")
    if len(sides) != 2 or len(text) > LONGEST:
        raise _refused(text)
    left, right = (_terms(side, text) for side in sides)
    return Reaction(text, left, right, log_k)


def check_balance(reaction: Reaction, formulas: Mapping[str, Formula]) -> None:
    """Raises InputError unless both sides have equally many atoms of each element and equal charges.

    formulas: of all names in the reaction.
    """
    left, right = _contents(reaction.left, formulas), _contents(reaction.right, formulas)
    wrong = [
        f"{what} {_shown(left[what])} on the left and {_shown(right[what])} on the right"
        for what in dict.fromkeys((*left, *right))
        if left[what] != right[what]
    ]
    if wrong:
        raise InputError(
            f'reaction: found "{shortened(reaction.text, 100)}" with {", ".join(wrong)}; allowed: reactions that '
            "balance in each element and in charge"
        )


def _terms(side: str, text: str) -> dict[str, Fraction]:
    found: dict[str, Fraction] = defaultdict(Fraction)
    for term in re.split(r"\s\+\s", f" {side} "):
        match = _TERM.fullmatch(term.strip())
        number = Fraction(match[1] or 1) if match else Fraction(0)
        if match is None or not number:
            raise _refused(text)
        found[match[2]] += number
    return dict(found)


def _contents(side: Mapping[str, Fraction], formulas: Mapping[str, Formula]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = defaultdict(Fraction)
    for name, number in side.items():
        for element, atoms in formulas[name].elements.items():
            found[element] += number * atoms
        found["charge"] += number * formulas[name].charge
    return found


def _shown(number: Fraction) -> str:
    return f"{float(number):g}"


def _refused(text: str) -> InputError:
    return InputError(f'reaction: found "{shortened(text, 100)}"; allowed: {ALLOWED}')
