"""Runs of which one I/O call fails, each call in turn: they end well with the undisturbed results, or with one line
that says why, and what goes on from there, or begins again, has the undisturbed results, bit by bit.

In `make test` a few calls, in `make trials` all of them, and some of each of two ranks that share the work.
"""

from __future__ import annotations

import errno
import json
import os
import queue
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import numpy as np
import pytest
from atmosphere_support import wave_values
from cli_support import INTERVAL, MIGRATE, MODEL, finish, program, start, survey
from elastic_surveys import IN_2D, elastic_survey
from failing_calls import ERRORS, OnRanks, Server, Tried, library
from flow_inputs import box_values
from input_values import text_of
from kill_support import gone
from ocean_inputs import ocean_values
from plasma_inputs import box_values as plasma_values
from reactive_flows import values as flow_values
from time_survey_support import PATCH, record_noise

from fathometer.storage.traces.segy_writer import GatherWriter

REPEATS = int(os.environ.get("FATHOMETER_CALLS", "60"))  # of calls of kinds that were met, in a case
SHOTS, SAMPLES, CELLS = 2, 76, 24
SMALL = {
    "model.spacing": [10.0, 10.0],
    "propagation.boundary": {"kind": "sponge", "width": 4},
    "tuning.search": "never",
}
MIGRATION = MIGRATE | SMALL | {"history.store": "disk"}
COEFFICIENTS = {"output.image": "image.h5", "storage.write": "auto:filter=wavelet"}
MODELLING = {
    **MODEL,
    **SMALL,
    "acquisition.sources": {"x": [60.0, 100.0, 40.0], "z": 20.0},
    "acquisition.receivers": {"x": [0.0, 230.0, 10.0], "z": 20.0},
    "propagation.duration": 0.1,
}


OCEAN = ocean_values(
    grid__cells=[8, 6],
    grid__levels=[50.0, 100.0],
    initial={"noise": {"amplitude": 0.1}},
    forcing={"wind": {"kind": "double-gyre", "amplitude": 0.2}},
    rotation={"f": 1e-4, "beta": 2e-11},
    barotropic={"tile": 4},
    decomposition={"block": [4, 4]},
    time__steps=6,
    output={"every_steps": 2, "course_steps": 1, "restart_steps": 3, "fields": ["temperature", "vertical_velocity"]},
)
FLOW = flow_values(time__end=5000.0, output={"every": 2000.0, "restart_steps": 2, "fields": ["pH"]})
BOX = box_values(time__step=0.02, output={"every": 0.04, "restart_steps": 2})
AIR = wave_values(
    levels={"count": 2},
    time={"end": 0.25, "step": 3600.0},
    physics={"forcing": "radiation", "layout": "blocks", "balance": "all"},
    output={"every": 0.125, "restart_steps": 3},
)
PLASMA = plasma_values(time={"end": 0.5})
ELASTIC = {"propagation__duration": 0.03, "tuning__search": "never", "source__kind": "double-couple"}


def toml(values: dict[str, Any]) -> Callable[[Path], Path]:
    """What writes such an input file into a folder."""

    def write(folder: Path) -> Path:
        path = folder / "input.toml"
        path.write_text(text_of(values))
        return path

    return write


def seismic(keys: dict[str, Any]) -> Callable[[Path], Path]:
    """What writes such a survey, with its model and gathers, into a folder."""

    def write(folder: Path) -> Path:
        np.save(folder / "vp.npy", np.full((CELLS, 16), 2000, np.float32))
        receivers = np.array([[10.0 * trace, 0.0, 20.0] for trace in range(CELLS)])
        with GatherWriter(folder / "recorded.segy", SAMPLES, INTERVAL, CELLS * SHOTS) as writer:
            for shot in range(SHOTS):
                source = np.array([60.0 + 40 * shot, 0.0, 20.0])
                times = INTERVAL * np.arange(SAMPLES) - 0.05 - np.abs(receivers[:, :1] - source[0]) / 2000
                writer.write(shot * CELLS, shot + 1, source, receivers, np.exp(-((60 * times) ** 2)))
        return survey(folder, keys)

    return write


def time_survey(folder: Path) -> Path:
    """A survey to be migrated in time, in four blocks of traces."""
    record_noise(folder)
    return survey(folder, PATCH)


@dataclass(frozen=True)
class Case:
    """A command, what writes its input into a folder, what goes on with it when it has failed, its results, entries of
    its record that are the same however it came to its end, and results that grow until then."""

    command: str
    input: Callable[[Path], Path]
    again: tuple[str, ...]
    results: tuple[str, ...]
    told: tuple[str, ...] = ()
    growing: tuple[str, ...] = ()


