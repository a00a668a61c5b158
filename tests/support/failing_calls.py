"""Commands of which one I/O call fails: a preloaded library, and processes that are forked for each command."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from cli_support import clean_environment, finish, program, start
from patience import PATIENCE

ERRORS = (errno.EIO, errno.ENOSPC)


def library(folder: Path) -> Path:
    """The library, built in `folder`; a skip where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    built = folder / "failing_calls.so"
    source = Path(__file__).with_suffix(".c")
    words = [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", built, source, "-ldl", "-lpthread"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return built


@dataclass(frozen=True)
class Tried:
    """What became of a command: exit code (None: it hung and was killed), calls, the one that failed, output."""

    code: int | str | None
    calls: int
    failed: str
    text: str


@dataclass(frozen=True)
class OnRanks:
    """Commands on ranks, each process of which has the library."""

    built: Path
    ranks: int

    def run(self, folder: Path, *words: object, rank: int, at: int = 0, error: int = errno.EIO) -> Tried:
        """Run a command, on one rank of which call number `at` of those that concern `folder` fails."""
        told = folder.with_name(f"{folder.name}.told")
        told.unlink(missing_ok=True)
        environment = {
            "LD_PRELOAD": str(self.built),
            "FAILING_CALLS": f"{rank} {at} {error} {folder}",
            "FAILING_CALLS_TOLD": str(told),
        }
        done = finish(start(*program(), *words, "--ranks", self.ranks, environment=environment))
        calls, _, failed = told.read_text().partition(" ") if told.exists() else ("0", "", "")
        lines = [line for line in done.err.splitlines() if line.startswith("fathometer:") or "Traceback" in line]
        return Tried(done.code, int(calls), failed, "\n".join(lines))


class Server:
    """Forks a process for each command; a context manager."""

    def __init__(self, built: Path) -> None:
        program = Path(__file__).with_name("failing_calls_server.py")
        self._process = subprocess.Popen(
            [sys.executable, program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environment() | {"LD_PRELOAD": str(built), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told

    def warm(self, *words: object) -> None:
        """Run a command in the server itself: what it imports, later ones have."""
        assert self._ask(warm=True, words=[str(word) for word in words])["code"] == 0

    def run(self, folder: Path, *words: object, at: int = 0, error: int = errno.EIO, log: Path | None = None) -> Tried:
        """Run a command, whose call number `at` of those that concern `folder` fails."""
        out = folder.with_name(f"{folder.name}.output")
        out.unlink(missing_ok=True)
        told = self._ask(
            words=[str(word) for word in words],
            folder=str(folder),
            at=at,
            out=str(out),
            log=None if log is None else str(log),
            patience=PATIENCE,
            **{"with": error},
        )
        return Tried(told["code"], told["calls"], told["failed"], out.read_text())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)
