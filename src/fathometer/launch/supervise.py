"""Supervision of an mpirun that this process has started: signals passed on, exit code.

An mpirun that receives SIGINT or SIGTERM kills its ranks a second later and returns 1, whatever they return. So it gets
a process group of its own, which the terminal's signals do not reach, and this process stays its parent: signals that
arrive here are sent on as the one signal that mpirun forwards to its ranks, and their end is waited for.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fathometer.base.early_signals import INTERRUPTED
from fathometer.base.errors import InputError
from fathometer.base.signals import blocked, unblock

TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RANKS_GRACE_SECONDS = 8.0  # from the forwarded signal to SIGTERM for mpirun
REPEATS = 8  # of the forwarded signal in this time; a rank that has received it ignores it
MPIRUN_GRACE_SECONDS = 2.0  # from SIGTERM to SIGKILL
POLL_SECONDS = 0.5  # between checks whether termination was requested
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class ExitStatus:
    """How mpirun ended.

    Attributes:
        code: its exit code; 128 + N where signal N killed a rank or mpirun itself.
        requested: whether this process had received a signal to end.
    """

    code: int
    requested: bool

    @property
    def killed(self) -> bool:
        """Whether ranks were killed by a signal that did not come through this process, other than Ctrl-C."""
        return not self.requested and self.code > 128 and self.code != INTERRUPTED


def supervise(
    words: Sequence[str], environ: Mapping[str, str], forwarded_signal: signal.Signals, end_seconds: float = 0.0
) -> ExitStatus:
    """Run mpirun until it ends.

    Args:
        words: its command line. environ: its environment.
        forwarded_signal: sent to mpirun when this process receives a signal to end; SIGTERM and SIGKILL follow later.
        end_seconds: by which they follow later than usual, since the ranks write what the run can be gone on with; a
            second signal ends these at once.

    Should this process be killed, the kernel sends mpirun SIGTERM. Raises InputError where mpirun cannot be executed.
    """
    libc = ctypes.CDLL(None)
    requests = 0

    def end(*_: object) -> None:
        nonlocal requests
        requests += 1
        if requests == 1:
            _send(process, forwarded_signal)
        elif end_seconds and requests == 2:
            _send(process, signal.SIGTERM)

    def pause(*_: object) -> None:  # Ctrl-Z; mpirun stops its ranks
        _send(process, signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGSTOP)
        _send(process, signal.SIGCONT)

    handled = [s for s in (*TERMINATION_SIGNALS, signal.SIGTSTP) if signal.getsignal(s) is not signal.SIG_IGN]
    previous: dict[signal.Signals, Any] = {}
    try:
        with blocked(handled):  # until there is a process to send them to
            try:
                process = subprocess.Popen(
                    words,
                    env=dict(environ),
                    stdin=subprocess.DEVNULL,
                    process_group=0,
                    preexec_fn=lambda: _prepare_child(libc, handled),
                )
            except OSError as error:
                raise InputError(f"{words[0]}: cannot be run: {error.strerror}") from None
            previous = {s: signal.signal(s, pause if s is signal.SIGTSTP else end) for s in handled}
        return ExitStatus(_wait(process, lambda: requests, forwarded_signal, end_seconds), requests > 0)
    finally:
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def end_with_parent(libc: ctypes.CDLL) -> None:
    """In a new process, before it becomes another program: the kernel sends it SIGTERM when its parent ends.

    libc: loaded before the fork.
    """
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


def _prepare_child(libc: ctypes.CDLL, handled: Sequence[signal.Signals]) -> None:
    """In the new process, before mpirun is executed: SIGTERM when the parent ends; signals unblocked."""
    end_with_parent(libc)
    unblock(handled)


def _wait(
    process: subprocess.Popen[bytes],
    requests: Callable[[], int],
    forwarded_signal: signal.Signals,
    end_seconds: float,
) -> int:
    """The exit code in the shells' convention, 128 + N for signal N."""
    code = _wait_for(process, POLL_SECONDS)
    while code is None and not requests():
        code = _wait_for(process, POLL_SECONDS)
    repeated = forwarded_signal == signal.SIGUSR1 or not end_seconds  # else ranks take the second one for impatience
    for _ in range(REPEATS):
        if code is None:
            code = _wait_for(process, RANKS_GRACE_SECONDS / REPEATS)
        if code is None and repeated:
            _send(process, forwarded_signal)  # ranks that mpirun was only about to start did not get the first one
    deadline = time.monotonic() + end_seconds
    while code is None and requests() == 1 and time.monotonic() < deadline:
        code = _wait_for(process, POLL_SECONDS)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if code is None:
            _send(process, number)
            code = _wait_for(process, MPIRUN_GRACE_SECONDS)
    if code is None:
        code = process.wait()
    return code if code >= 0 else 128 - code


def _wait_for(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The return code; None where the process still runs after so many seconds."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _send(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)
