"""Commands that are run, one or several at a time, each in a session of its own and with its output in files.

A command that runs beside others is held back until all are ready: its process waits for the end of a pipe that all
have in common, and then becomes the command. Seconds are those from this start to the end of the process, told by the
kernel at once and not by asking now and then. The processes of a run carry its folder in their environment: by it those
that a killed study has left are found and ended.
"""

from __future__ import annotations

import ctypes
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fathometer.base.errors import InputError
from fathometer.base.ledger import now
from fathometer.base.marked_processes import marked_processes, other_processes
from fathometer.base.process_stat import process_stat
from fathometer.base.signals import blocked, unblock
from fathometer.config.types import Strictly
from fathometer.launch.supervise import end_with_parent

MARKER = "FATHOMETER_STUDY_RUN"  # environment variable of all processes of a run
GRACE_SECONDS = 5.0  # from SIGTERM to SIGKILL
LOOK_SECONDS = 1.0  # of one wait: a signal that comes just before the wait, or to another thread, does not end it
STDOUT, STDERR = "stdout", "stderr"
ADOPTED_SECONDS = 0.5  # in which daemons of a run have ended after it
LAST_LINES, LAST_BYTES = 3, 4096  # of the output of a run that failed, in its reason
_PR_SET_CHILD_SUBREAPER = 36
# Waits for the end of the pipe in its first argument, then becomes the command in the others.
_HELD_BACK = (
    "import os, sys\nos.read(int(sys.argv[1]), 1)\nos.close(int(sys.argv[1]))\nos.execvp(sys.argv[2], sys.argv[2:])"
)


@dataclass(frozen=True)
class Process:
    """A command to be run.

    Attributes:
        words: its first one is found on PATH. folder: where it runs. environ: all variables.
        output: the folder of its output (stdout, stderr). mark: the folder of its run, by which it is found.
    """

    words: Sequence[str]
    folder: Path
    environ: Mapping[str, str]
    output: Path
    mark: Path


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        begin: s since 1970. seconds: until its end. code: its exit code, or 128 + N where signal N ended it.
        timed_out: whether it was ended because its time was over.
        cpu_seconds: of all its processes that it waited for.
    """

    begin: Annotated[float, Strictly]
    seconds: Annotated[float, Strictly]
    code: Annotated[int, Strictly]
    timed_out: Annotated[bool, Strictly]
    cpu_seconds: Annotated[float, Strictly]


def run_together(processes: Sequence[Process], time_limit: float | None) -> list[Ended]:
    """Run all at the same time, until the last one has ended; those that take longer than the time limit (s) are ended.

    Whatever interrupts this function, such as KeyboardInterrupt, ends them too. Raises InputError where a command
    cannot be started; none of them has begun then.
    """
    children: list[subprocess.Popen[bytes]] = []
    held_back = len(processes) > 1
    reading, writing = os.pipe() if held_back else (-1, -1)
    try:
        begin, clock = time.time(), now()  # before it is started: a short one may have ended before this one goes on
        for process in processes:
            with blocked():
                children.append(_started(process, reading))
        if held_back:
            begin, clock = time.time(), now()
            os.close(writing)
            writing = -1
        return _wait(children, processes, time_limit, begin, clock)
    except BaseException:
        for child, process in zip(children, processes, strict=False):
            _end(child, process.mark)
        raise
    finally:
        for handle in (reading, writing):
            if handle >= 0:
                os.close(handle)


@contextmanager
def adopting() -> Iterator[None]:
    """While this lasts, processes whose parents have ended, such as the daemons by which mpirun starts ranks on nodes
    of a cluster, become this one's children, so that their times count among those of its own.

    For one run at a time: children that are new meanwhile and have ended are waited for at the end.
    """
    before = set(_children())
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        until = now() + ADOPTED_SECONDS
        while new := [pid for pid in _children() if pid not in before]:
            for pid in new:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if now() > until:
                break
            time.sleep(0.01)


def _children() -> list[int]:
    """The children of this process, those that have ended and are not waited for included."""
    stats = ((pid, process_stat(pid)) for pid in other_processes())
    return [pid for pid, stat in stats if stat is not None and stat.parent == os.getpid()]


def _started(process: Process, pipe: int) -> subprocess.Popen[bytes]:
    words = list(process.words)
    if pipe >= 0:
        words = [sys.executable, "-I", "-S", "-c", _HELD_BACK, str(pipe), *words]
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def die_with_parent() -> None:
        end_with_parent(libc)
        if os.getppid() != parent:  # it has ended meanwhile
            os._exit(1)
        unblock()

    with (process.output / STDOUT).open("wb") as out, (process.output / STDERR).open("wb") as err:
        try:
            return subprocess.Popen(
                words,
                cwd=process.folder,
                env=dict(process.environ) | {MARKER: str(process.mark)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                pass_fds=(pipe,) if pipe >= 0 else (),
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise InputError(f"{process.words[0]}: cannot be started: {error.strerror or error}") from None


def _wait(
    children: Sequence[subprocess.Popen[bytes]],
    processes: Sequence[Process],
    time_limit: float | None,
    begin: float,
    clock: float,
) -> list[Ended]:
    poll = select.poll()
    waiting = {}
    for number, child in enumerate(children):
        handle = os.pidfd_open(child.pid)
        waiting[handle] = number
        poll.register(handle, select.POLLIN)
    ended: dict[int, Ended] = {}
    try:
        while waiting:
            left = math.inf if time_limit is None else max(0.0, clock + time_limit - now())
            ready = poll.poll(1000 * min(left, LOOK_SECONDS))
            seconds = now() - clock
            over = not ready
            if over and left > LOOK_SECONDS:
                continue
            for handle in [handle for handle, _ in ready] or list(waiting):
                number = waiting.pop(handle)
                poll.unregister(handle)
                os.close(handle)
                if over:
                    code, cpu = _end(children[number], processes[number].mark)
                else:
                    code, cpu = _reaped(children[number])
                ended[number] = Ended(begin, seconds, code, over, cpu)
    finally:
        for handle in waiting:
            os.close(handle)
    for mark in dict.fromkeys(process.mark for process in processes):
        end_marked(mark)
    return [ended[number] for number in range(len(children))]


def _reaped(child: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Exit code and CPU seconds of a process that has ended."""
    _, status, usage = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    child.returncode = code  # so that subprocess does not wait for it
    return (128 - code if code < 0 else code), usage.ru_utime + usage.ru_stime


def _end(child: subprocess.Popen[bytes], folder: Path) -> tuple[int, float]:
    """End a process with all that belong to it; exit code and CPU seconds."""
    if child.returncode is not None:
        return child.returncode, 0.0
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    handle = os.pidfd_open(child.pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(1000 * GRACE_SECONDS):
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
    finally:
        os.close(handle)
    result = _reaped(child)
    end_marked(folder, child.pid)
    return result


def end_marked(folder: Path, besides: int = 0) -> int:
    """Kill what still runs of the run in a folder, such as ranks that a killed launcher has left; how many these were.

    The run may be any below the folder.
    """
    left = marked_processes(MARKER, lambda value: value == str(folder) or value.startswith(f"{folder}/")) - {besides}
    for process in left:
        with suppress(OSError):  # it has ended
            os.kill(process, signal.SIGKILL)
    return len(left)


def last_lines(path: Path) -> str:
    """The last lines of what a command has printed into a file, on one line; "" where there are none, or no file."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LAST_BYTES))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        return " | ".join(lines[-LAST_LINES:])
    return ""
