"""A migration that takes some seconds, to be interrupted and killed, and its image when nobody does."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from cli_support import (
    INTERVAL,
    MIGRATE,
    NX,
    RECEIVERS,
    SPACING,
    Done,
    call,
    finish,
    inputs,
    mpirun,
    program,
    start,
    survey,
)
from patience import PATIENCE
from survey_support import load

from fathometer.storage.traces.segy import GatherWriter

SHOTS, SAMPLES = 40, 301
SLOW = {"PYTHONPATH": str(Path(__file__).with_name("slow"))}  # the environment of runs that are met in the middle


def record(folder: Path, shots: int = SHOTS) -> Path:
    """The files of `shots_into`; the image as one run makes it is in one/."""
    shots_into(folder, shots)
    one = survey(folder, MIGRATE | {"output.directory": "one"}, "one.toml")
    assert call("migrate", one, "--quiet", "--threads", 1).code == 0
    return folder


def shots_into(folder: Path, shots: int = SHOTS) -> Path:
    """The files of a survey of many shots, each a pulse that moves out."""
    inputs(folder)
    with GatherWriter(folder / "recorded.segy", SAMPLES, INTERVAL, NX * shots) as writer:
        for shot in range(shots):
            source = (20.0 + 360.0 * shot / shots, 0.0, 20.0)
            times = INTERVAL * np.arange(SAMPLES) - 0.05 - np.abs(RECEIVERS[:, :1] - source[0]) / 2000.0
            writer.write(shot * NX, shot + 1, source, RECEIVERS, np.exp(-((60.0 * times) ** 2)))
    return folder


MANY = MIGRATE | {"model.spacing": [SPACING] * 3, "imaging.aperture": 40.0, "parallel.ranks_per_shot": 1}


def record_many(folder: Path) -> Path:
    """The same of a 3D survey of 200 small shots, each on a window of its own."""
    z = np.arange(20, dtype=np.float32)
    np.save(folder / "vp.npy", np.broadcast_to(1800 + 20 * z, (60, 40, 20)).astype(np.float32))
    samples, patch = 51, SPACING * np.arange(8)
    spread = np.stack([*(one.ravel() for one in np.meshgrid(patch, patch)), np.full(64, 2 * SPACING)], axis=1)
    with GatherWriter(folder / "recorded.segy", samples, INTERVAL, 64 * 200) as writer:
        for shot in range(200):
            source = np.array([100.0 + 20 * (shot % 20), 80.0 + 20 * (shot // 20), 2 * SPACING])
            receivers = source * [1, 1, 0] + spread - [40.0, 40.0, 0.0]
            away = np.linalg.norm(receivers - source, axis=1)[:, None]
            times = INTERVAL * np.arange(samples) - 0.05 - away / 1800.0
            writer.write(shot * 64, shot + 1, source, receivers, np.exp(-((60.0 * times) ** 2)))
    one = survey(folder, MANY | {"output.directory": "one"}, "one.toml")
    assert call("migrate", one, "--quiet", "--threads", 1).code == 0
    return folder


def survey_into(recorded: Path, output: Path, keys: Mapping[str, Any] = MIGRATE) -> Path:
    """A survey file of these shots with its results in `output`, which is an existing folder's new one."""
    inputs = {name: str(recorded / MIGRATE[name]) for name in ("model.vp", "acquisition.gathers")}
    return survey(output.parent, {**keys, **inputs, "output.directory": output.name}, f"{output.name}.toml")


def same_image(recorded: Path, output: Path) -> bool:
    """Whether image and illumination are, bit by bit, those of the undisturbed run."""
    names = ("image.rsf", "image-illumination.rsf", "image-laplacian.rsf")
    return all(load(output / name).tobytes() == load(recorded / "one" / name).tobytes() for name in names)


def migration(path: Path, *words: object, launcher: int = 0) -> subprocess.Popen[str]:
    """A migration that goes on with what is there; launcher: ranks that mpirun starts it on."""
    before = mpirun(launcher) if launcher else []
    words = (*before, *program(), "migrate", path, "--quiet", "--resume", "--threads", 1, *words)
    return start(*words, environment=SLOW)


def shots_told(output: Path) -> int:
    """Shots that the journal tells of."""
    return sum(one.read_text().count('"shot": ') for one in (output / "journal").glob("*.jsonl"))


def runs_told(output: Path) -> int:
    """Runs that have written into the journal."""
    return len({one.name.rpartition("-")[0] for one in (output / "journal").glob("*.jsonl")})


def wait_for_shots(output: Path, shots: int, process: subprocess.Popen[str]) -> None:
    """Until some shots are done, while the process runs."""
    wait_until(lambda: shots_told(output) >= shots, process)
    assert process.poll() is None


def wait_until(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Or until the process has ended."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ranks_of(path: Path) -> list[int]:
    """The processes of ranks that work on a survey; of all processes, where it runs without a launcher."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdecimal():
            try:
                words = (one / "cmdline").read_bytes().split(b"\0")
                environ = (one / "environ").read_bytes()
            except OSError:
                continue
            if str(path).encode() in words and b"\0OMPI_COMM_WORLD_RANK=" in b"\0" + environ:
                found.append(int(one.name))
    return sorted(found)


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """A process that may have ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def gone(path: Path) -> bool:
    """Whether no rank works on the survey, soon."""
    deadline = time.monotonic() + PATIENCE
    while ranks_of(path) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not ranks_of(path)


def resumed(path: Path) -> Done:
    """The migration goes on to its end."""
    return finish(migration(path))
