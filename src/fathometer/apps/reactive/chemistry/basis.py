"""Equilibria among species solved for some of them, in exact arithmetic.

An equation sum_s nu_s log10 a_s = log10 K holds for every reaction among species; the activity of water is 1. Solved
for all species but the primary ones, by Gauss's elimination, they give log10 a_s = log10 K_s + sum_j nu_sj log10 a_j of
those that can be formed of primary species alone, whatever species the reactions of the file are written in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fathometer.apps.reactive.chemistry.reaction import Reaction

WATER = "H2O"


@dataclass(frozen=True)
class Equation:
    """sum of `terms` times log10 of activities = log_k. Terms that are 0 are left out."""

    terms: Mapping[str, Fraction]
    log_k: Fraction

    @staticmethod
    def of(reaction: Reaction) -> Equation:
        """That of a reaction, without water; the constant is the decimal number that stands in the file."""
        terms = {name: number for name, number in reaction.net().items() if name != WATER}
        return Equation(terms, Fraction(repr(reaction.log_k)))

    def without(self, name: str, other: Equation) -> Equation:
        """This equation less a multiple of another one, such that `name` is in it no more."""
        factor = self.terms.get(name, Fraction(0)) / other.terms[name]
        terms = {
            each: self.terms.get(each, Fraction(0)) - factor * other.terms.get(each, Fraction(0))
            for each in dict.fromkeys((*self.terms, *other.terms))
        }
        return Equation({each: number for each, number in terms.items() if number}, self.log_k - factor * other.log_k)

    def scaled(self, factor: Fraction) -> Equation:
        """The equation times a factor."""
        return Equation({name: factor * number for name, number in self.terms.items()}, factor * self.log_k)


def reduced(equations: Sequence[Equation], order: Sequence[str]) -> dict[str, Equation]:
    """The equations solved, each for another name: its factor is 1, and it stands in no other equation.

    order: all names; the first of them are solved for as far as possible. An equation that follows from the others has
    none in the result.
    """
    remaining = list(equations)
    solved: dict[str, Equation] = {}
    for name in order:
        pivot = next((equation for equation in remaining if name in equation.terms), None)
        if pivot is None:
            continue
        remaining.remove(pivot)
        pivot = pivot.scaled(1 / pivot.terms[name])
        remaining = [equation.without(name, pivot) for equation in remaining]
        solved = {other: equation.without(name, pivot) for other, equation in solved.items()}
        solved[name] = pivot
    return solved


@dataclass(frozen=True)
class Formation:
    """log10 a = log_k + sum of `terms` times log10 a of the primary species."""

    terms: Mapping[str, Fraction]
    log_k: Fraction


@dataclass(frozen=True)
class Basis:
    """What primary species form.

    formations: of all species that they form, themselves included. dependent: primary species between which there is an
    equilibrium, so that they are too many; () where there is none.
    """

    formations: Mapping[str, Formation]
    dependent: tuple[str, ...]


def basis_of(primary: Sequence[str], names: Sequence[str], equations: Sequence[Equation]) -> Basis:
    """primary: names, each once, among `names`, which are those of all species."""
    others = [name for name in names if name not in primary]
    formations = {name: Formation({name: Fraction(1)}, Fraction(0)) for name in primary}
    for name, equation in reduced(equations, [*others, *primary]).items():
        rest = {other: -number for other, number in equation.terms.items() if other != name}
        if name in primary:
            return Basis(formations, (name, *rest))
        if all(other in primary for other in rest):
            formations[name] = Formation(rest, equation.log_k)
    return Basis(formations, ())
