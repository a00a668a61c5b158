"""Termination signals: Ctrl-C, the end of a batch job, the launcher of the ranks.

A signal raises KeyboardInterrupt in the main thread as soon as that returns from a kernel or from MPI, or leaves a
section in which interrupts are deferred. Work in steps may have it noted instead, to end after a step with what it can
be gone on with (`between_steps`). A process whose main thread does not return in time, as one that waits in MPI
for a rank that has ended, is ended by a watchdog thread.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from fathometer.base import early_signals
from fathometer.base.early_signals import SIGNALS

RESUMABLE = 75  # exit code: EX_TEMPFAIL of sysexits.h, a temporary failure
GRACE_SECONDS = 5.0  # from the signal to the end at the latest; mpirun then needs two more
LAST_WORDS_SECONDS = 0.5  # from the signal to the last words: sooner than mpirun kills its ranks, a second later


@dataclass
class _Deferral:
    """Of an `interruptible` block: depth of nested sections in which interrupts are deferred, and whether a signal is
    pending; whether one has come that ends the block; seconds that a `between_steps` block has from a signal on, 0
    outside of one, and whether it was noted; how further signals are ignored; the calls of its `last_words` blocks, and
    the lock under which they are made."""

    depth: int = 0
    pending: bool = False
    ending: bool = False
    patience: float = 0.0
    noted: bool = False
    ignore: Callable[[], None] = lambda: None
    last_words: list[Callable[[], None]] = field(default_factory=list)
    speaking: threading.Lock = field(default_factory=threading.Lock)

    def speak(self) -> None:
        """Make the calls, the latest block's first."""
        with self.speaking:
            for call in self.last_words[::-1]:
                with suppress(Exception):
                    call()


_current: ContextVar[_Deferral | None] = ContextVar("deferral", default=None)  # of the `interruptible` block


def hold() -> None:
    """Defer interrupts of the `interruptible` block until `release`: a collective call that other ranks have entered
    must be completed, or they would wait in it for ever."""
    deferral = _current.get()
    if deferral is not None:
        deferral.depth += 1


def release() -> None:
    """End of the section that `hold` began. Raises KeyboardInterrupt where a signal came in it."""
    deferral = _current.get()
    if deferral is not None:
        deferral.depth -= 1
        if deferral.pending and not deferral.depth:
            deferral.pending = False
            raise KeyboardInterrupt


def ending() -> bool:
    """Whether a signal ends the `interruptible` block. An exception of another kind is then what a library has made of
    KeyboardInterrupt, which was raised in the middle of its work."""
    deferral = _current.get()
    return deferral is not None and deferral.ending


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block the first of the signals raises KeyboardInterrupt; later ones are ignored, so that cleaning up
    is not interrupted. One that `early_signals` has noted raises it at once."""
    previous: dict[signal.Signals, Any] = {}
    deferral = _Deferral()

    def ignore() -> None:
        for number in previous:
            signal.signal(number, signal.SIG_IGN)

    def interrupt(number: int = 0, *_: object) -> None:
        if deferral.patience and not (deferral.noted and _ends_at_once(number)):
            deferral.noted = True
            return
        ignore()
        deferral.ending = True
        if deferral.depth:
            deferral.pending = True
        else:
            raise KeyboardInterrupt

    deferral.ignore = ignore
    outer = _current.set(deferral)
    try:
        early = early_signals.begun()
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                previous[number] = signal.signal(number, interrupt)
        if early and early_signals.noted():
            interrupt()
        yield
    finally:
        _current.reset(outer)
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def between_steps(seconds: float) -> Iterator[Callable[[], bool]]:
    """Within the block, on the main thread, the first signal is only noted: the value says whether one was. It raises
    KeyboardInterrupt at the block's end, and a second one at once. `watchdog` waits `seconds` longer meanwhile."""
    deferral = _current.get()
    if deferral is None:
        yield lambda: False
        return
    deferral.patience = seconds
    try:
        yield lambda: deferral.noted
    finally:
        deferral.patience = 0.0
        if deferral.noted:
            deferral.ignore()
    if deferral.noted:
        raise KeyboardInterrupt


def _ends_at_once(number: int) -> bool:
    """Whether a signal, as a second one, is of somebody who will not wait: SIGUSR1 is repeated by launchers."""
    return number != signal.SIGUSR1


@contextmanager
def blocked(numbers: Sequence[signal.Signals] = SIGNALS) -> Iterator[None]:
    """Within the block the signals wait. Around the start of a process: Python calls hooks at a fork and drops whatever
    exception is raised in them, KeyboardInterrupt too. The new process calls `unblock`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def unblock(numbers: Sequence[signal.Signals] = SIGNALS) -> None:
    """In a new process, before it becomes another program: the signals do to it what they do by default, those too
    that have waited; but those that its parent ignores stay ignored."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


@contextmanager
def watchdog(end: Callable[[], None], seconds: float = GRACE_SECONDS) -> Iterator[None]:
    """Call `end`, which is to end the process, on another thread where the block still runs `seconds` after a signal.

    To be used within `interruptible`, on the main thread.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def watch() -> None:
        while number := os.read(read_end, 1):
            if number[0] in SIGNALS:
                break
        else:
            return  # the block has ended
        soon = min(seconds, LAST_WORDS_SECONDS)
        if done.wait(soon):
            return
        if deferral is not None:
            threading.Thread(target=deferral.speak, name="last words", daemon=True).start()  # the disk may hang
            _wait_for_second(read_end, deferral.patience)
        if not done.wait(max(seconds - soon, soon)):
            end()

    deferral = _current.get()
    done = threading.Event()
    previous = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    thread = threading.Thread(target=watch, name="signal watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(previous)
        os.close(write_end)
        thread.join()
        os.close(read_end)


def _wait_for_second(signals: int, seconds: float) -> None:
    """Until a second signal comes out of a pipe, or its end, or so many seconds are over."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and select.select([signals], [], [], left)[0]:
        number = os.read(signals, 1)
        if not number or (number[0] in SIGNALS and _ends_at_once(number[0])):
            return


@contextmanager
def last_words(call: Callable[[], None]) -> Iterator[None]:
    """Within the block `watchdog` calls this once, on another thread, where a signal has not ended the main thread's
    work `LAST_WORDS_SECONDS` later: should the process be killed then, files can still say why."""
    deferral = _current.get()
    if deferral is None:  # nobody watches
        yield
        return
    deferral.last_words.append(call)
    try:
        yield
    finally:
        with deferral.speaking:
            deferral.last_words.remove(call)
