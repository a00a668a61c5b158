"""Comparison of fingerprints: the input and version that two runs must share for their tasks to be combined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """Differences of two nested JSON values, a line each: "input.grid.spacing: 4 then, 8 now"."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        keys = [*before, *(key for key in now if key not in before)]
        return [
            line
            for key in keys
            for line in differences(before.get(key), now.get(key), f"{where}.{key}" if where else str(key))
        ]
    if before == now:
        return []
    return [f"{where}: {_words(before)} then, {_words(now)} now"]


def _words(value: Any) -> str:
    return "none" if value is None else str(value)
