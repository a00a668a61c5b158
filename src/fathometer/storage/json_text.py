"""JSON as this program writes it: no NaN, numbers that 64 bits hold. Text from elsewhere is read by these rules too."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from fathometer.base.errors import shortened

WHOLE = (-(1 << 63), (1 << 64) - 1)  # least and largest integer: those of int64 and uint64
MOST_DIGITS = 20


def json_values(text: str | bytes) -> Any:
    """The values in a JSON text. ValueError where it is none, nested beyond measure, or holds a NaN or a number that 64
    bits do not hold."""
    try:
        return json.loads(text, parse_int=_whole, parse_float=_real, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None


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
