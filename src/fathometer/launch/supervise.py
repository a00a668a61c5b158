"""Ranks that this program starts itself, looked after until they end.

mpirun ends its ranks a second after it was told to end itself, and then returns 1, whatever they return. So it has a
process group of its own, where no terminal reaches it, and this process stays above it: what it is told, it tells the
ranks by the one signal that mpirun passes on, and waits for their end.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fathometer.base.errors import InputError

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE_SECONDS = 8.0  # that the ranks have to end before mpirun is told to end them
LAST_SECONDS = 2.0  # that mpirun has for it
NAP_SECONDS = 0.5  # between looks at whether it was asked to end
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Ended:
    """How the ranks ended: mpirun's exit code, 128 + the signal where one killed a rank or mpirun itself; whether this
    process was told to end them."""

    code: int
    asked: bool

    @property
    def killed(self) -> bool:
        """Whether a signal ended them that did not come through this process."""
        return not self.asked and self.code > 128


def look_after(words: Sequence[str], environ: Mapping[str, str], passed_on: signal.Signals) -> Ended:
    """Run mpirun until it ends, and tell it by the signal `passed_on` when this process is told to end or, later, by
    SIGTERM and SIGKILL. Should this process be killed, mpirun is told to end. Raises InputError where it cannot be run.
    """
    libc = ctypes.CDLL(None)
    asked = False

    def end(*_: object) -> None:
        nonlocal asked
        if not asked:
            asked = True
            _tell(process, passed_on)

    def pause(*_: object) -> None:  # Ctrl-Z; mpirun pauses its ranks
        _tell(process, signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGSTOP)
        _tell(process, signal.SIGCONT)

    heeded = [one for one in (*ENDS, signal.SIGTSTP) if signal.getsignal(one) is not signal.SIG_IGN]
    before: dict[signal.Signals, Any] = {}
    signal.pthread_sigmask(signal.SIG_BLOCK, heeded)  # until there is a process to tell
    try:
        try:
            process = subprocess.Popen(
                words,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                process_group=0,
                preexec_fn=lambda: _begin(libc, heeded),
            )
        except OSError as error:
            raise InputError(f"{words[0]}: cannot be run: {error.strerror}") from None
        before = {one: signal.signal(one, pause if one is signal.SIGTSTP else end) for one in heeded}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, heeded)
        return Ended(_wait(process, lambda: asked), asked)
    finally:
        for one, handler in before.items():
            signal.signal(one, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, heeded)


def _begin(libc: ctypes.CDLL, blocked: Sequence[signal.Signals]) -> None:
    """In the new process: its end comes with its parent's; it heeds signals again."""
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked)


def _wait(process: subprocess.Popen[bytes], asked: Callable[[], bool]) -> int:
    """The exit code, as shells count it."""
    code = _within(process, NAP_SECONDS)
    while code is None and not asked():
        code = _within(process, NAP_SECONDS)
    for seconds, then in ((PATIENCE_SECONDS, signal.SIGTERM), (LAST_SECONDS, signal.SIGKILL)):
        if code is None:
            code = _within(process, seconds)
        if code is None:
            _tell(process, then)
    if code is None:
        code = process.wait()
    return code if code >= 0 else 128 - code


def _within(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _tell(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)
