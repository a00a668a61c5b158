"""Times of several tasks, taken in turns, so that what else the machine does meets all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median


def interleave(tasks: Mapping[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Median seconds of each task over `repeats` rounds, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}
