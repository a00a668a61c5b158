"""Quantities as text: numbers, counts, bytes, seconds, rates, shares, each with the unit that it is read in.

On pages and in reports a thin space stands before a unit and between thousands, and three digits are always shown:
`digits` and all that use it. On terminals and in messages the space is a plain one, and zeros at the end are left out:
what ends in `_in_words`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

THIN = "\N{NARROW NO-BREAK SPACE}"
NONE = "–"
SHORTEST_SECONDS = 1e-4  # close to the resolution of clocks
HOURLY = "_per_hour"
# Units of records that take a prefix.
SCALED = {
    "bytes": "B",
    "bytes_per_second": "B/s",
    "flops_per_second": "flop/s",
    "samples_per_second": "samples/s",
    "cells_per_second": "cells/s",
}
# From the first number on a value is divided by the second and has the third before its unit; as in the last entry
# where it is smaller than all.
Scale = Sequence[tuple[float, float, str]]
DECIMAL: Scale = (
    (1e15, 1e15, "P"),
    (1e12, 1e12, "T"),
    (1e9, 1e9, "G"),
    (1e6, 1e6, "M"),
    (1e3, 1e3, "k"),
    (0.0, 1.0, ""),
)
BINARY: Scale = ((2**30, 2**30, "Gi"), (2**20, 2**20, "Mi"), (2**10, 2**10, "Ki"), (0.0, 1.0, ""))
SMALL_TIMES: Scale = ((1.0, 1.0, ""), (1e-3, 1e-3, "m"), (1e-6, 1e-6, "µ"), (0.0, 1e-9, "n"))
# Times of messages are microseconds, those of migrations seconds: one unit a value, seconds from a hundredth on.
TIMES: Scale = ((1e-2, 1.0, ""), (1e-4, 1e-3, "m"), (1e-7, 1e-6, "µ"), (0.0, 1e-9, "n"))
# Simulated times are read in the unit that they have from so many seconds on: s, h, d, or a (years of 365.25 days).
HOUR, DAY, YEAR = 3600.0, 86400.0, 365.25 * 86400.0
SIMULATED_TIMES: Scale = ((2 * YEAR, YEAR, "a"), (2 * DAY, DAY, "d"), (HOUR, HOUR, "h"), (0.0, 1.0, "s"))
MOST_PLACES = 9
WIDEST = 3e3  # times the smallest of values with one unit


def digits(value: float, number: int = 3) -> str:
    """`value` with so many significant digits, thousands apart, never with an exponent between 1e-4 and 1e9."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{number - 1}e}"
    return _fixed(value, max(0, number - 1 - _power(value)))


def beside(value: float, limit: float, number: int = 2) -> str:
    """`value` with so many significant digits, or more where it would read as the limit that it is told beside, or as
    lying on the limit's other side.

    >>> beside(3.24, 4.0), beside(3.98, 4.0), beside(2.4996, 2.5)
    ('3.2', '3.98', '2.4996')
    """
    texts = (f"{value:.{places}g}" for places in range(number, 17))
    return next((text for text in texts if (float(text) - limit) * (value - limit) > 0), f"{value:g}")


def thousands(text: str, space: str = THIN) -> str:
    """A number that Python wrote with commas between thousands, with a space there and a minus sign before."""
    return text.replace(",", space).replace("-", "\N{MINUS SIGN}")


def count(value: float) -> str:
    """A number of things."""
    return f"{round(value):,}".replace(",", THIN)


def counted(number: int, noun: str) -> str:
    """A number of things: 1 run, 12 runs."""
    return f"{count(number)} {noun if number == 1 else noun + 's'}"


def number_of(number: int, noun: str) -> str:
    """The same on a terminal, where thousands are not apart."""
    return f"{number} {noun if number == 1 else noun + 's'}"


def listed(words: Sequence[str], most: int = 6, joint: str = "and") -> str:
    """Words as a list in a sentence: a, b and c; of more than `most` the first, and how many others there are."""
    if len(words) > most:
        return f"{', '.join(words[: most - 1])} {joint} {len(words) - most + 1} others"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}" if words else ""


def seconds(value: float | None) -> str:
    """A time, always in seconds: 312 s, 0.0123 s."""
    if value is None:
        return NONE
    return f"< 0.0001{THIN}s" if 0 < value < SHORTEST_SECONDS else f"{digits(value)}{THIN}s"


def short_seconds(value: float) -> str:
    """A time that may be far below the account's resolution, such as that of a message: 452 ns, 0.0123 s."""
    for size, prefix in ((1e-6, "µ"), (1e-9, "n")):
        if size <= abs(value) < SHORTEST_SECONDS:
            return f"{digits(value / size)}{THIN}{prefix}s"
    return seconds(value)


def scaled(value: float | None, unit: str) -> str:
    """A number with a prefix of its unit: 1.9 GB/s."""
    if value is None:
        return NONE
    by, prefix = _scale(value, DECIMAL)
    return with_unit(digits(value / by), f"{prefix}{unit}")


def power(exponent: int) -> str:
    """A power of ten.

    >>> power(-12)
    '10⁻¹²'
    """
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def percent(share: float | None) -> str:
    """A share: 87 %, 0.4 %."""
    if share is None:
        return NONE
    value = 100 * share
    text = f"{value:.0f}" if value >= 9.95 or value == 0 else f"{value:.1f}" if value >= 0.05 else "< 0.1"
    return f"{text}{THIN}%"


