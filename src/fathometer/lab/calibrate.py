"""`fathometer calibrate`: measure the entries of a machine file (plan/machine_file.py) in under a minute.

Measured here is what any application needs: triad, halo exchanges between two ranks, a volume written and read. Rates
of time steps and what else the machine file holds come from the probes of the applications (runs/probes.py).
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.base import ledger
from fathometer.base.host import cpu_model, peak_memory, total_memory
from fathometer.base.ledger import timed
from fathometer.lab.stencil import ITEM_BYTES, TRIAD_ELEMENTS
from fathometer.parallel.collectives import LONG_NAP_SECONDS, barrier, collective_errors
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.plan.machine_file import VERSION, Machine
from fathometer.runs.probes import Probes
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.volume import open_volume, write_volume

SHORTEST_SECONDS = 0.3  # of a measurement, all its repetitions together
FILE_BYTES = 1 << 27
FACES = (16, 384)  # cells: a small halo and a large one
HALO_CELLS = 4
EXCHANGES = (200, 20)  # timed together, of a small face and of a large one


def calibrate(
    folder: Path,
    name: str,
    probes: Sequence[Probes],
    comm: MPI.Intracomm,
    binding: Binding,
    say: Callable[[str], None],
) -> Machine | None:
    """Collective. Measure with the ranks of `comm`; rates of files in `folder`. The machine on rank 0, else None.

    `name`: of the machine, "": made from host and processor; `probes`: of the applications.

    Raises FathometerError, the same on all ranks, where nothing can be written into the folder.
    """
    process_bytes = peak_memory()
    cpus = _cpus_here(comm)
    say("rank to rank")
    local, network = _exchange_rates(comm)
    measured: dict[str, Any] = {}
    with collective_errors(comm, LONG_NAP_SECONDS):
        if comm.rank == 0:
            team = ThreadCounts(len(cpus), len(cpus), len(cpus), cpus)
            team.use(len(cpus))
            say("memory bandwidth")
            measured["triad_bytes_per_second"] = _triad_bytes_per_second()
            measured["rates"] = tuple(rate for probe in probes for rate in probe.step_rates(team, seconds_of, say))
            say("files")
            measured |= _file_rates(folder)
            whole_host = replace(binding, threads=len(cpus), cpus=list(cpus))
            for probe in probes:
                measured |= probe.machine_figures(folder, team, whole_host, seconds_of, say)
            own = ThreadCounts(binding.threads, 1, 1, tuple(binding.cpus) if binding.pinned else ())
            own.use(binding.threads)
    if comm.rank:
        return None
    account = ledger.current()
    return Machine.model_validate(
        {
            "schema_version": VERSION,
            "name": name or f"{socket.gethostname()} ({cpu_model()})",
            "cores_per_node": len(cpus),
            "memory_bytes_per_node": float(total_memory()),
            "process_bytes": float(process_bytes),
            "start_seconds": account.seconds("start-up") if account is not None else 0.0,
            "notes": (f"fathometer calibrate, {comm.size} ranks, files in {folder}",),
            **local,
            **network,
            **measured,
        }
    )


def _cpus_here(comm: MPI.Intracomm) -> tuple[int, ...]:
    """Collective. The cpus of all ranks on this rank's host."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    masks = host.allgather(os.sched_getaffinity(0))
    host.Free()
    return tuple(sorted(set().union(*masks)))


def seconds_of(task: Callable[[], object], least: int = 3) -> float:
    """Median seconds of a call: of at least `least` calls that take SHORTEST_SECONDS together; one before them is not
    counted."""
    task()
    times: list[float] = []
    while len(times) < least or sum(times) < SHORTEST_SECONDS:
        times.append(timed(task))
    return median(times)


def _triad_bytes_per_second() -> float:
    arrays = [_native.zerosFloat32((1, 1, TRIAD_ELEMENTS), n) for n in range(3)]
    return 3.0 * ITEM_BYTES * TRIAD_ELEMENTS / seconds_of(partial(_native.triad, *arrays), 5)


def _exchange_rates(comm: MPI.Intracomm) -> tuple[dict[str, float], dict[str, float]]:
    """Collective. Latency and bandwidth of halo exchanges between two ranks of rank 0's host, and of two hosts."""
    hosts = comm.allgather(socket.gethostname())
    near = next((rank for rank in range(1, comm.size) if hosts[rank] == hosts[0]), None)
    far = next((rank for rank in range(1, comm.size) if hosts[rank] != hosts[0]), None)
    return _pair(comm, near, "local"), _pair(comm, far, "network")


def _pair(comm: MPI.Intracomm, other: int | None, where: str) -> dict[str, float]:
    """Collective. Latency (s) and bandwidth (bytes/s) from a small and a large face that rank 0 and another rank
    exchange, as entries of the machine file; {} where there is no other rank."""
    if other is None:
        return {}
    pair = MPI.Intracomm(comm.Split(0 if comm.rank in (0, other) else 1, comm.rank))
    rates: dict[str, float] = {}
    if comm.rank in (0, other):
        seconds, sizes = zip(*(_exchange(pair, face) for face in FACES), strict=True)
        bytes_per_second = (sizes[1] - sizes[0]) / max(seconds[1] - seconds[0], 1e-9)
        rates = {
            f"{where}_latency_seconds": max(0.0, seconds[0] - sizes[0] / bytes_per_second),
            f"{where}_bytes_per_second": bytes_per_second,
        }
    barrier(comm)
    pair.Free()
    return rates


def _exchange(pair: MPI.Intracomm, face: int) -> tuple[float, int]:
    """Collective over two ranks. Seconds of a halo exchange of `face` x `face` cells, and the bytes that each sends."""
    block = Decomposition((8 * HALO_CELLS, face, face), (2, 1, 1), pair.rank)
    array = np.zeros([n + 2 * HALO_CELLS for n in block.local_shape], np.float32)
    halo = HaloExchange(pair, block, [HaloField(array, (HALO_CELLS,) * 3, (0,))], HALO_CELLS)
    count = EXCHANGES[0] if face == FACES[0] else EXCHANGES[1]

    def exchanges() -> None:
        for _ in range(count):
            halo.start()
            halo.wait()

    times = []
    for _ in range(6):
        pair.Barrier()
        times.append(timed(exchanges) / count)
    halo.close()
    return pair.bcast(median(times[1:])), halo.bytes_sent


def _file_rates(folder: Path) -> dict[str, float]:
    """Bytes a second of a volume written, flush included, and read again from its device as far as the system drops it
    from the page cache."""
    n = FILE_BYTES // (4 * 512 * 512)
    values = np.random.default_rng(1).random((n, 512, 512), np.float32)
    info = VolumeInfo(values.shape, values.dtype, None, None, None, None)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".calibrate-") as name:
        path = Path(name) / "volume.npy"
        writes, reads = [], []
        for _ in range(3):
            writes.append(timed(partial(write_volume, path, info, values, (0, 0, 0), MPI.COMM_SELF)))
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)

            def read() -> None:
                with open_volume(path.name, path.parent) as volume:
                    volume.read((0, 0, 0), info.shape)

            reads.append(timed(read))
    return {
        "write_bytes_per_second": values.nbytes / median(writes),
        "read_bytes_per_second": values.nbytes / median(reads),
    }
