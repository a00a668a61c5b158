"""`fathometer calibrate`: measure what a plan needs to know of this machine (plan/machine_file.py), in under a minute.

Each rate comes from the program's own parts at work: propagators with their absorbing sides, halo exchanges between two
ranks, volumes written and read, traces resampled, a tiny migration for what every run costs.
"""

from __future__ import annotations

import itertools
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
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
from fathometer.base.ledger import Ledger
from fathometer.config.sections import TuningTable
from fathometer.grid.grid import Grid
from fathometer.grid.tuning import tune
from fathometer.lab.statistics import timed
from fathometer.lab.stencil import TRIAD_ELEMENTS
from fathometer.parallel.collectives import LONG_NAP_SECONDS, barrier, collective_errors
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.parallel.threads import Binding, Tasks
from fathometer.plan.machine_file import VERSION, Machine, Rate
from fathometer.runs.context import Context
from fathometer.seismic.model.earth import extremes
from fathometer.seismic.modelling.driver import run_model
from fathometer.seismic.rtm.driver import run_migrate
from fathometer.seismic.survey import survey_of
from fathometer.seismic.traces.dispersion import adjoint_of_inverse, inverse_transform
from fathometer.seismic.traces.resampling import resample
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.homogeneous import ISOTROPIC, VTI, Homogeneous
from fathometer.seismic.waves.points import sinc_points
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.volume import open_volume, write_volume

SIZES: dict[int, tuple[Index3, ...]] = {
    3: ((40, 40, 40), (96, 96, 96), (200, 200, 200)),
    2: ((100, 1, 100), (500, 1, 400), (2500, 1, 1200)),
}
ORDERS = (4, 8, 12, 16)
STEPS = 8  # taken at a time: an image is made every five to twelve
LONG_ENOUGH = 0.3  # s of a measurement
FILE_BYTES = 1 << 27
TRACES, TRACE_STEPS = (8, 200), 2000
POINTS = 4000
FACES = (16, 384)  # cells: a small halo and a large one


def calibrate(
    folder: Path, name: str, comm: MPI.Intracomm, binding: Binding, say: Callable[[str], None]
) -> Machine | None:
    """Collective. Measure with the ranks of `comm`; file rates in `folder`. Returns it on rank 0.

    Raises FathometerError, the same on all ranks, where nothing can be written into the folder.
    """
    process = peak_memory()
    cpus = _cpus_here(comm)
    say("rank to rank")
    local, network = _exchange_rates(comm)
    measured: dict[str, Any] = {}
    with collective_errors(comm, LONG_NAP_SECONDS):
        if comm.rank == 0:
            team = Tasks(len(cpus), len(cpus), len(cpus), cpus)
            team.use(len(cpus))
            say("memory bandwidth")
            measured["triad_bytes_per_second"] = _triad()
            measured["rates"] = tuple(_rates(team, say))
            say("files")
            measured |= _files(folder)
            say("traces")
            measured |= _traces(team)
            say("a whole small run")
            measured |= _whole_run(folder, replace(binding, threads=len(cpus), cpus=list(cpus)))
            own = Tasks(binding.threads, 1, 1, tuple(binding.cpus) if binding.pinned else ())
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
            "process_bytes": float(process),
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


def _repeated(task: Callable[[], object], least: int = 3) -> float:
    """Seconds of a call: the median of as many as take long enough, one before them uncounted."""
    task()
    times: list[float] = []
    while len(times) < least or sum(times) < LONG_ENOUGH:
        times.append(timed(task))
    return median(times)


def _triad() -> float:
    """Bytes a second."""
    arrays = [_native.zerosFloat32((1, 1, TRIAD_ELEMENTS), n) for n in range(3)]
    return 12.0 * TRIAD_ELEMENTS / _repeated(partial(_native.triad, *arrays), 5)


def _rates(team: Tasks, say: Callable[[str], None]) -> Iterator[Rate]:
    """The propagator in both physics and dimensions, as a run without a search would step it."""
    for material in (VTI, ISOTROPIC):
        for dimensions, shapes in SIZES.items():
            say(f"time steps, {material.name}, {dimensions}D")
            for shape, order in itertools.product(shapes, ORDERS):
                grid = Homogeneous(shape, material, Pml(), order)
                wave = grid.propagator
                wave.threads = team
                tune(wave, TuningTable(search="never"), STEPS, 1, team.propagate, lambda line: None)
                points = float(np.prod(grid.grid.full_shape))
                seconds = _repeated(partial(wave.advance, STEPS))
                wave.close()
                yield Rate(
                    physics="isotropic" if material is ISOTROPIC else "vti",
                    dimensions=3 if dimensions == 3 else 2,
                    order=order,
                    points=points,
                    points_per_second=STEPS * points / seconds,
                )


def _exchange_rates(comm: MPI.Intracomm) -> tuple[dict[str, float], dict[str, float]]:
    """Collective. Latency and bandwidth of halo exchanges between two ranks of rank 0's host, and of two hosts."""
    hosts = comm.allgather(socket.gethostname())
    near = next((rank for rank in range(1, comm.size) if hosts[rank] == hosts[0]), None)
    far = next((rank for rank in range(1, comm.size) if hosts[rank] != hosts[0]), None)
    return _pair(comm, near, "local"), _pair(comm, far, "network")


