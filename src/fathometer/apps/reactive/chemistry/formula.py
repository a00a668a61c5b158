"""Chemical formulas: what a species, mineral or gas consists of, and its charge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fathometer.base.errors import InputError, shortened

LONGEST = 100  # letters; brackets within brackets are read one level a call
ALLOWED = (
    "elements, each a capital letter and small ones, with numbers after them, brackets ( ), parts of a hydrate after "
    'a colon, a state (aq), (g) or (s) and a charge such as +, -, +2: "Ca+2", "Ca(OH)2", "CaSO4:2H2O"'
)
_STATE = re.compile(r"\((?:aq|g|l|s)\)$")
_CHARGE = re.compile(r"([+-])([1-9]?)$")
_ELEMENT = re.compile(r"[A-Z][a-z]*")
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?(?![0-9.])")


@dataclass(frozen=True)
class Formula:
    """elements: atoms of each element, exact, none of them 0. charge: elementary charges."""

    elements: Mapping[str, Fraction]
    charge: int


def parse_formula(text: str) -> Formula:
    """The formula in a text, such as "CaHCO3+" or "CaMg(CO3)2"; any capital letter with its small ones is an element.

    Raises InputError of the form "found …; allowed: …".

    >>> parse_formula("SO4-2").charge
    -2
    >>> parse_formula("CaSO4:2H2O").elements["O"]
    Fraction(6, 1)
    """
    body = _STATE.sub("", text)
    charge = 0
    if match := _CHARGE.search(body):
        charge = int(f"{match[1]}{match[2] or 1}")
        body = body[: match.start()]
    if not body or len(text) > LONGEST:
        raise _refused(text)
    elements: dict[str, Fraction] = defaultdict(Fraction)
    for part in body.split(":"):
        factor, start = _number(text, part, 0)
        found, end = _groups(text, part, start)
        if end != len(part) or not found:
            raise _refused(text)
        _add(elements, found, factor)
    return Formula(dict(elements), charge)


def _groups(text: str, part: str, place: int) -> tuple[dict[str, Fraction], int]:
    """The elements from a place up to a closing bracket or the end, and that place."""
    found: dict[str, Fraction] = defaultdict(Fraction)
    while place < len(part) and part[place] != ")":
        if part[place] == "(":
            inner, place = _groups(text, part, place + 1)
            if place == len(part) or not inner:
                raise _refused(text)
            place += 1
        elif match := _ELEMENT.match(part, place):
            inner, place = {match[0]: Fraction(1)}, match.end()
        else:
            raise _refused(text)
        factor, place = _number(text, part, place)
        _add(found, inner, factor)
    return found, place


def _number(text: str, part: str, place: int) -> tuple[Fraction, int]:
    """The number at a place, 1 where there is none, and the place behind it."""
    match = _NUMBER.match(part, place)
    if match is None:
        return Fraction(1), place
    if not (number := Fraction(match[0])):
        raise _refused(text)
    return number, match.end()


def _add(total: dict[str, Fraction], part: Mapping[str, Fraction], factor: Fraction) -> None:
    for element, atoms in part.items():
        total[element] += factor * atoms


def _refused(text: str) -> InputError:
    return InputError(f'found "{shortened(text, 40)}"; allowed: {ALLOWED}')
