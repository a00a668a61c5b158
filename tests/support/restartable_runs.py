"""Runs of applications that step in time, in folders with an input file run.toml; the same bits on several ranks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_support import clean_environment, program, under_mpirun
from input_values import text_of

from fathometer.base.errors import InputError
from fathometer.runs.application import Application

PROTOCOLS = ("alltoallw", "alltoallv", "pairwise")


def begin(folder: Path, values: dict[str, Any]) -> Path:
    """A new folder with an input file."""
    folder.mkdir()
    (folder / "run.toml").write_text(text_of(values))
    return folder


def started(command: str, folder: Path, *words: str) -> Path:
    """The folder after a run that says nothing."""
    done = subprocess.run(
        [*program(), command, folder / "run.toml", "--quiet", *words],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def results(folder: Path) -> dict[str, bytes]:
    """The field files."""
    return {path.name: path.read_bytes() for path in sorted((folder / "out/fields").iterdir())}


def record(folder: Path) -> Any:
    """Of the run."""
    return json.loads((folder / "out/run.json").read_text())


def found_on(ranks: int, script: Path, *protocols: str) -> list[str]:
    """Different lines that a program prints on several ranks, by some protocols."""
    done = under_mpirun(ranks, script, *protocols)
    assert done.returncode == 0, done.stderr
    return sorted(set(done.stdout.splitlines()))


def problem(application: Application, path: Path, values: dict[str, Any]) -> str:
    """The one line that a wrong input file brings."""
    path.write_text(text_of(values))
    with pytest.raises(InputError) as raised:
        application.load(path)
    text = str(raised.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    return text