def _pair(comm: MPI.Intracomm, other: int | None, where: str) -> dict[str, float]:
    """Collective. Rank 0 and another exchange a small and a large face; {} where there is no other."""
    if other is None:
        return {}
    pair = MPI.Intracomm(comm.Split(0 if comm.rank in (0, other) else 1, comm.rank))
    found: dict[str, float] = {}
    if comm.rank in (0, other):
        seconds, sizes = zip(*(_exchange(pair, face) for face in FACES), strict=True)
        rate = (sizes[1] - sizes[0]) / max(seconds[1] - seconds[0], 1e-9)
        found = {
            f"{where}_latency_seconds": max(0.0, seconds[0] - sizes[0] / rate),
            f"{where}_bytes_per_second": rate,
        }
    barrier(comm)
    pair.Free()
    return found


def _exchange(pair: MPI.Intracomm, face: int) -> tuple[float, int]:
    """Collective over two ranks. Seconds of one halo exchange and the bytes that each sends in it."""
    depth = 4
    block = Decomposition((8 * depth, face, face), (2, 1, 1), pair.rank)
    array = np.zeros([n + 2 * depth for n in block.local_shape], np.float32)
    halo = HaloExchange(pair, block, [HaloField(array, (depth, depth, depth), (0,))], depth)
    count = 200 if face == FACES[0] else 20

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


def _files(folder: Path) -> dict[str, float]:
    """Bytes a second of a volume written, flush included, and read again from its device as far as the system lets."""
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


def _traces(team: Tasks) -> dict[str, float]:
    """One core's seconds for the traces of a shot: a part for the shot, a part for each trace; and for the weights.

    The traces are shared by all cores, as a run does it: they get less each than one alone would.
    """
    rng, dt, interval = np.random.default_rng(1), 0.001, 0.004
    seconds = []
    for count in TRACES:
        stepped = rng.standard_normal((count, TRACE_STEPS)).astype(np.float32)
        sampled = rng.standard_normal((count, TRACE_STEPS // 4)).astype(np.float32)

        def model(traces: np.ndarray) -> np.ndarray:
            return resample(inverse_transform(traces, 100), -0.1, dt, 0.0, interval, TRACE_STEPS // 4, 50.0)

        def migrate(traces: np.ndarray) -> np.ndarray:
            return adjoint_of_inverse(resample(traces, 0.0, interval, -0.1, dt, TRACE_STEPS, 50.0), 100)

        both = [
            _repeated(partial(team.on_traces, model, stepped)),
            _repeated(partial(team.on_traces, migrate, sampled)),
        ]
        seconds.append(sum(both) / 2)
    each = max(0.0, (seconds[1] - seconds[0]) / (TRACES[1] - TRACES[0]))
    grid = Homogeneous((64, 64, 64), ISOTROPIC, Pml())
    cells = 8 + 40 * rng.random((POINTS, 3))
    return {
        "trace_step_seconds": team.io * each / TRACE_STEPS,
        "shot_step_seconds": max(0.0, seconds[0] - TRACES[0] * each) / TRACE_STEPS,
        "model_cell_seconds": _model_cell(),
        "point_seconds": _repeated(lambda: grid.propagator.injectors(sinc_points(cells))) / POINTS,
    }


def _model_cell() -> float:
    """Seconds for a cell of a VTI model that has been read: the checks and extremes, on one core."""
    vp = np.full((40, 100, 100), 2000.0, np.float32)
    epsilon = np.full_like(vp, 0.1)
    grid = Grid(vp.shape, (10.0,) * 3)

    def look() -> None:
        for values in (vp, epsilon, epsilon):
            bool((~np.isfinite(values)).sum() + ((values < 0) | (values > 9000)).sum())
        extremes(vp, epsilon, epsilon, grid, 4, "taylor")

    return _repeated(look) / vp.size


def _whole_run(folder: Path, binding: Binding) -> dict[str, float]:
    """What every run costs beside its work: its end, and each call for some steps of a grid that costs nothing."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".calibrate-") as name:
        here = Path(name)
        np.save(here / "vp.npy", np.full((24, 16, 20), 2000.0, np.float32))
        geometry = {
            "sources": {"x": 100.0, "y": 80.0, "z": 20.0},
            "receivers": {"x": [0.0, 200.0, 20.0], "y": 80.0, "z": 20.0},
        }
        common = {
            "model": {"vp": "vp.npy", "spacing": [10.0, 10.0, 10.0]},
            "wavelet": {"kind": "ricker", "peak_frequency": 10.0},
        }
        quiet = Context(("fathometer", "calibrate"), True, binding, lambda line: None)
        shots = common | {"acquisition": geometry, "propagation": {"duration": 0.2}, "output": {"directory": "shots"}}
        image = common | {"acquisition": {"gathers": "shots/shots.segy"}, "output": {"directory": "image"}}
        with Ledger():
            run_model(survey_of(shots, here / "shots.toml"), MPI.COMM_SELF, quiet)
        with Ledger() as account:
            run_migrate(survey_of(image, here / "image.toml"), MPI.COMM_SELF, quiet)
        grid = Homogeneous((8, 8, 8), VTI, Pml(4), 2)
        return {
            "finish_seconds": sum(account.seconds(phase) for phase in ("draw", "report", "yardstick", "finish")),
            "step_seconds": _repeated(partial(grid.propagator.advance, 1), 50),
        }
