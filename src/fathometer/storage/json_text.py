"""JSON as this program writes it: no NaN, numbers that 64 bits hold. Text from elsewhere is read by these rules too,
and made into the dataclasses that were written, each field of its type."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from fathometer.base.errors import InputError, shortened
from fathometer.storage.reading import readable, reading

Kind = TypeVar("Kind")

WHOLE = (-(1 << 63), (1 << 64) - 1)  # least and largest integer: those of int64 and uint64
MOST_DIGITS = 20


def json_values(text: str | bytes) -> Any:
    """The values in a JSON text. ValueError where it is none, nested beyond measure, or holds a NaN or a number that 64
    bits do not hold."""
    try:
        return json.loads(text, parse_int=_whole, parse_float=_real, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file that this program has written. Raises InputError of one line for any other file."""
    with reading(path):
        data = readable(path).read_bytes()
    try:
        values = json_values(data.decode("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: damaged: not valid JSON: {shortened(error)}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: damaged: no object; allowed: as it was written")
    return values


def as_written(kind: type[Kind], values: Any) -> Kind:
    """Values of JSON as the dataclass that was written. Numbers and flags are checked as its annotations say; texts,
    lists and objects always. ValueError that names the first place which is missing or of another type."""
    from pydantic import ValidationError

    try:
        made: Kind = _adapter(cast(Hashable, kind)).validate_python(values)
        return made
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        found = "" if first["type"] == "missing" else f": found {shortened(repr(first['input']), 60)}"
        raise ValueError(f"{shortened(place, 80)}{found}: {first['msg'].lower()}") from None


@cache
def _adapter(kind: Hashable) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(cast(Any, kind))


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS or not WHOLE[0] <= (number := int(text)) <= WHOLE[1]:
        raise ValueError(f"{shortened(text, 40)} is beyond an integer of 64 bits")
    return number


def _real(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{shortened(text, 40)} is beyond a number of 64 bits")
    return number


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