CASES = {
    "migrate": Case("migrate", seismic(MIGRATION), ("--resume",), ("image*.rsf*",)),
    "migrate, coefficients": Case("migrate", seismic(MIGRATION | COEFFICIENTS), ("--resume",), ("image*.h5",)),
    "model": Case("model", seismic(MODELLING), ("--resume",), ("shots.segy",)),
    "migrate-time": Case("migrate-time", time_survey, ("--resume",), ("time/image*.rsf*",)),
    "elastic": Case(
        "model", lambda folder: elastic_survey(folder, **IN_2D | ELASTIC), ("--resume",), ("*.rsf*", "*.segy")
    ),
    "flow": Case("flow", toml(BOX), ("--resume",), ("fields/*", "restart/*5/*"), ("field_times_seconds",)),
    "flow in one file": Case(
        "flow",
        toml(box_values(**BOX, output__tecplot__series="file")),
        ("--resume",),
        ("fields/*", "restart/*5/*"),
        ("field_times_seconds",),
        ("out/fields/flow.plt",),
    ),
    "ocean": Case(
        "ocean", toml(OCEAN), ("--resume",), ("fields/*", "restart/*6/*"), ("course", "balance", "field_files")
    ),
    "atmosphere": Case("atmosphere", toml(AIR), ("--resume",), ("fields/*", "restart/*6/*"), ("field_times_seconds",)),
    "plasma": Case("plasma", toml(PLASMA), ("--resume",), ("fields/*",)),
    "reactive": Case(
        "reactive",
        toml(FLOW),
        ("--resume",),
        ("fields/*", "flow.xdmf", "restart/*5/*"),
        ("field_times_seconds",),
        ("out/flow.xdmf",),
    ),
}


MPI_SAYS = ("mca_", "MPI error (")  # what Open MPI's and PnetCDF's own lines begin with, beside this program's
SET_ASIDE = "are not in the image (--resume --retry-failed migrates them again)"


@dataclass(frozen=True)
class Whole:
    """An undisturbed run: what its results hold, by their names; entries of its record; its calls, each with its path
    below the run's folder."""

    right: dict[str, bytes]
    told: dict[str, Any] | None
    calls: list[str]


class Trials:
    """Undisturbed runs, and runs with one failure."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server

    @cache  # noqa: B019 - a case is begun where it is asked for, once
    def whole(self, name: str) -> Whole:
        """The undisturbed run of a case."""
        case, log = CASES[name], self.folder / "log"
        inputs = self.folder / name
        inputs.mkdir()
        case.input(inputs)
        run = self.begin(name)
        self.server.warm(case.command, *run.glob("*.toml"), "--quiet", "--threads", 1)
        run = self.begin(name)
        tried = self.go(case, run, log=log)
        assert (tried.code, tried.text) == (0, "")
        calls = [line.replace(f"{run}/", "") for line in log.read_text().splitlines()]
        assert len(calls) == tried.calls
        right = results(case, run)
        assert right
        return Whole(right, told(case, run), calls)

    def begin(self, name: str) -> Path:
        """A folder of its own with the inputs of a case."""
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(self.folder / name, run)
        return run

    def go(self, case: Case, run: Path, *words: str, at: int = 0, error: int = 0, log: Path | None = None) -> Tried:
        """One run of the case."""
        words = (case.command, *map(str, run.glob("*.toml")), "--quiet", "--threads", "1", *words)
        return self.server.run(run, *words, at=at, error=error, log=log)

    def firsts(self, name: str) -> list[int]:
        """Numbers of the calls that are the first of their kind."""
        kinds = [kind_of(call) for call in self.whole(name).calls]
        return [at for at, kind in enumerate(kinds, 1) if kinds.index(kind) + 1 == at]

    def survive(self, name: str, at: int, error: int) -> str:
        """Fail one call; what is wrong with what became of it, "" for nothing."""
        case, whole = CASES[name], self.whole(name)
        run = self.begin(name)
        tried = self.go(case, run, at=at, error=error)
        wrong = judge(case, whole, run, tried.code, tried.text)
        if not wrong and tried.code:
            again = self.go(case, run, *again_after(case, tried))
            if again.code or again.text:
                wrong = f"not repeated: {again.code}: {again.text}"
            else:
                wrong = judge(case, whole, run, 0, "")
        return f"{name}: call {at} ({tried.failed}), {errno.errorcode[error]}: {wrong}" if wrong else ""


def again_after(case: Case, tried: Tried) -> list[str]:
    """The words with which a run goes on that has failed."""
    return [*case.again, *(["--retry-failed"] * (SET_ASIDE in tried.text))]


def judge(case: Case, whole: Whole, run: Path, code: object, text: str) -> str:
    """What is wrong with the end of a run and the files that it left."""
    out, lines = run / "out", [line for line in text.splitlines() if not line.startswith(MPI_SAYS)]
    if code not in (0, 1, 2):
        return f"exit code {code}: {text}"
    if "Traceback" in text or (code and not (len(lines) == 1 and lines[0].startswith("fathometer: error: "))):
        return text or "no line"
    there = results(case, run)
    for one in sorted(whole.right if code == 0 else whole.right.keys() & there.keys() - {*case.growing}):
        has = there.get(one, b"")
        # Where a shot was set aside, the image is that of the others: whole all the same.
        if has != whole.right[one] and not (SET_ASIDE in text and len(has) == len(whole.right[one])):
            return f"exit code {code}, but {one} {'differs' if has else 'is missing'}: {text}"
    for record in out.rglob("run*.json"):
        json.loads(record.read_text())
    if code:
        return ""
    if more := sorted(there.keys() - whole.right):
        return f"{more[0]} is none of the results"
    if parts := [str(path) for path in out.rglob("*.part")]:
        return f"{parts[0]} is left"
    return "" if told(case, run) == whole.told else "the record is missing, or tells of something else"


def results(case: Case, run: Path) -> dict[str, bytes]:
    """The results that are there."""
    paths = [path for pattern in case.results for path in (run / "out").glob(pattern) if path.is_file()]
    return {str(path.relative_to(run)): path.read_bytes() for path in paths}


def told(case: Case, run: Path) -> dict[str, Any] | None:
    """Entries of the record that do not depend on how it came to its end."""
    for path in (run / "out").rglob("run.json"):
        found = json.loads(path.read_text())["results"]
        return {key: found[key] for key in case.told}
    return None


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library."""
    return library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory, preloaded: Path) -> Iterator[Trials]:
    """The trials' server."""
    with Server(preloaded) as server:
        yield Trials(tmp_path_factory.mktemp("calls"), server)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory, preloaded: Path) -> Iterator[Trials]:
    """Another one, for the other core."""
    with Server(preloaded) as server:
        yield Trials(tmp_path_factory.mktemp("calls"), server)


