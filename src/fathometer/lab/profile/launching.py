"""Running a command with the counting library preloaded: its environment, its words, its end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.host import built_library
from fathometer.lab.profile.programs import has_newer_calls, launcher_of, refuse_privileged, refuse_static, why_not_run
from fathometer.launch.supervise import end_with_parent
from fathometer.record.profiled import FOLDER, OPTIONS

PROBLEM = "problem.txt"  # what kept the library from counting
GRACE_SECONDS = 10.0  # from SIGTERM to SIGKILL


@dataclass(frozen=True)
class Ended:
    """code: in the shells' convention, 128 + N where signal N ended it. interrupted: whether this process was told to
    end, and ended the command."""

    code: int
    interrupted: bool


def environment(folder: Path, options: Sequence[str], newer: bool, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a profile, besides those that there are.

    folder: where ranks write. options: of rank_file.OPTIONS, and HIDE. newer: whether functions of MPI 4 are
    counted too. Raises FathometerError where the library is not built.
    """
    libraries = [built_library(name) for name in (("profile", "profile_4") if newer else ("profile",))]
    if None in libraries:
        raise FathometerError("the library that counts is not built; needed: make build")
    preloaded = " ".join([*map(str, libraries), *environ.get("LD_PRELOAD", "").split()])
    return {"LD_PRELOAD": preloaded, FOLDER: str(folder.absolute()), OPTIONS: ",".join(options)}


def words_of(words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """The command's words. Open MPI's launcher passes only some variables on to other hosts: it is told ours.

    >>> words_of(["srun", "-n", "2", "./program"], {"LD_PRELOAD": "x"})
    ['srun', '-n', '2', './program']
    """
    found = launcher_of(words)
    if found is None or found[1] != "openmpi" or any("LD_PRELOAD" in word for word in words):
        return list(words)
    place = found[0] + 1
    return [*words[:place], *(word for name in variables for word in ("-x", name)), *words[place:]]


def run(words: Sequence[str], folder: Path, options: Sequence[str], newer: bool | None = None) -> Ended:
    """Run a command, whose ranks write into `folder`, until it ends; its output and input are this process's.

    newer: whether functions of MPI 4 are counted too; None: where the command's MPI seems to have them.

    Raises InputError for a program into which nothing can be preloaded, and for a command that cannot be run.
    """
    refuse_static(words)
    refuse_privileged(words)
    variables = environment(folder, options, has_newer_calls(words) if newer is None else newer, os.environ)
    return run_in(words_of(words, variables), {**os.environ, **variables})


def run_in(words: Sequence[str], environ: Mapping[str, str]) -> Ended:
    """Run a command in an environment until it ends. Should this process be killed, the kernel sends the command
    SIGTERM, at which launchers end their ranks. Raises InputError where it cannot be run."""
    libc = ctypes.CDLL(None)
    try:
        process = subprocess.Popen(words, env=dict(environ), preexec_fn=lambda: end_with_parent(libc))
    except OSError as error:
        raise InputError(f"{words[0]}: cannot be run: {why_not_run(words[0], error)}") from None
    interrupted = False
    while True:
        try:
            code = process.wait(GRACE_SECONDS if interrupted else None)
            break
        except KeyboardInterrupt:
            interrupted = True
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        except subprocess.TimeoutExpired:
            process.kill()
    return Ended(code if code >= 0 else 128 - code, interrupted)
