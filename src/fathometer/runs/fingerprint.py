"""Comparison of fingerprints: the input and version that two runs must share for their tasks to be combined."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def values_hash(arrays: Iterable[npt.NDArray[Any] | None]) -> str:
    """Of the values that a run takes from files, whatever the files are called."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()[:16]


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
