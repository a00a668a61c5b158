"""Numbers as text, the same on the whole page: a unit that suits the magnitude, three digits."""

from __future__ import annotations

import math

THIN = "\N{NARROW NO-BREAK SPACE}"
NONE = "–"
SHORTEST_SECONDS = 1e-4  # close to the resolution of clocks
HOURLY = "_per_hour"
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def digits(value: float, number: int = 3) -> str:
    """`value` with so many significant digits, thousands apart, never with an exponent between 1e-4 and 1e9."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{number - 1}e}"
    places = max(0, number - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}".replace(",", THIN).replace("-", "\N{MINUS SIGN}")


def count(value: float) -> str:
    """A number of things."""
    return f"{round(value):,}".replace(",", THIN)


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
    for size, prefix in PREFIXES:
        if abs(value) >= size:
            return f"{digits(value / size)}{THIN}{prefix}{unit}"
    return f"{digits(value)}{THIN}{unit}"


def points(value: float | None) -> str:
    """Cells a second, in thousand millions, always."""
    return NONE if value is None else f"{digits(value / 1e9)} · 10⁹ points/s"


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
    """A figure of a record, by its unit there."""
    if value is None:
        return NONE
    match unit:
        case "1":
            return digits(value)
        case "seconds":
            return seconds(value)
        case "points_per_second":
            return points(value)
        case "samples_per_second":
            return scaled(value, "samples/s")
        case "cells_per_second":
            return scaled(value, "cells/s")
        case "bytes":
            return scaled(value, "B")
        case "bytes_per_second":
            return scaled(value, "B/s")
        case "flops_per_second":
            return scaled(value, "flop/s")
        case _ if unit.endswith(HOURLY):
            return f"{digits(value)} {unit.removesuffix(HOURLY).replace('_', ' ')}/h"
        case _ if "_per_" in unit:
            over, under = unit.split("_per_", 1)
            return f"{digits(value)}{THIN}{over.replace('_', ' ')}/{under.replace('_', ' ')}"
        case _:
            return f"{digits(value)}{THIN}{unit.replace('_', ' ')}"
