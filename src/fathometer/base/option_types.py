"""Types of options: each function reads the text of one option, and raises argparse.ArgumentTypeError that says what is
allowed."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean

OPERATIONS = ("write", "read")
MOST_DIGITS = 9  # of a whole number
LONGEST_METRES = 1e9
SLOWEST, FASTEST = 1.0, 20_000.0  # m/s, of waves
SHORTEST_INTERVAL, LONGEST_INTERVAL = 1e-9, 10.0  # s, between samples


def count(text: str) -> int:
    """A whole number from 1, of up to nine digits."""
    return _number(text, 1)


def whole_number(text: str) -> int:
    """A whole number from 0, of up to nine digits."""
    return _number(text, 0)


def _number(text: str, least: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS) or int(text) < least:
        raise argparse.ArgumentTypeError(
            f"found {text}; allowed: a whole number of at least {least}, of up to nine digits"
        )
    return int(text)


def percentile(text: str) -> float:
    """A number above 0, at most 100."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number <= 100.0:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a number above 0, at most 100")
    return number


def integer(text: str) -> int:
    """An integer of up to nine digits, which its reader checks."""
    if not re.fullmatch(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}", text):
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a whole number of at least 1")
    return int(text)


def counts(text: str) -> tuple[int, ...]:
    """Whole numbers from 1 with commas between, each once."""
    return tuple(dict.fromkeys(count(part.strip()) for part in text.split(",")))


def names(text: str) -> tuple[str, ...]:
    """Names with commas between, each once."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",")))


def operations(text: str) -> tuple[str, ...]:
    """write, read or both, in this order."""
    given = names(text)
    for name in given:
        if name not in OPERATIONS:
            meant = did_you_mean(name, OPERATIONS)
            raise argparse.ArgumentTypeError(f"found {text}; allowed: write, read, or both with a comma between{meant}")
    return tuple(name for name in OPERATIONS if name in given)


def choices_of(*known: str) -> Callable[[str], tuple[str, ...]]:
    """A type of some of these names, each once, with commas between."""

    def read(text: str) -> tuple[str, ...]:
        given = names(text)
        for name in given:
            if name not in known:
                allowed = f"{', '.join(known)}, with commas between{did_you_mean(name, known)}"
                raise argparse.ArgumentTypeError(f"found {text}; allowed: {allowed}")
        return given

    return read


def time_depth(text: str) -> int:
    """Time steps of a sweep, 0 for auto."""
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


def number_above(low: float, high: float, unit: str = "") -> Callable[[str], float]:
    """A type of a number above `low`, up to `high`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low < value <= high:
            raise argparse.ArgumentTypeError(f"found {text!r}; allowed: above {low:g} up to {high:g} {unit}".rstrip())
        return value

    return read


def sample_interval(text: str) -> float:
    """Seconds between samples, from 1 ns to 10 s."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not SHORTEST_INTERVAL <= seconds <= LONGEST_INTERVAL:
        raise argparse.ArgumentTypeError(
            f"found {text}; allowed: seconds, from {SHORTEST_INTERVAL:g} to {LONGEST_INTERVAL:g}"
        )
    return seconds


def job_time(text: str) -> float:
    """Seconds of 30m, 8h, 2d, or of Slurm's [days-]hours:minutes:seconds; no bare numbers, which are minutes to
    Slurm."""
    if text[-1:] in ("m", "h", "d"):
        return duration(text)
    match = re.fullmatch(r"(?:(\d{1,4})-)?(\d{1,4}):(\d\d):(\d\d)", text)
    total = 0.0
    if match:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        total = 86400.0 * days + 3600 * hours + 60 * minutes + seconds
    if total <= 0:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a time such as 30m, 8h, 2d, 08:00:00 or 1-12:00:00")
    return total


def folder(text: str) -> Path:
    """The path of a folder; nothing is none, which would be the working directory."""
    if not text:
        raise argparse.ArgumentTypeError("found an empty name; allowed: the path of a folder")
    return Path(text)


def slurm_name(text: str) -> str:
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
    if not SLOWEST <= low <= high <= FASTEST:
        raise argparse.ArgumentTypeError(
            f"found {text}; allowed: LOWEST,HIGHEST in m/s, from {SLOWEST:g} to {FASTEST:g}"
        )
    return low, high


def iterations(text: str) -> tuple[float, ...]:
    """N, or NEWTON,LINEAR: mean numbers of iterations."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not 0 < len(found) < 3 or not all(0 < number < 1e6 for number in found):
        raise argparse.ArgumentTypeError(f"found {text}; allowed: N, or NEWTON,LINEAR, numbers above 0")
    return found


def lengths(text: str) -> tuple[float, ...]:
    """Numbers with commas between, in m."""
    try:
        metres = tuple(float(part) for part in text.split(","))
    except ValueError:
        metres = ()
    if not metres or not all(abs(length) < LONGEST_METRES for length in metres):
        raise argparse.ArgumentTypeError(f"found {text}; allowed: numbers with commas between, in m")
    return metres


def grid(text: str) -> tuple[int, int, int]:
    """NX,NY,NZ, or NX,NZ with one y plane."""
    cells = [count(part) for part in text.split(",")]
    if len(cells) == 2:
        cells.insert(1, 1)
    if len(cells) != 3:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: NX,NY,NZ, or NX,NZ in two dimensions")
    return cells[0], cells[1], cells[2]


def read_by(module: str, function: str) -> Callable[[str], Any]:
    """A type whose text is read by a function that raises InputError, in a module that is imported when it is used."""

    def read(text: str) -> Any:
        try:
            return getattr(import_module(module), function)(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read
