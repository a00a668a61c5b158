"""Measured values as text: a median with its unit, and an interval in the same unit with as many places."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fathometer.report.formatting import HOURLY, THIN, count, digits

PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
SCALED = {"bytes": "B", "bytes_per_second": "B/s", "flops_per_second": "flop/s"}
# Times of messages are microseconds, those of migrations seconds: one unit a value, seconds from a hundredth on.
TIMES = ((1e-2, 1.0, "s"), (1e-4, 1e-3, "ms"), (1e-7, 1e-6, "µs"), (0.0, 1e-9, "ns"))
MOST_PLACES = 9
WIDEST = 3e3  # times the smallest of values with one unit


def unit_of(value: float, unit: str) -> tuple[float, str]:
    """What a value of a unit, as in records, is divided by to be read, and the unit that it then has."""
    size = abs(value)
    if unit in ("1", "count", ""):
        return 1.0, ""
    if unit == "seconds":
        return next((by, name) for least, by, name in TIMES if size >= least) if size else (1.0, "s")
    if unit in SCALED:
        return next(((by, prefix + SCALED[unit]) for by, prefix in PREFIXES if size >= by), (1.0, SCALED[unit]))
    if unit == "points_per_second":
        return 1e9, "· 10⁹ points/s"
    if unit.endswith(HOURLY):
        return 1.0, f"{unit.removesuffix(HOURLY).replace('_', ' ')}/h"
    if "_per_" in unit:
        over, under = unit.split("_per_", 1)
        return 1.0, f"{over.replace('_', ' ')}/{under.replace('_', ' ')}"
    return 1.0, unit.replace("_", " ")


def value_text(value: float, unit: str) -> str:
    """One value: 1.12 s, 3.40 GB/s."""
    by, name = unit_of(value, unit)
    return with_unit(digits(value / by), name)


def common_size(values: Sequence[float]) -> float | None:
    """The size by which all these values have one unit; None where they are too different for that."""
    sizes = sorted(abs(value) for value in values if value)
    return sizes[len(sizes) // 2] if sizes and sizes[-1] <= WIDEST * sizes[0] else None


def spread_text(median: float, low: float, high: float, unit: str, size: float | None = None) -> tuple[str, str, str]:
    """A median, its interval, "1.08 to 1.15", and the unit of both; size: by which the unit is chosen.

    Three significant digits of the median, more where the interval is narrower than these show, five at most.
    """
    by, name = unit_of(size or median, unit)
    middle, least, most = median / by, low / by, high / by
    if low == high:
        return digits(middle), "no spread", name
    size = max(abs(middle), abs(least), abs(most))
    if size and not 1e-4 <= size < 1e9:
        return digits(middle), f"{digits(least)} to {digits(most)}", name
    three = 2 - _power(middle or size)
    places = three
    if most > least:
        places = min(max(three, _places(most - least)), three + 2)
    places = min(max(places, 0), MOST_PLACES)
    return _fixed(middle, places), f"{_fixed(least, places)} to {_fixed(most, places)}", name


def ratio_text(value: float, low: float, high: float) -> tuple[str, str]:
    """A ratio and its interval, with two places or as many as tell them from 1 and from each other."""
    return spread_text(value, low, high, "1")[:2] if value >= 10 else _ratio_text(value, low, high)


def _ratio_text(value: float, low: float, high: float) -> tuple[str, str]:
    width = high - low
    if not width:
        places = next(
            (places for places in range(2, MOST_PLACES) if value == 1 or float(f"{value:.{places}f}") != 1), 2
        )
        return _fixed(value, places), "no spread"
    places = min(max(2, _places(width)), 4)
    return _fixed(value, places), f"{_fixed(low, places)} to {_fixed(high, places)}"


def duration_text(seconds: float) -> str:
    """A stretch of time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f}{THIN}s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f}{THIN}min"
    hours = seconds / 3600
    return f"{hours:.1f}{THIN}h" if hours < 48 else f"{hours / 24:.1f}{THIN}days"


def counted(number: int, noun: str) -> str:
    """A number of things: 1 run, 12 runs."""
    return f"{count(number)} {noun if number == 1 else noun + 's'}"


def listed(words: list[str], most: int = 6, joint: str = "and") -> str:
    """Words as a list in a sentence: a, b and c; of more than `most` the first, and how many others there are."""
    if len(words) > most:
        return f"{', '.join(words[: most - 1])} {joint} {len(words) - most + 1} others"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}" if words else ""


def _places(width: float) -> int:
    """Places that show an interval: two digits of a width that begins with 1 or 2, else one."""
    power = _power(width)
    return 1 - power if width < 3 * 10.0**power else -power


def _power(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _fixed(value: float, places: int) -> str:
    return f"{value:,.{places}f}".replace(",", THIN).replace("-", "\N{MINUS SIGN}")


def with_unit(number: str, name: str) -> str:
    """A number and its unit, which may be none."""
    return f"{number}{THIN}{name}" if name else number
