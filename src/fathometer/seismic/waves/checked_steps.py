"""Between time steps: progress, and a check now and then that the wavefield is finite."""

from __future__ import annotations

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.seismic.waves.propagator import Propagator

STEPS_BETWEEN_CHECKS = 200  # that all fields are finite


def finish_steps(wavefield: Propagator, steps: int, progress: Progress, where: str) -> None:
    """After `steps` time steps: show progress, and check now and then that all numbers are finite.

    Raises NotFiniteError, which begins with `where`.
    """
    with ledger.phase("progress"):
        progress.advance(steps)
    if wavefield.step // STEPS_BETWEEN_CHECKS > (wavefield.step - steps) // STEPS_BETWEEN_CHECKS:
        wavefield.check(where)
