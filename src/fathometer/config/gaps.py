"""Gaps of an input file: keys whose value `fathometer new` could not find, and that somebody is to fill in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from fathometer.base.errors import shortened
from fathometer.config.problems import needed_at

GAP = "FILL IN"
MOST_TOLD = 12  # gaps in a message, with what they need


def gaps_in(values: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all gaps in an input's values, in their order; numbers are those of lists of tables, from 0."""
    if values == GAP:
        yield place
    elif isinstance(values, Mapping):
        for name, value in values.items():
            yield from gaps_in(value, (*place, name))
    elif isinstance(values, list):
        if GAP in values:
            yield place
        else:
            for number, value in enumerate(values):
                yield from gaps_in(value, (*place, number))


def gaps_in_words(values: Mapping[str, Any], root: type[BaseModel]) -> str:
    """What is to be filled in, and with what, in one line; "" where there are no gaps."""
    places = list(gaps_in(values))
    if not places:
        return ""
    told = "; ".join(shortened(needed_at(place, values, root)) for place in places[:MOST_TOLD])
    more = f"; and {len(places) - MOST_TOLD} more" if len(places) > MOST_TOLD else ""
    noun = "gap" if len(places) == 1 else "gaps"
    return f'found {len(places)} {noun}, "{GAP}"; needed: {told}{more}'