def kind_of(call: str) -> str:
    """A call without the number of its shot, run and temporary name: calls of one kind are made by the same lines."""
    name, path = call.split(" ", 1)
    parts = [part for part in Path(path).name.split(".") if len(part) != 8]
    return f"{name} {''.join(letter for letter in '.'.join(parts) if not letter.isdigit())}"


def test_the_calls_of_a_run_are_met(trials: Trials) -> None:
    """A history on disk, the journal, the image, traces: none of them escapes the library."""
    calls = {name: trials.whole(name).calls for name in ("migrate", "model")}
    kinds = {name: {kind_of(call).split()[0] for call in of} for name, of in calls.items()}
    assert {"open", "read", "write", "pwrite", "preadv", "mmap", "fsync", "posix_fallocate", "ftruncate", "rename",
            "unlink", "mkdir", "opendir", "flock", "close"} <= kinds["migrate"]  # fmt: skip
    assert {"open", "read", "write", "pwrite", "fsync", "posix_fallocate", "rename"} <= kinds["model"]
    assert {"pwrite out", "preadv out"} <= {kind_of(call) for call in calls["migrate"]}, "the history"


def test_some_calls_fail(trials: Trials) -> None:
    chance = np.random.default_rng(14)
    wrong = []
    for name in ("migrate", "model"):
        for at in chance.choice(len(trials.whole(name).calls), 4, replace=False):
            wrong.append(trials.survive(name, int(at) + 1, int(chance.choice(ERRORS))))
    assert not any(wrong), "\n".join(filter(None, wrong))


# Of runs in time steps a call that has lost results: of a field file in the middle of the run.
SOME = {
    "flow": "rename out/fields/.flow-0001.plt",
    "ocean": "rename out/fields/.ocean-00000004.nc",
    "reactive": "rename out/fields/.pH-0001.h5",
}


@pytest.mark.parametrize("name", SOME)
def test_results_of_runs_in_steps_are_not_lost(trials: Trials, name: str) -> None:
    require(name)
    at = next(at for at, call in enumerate(trials.whole(name).calls, 1) if call.startswith(SOME[name]))
    assert trials.survive(name, at, errno.ENOSPC) == ""


def test_a_field_that_cannot_be_closed_after_it_was_read_for_the_page(trials: Trials) -> None:
    """HDF5 crashed when it tried again, and the run with it."""
    name = "reactive"
    require(name)
    calls = trials.whole(name).calls
    at = max(at for at, call in enumerate(calls, 1) if call.startswith("close out/fields/pH-0000.h5"))
    assert trials.survive(name, at, errno.EIO) == ""


@pytest.mark.parametrize("number", [1, 2])
def test_what_hdf5_cannot_write_while_it_closes_a_file_is_told(trials: Trials, number: int) -> None:
    """The library cannot raise that: it printed a traceback, and the run went on, or ended without a word."""
    name = "migrate, coefficients"
    writes = [at for at, call in enumerate(trials.whole(name).calls, 1) if call.startswith("pwrite out/.image.h5")]
    assert trials.survive(name, writes[number], errno.ENOSPC) == ""


