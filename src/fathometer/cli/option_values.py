"""What is allowed in the options of the command line: each function reads the words of one option, and tells what is
wrong with them by argparse.ArgumentTypeError.

Like cli.py it imports nothing heavy before that is needed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from fathometer.base.errors import InputError


def count(text: str) -> int:
    """A number of at least 1, and below a thousand million."""
    return _number(text, 1)


def _number(text: str, least: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10) or int(text) < least:
        raise argparse.ArgumentTypeError(
            f"found {text}; allowed: a whole number of at least {least}, of up to nine digits"
        )
    return int(text)


def whole(text: str) -> int:
    """A number of at least 0, and below a thousand million."""
    return _number(text, 0)


def words(text: str) -> tuple[str, ...]:
    """Names with commas between."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",")))


def operations(text: str) -> tuple[str, ...]:
    """write, read or both, in this order."""
    found = words(text)
    if not set(found) <= {"write", "read"}:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: write, read, or both with a comma between")
    return tuple(name for name in ("write", "read") if name in found)


def strategies(text: str) -> tuple[str, ...]:
    """Storage strategies with commas between."""
    from fathometer.lab.io.cases import strategy_words

    try:
        return strategy_words(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def depth(text: str) -> int:
    """A number of steps, 0 for auto."""
    return 0 if text == "auto" else count(text)


def duration(text: str) -> float:
    """Seconds of 90s, 30m, 8h, 2d or a number of seconds."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        seconds = float(number) * unit
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e10:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a time such as 90s, 30m, 8h or 2d")
    return seconds


def job_time(text: str) -> float:
    """Seconds of 30m, 8h, 2d, or of Slurm's hours:minutes:seconds with days-; no bare numbers, which are minutes to
    Slurm."""
    if text[-1:] in ("m", "h", "d"):
        return duration(text)
    found = re.fullmatch(r"(?:(\d{1,4})-)?(\d{1,4}):(\d\d):(\d\d)", text)
    seconds = 0.0
    if found:
        days, hours, minutes, rest = (int(part or 0) for part in found.groups())
        seconds = 86400.0 * days + 3600 * hours + 60 * minutes + rest
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a time such as 30m, 8h, 2d, 08:00:00 or 1-12:00:00")
    return seconds


def word(text: str) -> str:
    """A name that Slurm takes."""
    if not re.fullmatch(r"[\w.,+@:-]+", text):
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: letters, digits and any of _.,+@:-")
    return text


def velocities(text: str) -> tuple[float, float]:
    """LOW,HIGH in m/s."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 < low <= high:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: LOWEST,HIGHEST in m/s")
    return low, high


def lengths(text: str) -> tuple[float, ...]:
    """Numbers with commas between, in m."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(abs(one) < 1e9 for one in found):
        raise argparse.ArgumentTypeError(f"found {text}; allowed: numbers with commas between, in m")
    return found


def told(module: str, function: str) -> Callable[[str], Any]:
    """What a function of seismic/ reads from an option's words."""

    def read(text: str) -> Any:
        try:
            return getattr(import_module(f"fathometer.seismic.model.{module}"), function)(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def grid(text: str) -> tuple[int, int, int]:
    """NX,NY,NZ, or NX,NZ with one y plane."""
    numbers = [count(part) for part in text.split(",")]
    if len(numbers) == 2:
        numbers.insert(1, 1)
    if len(numbers) != 3:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: NX,NY,NZ, or NX,NZ in two dimensions")
    return numbers[0], numbers[1], numbers[2]
