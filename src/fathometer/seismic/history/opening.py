"""The history of a run as the survey asks for it, and the wavefield that goes with it."""

from __future__ import annotations

import math
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError, naming
from fathometer.base.ledger import now
from fathometer.grid.arrays import allocate
from fathometer.parallel.collectives import allgather, allreduce, barrier, collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.threads import Binding
from fathometer.seismic.history.checkpoint import CheckpointHistory, DiskStates, MemoryStates, States
from fathometer.seismic.history.choice import LOSSY_CHOICE, HistoryChoice, Rates, Share, choose_history
from fathometer.seismic.history.encoding import encoding_of, record_bytes
from fathometer.seismic.history.store import History, KeptHistory
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage.scratch.stack import SLAB_BYTES, DiskStack, MemoryStack, padded, slab_of

FREE_SHARE = 0.9  # of what is free on a disk
TRIAL_SLABS = 3  # written to learn what the disk takes
KIND = "history"  # in the account of files


def choose(setup: Setup, wavefield: Propagator, binding: Binding) -> HistoryChoice:
    """Collective. How the history is kept. Raises InputError on all ranks where nothing that is allowed fits."""
    wanted, comm = setup.survey.history, setup.comm
    with collective_errors(comm):
        folder = scratch_folder(setup)
        free = FREE_SHARE * shutil.disk_usage(folder).free
        share = Share(
            setup.spare_bytes,
            _part(wanted.memory_budget, math.inf, binding),
            _part(wanted.disk_budget, free, binding),
            math.prod(wavefield.image_shape) * setup.scheme.dtype.itemsize,
            record_bytes(wavefield.image_shape, setup.scheme.dtype),
            wavefield.state_bytes,
            wavefield.changing_bytes,
        )
    shares = allgather(comm, share)
    where = str(setup.survey.path)
    return choose_history(
        wanted,
        setup.time.snapshots,
        shares,
        lambda: _rates(setup, wavefield),
        where,
    )


def _part(budget: str | float, otherwise: float, binding: Binding) -> float:
    """Bytes of a host's budget for one of its ranks; `otherwise`: where that is "auto"."""
    return (budget if isinstance(budget, float) else otherwise) / binding.ranks_on_host


def open_history(
    setup: Setup, wavefield: Propagator, kept: HistoryChoice, binding: Binding
) -> tuple[History, Propagator | None]:
    """Collective. The history, and the source's own wavefield where it computes snapshots again.

    Raises FathometerError or InputError on all ranks: a missing library, a disk that is full or not there.
    """
    wanted, comm, tasks = setup.survey.history, setup.comm, wavefield.threads
    shape, dtype = wavefield.image_shape, setup.scheme.dtype
    with collective_errors(comm), naming(f"{setup.survey.path}: [history]"):
        encoding = encoding_of(kept.encoding, shape, dtype, wanted.tolerance)
        plain = math.prod(shape) * dtype.itemsize
        largest = encoding.largest if encoding is not None else plain
        worker = tasks.beside("snapshots") if encoding is not None and encoding.beside else None
        fixed = encoding is None or encoding.fixed
        stack: DiskStack | MemoryStack
        if kept.store == "disk":
            slab = slab_of(largest)
            slabs = math.ceil(kept.kept / (slab // padded(largest))) if fixed and largest else 0
            limit = math.inf if fixed else max(2 * slab, _part(wanted.disk_budget, math.inf, binding))
            worker_of_file = tasks.beside(KIND)
            stack = DiskStack(scratch_folder(setup), largest, slab, slabs, worker_of_file, wanted.direct, KIND, limit)
        elif fixed:
            stack = MemoryStack(largest, kept.room * padded(largest), _slab)
        else:  # what was planned is what is expected; what is allowed is the limit, but for the last piece
            limit = min(setup.spare_bytes, _part(wanted.memory_budget, math.inf, binding))
            stack = MemoryStack(largest, slab_of(largest), _slab, limit + slab_of(largest))
        history = KeptHistory(stack, encoding, setup.time.snapshots, shape, dtype, worker)
        if kept.schedule is None or not kept.twin:
            return history, None
        states: States
        if kept.states_on_disk:
            states = DiskStates(scratch_folder(setup), wavefield.state_bytes, kept.states)
        else:  # where all records have one size, states share their memory
            shared = stack.slabs[0] if fixed and largest and isinstance(stack, MemoryStack) else None
            states = MemoryStates(wavefield.state_bytes, shared)
        checkpoints = CheckpointHistory(history, kept.schedule, states)
    twin = setup.propagator()
    twin.threads, twin.tiling = wavefield.threads, wavefield.tiling
    return checkpoints, twin


def _slab(size: int) -> np.ndarray:
    """Memory on huge pages, first touched by the threads that will write to it."""
    numbers = padded(size) // 4
    return allocate((1, 1, numbers), np.dtype(np.float32)).reshape(numbers).view(np.uint8)


def scratch_folder(setup: Setup) -> Path:
    """Where what is kept on disk for a while lies. Raises InputError where that is no folder."""
    name = setup.survey.history.directory
    folder = setup.survey.output_directory if name is None else setup.survey.directory / name
    if not folder.is_dir():
        raise InputError(f"{setup.survey.path}: [history] directory: {folder} is no folder; needed: one that exists")
    return folder


def _rates(setup: Setup, wavefield: Propagator) -> Rates:
    """Collective. Measured here and now: time steps, the encoding that may be chosen, the disk."""
    comm, wanted = setup.comm, setup.survey.history
    shape, dtype = wavefield.image_shape, setup.scheme.dtype
    with ledger.phase("choose history"):
        every = setup.time.every
        wavefield.advance(every)
        barrier(comm)
        start = now()
        for _ in range(2):
            wavefield.advance(every)
        stepping = (now() - start) / 2
        wavefield.reset()
        name = LOSSY_CHOICE if wanted.encoding == "auto" else wanted.encoding
        with collective_errors(comm), naming(f"{setup.survey.path}: [history]"):
            encoding_seconds = _encoding_seconds(name, shape, dtype, wanted.tolerance)
            rate = _disk_rate(setup, wavefield)
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


def _disk_rate(setup: Setup, wavefield: Propagator) -> float:
    """Bytes a second of some records that are written; next to none where the disk takes none."""
    folder, worker = scratch_folder(setup), wavefield.threads.beside(KIND)
    direct = setup.survey.history.direct
    try:
        with closing(DiskStack(folder, SLAB_BYTES, SLAB_BYTES, TRIAL_SLABS, worker, direct)) as stack:
            start = now()
            for _ in range(TRIAL_SLABS):
                stack.room()[:] = 1
                stack.push(SLAB_BYTES)
            stack.flush()
            return TRIAL_SLABS * SLAB_BYTES / (now() - start)
    except FathometerError:
        return 1.0
