"""The cases of a study: points in the product of its factors, or in parts of it.

    product          every combination of the values of some factors, the others at their base
    one-at-a-time    the base, and each factor's other values with all else at the base
    paired           lists of the same length, taken together
    random           so many combinations, drawn from the product without replacement
    latin-hypercube  so many combinations, in which each factor's values occur equally often (to one), in random
                     pairing (McKay, Beckman & Conover 1979, Technometrics 21(2))

Constraints keep the cases for which they are true. A case that two designs have is one case.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.lab.recipes.expression import Expression, Value

Factors = Mapping[str, Sequence[Value]]
Settings = Mapping[str, Value]
Kind = Literal["product", "one-at-a-time", "paired", "random", "latin-hypercube"]

SAMPLED: tuple[Kind, ...] = ("random", "latin-hypercube")
_JSON = json.JSONEncoder(sort_keys=True)
MOST_CASES = 100_000
MOST_COMBINATIONS = 10_000_000  # on which constraints are tried
MOST_TRIED = 100  # combinations drawn for each sample that constraints are to leave


@dataclass(frozen=True)
class Case:
    """A point of the design: the value of each factor, in the order of the study file."""

    settings: Settings

    @cached_property
    def name(self) -> str:
        """Short and stable: it depends on the settings alone."""
        text = _JSON.encode(self.settings)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:10]

    def __str__(self) -> str:
        return ", ".join(f"{name} = {text_of(value)}" for name, value in self.settings.items()) or "the only case"

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class Design:
    """A part of the product of all factors.

    Attributes:
        name: by which tables ask for it. kind: see above.
        factors: that vary in it; all for ().
        base: values of the others, and of the base of one-at-a-time; a factor that is not named has its first value.
        lists: of paired. samples, seed: of random and latin-hypercube.
    """

    name: str = "all"
    kind: Kind = "product"
    factors: Sequence[str] = ()
    base: Settings = field(default_factory=dict)
    lists: Factors = field(default_factory=dict)
    samples: int = 0
    seed: int = 1

    def check(self, factors: Factors) -> None:
        """Raises InputError where the design does not fit the study's factors."""
        _check_names("factors", self.factors, factors)
        _check_names("base", self.base, factors)
        _check_names("lists", self.lists, factors)
        for name, value in self.base.items():
            _check_value(f"base.{name}", value, factors[name])
        for name, values in self.lists.items():
            for value in values:
                _check_value(f"lists.{name}", value, factors[name])
        if (self.kind == "paired") != bool(self.lists):
            raise InputError(
                f'lists: found {_listed(self.lists)} with kind = "{self.kind}"; needed: with "paired" only'
            )
        if len({len(values) for values in self.lists.values()}) > 1:
            found = ", ".join(f"{name} of {len(values)}" for name, values in self.lists.items())
            raise InputError(f"lists: found {found}; allowed: lists of the same length")
        if (self.kind in SAMPLED) != (self.samples > 0):
            kinds = " and ".join(f'"{kind}"' for kind in SAMPLED)
            raise InputError(f'samples: found {self.samples} with kind = "{self.kind}"; needed: with {kinds} only')

    def points(self, factors: Factors, kept: Sequence[Expression], known: Settings) -> Iterator[Settings]:
        """Its cases' settings, for which all of `kept` are true. known: further names in these, with their values.

        Raises InputError for an expression without a value there, and for too many combinations.
        """
        base = {name: values[0] for name, values in factors.items()} | dict(self.base)
        varied = {name: values for name, values in factors.items() if not self.factors or name in self.factors}

        def keeps(settings: Settings) -> bool:
            values = {**known, **settings}
            return all(expression.true(values) for expression in kept)

        kept_points = (base | point for point in self._candidates(varied, base) if keeps(base | point))
        yield from itertools.islice(kept_points, self.samples) if self.kind == "random" else kept_points

    def _candidates(self, varied: Factors, base: Settings) -> Iterator[dict[str, Value]]:
        count = math.prod(len(values) for values in varied.values())
        if self.kind == "product":
            if count > MOST_COMBINATIONS:
                raise InputError(f"found {count:,} combinations; allowed: {MOST_COMBINATIONS:,}, or samples of them")
            for point in itertools.product(*varied.values()):
                yield dict(zip(varied, point, strict=True))
        elif self.kind == "one-at-a-time":
            yield {}
            for name, values in varied.items():
                yield from ({name: value} for value in values if value != base[name])
        elif self.kind == "paired":
            for together in zip(*self.lists.values(), strict=True):
                yield dict(zip(self.lists, together, strict=True))
        elif self.kind == "random":
            yield from self._drawn(varied, count)
        else:
            yield from self._latin_hypercube(varied)

    def _drawn(self, varied: Factors, count: int) -> Iterator[dict[str, Value]]:
        """Combinations in random order, each once, by their numbers in the product."""
        source = random.Random(f"{self.seed} {self.name}")
        numbers = source.sample(range(count), min(MOST_TRIED * self.samples, count))
        for number in numbers:
            point = {}
            for name, values in varied.items():
                number, place = divmod(number, len(values))
                point[name] = values[place]
            yield point

    def _latin_hypercube(self, varied: Factors) -> Iterator[dict[str, Value]]:
        source = random.Random(f"{self.seed} {self.name}")
        columns = []
        for values in varied.values():
            # Each value as often as any other, to one; which ones occur once more is drawn too.
            often, rest = divmod(self.samples, len(values))
            column = [*values] * often + source.sample(list(values), rest)
            source.shuffle(column)
            columns.append(column)
        for point in zip(*columns, strict=True):
            yield dict(zip(varied, point, strict=True))


def cases_of(
    factors: Factors, designs: Sequence[Design], kept: Sequence[Expression], known: Settings
) -> dict[str, list[Case]]:
    """The cases of each design, by its name, in order; a combination that occurs twice in one is one case.

    factors: may be empty, for a study of one case. Other arguments as of `Design.points`.
    Raises InputError as `points`, and where there are too many cases or none.
    """
    designs = designs or [Design()]
    found: dict[str, list[Case]] = {}
    total = 0
    for design in designs:
        cases: dict[str, Case] = {}
        for settings in design.points(factors, kept, known):
            case = Case(settings)
            cases.setdefault(case.name, case)
            if total + len(cases) > MOST_CASES:
                raise InputError(f"design {design.name}: found more than {MOST_CASES:,} cases; allowed: so many")
        if not cases:
            raise InputError(
                f"design {design.name}: no case is left of it; allowed: constraints that are true for one at least"
            )
        total += len(cases)
        found[design.name] = list(cases.values())
    return found


def text_of(value: Value) -> str:
    """A value as people read it; with all of its digits, so that different values do not look the same."""
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else str(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listed(values: Sequence[Value] | Factors) -> str:
    return ", ".join(text_of(value) for value in values) or "none"


def _check_names(where: str, names: Sequence[str] | Settings | Factors, factors: Factors) -> None:
    for name in names:
        if name not in factors:
            raise InputError(
                f"{where}: unknown factor {name}; known: {', '.join(factors) or 'none'}{did_you_mean(name, factors)}"
            )


def _check_value(where: str, value: Value, values: Sequence[Value]) -> None:
    if value not in values:
        raise InputError(f"{where}: found {text_of(value)}; allowed: a value of the factor: {_listed(values)}")
