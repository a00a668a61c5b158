"""When a run in time steps writes a state that its input does not ask for: after some minutes, so that a job which the
clock ends loses no more than these, and when a signal asks the run to end. All ranks get the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fathometer.base.ledger import now
from fathometer.parallel.collectives import allgather

if TYPE_CHECKING:
    from mpi4py import MPI

STATE_SECONDS = 300.0  # of wall time between states
LOOK_SECONDS = 0.5  # about, between questions to all ranks


class StateClock:
    """The clock of a run.

    Args:
        asked: whether a signal has asked this rank to end (base/signals.py).
    """

    def __init__(self, asked: Callable[[], bool], comm: MPI.Intracomm) -> None:
        self._asked, self._comm = asked, comm
        self._written = self._looked = now()
        self._steps, self._next = 0, 1  # since the last look, and at which of these the next one is

    def after_step(self) -> tuple[bool, bool]:
        """Collective, after each step. Whether the last state is too old, and whether the run is to end; several ranks
        ask each other now and then only."""
        self._steps += 1
        if self._steps < self._next:
            return False, False
        moment = now()
        ahead = int(self._steps * LOOK_SECONDS / max(moment - self._looked, 1e-9))
        of_ranks = allgather(self._comm, (moment - self._written > STATE_SECONDS, self._asked(), ahead))
        late, _, ahead = of_ranks[0]
        self._next = max(1, min(ahead, 2 * self._steps)) if self._comm.size > 1 else 1
        self._steps, self._looked = 0, moment
        return late, any(asked for _, asked, _ in of_ranks)

    def written(self) -> None:
        """A state was written."""
        self._written = now()
