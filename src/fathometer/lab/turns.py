"""Tasks that are measured in turns, so that their times can be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fathometer.base.ledger import timed


def interleave(
    tasks: Mapping[str, Callable[[], object]], repeats: int, clock: Callable[[Callable[[], object]], float] = timed
) -> dict[str, list[float]]:
    """Seconds of each task in `repeats` rounds, in turns, so that other load on the machine affects all of them alike;
    one round before them is not counted. `clock`: calls a task and returns its seconds."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            elapsed = clock(task)
            if turn:
                seconds[name].append(elapsed)
    return seconds
