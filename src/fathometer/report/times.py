"""Simulated times as people read them."""

from __future__ import annotations

from collections.abc import Sequence

HOUR, DAY, YEAR = 3600.0, 86400.0, 365.25 * 86400.0
# Each unit from so many seconds on.
UNITS = ((2 * YEAR, "a", YEAR), (2 * DAY, "d", DAY), (HOUR, "h", HOUR), (0.0, "s", 1.0))


def unit_of(seconds: float) -> tuple[str, float]:
    """The unit that suits a time, and its seconds: s, h, d (days) or a (years of 365.25 days)."""
    return next((name, size) for least, name, size in UNITS if abs(seconds) >= least)


def times_text(times: Sequence[float]) -> list[str]:
    """Times in s as texts, all in the unit that suits the longest.

    >>> times_text([0.0, 1800.0, 36000.0])
    ['0 h', '0.5 h', '10 h']
    """
    name, size = unit_of(max(map(abs, times), default=0.0))
    values = [time / size for time in times]
    return [f"{value:.4g} {name}" if abs(value) < 1e4 else f"{value:.0f} {name}" for value in values]


def time_text(seconds: float) -> str:
    """A time in s as text."""
    return times_text([seconds])[0]
