"""Runs of the applications from Python: a program of their own, on its own ranks, that this one starts and waits for.

MPI is not begun here, neither by the import nor by a run, so that a notebook stays what it is.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fathometer.base.errors import FathometerError, InputError, shortened
from fathometer.base.meant import did_you_mean
from fathometer.base.own_program import own_program
from fathometer.python.errors import path_of, public, require_xarray
from fathometer.python.inputs import SEISMIC, Input, Survey, table
from fathometer.python.records import Record

if TYPE_CHECKING:
    from xarray import DataArray

ERROR, INTERRUPTED = "fathometer: error: ", "fathometer: interrupted"  # begin lines
SECONDS_OF_LINES = "1"  # between lines of progress, at least
LAST_LINES = 3  # of a program that ended without saying why


@dataclass(frozen=True, eq=False)
class Run:
    """A run that has ended.

    Attributes:
        command: its name. record: where its time went, and what it found. files: of its results, by what they are.
    """

    command: str
    record: Record
    files: dict[str, Path] = field(repr=False)

    @public
    def open(self, name: str) -> DataArray:
        """One of `files`, a volume or gathers, as `open_volume` and `open_gathers` do."""
        from fathometer.python.opening import open_gathers, open_volume
        from fathometer.storage.contents import contents_of

        if name not in self.files:
            raise InputError(f"files: found {shortened(repr(name))}; allowed: {', '.join(self.files)}")
        path = os.fspath(self.files[name])
        return open_gathers(path) if contents_of(path, Path()).kind == "gathers" else open_volume(path)

    @cached_property
    def volumes(self) -> dict[str, DataArray]:
        """Those of `files` that are volumes or gathers, open; values are read where they are used."""
        require_xarray("volumes")
        from fathometer.storage.volumes.registry import BY_SUFFIX

        return {name: self.open(name) for name, path in self.files.items() if path.suffix.lower() in BY_SUFFIX}


@public
def run(
    command: str,
    input: Input | Mapping[str, Any] | str | os.PathLike[str],
    *,
    ranks: int | None = None,
    threads: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> Run:
    """Run `fathometer COMMAND INPUT` and wait for its end.

    Args:
        command: model, migrate, migrate-time, ocean, reactive, flow, plasma, atmosphere or farm.
        input: a Survey or Input, which is saved first; the dictionaries of one; or the name of a file.
        ranks: of MPI, started by the program's own launcher; None: one process.
        threads: of a rank; None: all its cores.
        resume: go on with an earlier run's work. overwrite: begin anew where a run was not finished, and replace files
            that no run has left a record of; results of a finished run are replaced in any case.
        settings: keys in place of the input's, such as {"history.store": "disk"}.
        quiet: show neither progress nor notes, which are printed otherwise.

    Returns the run with its record and the files of its results. An interruption (Ctrl-C, a notebook's stop) ends the
    program as a signal does: it clears up, keeps what can be resumed, and KeyboardInterrupt follows.

    Raises InputError where the input is wrong, or this process is a launcher's rank itself (nothing has run);
    FathometerError where the run failed; with the line that the command line prints.

    >>> run("migrate", "survey.toml")
    Traceback (most recent call last):
    fathometer.base.errors.InputError: survey.toml: cannot read the survey file: no such file or directory
    """
    from fathometer.launch.mpirun import launched

    world = launched(os.environ)
    if world is not None and world.size is not None:  # None: this process has begun MPI by itself
        raise InputError(
            f"run: this Python was started by {world.launcher}, as one of its ranks; allowed: one that no launcher has "
            "started; ranks=… are those of the run, which it starts itself"
        )
    words = _words(command, input, ranks, threads, settings)
    words += [f"--{name}" for name, asked in (("resume", resume), ("overwrite", overwrite), ("quiet", quiet)) if asked]
    code, output, lines = _watch([*own_program(), *words, "--json"])
    if code:
        raise _error(command, code, lines)
    entries = _record(command, output)
    files = {name: Path(os.getcwd(), file) for name, file in entries["results"]["files"].items()}
    return Run(command, Record(files.get("record", Path("run.json")), entries), files)


def _words(
    command: str,
    input: Input | Mapping[str, Any] | str | os.PathLike[str],
    ranks: int | None,
    threads: int | None,
    settings: Mapping[str, Any] | None,
) -> list[str]:
    """The words of the command line, the input saved. InputError where they are wrong."""
    from fathometer.cli.registry import applications
    from fathometer.config.toml_text import toml

    owners = {name: app.identity.name for app in applications() for name in app.identity.commands}
    if not isinstance(command, str) or command not in owners:
        raise InputError(
            f"command: found {shortened(repr(command))}; allowed: {', '.join(owners)}{did_you_mean(command, owners)}"
        )
    if isinstance(input, Mapping):
        input = Survey(input) if owners[command] == SEISMIC else Input(owners[command], input)
    if isinstance(input, Input):
        if input.application != owners[command]:
            raise InputError(
                f"{input.path}: found an input of {input.application}; allowed for {command}: of {owners[command]}"
            )
        input = input.save()
    words = [command, path_of(input, "input")]
    for name, number in (("ranks", ranks), ("threads", threads)):
        if number is not None:
            if isinstance(number, bool) or not isinstance(number, Integral):
                raise InputError(f"{name}: found {shortened(repr(number))}; allowed: a whole number from 1")
            words += [f"--{name}", str(int(number))]
    return words + [f"--set={key}={toml(value)}" for key, value in table(settings or {}, "settings:").items()]


def _watch(words: list[str]) -> tuple[int, bytes, list[str]]:
    """Run the program: its exit code, what it printed for programs, and its lines for people, which are printed here as
    they come. KeyboardInterrupt after its end, where one came meanwhile."""
    from fathometer.launch.supervise import end_with_parent

    libc = ctypes.CDLL(None)
    environ = os.environ | {"FATHOMETER_LINE_SECONDS": SECONDS_OF_LINES}
    environ.pop("FATHOMETER_TTY", None)
    # A group of its own: a terminal's Ctrl-C comes here alone, and is sent on once. It ends where this process does.
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        process_group=0,
        preexec_fn=lambda: end_with_parent(libc),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        output: list[bytes] = []
        reader = threading.Thread(target=lambda stream: output.append(stream.read()), args=(process.stdout,))
        reader.start()
        lines: list[str] = []
        interrupts = 0
        while True:
            try:
                _show(process.stderr, lines)
                code = process.wait()
                reader.join()
                break
            except KeyboardInterrupt:
                # The second one ends it at once, as on the command line; the third kills it.
                interrupts += 1
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGINT if interrupts < 3 else signal.SIGKILL)
    if interrupts:
        raise KeyboardInterrupt(next((line for line in reversed(lines) if line.startswith(INTERRUPTED)), ""))
    return code, b"".join(output), lines


def _show(stream: IO[bytes], lines: list[str]) -> None:
    """Print lines as they come, but that of an error, and keep them."""
    for line in iter(stream.readline, b""):
        lines.append(line.decode("utf-8", "replace").rstrip("\n"))
        if not lines[-1].startswith(ERROR):
            print(lines[-1], flush=True)


def _error(command: str, code: int, lines: list[str]) -> FathometerError:
    """The error of a run that ended with this exit code."""
    kind = InputError if code == InputError.exit_code else FathometerError
    told = [line.removeprefix(ERROR) for line in lines if line.startswith(ERROR)]
    if told:
        return kind(told[-1])
    last = "; ".join(line for line in lines[-LAST_LINES:] if line)
    return kind(f"fathometer {command}: ended with exit code {code}{': ' * bool(last)}{last}")


def _record(command: str, output: bytes) -> dict[str, Any]:
    """The record that the program printed."""
    try:
        entries: dict[str, Any] = json.loads(output)
    except ValueError:
        raise FathometerError(
            f"fathometer {command}: ended without a record; another run may write the results"
        ) from None
    return entries
