"""Runs of which one I/O call fails, each call in turn: they end well with the undisturbed results, or with one line
that says why, and what goes on from there, or begins again, has the undisturbed results, bit by bit.

In `make test` a few calls, in `make trials` all of them, and some of each of two ranks that share the work.
"""

from __future__ import annotations

import errno
import json
import queue
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cli_support import INTERVAL, MIGRATE, MODEL, survey
from failing_calls import ERRORS, OnRanks, Server, Tried, library
from kill_support import gone

from fathometer.storage.traces.segy_writer import GatherWriter

SHOTS, SAMPLES, CELLS = 2, 76, 24
SMALL = {
    "model.spacing": [10.0, 10.0],
    "propagation.boundary": {"kind": "sponge", "width": 4},
    "tuning.search": "never",
}
MIGRATION = MIGRATE | SMALL | {"history.store": "disk"}
MODELLING = {
    **MODEL,
    **SMALL,
    "acquisition.sources": {"x": [60.0, 100.0, 40.0], "z": 20.0},
    "acquisition.receivers": {"x": [0.0, 230.0, 10.0], "z": 20.0},
    "propagation.duration": 0.1,
}


@dataclass(frozen=True)
class Case:
    """A command, its survey, what goes on with it when it has failed, and its results."""

    command: str
    keys: dict[str, object]
    again: tuple[str, ...]
    results: tuple[str, ...]


IMAGES = tuple(f"image{kind}.rsf{part}" for kind in ("", "-laplacian", "-illumination") for part in ("", "@"))
CASES = {
    "migrate": Case("migrate", MIGRATION, ("--resume",), IMAGES),
    "model": Case("model", MODELLING, (), ("shots.segy",)),
}


SET_ASIDE = "are not in the image (--resume --retry-failed migrates them again)"


