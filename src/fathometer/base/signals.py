"""How a command ends that is told to: by Ctrl-C, by the end of a batch job, by whoever started its ranks.

The main thread is told as soon as it comes back from a kernel or from MPI, or has finished what it is held for; a
process that does not come back in time, as one that waits for a rank that has ended, is ended by a thread of its own.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

INTERRUPTED = 130  # as shells count it: 128 + SIGINT
RESUMABLE = 75  # as sendmail and batch systems count it: a failure that will pass
PATIENCE_SECONDS = 6.0  # from the signal to the end at the latest; mpirun then takes two more to clear up

# Ctrl-C; the end of a batch job, also what mpirun makes of its own end; the end of the terminal; and what mpirun passes
# on to its ranks, which it does with none of the others.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


@dataclass
class _Held:
    """How deep in blocks that are not interrupted, and whether a signal has come there."""

    depth: int = 0
    waiting: bool = False


_current: ContextVar[_Held | None] = ContextVar("held", default=None)  # of the `interruptible` block


def hold() -> None:
    """Until `release`, signals of an `interruptible` block wait: what other ranks have begun with this one is finished
    first, or they would be left alone in it."""
    held = _current.get()
    if held is not None:
        held.depth += 1


def release() -> None:
    """Raises KeyboardInterrupt where a signal came since `hold`."""
    held = _current.get()
    if held is not None:
        held.depth -= 1
        if held.waiting and not held.depth:
            held.waiting = False
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block the signals raise KeyboardInterrupt, but only once: clearing up is not interrupted again."""
    before: dict[signal.Signals, Any] = {}
    held = _Held()

    def interrupt(*_: object) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)
        if held.depth:
            held.waiting = True
        else:
            raise KeyboardInterrupt

    for one in SIGNALS:
        if signal.getsignal(one) is not signal.SIG_IGN:  # as under nohup
            before[one] = signal.signal(one, interrupt)
    outer = _current.set(held)
    try:
        yield
    finally:
        _current.reset(outer)
        for one, handler in before.items():
            signal.signal(one, signal.SIG_DFL if handler is None else handler)


@contextmanager
def prompt(end: Callable[[], None], seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Call `end`, which is to end the process, on another thread where a signal has come and the block has not ended
    some seconds later. Within `interruptible`, on the main thread."""
    heard, told = os.pipe()
    os.set_blocking(told, False)

    def watch() -> None:
        while number := os.read(heard, 1):
            if number[0] in SIGNALS:
                break
        else:
            return  # the block has ended
        if not done.wait(seconds):
            end()

    done = threading.Event()
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    thread = threading.Thread(target=watch, name="prompt end", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(before)
        os.close(told)
        thread.join()
        os.close(heard)