@pytest.mark.trials
def test_each_call_of_a_file_of_hdf5_that_is_looked_at_fails(preloaded: Path, tmp_path: Path) -> None:
    """In a process of its own, which ends as users have it: HDF5 crashed on a file that it could not close."""
    h5py = pytest.importorskip("h5py")
    path, told = tmp_path / "run" / "vp.h5", tmp_path / "told"
    path.parent.mkdir()
    with h5py.File(path, "w") as file:
        file["vp"] = np.full((CELLS, 16), 2000.0)
    environment = {"LD_PRELOAD": str(preloaded), "OMPI_COMM_WORLD_RANK": "0", "FAILING_CALLS_TOLD": str(told)}

    def told_of(at: int, error: int) -> tuple[Any, int]:
        told.unlink(missing_ok=True)
        failing = {"FAILING_CALLS": f"0 {at} {error} {path.parent}"}
        done = finish(start(*program(), "info", path, environment=environment | failing))
        return done, int(told.read_text().split()[0]) if told.exists() else 0

    whole, every = told_of(0, 0)
    assert whole.code == 0
    assert every > 20
    for at in range(1, every + 1):
        done, _ = told_of(at, ERRORS[at % 2])
        assert done.code in (0, 2), (at, done)
        assert done.code == 0 or (done.err.count("\n") == 1 and "cannot be read" in done.err), (at, done)


def require(name: str) -> None:
    """Skip a case whose libraries are not here."""
    if name == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")


def on_two_ranks(trials: Trials, preloaded: Path, name: str, rank: int, seed: int, tries: int) -> list[str]:
    """Fail calls of one of two ranks, which share the work; what is wrong."""
    case, ranks, wrong, chance = CASES[name], OnRanks(preloaded, 2), [], np.random.default_rng(seed)

    def go(at: int, error: int, *words: str, run: Path) -> Tried:
        words = (case.command, *map(str, run.glob("*.toml")), "--quiet", "--threads", "1", *words)
        return ranks.run(run, *words, rank=rank, at=at, error=error)

    trials.whole(name)  # its inputs are there then
    run = trials.begin(name)
    tried = go(0, 0, run=run)
    assert (tried.code, tried.text) == (0, "")
    assert tried.calls > 5
    whole = Whole(results(case, run), told(case, run), [])
    for at in chance.choice(tried.calls, tries, replace=False) + 1:
        run, error = trials.begin(name), int(chance.choice(ERRORS))
        tried = go(int(at), error, run=run)
        left = not gone(next(run.glob("*.toml")))
        found = judge(case, whole, run, tried.code, tried.text) or "ranks left" * left
        if not found and tried.code:
            again = go(0, 0, *again_after(case, tried), run=run)
            found = again.text or judge(case, whole, run, again.code, "")
        if found:
            wrong.append(f"{name}, rank {rank}: call {at} ({tried.failed}), {errno.errorcode[error]}: {found}")
    return wrong


@pytest.mark.trials
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", ["migrate", "elastic", "flow", "ocean", "atmosphere", "plasma", "reactive"])
def test_calls_of_one_of_two_ranks_fail(trials: Trials, preloaded: Path, name: str, rank: int) -> None:
    require(name)
    seed = SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    wrong = on_two_ranks(trials, preloaded, name, rank, seed, 5)
    assert not wrong, "\n".join(wrong)


@pytest.mark.trials
@pytest.mark.parametrize("name", CASES)
def test_every_call_fails(trials: Trials, twin: Trials, name: str) -> None:
    """The first call of each kind with both errors; of the others, which are the same for another shot or step or on
    the way through the same lines, at most so many, drawn anew each time, with one of them."""
    require(name)
    seed = SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    every, firsts = len(trials.whole(name).calls), trials.firsts(name)
    others = sorted(set(range(1, every + 1)) - {*firsts})
    drawn = Random(seed).sample(others, min(len(others), REPEATS))
    jobs = [(at, error) for at in firsts for error in ERRORS] + [(at, ERRORS[at % 2]) for at in sorted(drawn)]
    free = queue.SimpleQueue[Trials]()
    for one in (trials, twin):
        free.put(one)

    def tried(job: tuple[int, int]) -> str:
        mine = free.get()
        try:
            return mine.survive(name, *job)
        finally:
            free.put(mine)

    with ThreadPoolExecutor(2) as pool:
        wrong = list(filter(None, pool.map(tried, jobs)))
    print(f"{name}: {len(jobs)} failures of {every} calls of {len(firsts)} kinds")
    assert not wrong, "\n".join(wrong)
