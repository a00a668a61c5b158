"""Whether the numbers of a published table fit each other: each check is an expression of a column in the others.

A printed number stands for all that round to it: half a unit of its last digit to either side; counts are exact. A cell
does not fit where no such numbers give one that rounds to it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.lab.recipes import expression

Value = str | int | float
Span = tuple[float, float]
REFERENCE = "reference_"
_PRODUCT = re.compile(r"\d+(?:x\d+)+")


@dataclass(frozen=True)
class Check:
    """How a column follows from others.

    Attributes:
        column: its name. tolerance: share of a printed number by which it may differ beyond rounding.
        expression: in the names of columns, with _ for what is no letter or digit; a column of sizes, as 10x20, is
            their product; with `reference_` before it, the value of another row.
        reference, within: that row has the values of `reference` and, in the columns `within`, those of this one.
    """

    column: str
    expression: str
    reference: Mapping[str, Value] = field(default_factory=dict)
    within: Sequence[str] = ()
    tolerance: float = 0.0


def disagreements(
    names: Sequence[str], counts: Sequence[bool], rows: Sequence[Sequence[Value]], checks: Sequence[Check]
) -> dict[tuple[int, int], str]:
    """The cells, by row and column, that do not fit, and what follows from the others.

    counts: of the columns, whether whole numbers in them are exact. Raises InputError for a check that names no column.
    """
    variables = [_variable(name) for name in names]
    found = {}
    for check in checks:
        for name in (check.column, *check.reference, *check.within):
            if name not in names:
                raise InputError(f"checks: unknown column {name}; known: {', '.join(names)}{did_you_mean(name, names)}")
        read = expression.read(check.expression)
        place = names.index(check.column)
        for number, row in enumerate(rows):
            spans = _spans(variables, counts, row)
            other = next((one for one in rows if check.reference and _is_reference(check, names, one, row)), None)
            if other is not None:
                spans |= {REFERENCE + name: span for name, span in _spans(variables, counts, other).items()}
            printed = _span(row[place], False)
            if printed is None or other is row or any(name not in spans for name in read.names):
                continue  # nothing is printed there, or not all that it follows from
            values = [
                value
                for ends in itertools.product(*(sorted(set(spans[name])) for name in read.names))
                if (value := _evaluated(read, dict(zip(read.names, ends, strict=True)))) is not None
            ]
            more = check.tolerance * max(map(abs, printed))
            if values and (max(values) < printed[0] - more or min(values) > printed[1] + more):
                middle = _evaluated(read, {name: sum(spans[name]) / 2 for name in read.names})
                found[number, place] = f"{check.column} {row[place]} is printed where {middle:.5g} follows"
    return found


def check_of(values: Any, where: str) -> Check:
    """A check as it stands in a file. Raises InputError with its place."""
    known = ("column", "expression", "reference", "within", "tolerance")
    if not isinstance(values, dict) or not {"column", "expression"} <= values.keys() <= set(known):
        raise InputError(f"{where}: found {values!r:.60}; allowed: column and expression; reference, within, tolerance")
    reference, within = values.get("reference", {}), values.get("within", [])
    tolerance = values.get("tolerance", 0.0)
    if not isinstance(reference, dict) or not isinstance(within, list) or not isinstance(tolerance, int | float):
        allowed = "reference = {column = value}, within = [columns], tolerance = a share"
        raise InputError(f"{where}: found {values!r:.60}; allowed: {allowed}")
    return Check(str(values["column"]), str(values["expression"]), reference, tuple(map(str, within)), tolerance)


def _is_reference(check: Check, names: Sequence[str], one: Sequence[Value], row: Sequence[Value]) -> bool:
    values, own = dict(zip(names, one, strict=True)), dict(zip(names, row, strict=True))
    return all(values.get(name) == value for name, value in check.reference.items()) and all(
        values.get(name) == own.get(name) for name in check.within
    )


def _spans(variables: Sequence[str], counts: Sequence[bool], row: Sequence[Value]) -> dict[str, Span]:
    known = ((name, _span(value, exact)) for name, value, exact in zip(variables, row, counts, strict=True))
    return {name: span for name, span in known if span is not None}


def _span(value: Value, exact: bool) -> Span | None:
    """What a printed number may stand for; None of other texts."""
    if isinstance(value, str):
        if not _PRODUCT.fullmatch(value):
            return None
        product = 1
        for part in value.split("x"):
            product *= int(part)
        return float(product), float(product)
    if exact and isinstance(value, int):
        return float(value), float(value)
    exponent = Decimal(repr(value)).as_tuple().exponent
    half = 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0) * (1 + 1e-9)
    return value - half, value + half


def _variable(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_")


def _evaluated(read: expression.Expression, values: Mapping[str, float]) -> float | None:
    try:
        value = read(values)
    except InputError:  # a division by zero
        return None
    return float(value) if isinstance(value, int | float) else None
