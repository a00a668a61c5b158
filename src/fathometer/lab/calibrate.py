"""`fathometer calibrate`: measure the entries of a machine file (plan/machine_file.py) in some minutes.

Measured here is what any application needs: triad, memory written for the first time, halo exchanges between two
ranks, a volume written and read. Rates of time steps and what else the machine file holds come from the probes of the
applications (runs/probes.py). How each was measured, and what disturbed it, is in the file too (measuring.py).
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.base.host import available_memory, cpu_model, total_memory
from fathometer.base.ledger import timed
from fathometer.base.process_stat import cpu_seconds
from fathometer.lab.measuring import Measuring, summary
from fathometer.lab.stencil import ITEM_BYTES, TRIAD_ELEMENTS
from fathometer.lab.studies.watch import Watch
from fathometer.parallel.collectives import LONG_NAP_SECONDS, barrier, collective_errors
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.parallel.threads import Binding, ThreadCounts
from fathometer.plan.machine_file import VERSION, Calibration, CutWork, Machine, Rate
from fathometer.runs.probes import Probes
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats.wavelet import Coded, Layout
from fathometer.storage.volumes.strategy import SHARES
from fathometer.storage.volumes.volume import open_volume, write_volume

WAVELET_CELLS = 256  # along each axis: a block for each of many threads
FILE_BYTES, FILES = 1 << 27, 5  # of a file; files written and read
FRESH_BYTES, FRESH_ARRAYS = 1 << 28, 8  # of an array; arrays at the same time, as far as a quarter of the memory lasts
FACES = (16, 384)  # cells: a small halo and a large one
HALO_CELLS = 4
EXCHANGES = (200, 20)  # timed together, of a small face and of a large one
EXCHANGED = 11  # times that many; the first is not counted


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
    cpus = _cpus_here(comm)
    others = _processes_here(comm)
    measuring = Measuring(Watch(daemons=partial(cpu_seconds, others)))
    say("rank to rank")
    own = ThreadCounts(binding.threads, 1, 1, tuple(binding.cpus) if binding.pinned else ())
    exchanged = _exchange_rates(comm, measuring)
    measured: dict[str, Any] = dict(exchanged)
    measuring.belongs_to(list(exchanged))
    measured |= _cut_works(comm, probes, own, measuring, say)
    with collective_errors(comm, LONG_NAP_SECONDS):
        if comm.rank == 0:
            team = ThreadCounts(len(cpus), len(cpus), len(cpus), cpus)
            team.use(len(cpus))
            whole_host = replace(binding, threads=len(cpus), cpus=list(cpus))
            for figures in _figures(folder, probes, team, whole_host, measuring, say):
                measured |= figures
                measuring.belongs_to(list(figures))
            measured["rates"] = tuple(_step_rates(probes, team, measuring, say))
            own.use(binding.threads)
    if comm.rank:
        return None
    machine = Machine.model_validate(
        {
            "schema_version": VERSION,
            "name": name or f"{socket.gethostname()} ({cpu_model()})",
            "cores_per_node": len(cpus),
            "memory_bytes_per_node": float(total_memory()),
            "notes": (f"fathometer calibrate, {comm.size} ranks, files in {folder}",),
            "calibration": Calibration(
                host=socket.gethostname(),
                cpu=cpu_model() or "",
                time=datetime.now(UTC).isoformat(timespec="seconds"),
                measurements=tuple(measuring.measurements),
            ).model_dump(),
            **measured,
        }
    )
    for line in summary(measuring.measurements):
        say(line)
    return machine


def _figures(
    folder: Path,
    probes: Sequence[Probes],
    team: ThreadCounts,
    whole_host: Binding,
    measuring: Measuring,
    say: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """Entries of the machine file beside the rates of time steps, as they are measured."""
    say("memory")
    yield {"triad_bytes_per_second": _triad_bytes_per_second(measuring)}
    yield _fresh_memory_rates(measuring)
    say("files")
    yield _file_rates(folder, measuring)
    yield {"wavelet_bytes_per_second": _wavelet_rate(measuring)}
    for probe in probes:
        yield from probe.machine_figures(folder, team, whole_host, measuring.seconds_of, say)


def _step_rates(
    probes: Sequence[Probes], team: ThreadCounts, measuring: Measuring, say: Callable[[str], None]
) -> Iterator[Rate]:
    for probe in probes:
        for rate in probe.step_rates(team, measuring.seconds_of, say):
            measuring.belongs_to([f"rates: {rate.physics}, {rate.dimensions}D, order {rate.order}, {rate.points:.3g}"])
            yield rate


def _cpus_here(comm: MPI.Intracomm) -> tuple[int, ...]:
    """Collective. The cpus of all ranks on this rank's host."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    masks = host.allgather(os.sched_getaffinity(0))
    host.Free()
    return tuple(sorted(set().union(*masks)))


