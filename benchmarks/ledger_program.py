"""Run on some ranks by benchmarks/ledger.py: python -m benchmarks.ledger_program ROUNDS CELLS THREADS"""

from __future__ import annotations

import json
import pickle
import shutil
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.ledger import Ledger, now
from fathometer.base.progress import Progress
from fathometer.parallel.collectives import barrier
from fathometer.parallel.threads import bind, thread_counts
from fathometer.runs.context import Context
from fathometer.seismic.history.opening import choose, open_history
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.shot import migrate_shot
from fathometer.seismic.rtm.worker import history_request
from fathometer.seismic.setup.cone import Cone
from fathometer.seismic.setup.setup import prepare
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.survey import survey_of
from fathometer.storage.traces.segy import GatherWriter

SURVEY = {
    "model": {"vp": "vp.npy", "epsilon": 0.1, "delta": 0.05, "spacing": [10.0, 10.0, 10.0]},
    "acquisition": {"gathers": "shots.segy"},
    "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
}


def inputs(folder: Path, cells: int) -> None:
    """One recorded shot, of noise, in a homogeneous model."""
    np.save(folder / "vp.npy", np.full((cells,) * 3, 2000.0, np.float32))
    receivers = np.array([(10.0 * x, 10.0 * y, 20.0) for x in range(0, cells, 8) for y in range(0, cells, 8)])
    with GatherWriter(folder / "shots.segy", 101, 0.004, len(receivers)) as writer:
        noise = np.random.default_rng(1).standard_normal((len(receivers), 101))
        writer.write(0, 1, (5.0 * cells, 5.0 * cells, 20.0), receivers, noise)


def main(rounds: int, cells: int, threads: int) -> None:
    """Print a JSON object on rank 0."""
    comm = MPI.COMM_WORLD
    binding = bind(comm, threads)
    folder = Path(comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None))
    if comm.rank == 0:
        inputs(folder, cells)
        (folder / "out").mkdir()
    barrier(comm)
    setup = prepare(survey_of(SURVEY, folder / "survey.toml"), comm, imaging=True)
    with_account, without = setup.propagator(), setup.propagator()
    for wavefield in (with_account, without):
        wavefield.threads = thread_counts(setup.survey.threads.model_dump(), binding)
    for exchange in without._exchanges:  # the messages that tell waiting from travelling are a part of the cost
        exchange._announcements.clear()
        exchange._neighbours.clear()
    shape, dtype = without.image_shape, setup.scheme.dtype
    imaging, (shot,) = setup.survey.imaging, setup.acquisition.shots
    condition = condition_of(imaging)(volumes_of(imaging), shape, dtype)
    request = history_request(setup, without, Context((), True, binding, lambda line: None))
    choice = choose(request)
    account, cone = Ledger(), Cone.of(setup)

    def seconds(on: bool) -> float:
        barrier(comm)
        start = now()
        with account if on else nullcontext():
            history, _ = open_history(request, choice)
            with Progress(1, now=now, rank=comm.rank, quiet=True) as progress:
                migrate_shot(setup, with_account if on else without, shot, cone, history, condition, progress)
        elapsed: float = comm.allreduce(now() - start, MPI.MAX)
        return elapsed

    seconds(False)
    seconds(True)
    before = size_of(account)
    spans = sum(entry["calls"] for entry in account.as_dict()["entries"])
    times = {"on": [], "off": []}
    for turn in range(rounds):
        for name in ("on", "off") if turn % 2 else ("off", "on"):
            times[name].append(seconds(name == "on"))
    growth = size_of(account) - before
    if comm.rank == 0:
        shutil.rmtree(folder)
        print(json.dumps(times | {"spans": spans, "span_seconds": span_seconds(), "growth_bytes": growth}))


def size_of(account: Ledger) -> int:
    """Bytes of all that an account holds, written down (numbers in eight bytes whatever their value)."""
    told = account.as_dict()
    return len(pickle.dumps([[float(x) for x in e.values() if not isinstance(x, str)] for e in told["entries"]])) + len(
        pickle.dumps([[float(x) for x in row["seconds"]] for row in told["timeline"]["rows"]])
    )


def span_seconds(count: int = 100_000) -> float:
    """Seconds of one span within another."""
    with Ledger(), ledger.phase("outer"):
        start = now()
        for _ in range(count):
            with ledger.communication("inner", bytes=8):
                pass
        return (now() - start) / count


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
