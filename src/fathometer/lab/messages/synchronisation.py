"""Common time of all ranks, for exchanges that begin at agreed times (Hunold & Carpen-Amarie 2016, IEEE TPDS 27, 3617).

Each rank in turn compares its clock with rank 0's by round trips. From two comparisons a second or more apart comes the
rate at which the clocks part. What the prediction is wrong by is found by comparing once more afterwards, and told.
"""

from __future__ import annotations

from mpi4py import MPI

from fathometer.lab.messages.library import Offset, clock_offset

ROUND_TRIPS = 40
SHORTEST_BASE = 1.0  # s between two comparisons from which a rate is taken


class CommonClock:
    """This rank's share of a common time; all methods are collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm = comm
        self._first = self.compare()
        self.offset = self._first
        self.drift = 0.0

    def compare(self) -> Offset:
        """What rank 0's clock is ahead now; zeros on rank 0."""
        own = Offset(0.0, 0.0, 0.0)
        for other in range(1, self._comm.size):
            if self._comm.rank in (0, other):
                found = clock_offset(self._comm, other, ROUND_TRIPS)
                own = found if self._comm.rank else own
        return own

    def update(self) -> None:
        """Compare, and take offset and rate from it."""
        self.offset = self.compare()
        base = self.offset.reading - self._first.reading
        if base >= SHORTEST_BASE:
            self.drift = (self.offset.middle - self._first.middle) / base

    def error(self) -> float:
        """Seconds by which this rank's common time can be wrong: compared once more, against what was predicted."""
        after = self.compare()
        predicted = self.offset.middle + self.drift * (after.reading - self.offset.reading)
        return abs(after.middle - predicted) + max(after.error, self.offset.error)
