"""Modelled traces of a shot from the ranks that have recorded them to the one that writes them."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import LARGEST_MESSAGE, synchronised

TAG = 78  # of messages of traces: others may be on their way


def gather_traces(comm: MPI.Intracomm, count: int, indices: np.ndarray, traces: np.ndarray) -> np.ndarray | None:
    """Collective. All `count` traces of a shot, (count, samples) float32, on rank 0; None on the others.

    They are received rank after rank, in messages of at most LARGEST_MESSAGE bytes.

    Args:
        indices: (n,) int64, which of the traces this rank has; each belongs to one rank.
        traces: (n, samples) float32, in the order of `indices`.
    """
    samples = traces.shape[1]
    most = max(1, LARGEST_MESSAGE // (samples * traces.itemsize))  # traces in a message
    all_traces = np.zeros((count, samples), np.float32) if comm.rank == 0 else None
    with synchronised(comm):
        if all_traces is None:
            with ledger.communication(bytes=indices.nbytes + traces.nbytes):
                comm.send(indices, 0, TAG)
                for start in range(0, len(indices), most):
                    comm.Send(traces[start : start + most], 0, TAG)
            return None
        all_traces[indices] = traces
        for rank in range(1, comm.size):
            with ledger.communication():
                indices = comm.recv(source=rank, tag=TAG)
                for start in range(0, len(indices), most):
                    part = np.empty((len(indices[start : start + most]), samples), np.float32)
                    comm.Recv(part, rank, TAG)
                    all_traces[indices[start : start + most]] = part
    return all_traces