def _processes_here(comm: MPI.Intracomm) -> list[int]:
    """Collective. The other ranks on this rank's host."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    found = host.allgather(os.getpid())
    host.Free()
    return [number for number in found if number != os.getpid()]


def _triad_bytes_per_second(measuring: Measuring) -> float:
    arrays = [_native.zerosFloat32((1, 1, TRIAD_ELEMENTS), n) for n in range(3)]
    return 3.0 * ITEM_BYTES * TRIAD_ELEMENTS / measuring.seconds_of(partial(_native.triad, *arrays), 5)


def _fresh_memory_rates(measuring: Measuring) -> dict[str, float]:
    """Bytes a second until arrays are there that a run allocates: of memory that was in use before, and as it was when
    it was asked for first: what gives the memory to a virtual machine may take its time."""
    count = max(1, min(FRESH_ARRAYS, available_memory() // 4 // FRESH_BYTES))
    first, again = (_allocation_seconds(count) for _ in range(2))
    return {
        "fresh_bytes_per_second": FRESH_BYTES / measuring.least_of(again),
        "unused_bytes_per_second": FRESH_BYTES / median(first),
    }


def _allocation_seconds(count: int) -> list[float]:
    """Of arrays that are there together, each zeroed by all threads."""
    held: list[Any] = []
    numbers = FRESH_BYTES // ITEM_BYTES
    return [timed(lambda: held.append(_native.zerosFloat32((1, 1, numbers), 0))) for _ in range(count)]


def _exchange_rates(comm: MPI.Intracomm, measuring: Measuring) -> dict[str, float]:
    """Collective. Latency and bandwidth of halo exchanges between two ranks of rank 0's host, and of two hosts."""
    hosts = comm.allgather(socket.gethostname())
    near = next((rank for rank in range(1, comm.size) if hosts[rank] == hosts[0]), None)
    far = next((rank for rank in range(1, comm.size) if hosts[rank] != hosts[0]), None)
    return _pair(comm, near, "local", measuring) | _pair(comm, far, "network", measuring)


def _pair(comm: MPI.Intracomm, other: int | None, where: str, measuring: Measuring) -> dict[str, float]:
    """Collective. Latency (s) and bandwidth (bytes/s) from a small and a large face that rank 0 and another rank
    exchange, as entries of the machine file; {} where there is no other rank."""
    if other is None:
        return {}
    pair = MPI.Intracomm(comm.Split(0 if comm.rank in (0, other) else 1, comm.rank))
    rates: dict[str, float] = {}
    if comm.rank in (0, other):
        seconds, sizes = zip(*(_exchange(pair, face, measuring) for face in FACES), strict=True)
        bytes_per_second = (sizes[1] - sizes[0]) / max(seconds[1] - seconds[0], 1e-9)
        rates = {
            f"{where}_latency_seconds": max(0.0, seconds[0] - sizes[0] / bytes_per_second),
            f"{where}_bytes_per_second": bytes_per_second,
        }
    barrier(comm)
    pair.Free()
    return rates


def _cut_works(
    comm: MPI.Intracomm, probes: Sequence[Probes], own: ThreadCounts, measuring: Measuring, say: Callable[[str], None]
) -> dict[str, Any]:
    """Collective. What a cut between two ranks of rank 0's host, with their own threads, adds to time steps; {} where
    there is no other rank."""
    hosts = comm.allgather(socket.gethostname())
    other = next((rank for rank in range(1, comm.size) if hosts[rank] == hosts[0]), None)
    if other is None:
        return {}
    pair = MPI.Intracomm(comm.Split(0 if comm.rank in (0, other) else 1, comm.rank))
    found: list[CutWork] = []
    if comm.rank in (0, other):
        own.use(own.propagate)
        for probe in probes:
            for work in probe.cut_works(pair, own, measuring.least_of, say):
                measuring.belongs_to([f"cut_works: {work.physics}, {work.along}"])
                found.append(work)
    barrier(comm, LONG_NAP_SECONDS)
    pair.Free()
    return {"cut_works": tuple(found)} if found else {}


def _exchange(pair: MPI.Intracomm, face: int, measuring: Measuring) -> tuple[float, int]:
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
    for _ in range(EXCHANGED):
        pair.Barrier()
        times.append(timed(exchanges) / count)
    halo.close()
    return pair.bcast(measuring.least_of(times[1:])), halo.bytes_sent


def _wavelet_rate(measuring: Measuring) -> float:
    """Bytes a second that all cores make coefficients of wavelets."""
    layout = Layout((WAVELET_CELLS,) * 3, 1, SHARES)
    coded = Coded(layout, (0, 0, 0), layout.blocks)
    values = np.random.default_rng(1).random(layout.cells, np.float32)
    return values.nbytes / measuring.seconds_of(lambda: coded.encode(values, 0))


def _file_rates(folder: Path, measuring: Measuring) -> dict[str, float]:
    """Bytes a second of a volume written, flush included, and read again from its device as far as the system drops it
    from the page cache."""
    n = FILE_BYTES // (4 * 512 * 512)
    values = np.random.default_rng(1).random((n, 512, 512), np.float32)
    info = VolumeInfo(values.shape, values.dtype, None, None, None, None)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".calibrate-") as name:
        path = Path(name) / "volume.npy"
        writes, reads = [], []
        for _ in range(FILES):
            writes.append(timed(partial(write_volume, path, info, values, (0, 0, 0), MPI.COMM_SELF)))
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)

            def read() -> None:
                with open_volume(path.name, path.parent) as volume:
                    volume.read((0, 0, 0), info.shape)

            reads.append(timed(read))
    return {
        "write_bytes_per_second": values.nbytes / measuring.middle_of_the_least(writes),
        "read_bytes_per_second": values.nbytes / measuring.middle_of_the_least(reads),
    }
