"""The process of a task: started without a shell, watched, its output kept in memory.

Outputs go to files in memory (memfd_create) rather than through pipes: a task that has ended has left its result, and
nothing has to be read while it runs. What it has started and left running is ended with it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from fathometer.base.removal import remove_file

PR_SET_CHILD_SUBREAPER = 36
LONGEST_PAUSE = 1e6  # s, of poll
LAST_WORDS = 4096  # bytes of standard error that are looked at


class StoppedError(Exception):
    """Whoever hands out the tasks wants no more, or has ended."""


@dataclass
class Ended:
    """A task's process that has ended.

    Attributes:
        wrong: why it counts as failed; "": it does not. result: descriptor of a file in memory, from its beginning; -1:
            there is none. said: the last line on standard error. cpu_seconds: of user and system.
    """

    wrong: str
    result: int
    said: str = ""
    cpu_seconds: float = 0.0

    def close(self) -> None:
        """Let the result go."""
        if self.result >= 0:
            os.close(self.result)


class TaskProcesses:
    """Runs one process after another; for the main thread of a process that has no other children.

    Args:
        control: descriptor that becomes readable where the work is to stop. folder: in which the processes run.
        environ: their environment.
    """

    def __init__(self, control: int, folder: str, environ: Mapping[str, str]) -> None:
        self._control, self._folder, self._environ = control, folder, environ
        _adopt_orphans()
        self._wake, write = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        self._poll = select.poll()
        self._poll.register(self._wake, select.POLLIN)
        self._poll.register(control, select.POLLIN)

    def run(self, words: Sequence[str], stdin: bytes | None, output: Path | None, limit: float | None) -> Ended:
        """Run a command to its end.

        Args:
            stdin: what it reads; None: nothing. output: a file that is its result, removed afterwards; None: its
                standard output. limit: seconds.

        Raises StoppedError, with the process killed.
        """
        out, said, given = os.memfd_create("result"), os.memfd_create("said"), -1
        try:
            if stdin is not None:
                given = os.memfd_create("given")
                _write_all(given, stdin)
                os.lseek(given, 0, os.SEEK_SET)
            try:
                process = subprocess.Popen(
                    list(words),
                    stdin=given if given >= 0 else subprocess.DEVNULL,
                    stdout=out,
                    stderr=said,
                    cwd=self._folder,
                    env=self._environ,
                    process_group=0,
                )
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                os.close(out)
                return Ended(f"{words[0]}: cannot be run: {reason}", -1)
            late = self._wait(process.pid, limit)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
            _end_children()
            cpu = used.ru_utime + used.ru_stime
            line = _last_line(said)
            wrong = f"ran longer than {limit:g} s" if late else _wrong(code, line)
            if output is not None:
                os.close(out)
                out = -1
                if not wrong:
                    try:
                        out = _opened(output)
                    except OSError as error:
                        wrong = f"its {{output}} cannot be read: {error.strerror}"
                remove_file(output)
            if wrong and out >= 0:
                os.close(out)
                out = -1
            return Ended(wrong, out, line, cpu)
        except BaseException:
            with suppress(OSError):
                os.close(out)
            raise
        finally:
            os.close(said)
            if given >= 0:
                os.close(given)

    def _wait(self, process: int, limit: float | None) -> bool:
        """Until a process has ended, which then is still to be waited for; whether it was killed for its time."""
        end = None if limit is None else monotonic() + limit
        late = False
        while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            left = None if end is None or late else max(0.0, end - monotonic())
            events = self._poll.poll(None if left is None else min(left, LONGEST_PAUSE) * 1000 + 1)
            for handle, _ in events:
                if handle == self._control:
                    _kill_group(process)
                    os.waitpid(process, 0)
                    _end_children()
                    raise StoppedError
                with suppress(BlockingIOError):
                    os.read(self._wake, 4096)
            if left == 0.0:
                late = True
                _kill_group(process)
        _kill_group(process)  # what it has left; as long as it is not waited for no other group has its number
        return late


def _kill_group(process: int) -> None:
    """Kill a process, wherever it has gone, and its group."""
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(process, signal.SIGKILL)


def _adopt_orphans() -> None:
    """Have this process get what its descendants leave running, wherever these have gone."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_children() -> None:
    """Kill what a task has left running: its orphans, and theirs."""
    path = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    with suppress(OSError, ChildProcessError):
        while children := Path(path).read_text().split():
            for child in map(int, children):
                with suppress(OSError):
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _opened(path: Path) -> int:
    """A task's output. Raises OSError where it is no file."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no file")
    return handle


def _wrong(code: int, line: str) -> str:
    if not code:
        return ""
    how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how}: {line}" if line else how


def _last_line(handle: int) -> str:
    size = os.fstat(handle).st_size
    text = os.pread(handle, LAST_WORDS, max(0, size - LAST_WORDS)).decode(errors="replace")
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:300]


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
