"""Choosing the history of a run as the survey asks for it, and opening it."""

from __future__ import annotations

import math
import shutil
from contextlib import closing
from typing import Any

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, naming
from fathometer.base.ledger import now
from fathometer.parallel.collectives import allgather, allreduce, barrier, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.history.choice import HistoryChoice, HistoryShare, Rates
from fathometer.seismic.history.encoding import encoding_of, record_bytes
from fathometer.seismic.history.store import History
from fathometer.seismic.history.strategies import LOSSY_CHOICE, SCRATCH_KIND, HistoryRequest, choose_history
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage.scratch.stack import SLAB_BYTES, DiskStack

FREE_SHARE = 0.9  # of what is free on a disk
TRIAL_SLABS = 3  # written to measure what the disk takes


def choose(request: HistoryRequest) -> HistoryChoice:
    """Collective. How the history is kept. Raises InputError on all ranks where nothing that is allowed fits."""
    table, wavefield = request.table, request.wavefield
    with collective_errors(request.comm):
        free = FREE_SHARE * shutil.disk_usage(request.folder()).free
        share = HistoryShare(
            request.spare_bytes,
            request.budget(table.memory_budget, math.inf),
            request.budget(table.disk_budget, free),
            request.snapshot_bytes,
            record_bytes(wavefield.image_shape, request.dtype),
            wavefield.state_bytes,
            wavefield.changing_bytes,
            request.card_bytes,
            request.card_twin,
        )
    shares = allgather(request.comm, share)
    return choose_history(
        table, request.snapshots, shares, lambda: _rates(request), request.where, stores=request.stores
    )


def open_history(request: HistoryRequest, choice: HistoryChoice) -> tuple[History, Propagator | None]:
    """Collective. The history, and the source's own wavefield where it computes snapshots again.

    Raises FathometerError or InputError on all ranks: a missing library, a disk that is full or not there.
    """
    with collective_errors(request.comm), naming(f"{request.where}: [history]"):
        encoding = encoding_of(choice.encoding, request.wavefield.image_shape, request.dtype, request.table.tolerance)
        return request.stores[choice.store].open(request, choice, encoding)


def _rates(request: HistoryRequest) -> Rates:
    """Collective. Measured here and now: time steps, the encoding that may be chosen, the disk."""
    comm, table, wavefield = request.comm, request.table, request.wavefield
    shape, dtype = wavefield.image_shape, request.dtype
    with ledger.phase("choose history"):
        every = request.every
        wavefield.advance(every)
        wavefield.settle()
        barrier(comm)
        start = now()
        for _ in range(2):
            wavefield.advance(every)
        wavefield.settle()
        stepping = (now() - start) / 2
        wavefield.reset()
        name = LOSSY_CHOICE if table.encoding == "auto" else table.encoding
        with collective_errors(comm), naming(f"{request.where}: [history]"):
            encoding_seconds = _encoding_seconds(name, shape, dtype, table.tolerance)
            rate = _disk_rate(request)
        return Rates(
            allreduce(comm, stepping, "MAX"), allreduce(comm, encoding_seconds, "MAX"), allreduce(comm, rate, "MIN")
        )


def _encoding_seconds(name: str, shape: Index3, dtype: np.dtype[Any], tolerance: float) -> float:
    """Of encoding and decoding one snapshot of noise."""
    encoding = encoding_of(name, shape, dtype, tolerance)
    if encoding is None:
        return 0.0
    snapshot = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    record = np.zeros(encoding.largest, np.uint8)
    encoding.decode(record[: encoding.encode(snapshot, record)], snapshot)
    start = now()
    encoding.decode(record[: encoding.encode(snapshot, record)], snapshot)
    return now() - start


def _disk_rate(request: HistoryRequest) -> float:
    """Bytes a second of some records that are written; next to none where the disk takes none."""
    folder, worker = request.folder(), request.threads.background_thread(SCRATCH_KIND)
    try:
        with closing(DiskStack(folder, SLAB_BYTES, SLAB_BYTES, TRIAL_SLABS, worker, request.table.direct)) as stack:
            start = now()
            for _ in range(TRIAL_SLABS):
                stack.room()[:] = 1
                stack.push(SLAB_BYTES)
            stack.flush()
            return TRIAL_SLABS * SLAB_BYTES / (now() - start)
    except FathometerError:
        return 1.0
