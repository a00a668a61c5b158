"""Time steps and a whole migration beside Devito's, which is installed into an environment of its own.

Luporini et al. (2020, ACM TOMS 46(1)), Louboutin et al. (2019, Geosci. Model Dev. 12): kernels from symbolic equations.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import venv
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.command import clean, fathometer
from benchmarks.one_shot import EVERY, migration, modelled
from benchmarks.table import Table
from fathometer import _native
from fathometer.config.sections import TuningTable
from fathometer.grid.tuning import best_tiling
from fathometer.lab.turns import interleave
from fathometer.parallel.threads import ThreadCounts
from fathometer.record.ranks import seconds
from fathometer.seismic.waves.homogeneous import SPACING, VELOCITY, VTI, Homogeneous, NoBoundary

RELEASE = "devito==4.8.23"
ENVIRONMENT = Path(__file__).resolve().parent.parent / "build" / "devito"
PROGRAM = Path(__file__).resolve().parent / "devito_program.py"
STEPS, CHECKED = 40, 12
LOOPS = ("source propagation", "receiver propagation", "history push", "history pop", "between time steps")


class Devito:
    """A process of Devito's environment that does one task after the other; a context manager."""

    def __init__(self, threads: int, program: Path = PROGRAM, **wanted: object) -> None:
        environment = clean() | {"OMP_NUM_THREADS": str(threads), "DEVITO_LANGUAGE": "openmp"}
        command = [str(_python()), str(program), json.dumps(wanted)]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def ask(self, *words: object) -> float:
        """Have a task done; its answer."""
        assert self._process.stdin is not None
        print(*words, file=self._process.stdin, flush=True)
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("Devito's process has ended")
        return line.strip()

    def __enter__(self) -> Devito:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


def _python() -> Path:
    """Python of Devito's environment, which is made where it is not there."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "ready").exists():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", RELEASE], check=True)
        (ENVIRONMENT / "ready").touch()
    return python


def devito(threads: int, quick: bool) -> Table:
    """Both with `threads` threads."""
    rounds = 2 if quick else 5
    side, shape, steps = (96, (64, 64, 48), 60) if quick else (320, (240, 240, 200), 600)
    rows = [_time_steps(side, threads, rounds), *_migrations(shape, steps, threads, rounds)]
    return Table(
        f"Beside Devito, {threads} threads",
        f"{RELEASE.replace('==', ' ')} with OpenMP and its most thorough tuning, the same VTI equations, order 8, "
        f"float32; in turns, medians of {rounds} rounds, and the range of the ratios. Time steps: {STEPS} at a time, "
        "no absorbing sides, the tiling from a search; both come to the same pressure. Migration: a step of the source "
        f"loop and one of the receiver loop, {steps} steps of one shot, every {EVERY}th imaged, snapshots in memory; "
        "Fathometer's are those of the command `migrate` from its first run on, with its absorbing layers, and with "
        "what history and imaging take between the steps, once in all cells and once in those that can matter; "
        "Devito's have a damping mask of as many cells.",
        ("what", "Devito", "Fathometer", "ratio", "range", "wanted"),
        tuple(rows),
    )


def row(what: str, theirs: list[float], ours: list[float], scale: float, wanted: str) -> tuple[str, ...]:
    """Of seconds; scale: to what is shown."""
    ratios = [t / o for t, o in zip(theirs, ours, strict=True)]
    return (
        what,
        f"{scale * median(theirs):.2f}",
        f"{scale * median(ours):.2f}",
        f"{median(ratios):.2f}",
        _range(ratios),
        wanted,
    )


def _range(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def _time_steps(side: int, threads: int, rounds: int) -> tuple[str, ...]:
    _native.set_threads(threads)
    medium = Homogeneous((side,) * 3, VTI, NoBoundary())
    wave = medium.propagator
    wave.threads = ThreadCounts(threads, threads, threads)
    best_tiling(wave, TuningTable(), STEPS, threads, print)
    squared = (medium.dt * VELOCITY / SPACING) ** 2
    model = [squared * (1 + 2 * (VTI.epsilon or 0)), squared * math.sqrt(1 + 2 * (VTI.delta or 0)), squared]
    with Devito(threads, side=side, model=model) as other:
        line = np.exp(-((np.arange(side) - side // 2) ** 2) / 50.0)
        for field in (*wave.fields()[0], *wave.fields()[1]):
            field[...] = line[:, None, None] * line[:, None] * line
        wave.advance(CHECKED)
        u, v = wave.fields()[0]
        ours, theirs = float(np.linalg.norm((u + v) / 2)), other.ask("check", CHECKED)
        if abs(ours - theirs) > 1e-4 * ours:
            raise RuntimeError(f"Devito's pressure has another norm: {theirs:.6g}, not {ours:.6g}")
        times = interleave({"theirs": partial(other.ask, "steps", STEPS), "ours": partial(wave.advance, STEPS)}, rounds)
    return row(f"a time step of {side}³ cells, ms", times["theirs"], times["ours"], 1e3 / STEPS, "2.3")


def _migrations(shape: tuple[int, int, int], steps: int, threads: int, rounds: int) -> list[tuple[str, ...]]:
    """Ours as a user has it: with a cache of tilings that is empty at first."""
    cones = {"off": "1.8", "auto": "2.0"}
    theirs: list[float] = []
    shares: list[float] = []
    ours: dict[str, list[float]] = {cone: [] for cone in cones}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        modelled(folder, shape, steps)
        surveys = {cone: migration(folder, steps, cone, cone) for cone in cones}
        padded = [n + 16 for n in shape]
        with Devito(threads, shape=padded, steps=steps, every=EVERY, model=[0.08, 0.07, 0.065]) as other:
            for _ in range(rounds):
                theirs.append(sum(other.ask(loop) for loop in ("forward", "backward")) / steps)
                for cone, survey in surveys.items():
                    fathometer("migrate", survey, "--quiet", "--overwrite")
                    run = json.loads((Path(folder) / cone / "run.json").read_text())
                    ours[cone].append(seconds(run["ledger"], LOOPS) / int(run["results"]["steps"]))
                    shares += [figure["value"] for figure in run["figures"] if figure["name"] == "kernel share"]
    what = f"a pair of steps in a migration of {' x '.join(map(str, shape))} cells, cone"
    rows = [row(f'{what} = "{cone}", ms', theirs, ours[cone], 1e3, wanted) for cone, wanted in cones.items()]
    first = "time steps' share of such a migration's wall time; the first one's, with no tiling known"
    return [*rows, (first, "", f"{median(shares):.2f}", f"{shares[0]:.2f}", _range(shares), "0.90")]
