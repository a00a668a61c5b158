"""Built-in tasks: of known length, with results of known size."""

from __future__ import annotations

import math
import random


def length_of(seconds: float, size: int, spread: str, seed: int, number: int) -> tuple[float, int]:
    """Seconds and bytes of a built-in task: both by the same random number, from seed and the task's number alone."""
    if spread == "constant":
        return seconds, size
    uniform = random.Random(seed * 1_000_003 + number).random()
    factor = 2.0 * uniform if spread == "uniform" else min(0.5 / math.sqrt(1.0 - uniform), 100.0)
    return seconds * factor, round(size * factor)


def result_of(size: int, seed: int, number: int) -> bytes:
    """The result of a built-in task: text of which half can be saved, beginning with the task's number."""
    if not size:
        return b""
    head = b"task %d " % number
    more = max(0, size - len(head))
    return (head + random.Random(seed * 1_000_003 + number).randbytes((more + 1) // 2).hex().encode())[:size]
