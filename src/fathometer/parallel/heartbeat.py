"""Ranks that stand still, as one that was stopped or whose host gives no answer: the others would wait for ever.

Each rank writes a growing number into a file of its own, and its neighbour in the ring of ranks reads it. Where it has
not grown for so long as the user is patient, the neighbour says which rank stands still, on which host and in which
phase, and ends as if it had received SIGTERM, which ends all ranks.

Files, since ranks of several hosts share the folder of the results anyway, while messages would need MPI from two
threads at a time, and sockets open ports. The number is written by a thread that does not need
Python's lock (native/process/heartbeat.cpp), so that a rank in a long call counts as alive. Patience is counted in the
watcher's own looks: a run that was stopped as a whole and goes on, or whose file system was away for all, is not ended
for the time that nobody could see.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base import ledger
from fathometer.base.host import built_library
from fathometer.base.owned_folder import owned_folder
from fathometer.base.signals import GRACE_SECONDS, RESUMABLE
from fathometer.parallel.collectives import allgather, barrier

if TYPE_CHECKING:
    from mpi4py import MPI

LOOKS = 20  # within the time of patience
LONGEST_PAUSE = 30.0  # s between two looks
PREFIX = ".heartbeats-"
_DIGITS = 20  # of the number, before the phase


@contextmanager
def watched(
    folder: Path, patience: float, comm: MPI.Intracomm, say: Callable[[str], None], code: int = RESUMABLE
) -> Iterator[None]:
    """Collective. Within the block a rank that gives no sign of life for `patience` seconds ends the run.

    folder: of the results, which all ranks see; with one rank, or where they do not see it, nobody is watched. code:
    exit code of an interrupted run, where SIGTERM does not end it.
    """
    with ledger.phase("set up"):
        library = built_library("heartbeat") if comm.size > 1 else None
    if library is None:
        yield
        return
    with ExitStack() as stack:
        with ledger.phase("set up"):
            place = ""
            if comm.rank == 0:
                with suppress(OSError):
                    place = str(stack.enter_context(owned_folder(folder, PREFIX)))
            place = allgather(comm, place)[0]
            seen = place and _write(Path(place, str(comm.rank)))
            hosts = allgather(comm, socket.gethostname() if seen else "")
            neighbour = (comm.rank + 1) % comm.size
            seen = all(hosts) and Path(place, str(neighbour)).exists()
            if all(allgather(comm, seen)):
                watch = _Watch(library, Path(place), comm.rank, neighbour, hosts[neighbour], patience, code)
                stack.enter_context(watch.running())
            else:
                say(
                    f"note: {folder}: not all ranks see the same files there, so none notices that another stands still"
                )
        yield
        with ledger.phase("finish"):
            barrier(comm)  # who waits here for the others still watches
            stack.close()


def _write(path: Path) -> bool:
    try:
        path.write_text("0" * _DIGITS + "\n", encoding="utf-8")
    except OSError:
        return False
    return True


class _Watch:
    """The heartbeat of one rank, and its look at another's; host: of that one. code: see `watched`."""

    def __init__(
        self, library: Path, place: Path, rank: int, other: int, host: str, patience: float, code: int
    ) -> None:
        self._own, self._others = place / str(rank), place / str(other)
        self._other, self._host, self._patience = other, host, patience
        self._code = code
        self._pause = min(patience / LOOKS, LONGEST_PAUSE)
        self._library = ctypes.CDLL(str(library))
        self._library.heartbeat_begin.restype = ctypes.c_void_p
        self._library.heartbeat_begin.argtypes = [ctypes.c_char_p, ctypes.c_double]
        self._library.heartbeat_end.argtypes = [ctypes.c_void_p]
        self._done = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        account = ledger.current()
        handle = self._library.heartbeat_begin(os.fsencode(self._own), self._pause)
        thread = threading.Thread(target=self._look, args=[account], name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._done.set()  # the thread is not waited for: its file system may hang
            self._library.heartbeat_end(handle)

    def _look(self, account: ledger.Ledger | None) -> None:
        last, silent, phase = "", 0.0, "start-up"
        while not self._done.wait(self._pause):
            with suppress(OSError):
                self._tell(account.running if account is not None else "other")
            try:
                text = self._others.read_text(encoding="utf-8", errors="replace")
            except OSError:  # it has ended, or the files are away for a while
                continue
            number, _, said = text.partition("\n")
            silent = silent + self._pause if number == last else 0.0
            last, phase = number, said.strip() or phase
            if silent >= self._patience and not self._done.is_set():
                self._end(phase)
                return

    def _tell(self, phase: str) -> None:
        """Write the phase behind the number, which the other thread writes."""
        file = os.open(self._own, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(file, _DIGITS + 1 + os.pwrite(file, f"{phase}\n".encode(), _DIGITS + 1))
        finally:
            os.close(file)

    def _end(self, phase: str) -> None:
        with suppress(OSError):
            print(
                f"fathometer: error: rank {self._other} on {self._host} has stood still for {self._patience:g} s, the "
                f'[parallel] patience of this run, in the phase "{phase}"; the run ends',
                file=sys.stderr,
                flush=True,
            )
        os.kill(os.getpid(), signal.SIGTERM)
        if not self._done.wait(3 * GRACE_SECONDS):
            os._exit(self._code)  # SIGTERM is ignored, as under a parent that ignores it; the launcher ends the others