class Trials:
    """Undisturbed runs, and runs with one failure."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        np.save(self.inputs / "vp.npy", np.full((CELLS, 16), 2000, np.float32))
        receivers = np.array([[10.0 * trace, 0.0, 20.0] for trace in range(CELLS)])
        with GatherWriter(self.inputs / "recorded.segy", SAMPLES, INTERVAL, CELLS * SHOTS) as writer:
            for shot in range(SHOTS):
                source = np.array([60.0 + 40 * shot, 0.0, 20.0])
                times = INTERVAL * np.arange(SAMPLES) - 0.05 - np.abs(receivers[:, :1] - source[0]) / 2000
                writer.write(shot * CELLS, shot + 1, source, receivers, np.exp(-((60 * times) ** 2)))
        self.calls: dict[str, list[str]] = {}  # of an undisturbed run: name of the call, path below the run's folder
        self.right: dict[str, dict[str, bytes]] = {}
        for name, case in CASES.items():
            survey(self.inputs, case.keys, f"{name}.toml")
            server.warm(name, self.begin() / f"{name}.toml", "--quiet", "--threads", 1)
            run, log = self.begin(), folder / "log"
            tried = self.go(case, run, log=log)
            assert (tried.code, tried.text) == (0, "")
            self.right[name] = {one: (run / "out" / one).read_bytes() for one in case.results}
            self.calls[name] = [line.replace(f"{run}/", "") for line in log.read_text().splitlines()]
            assert len(self.calls[name]) == tried.calls

    def begin(self) -> Path:
        """A folder of its own with the inputs."""
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(self.inputs, run)
        return run

    def go(self, case: Case, run: Path, *words: str, at: int = 0, error: int = 0, log: Path | None = None) -> Tried:
        """One run of the case."""
        words = (case.command, str(run / f"{case.command}.toml"), "--quiet", "--threads", "1", *words)
        return self.server.run(run, *words, at=at, error=error, log=log)

    def firsts(self, name: str) -> list[int]:
        """Numbers of the calls that are the first of their kind."""
        kinds = [kind_of(call) for call in self.calls[name]]
        return [at for at, kind in enumerate(kinds, 1) if kinds.index(kind) + 1 == at]

    def survive(self, name: str, at: int, error: int) -> str:
        """Fail one call; what is wrong with what became of it, "" for nothing."""
        case, run = CASES[name], self.begin()
        tried = self.go(case, run, at=at, error=error)
        wrong = self.judge(name, run, tried.code, tried.text)
        if not wrong and tried.code:
            again = self.go(case, run, *case.again, *(["--retry-failed"] * (SET_ASIDE in tried.text)))
            if again.code or again.text:
                wrong = f"not repeated: {again.code}: {again.text}"
            else:
                wrong = self.judge(name, run, 0, "")
        return f"{name}: call {at} ({tried.failed}), {errno.errorcode[error]}: {wrong}" if wrong else ""

    def judge(self, name: str, run: Path, code: object, text: str) -> str:
        """What is wrong with the end of a run and the files that it left."""
        out = run / "out"
        if code not in (0, 1, 2):
            return f"exit code {code}: {text}"
        lines = text.splitlines()
        if "Traceback" in text or (code and not (len(lines) == 1 and lines[0].startswith("fathometer: error: "))):
            return text or "no line"
        for one, right in self.right[name].items():
            path = out / one
            if code == 0 or path.exists():
                found = path.read_bytes() if path.exists() else b""
                # Where a shot was set aside, the image is that of the others: whole all the same.
                if found != right and not (SET_ASIDE in text and len(found) == len(right)):
                    return f"exit code {code}, but {one} {'differs' if found else 'is missing'}: {text}"
        for record in out.glob("run*.json"):
            json.loads(record.read_text())
        if code == 0 and not (out / "run.json").exists():
            return "no record"
        return ""


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
    kinds = {name: {kind_of(call).split()[0] for call in calls} for name, calls in trials.calls.items()}
    assert {"open", "read", "write", "pwrite", "preadv", "mmap", "fsync", "posix_fallocate", "ftruncate", "rename",
            "unlink", "mkdir", "opendir", "flock", "close"} <= kinds["migrate"]  # fmt: skip
    assert {"open", "read", "write", "pwrite", "fsync", "posix_fallocate", "rename"} <= kinds["model"]
    assert {"pwrite out", "preadv out"} <= {kind_of(call) for call in trials.calls["migrate"]}, "the history"


def test_some_calls_fail(trials: Trials) -> None:
    chance = np.random.default_rng(14)
    wrong = []
    for name, calls in trials.calls.items():
        for at in chance.choice(len(calls), 4, replace=False):
            wrong.append(trials.survive(name, int(at) + 1, int(chance.choice(ERRORS))))
    assert not any(wrong), "\n".join(filter(None, wrong))


def on_two_ranks(trials: Trials, preloaded: Path, rank: int, chance: np.random.Generator, tries: int) -> list[str]:
    """Fail calls of one of two ranks, which share each shot; what is wrong."""
    ranks, wrong = OnRanks(preloaded, 2), []

    def go(at: int, error: int, *words: str, run: Path) -> Tried:
        return ranks.run(run, "migrate", run / "migrate.toml", "--quiet", "--threads", 1, *words,
                         rank=rank, at=at, error=error)  # fmt: skip

    whole = go(0, 0, run=trials.begin())
    assert (whole.code, whole.text) == (0, "")
    assert whole.calls > 20
    for at in chance.choice(whole.calls, tries, replace=False) + 1:
        run, error = trials.begin(), int(chance.choice(ERRORS))
        tried = go(int(at), error, run=run)
        found = trials.judge("migrate", run, tried.code, tried.text) or "ranks left" * (not gone(run / "migrate.toml"))
        if not found and tried.code:
            again = go(0, 0, "--resume", *(["--retry-failed"] * (SET_ASIDE in tried.text)), run=run)
            found = again.text or trials.judge("migrate", run, again.code, "")
        if found:
            wrong.append(f"rank {rank}: call {at} ({tried.failed}), {errno.errorcode[error]}: {found}")
    return wrong


@pytest.mark.trials
@pytest.mark.parametrize("rank", [0, 1])
def test_calls_of_one_of_two_ranks_fail(trials: Trials, preloaded: Path, rank: int) -> None:
    wrong = on_two_ranks(trials, preloaded, rank, np.random.default_rng(30 + rank), 5)
    assert not wrong, "\n".join(wrong)


@pytest.mark.trials
@pytest.mark.parametrize("name", CASES)
def test_every_call_fails(trials: Trials, twin: Trials, name: str) -> None:
    """The first call of each kind with both errors; the others, which are the same for another shot or on the way
    through the same lines, with one of them."""
    firsts, every = set(trials.firsts(name)), range(1, len(trials.calls[name]) + 1)
    jobs = [(at, error) for at in every for n, error in enumerate(ERRORS) if at in firsts or at % 2 == n]
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
    print(f"{name}: {len(jobs)} failures of {len(every)} calls of {len(firsts)} kinds")
    assert not wrong, "\n".join(wrong)
