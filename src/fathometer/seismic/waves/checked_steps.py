"""How many time steps are taken at a time; between them progress, and now and then a check that all is finite."""

from __future__ import annotations

import math

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.grid.grid import Grid
from fathometer.seismic.waves.stepped import SteppedFields

STEPS_BETWEEN_CHECKS = 200  # that all fields are finite
MOST_STEPS = 40  # of an advance: more gain nothing
MOST_UPDATES = 2e9  # of a rank's cells in an advance: a few seconds, for which a signal may wait


def steps_at_a_time(grid: Grid, ranks: int, steps: int, every: int = 1, stop: int | None = None) -> int:
    """Of so many time steps, those of an advance, whole imaging steps of `every`.

    Many, since an advance begins and ends with all cells at the same time, which costs tiles of several steps; few
    enough for progress to be seen and signals to be heard. ranks: that share the grid. stop: steps after which an
    advance ends in any case; those between are as equal as they can be.
    """
    most = max(1, min(steps, MOST_STEPS, int(MOST_UPDATES * ranks / math.prod(grid.full_shape))))
    if stop is not None:
        most = math.ceil(stop / math.ceil(stop / most))
    return max(1, most // every) * every


def advances(steps: int, at_a_time: int, stop: int | None = None) -> tuple[int, int]:
    """Advances in so many steps, and how many of them are of `at_a_time` steps. stop: as of steps_at_a_time."""
    stop = stop or steps
    whole, rest = divmod(steps, stop)
    count = whole * math.ceil(stop / at_a_time) + math.ceil(rest / at_a_time)
    return count, whole * (stop // at_a_time) + rest // at_a_time


def finish_steps(wavefield: SteppedFields, steps: int, progress: Progress, where: str) -> None:
    """After `steps` time steps: show progress, and check now and then that all numbers are finite.

    Raises NotFiniteError, which begins with `where`.
    """
    with ledger.phase("progress"):
        progress.advance(steps)
    if wavefield.step // STEPS_BETWEEN_CHECKS > (wavefield.step - steps) // STEPS_BETWEEN_CHECKS:
        wavefield.check(where)
