"""Seconds and bytes in a plan for people, with a unit that fits the magnitude."""

from __future__ import annotations


def seconds_in_words(value: float) -> str:
    """Three digits in s, or h from 10,000 s on."""
    return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s" if value < 10000 else f"{value / 3600:.3g} h"


def bytes_in_words(value: float) -> str:
    """Three digits in B … TB; empty for 0."""
    if not value:
        return ""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"