def quantity(value: float | None, unit: str) -> str:
    """A figure of a record, by its unit there; a time in seconds."""
    if value is None:
        return NONE
    return seconds(value) if unit == "seconds" else value_text(value, unit)


def unit_of(value: float, unit: str) -> tuple[float, str]:
    """What a value of a unit, as in records, is divided by to be read, and the unit that it then has."""
    if unit in ("1", "count", ""):
        return 1.0, ""
    if unit == "seconds":
        by, prefix = _scale(value, TIMES) if value else (1.0, "")
        return by, f"{prefix}s"
    if unit in SCALED:
        by, prefix = _scale(value, DECIMAL)
        return by, f"{prefix}{SCALED[unit]}"
    if unit == "points_per_second":
        return 1e9, "· 10⁹ points/s"
    if unit.endswith(HOURLY):
        return 1.0, f"{unit.removesuffix(HOURLY).replace('_', ' ')}/h"
    return 1.0, unit.replace("_per_", "/", 1).replace("_", " ")


def value_text(value: float, unit: str) -> str:
    """One value in the unit that suits it: 1.12 s, 4.50 µs, 3.40 GB/s."""
    by, name = unit_of(value, unit)
    return with_unit(digits(value / by), name)


def with_unit(number: str, name: str) -> str:
    """A number and its unit, which may be none."""
    return f"{number}{THIN}{name}" if name else number


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


def duration(seconds: float) -> str:
    """A time that is counted: "42 s", "3 min 05 s", "2 h 07 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def duration_text(seconds: float) -> str:
    """A stretch of time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f}{THIN}s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f}{THIN}min"
    hours = seconds / 3600
    return f"{hours:.1f}{THIN}h" if hours < 48 else f"{hours / 24:.1f}{THIN}days"


def simulated_unit(seconds: float) -> tuple[str, float]:
    """The unit that suits a simulated time, and its seconds: s, h, d (days) or a (years of 365.25 days)."""
    size, name = _scale(seconds, SIMULATED_TIMES)
    return name, size


def times_text(times: Sequence[float], unit: str = "s") -> list[str]:
    """Simulated times as texts; those in s all in the unit that suits the longest.

    >>> times_text([0.0, 1800.0, 36000.0])
    ['0 h', '0.5 h', '10 h']
    """
    name, size = simulated_unit(max(map(abs, times), default=0.0)) if unit == "s" else (unit, 1.0)
    values = [time / size for time in times]
    return [f"{value:.4g} {name}" if abs(value) < 1e4 else f"{value:.0f} {name}" for value in values]


def time_text(seconds: float) -> str:
    """A simulated time in s as text."""
    return times_text([seconds])[0]


def seconds_in_words(value: float) -> str:
    """The time of a phase: three digits in s, or h from 10,000 s on."""
    return f"{_short(value)} s" if value < 10000 else f"{_short(value / 3600)} h"


def time_in_words(value: float) -> str:
    """The time of a message: three digits in ns, µs, ms or s."""
    by, prefix = _scale(value, SMALL_TIMES)
    return f"{_short(value / by)} {prefix}s"


def bytes_in_words(value: float, number: int = 3) -> str:
    """An amount: so many digits in B … PB."""
    by, prefix = _scale(value, DECIMAL)
    return f"{_short(value / by, number)} {prefix}B"


def length_in_words(value: float) -> str:
    """The length of a message or of a call: 8 B, 4 KiB, 16 MiB."""
    by, prefix = _scale(value, BINARY)
    return f"{value / by:.4g} {prefix}B"


def rate_in_words(value: float) -> str:
    """Bytes a second: three digits in MB/s, in which all rates of a table are compared."""
    return f"{megabytes(value)} MB/s"


def megabytes(value: float) -> str:
    """The number alone, for a column whose head names the unit."""
    return _short(value / 1e6)


def extent_in_words(first: float, last: float) -> str:
    """Two coordinates, m, with all their digits; one where they are the same."""
    return f"{first:.10g} m" if first == last else f"{first:.10g} to {last:.10g} m"


def _short(value: float, number: int = 3) -> str:
    """So many digits, zeros at the end left out; all before the point of a large number."""
    return f"{value:.0f}" if abs(value) >= 10 ** (number - 1) else f"{value:.{number}g}"


def _scale(value: float, scale: Scale) -> tuple[float, str]:
    """What a value is divided by, and the prefix that its unit then has."""
    return next(((by, prefix) for least, by, prefix in scale if abs(value) >= least), scale[-1][1:])


def _ratio_text(value: float, low: float, high: float) -> tuple[str, str]:
    width = high - low
    if not width:
        places = next(
            (places for places in range(2, MOST_PLACES) if value == 1 or float(f"{value:.{places}f}") != 1), 2
        )
        return _fixed(value, places), "no spread"
    places = min(max(2, _places(width)), 4)
    return _fixed(value, places), f"{_fixed(low, places)} to {_fixed(high, places)}"


def _places(width: float) -> int:
    """Places that show an interval: two digits of a width that begins with 1 or 2, else one."""
    power = _power(width)
    return 1 - power if width < 3 * 10.0**power else -power


def _power(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _fixed(value: float, places: int) -> str:
    return thousands(f"{value:,.{places}f}")
