"""The command line as a user meets it: tiny surveys in a folder, run in this process or as processes of their own."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from patience import PATIENCE

from fathometer.cli.main import main
from fathometer.storage.traces.segy import GatherWriter

NX, NZ, SPACING = 40, 30, 10.0
SOURCE = (200.0, 0.0, 20.0)
RECEIVERS = np.stack([SPACING * np.arange(NX), np.zeros(NX), np.full(NX, 20.0)], axis=1)
INTERVAL, SAMPLES = 0.004, 51

# A survey as {"section.key": value}.
MODEL = {
    "model.vp": "vp.npy",
    "model.spacing": [SPACING, SPACING],
    "acquisition.sources": {"x": SOURCE[0], "z": SOURCE[2]},
    "acquisition.receivers": {"x": [0.0, SPACING * (NX - 1), SPACING], "z": 20.0},
    "wavelet.kind": "ricker",
    "wavelet.peak_frequency": 15.0,
    "propagation.duration": 0.2,
    "propagation.boundary": {"kind": "pml", "width": 10},
}
MIGRATE = {
    **{key: value for key, value in MODEL.items() if not key.startswith(("acquisition", "propagation.duration"))},
    "acquisition.gathers": "recorded.segy",
}


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def survey(folder: Path, keys: dict[str, Any], name: str = "survey.toml") -> Path:
    """Write a survey file; a key whose value is None is left out."""
    sections: dict[str, list[str]] = {}
    for key, value in keys.items():
        section, _, rest = key.partition(".")
        if value is not None:
            sections.setdefault(section, []).append(f"{rest} = {toml(value)}")
    text = "\n".join(f"[{section}]\n" + "\n".join(lines) + "\n" for section, lines in sections.items())
    (folder / name).write_text(text)
    return folder / name


def velocity() -> np.ndarray:
    """Two layers (NX, NZ), m/s."""
    vp = np.full((NX, NZ), 2000.0, np.float32)
    vp[:, NZ // 2 :] = 2500.0
    return vp


def write_gathers(path: Path, traces: np.ndarray | None = None) -> None:
    """One recorded shot: `traces` (NX, SAMPLES), or a pulse that moves out."""
    if traces is None:
        time = INTERVAL * np.arange(SAMPLES) - 0.05 - np.abs(RECEIVERS[:, :1] - SOURCE[0]) / 2000.0
        traces = np.exp(-((60.0 * time) ** 2))
    with GatherWriter(path, SAMPLES, INTERVAL, NX) as writer:
        writer.write(0, 7, SOURCE, RECEIVERS, traces)


def inputs(folder: Path) -> None:
    """The files that MODEL and MIGRATE name."""
    np.save(folder / "vp.npy", velocity())
    write_gathers(folder / "recorded.segy")


def nothing_left(folder: Path, before: list[Path], reason: str = "", *kept: str) -> bool:
    """Whether a failed run left nothing in the folder but, where its input had been accepted, the record of what it
    knew, which says why it ended, and what a later run goes on with."""
    if sorted(folder.iterdir()) == before:
        return True
    assert [path.name for path in sorted(folder.iterdir()) if path not in before] == ["out"]
    left = {path.name for path in (folder / "out").iterdir()} - set(kept)
    assert left == {"run-unfinished.json"}, left
    validity = json.loads((folder / "out" / "run-unfinished.json").read_text())["validity"]
    return not validity["finished"] and validity["reasons"][0].removeprefix("unfinished: ") in reason


@dataclass(frozen=True)
class Done:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


def run(capsys: Any, *words: Any) -> Done:
    """A command in this process, on one rank, in a test that has the fixture capsys."""
    capsys.readouterr()
    code = _code(words)
    return Done(code, *capsys.readouterr())


def here(*words: Any) -> Done:
    """The same anywhere."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = _code(words)
    return Done(code, out.getvalue(), err.getvalue())


def _code(words: tuple[Any, ...]) -> int:
    try:
        return main([str(word) for word in words])
    except SystemExit as stop:  # argparse's
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1


def clean_environment() -> dict[str, str]:
    """Without what MPI in this process, or the launcher of the tests, put there: it would keep mpirun from starting."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "SLURM_"))}


def program() -> list[str]:
    """The words that start the command."""
    script = Path(sys.executable).with_name("fathometer")
    return [str(script)] if script.exists() else [sys.executable, "-m", "fathometer"]


def start(*words: Any, **options: Any) -> subprocess.Popen[str]:
    """A process with its own group, so that it can be interrupted as a terminal does; environment: what is added."""
    return subprocess.Popen(
        [str(word) for word in words],
        env=clean_environment() | options.pop("environment", {}),
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=options.pop("preexec_fn", heed_signals),
        **options,
    )


def heed_signals() -> None:
    """In a new process: take signals again that whoever started these tests ignores (nohup, a background job)."""
    for one in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)


def finish(process: subprocess.Popen[str], timeout: float = PATIENCE) -> Done:
    """Wait for a process, on slow machines too; one that does not end is killed, with its group, and the test fails."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        raise
    return Done(process.returncode, out or "", err)


def call(*words: Any, **options: Any) -> Done:
    """The command in a process of its own."""
    return finish(start(*program(), *words, **options))


def under_way(folder: Path, ranks: int) -> tuple[Path, subprocess.Popen[str]]:
    """A modelling of more shots than anybody will wait for, whose first traces are being written; and its survey."""
    inputs(folder)
    many = {
        "acquisition.sources": {"x": [0.0, 390.0, 0.039], "z": 20.0},
        "acquisition.receivers": {"x": 0.0, "z": 20.0},
    }
    path = survey(folder, MODEL | many)
    process = start(*program(), "model", path, *(["--ranks", ranks] if ranks > 1 else []))
    deadline = time.monotonic() + PATIENCE
    while not list(folder.glob("out/.shots.segy.*.part")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.3)
    return path, process


def mpirun(ranks: int) -> list[str]:
    """The words that start ranks, as a user's own script has them."""
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]


def partial(folder: Path) -> list[str]:
    """Parts of unfinished files anywhere in a folder."""
    return [str(path) for path in folder.rglob("*.part")]


def patch_traces(path: Path, values: np.ndarray) -> None:
    """Put samples (NX, SAMPLES) into a file of `write_gathers`: also such as no writer would write."""
    with path.open("r+b") as file:
        for trace, samples in enumerate(values.astype(">f4")):
            file.seek(3600 + trace * (240 + 4 * SAMPLES) + 240)
            file.write(samples.tobytes())


def under_mpirun(ranks: int, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run a Python program on some ranks, whatever launched these tests."""
    return subprocess.run(
        [*mpirun(ranks), sys.executable, *map(str, arguments)],
        env={**clean_environment(), "OMP_WAIT_POLICY": "passive"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def has_control(text):
    """Whether a text has a control character, a mark that turns the direction of writing, or a separator of lines."""
    kinds = ("Cc", "Zl", "Zp", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    return any({unicodedata.category(one), unicodedata.bidirectional(one)} & {*kinds} for one in text)
