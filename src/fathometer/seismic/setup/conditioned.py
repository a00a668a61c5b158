"""What conditioning has left of the recorded traces, said at the end of a run where that is next to nothing."""

from __future__ import annotations

import math

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import allgather
from fathometer.seismic.shots.acquisition import Acquisition

LITTLE = 1e-4  # of the RMS of the traces
MANY_DEAD = 0.05  # of the traces


def conditioned_notes(acquisition: Acquisition, comm: MPI.Intracomm) -> tuple[str, ...]:
    """Collective. Notes where the traces that were read are next to nothing after conditioning, or many are dead."""
    conditioning = acquisition.conditioning
    if not conditioning:
        return ()
    left, dead = conditioning.left, conditioning.dead
    with ledger.phase("write image"):
        parts = allgather(comm, (left, set() if dead is None else dead.detected))
    before, after = sum(one.before for one, _ in parts), sum(one.after for one, _ in parts)
    samples = sum(one.samples for one, _ in parts)
    notes: list[str] = []
    if 0.0 <= after < LITTLE**2 * before < math.inf:
        was, has = math.sqrt(before / samples), math.sqrt(after / samples)
        notes.append(
            f"[acquisition] conditioning and mute leave next to nothing of the traces: their RMS is {was:.3g} as "
            f"recorded and {has:.3g} then (before balance); see {' and '.join(conditioning.filters) or 'them'}"
        )
    found, total = len(set().union(*(traces for _, traces in parts))), sum(len(s.receivers) for s in acquisition.shots)
    if dead is not None and dead.below > 0.0 and found > MANY_DEAD * total:
        notes.append(
            f"[acquisition] conditioning.dead_below: {found} of {total} traces are dead, of an RMS of at most "
            f"{dead.below:g} of the median of their shot, and add nothing"
        )
    return tuple(notes)
