"""Ranks that stand still, as one that was stopped or whose host gives no answer: the others would wait for ever.

Each rank writes a growing number into a file of its own, and its neighbour in the ring of ranks reads it. Where it has
not grown for a while, the neighbour says which rank stands still, on which host, as which process and in which phase,
looks at the rank after it, too, and says when it goes on. Where it has not grown for so long as the user is patient,
the neighbour ends as if it had received SIGTERM, which ends all ranks.

What hangs in a call of the system has a heart that beats: that the main thread does not run, its own process notices.

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
from collections.abc import Callable, Iterator, Sequence
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
LONGEST_PAUSE = 10.0  # s between two looks
NOTE_SECONDS = 30.0  # without a sign of life before it is said; of a shorter patience half
END_SECONDS = 0.5  # in which the last look is over at the end of a run; a file system may hang
PREFIX = ".heartbeats-"
_DIGITS = 20  # of the number, before the phase


@contextmanager
def watched(
    folder: Path,
    patience: float,
    comm: MPI.Intracomm,
    say: Callable[[str], None],
    code: int = RESUMABLE,
    named: str = "[parallel] patience",
) -> Iterator[None]:
    """Collective. Within the block a rank that stands still is named; one without a sign of life for `patience` seconds
    ends the run.

    folder: of the results, which all ranks see; with one rank, or where they do not see it, nobody is watched. code:
    exit code of an interrupted run, where SIGTERM does not end it. named: what the user knows `patience` as.
    """
    with ledger.phase("set up"):
        library = built_library("heartbeat") if comm.size > 1 else None
    if library is None:
        yield
        return
    watch: _Watch | None = None
    with ExitStack() as stack:
        with ledger.phase("set up"):
            place = ""
            if comm.rank == 0:
                with suppress(OSError):
                    place = str(stack.enter_context(owned_folder(folder, PREFIX)))
            place = allgather(comm, place)[0]
            seen = place and _write(Path(place, str(comm.rank)))
            hosts = allgather(comm, (socket.gethostname() if seen else "", os.getpid()))
            seen = all(host for host, _ in hosts) and Path(place, str((comm.rank + 1) % comm.size)).exists()
            if all(allgather(comm, seen)):
                watch = _Watch(library, Path(place), comm.rank, hosts, patience, code, named)
                stack.enter_context(watch.running())
            else:
                say(
                    f"note: {folder}: not all ranks see the same files there, so none notices that another stands still"
                )
        yield
        with ledger.phase("finish"):
            barrier(comm)  # who waits here for the others still watches
            if watch is not None:
                watch.passed = True
            stack.close()


def _write(path: Path) -> bool:
    try:
        path.write_text("0" * _DIGITS + "\n", encoding="utf-8")
    except OSError:
        return False
    return True


class _Stillness:
    """For how long a rank has stood still, and what is said of that: once, and when it goes on.

    Args:
        rank: with its host and process. how: it stands still. after: so many seconds.

    Attributes:
        seconds: for how long. told: whether it was said.
    """

    def __init__(self, rank: str, how: str, after: float) -> None:
        self._rank, self._how, self._after = rank, how, after
        self.seconds, self.told = 0.0, False

    def look(self, still: bool, pause: float, phase: str) -> None:
        """Whether it has stood still for the last pause."""
        if self.told and not still:
            _say("note", f"{self._rank} goes on after {self.seconds:.3g} s")
            self.told = False
        self.seconds = self.seconds + pause if still else 0.0
        if self.seconds >= self._after and not self.told:
            text = f'{self._rank} {self._how} for {self.seconds:.3g} s, in the phase "{phase}"; the others wait for it'
            _say("note", text)
            self.told = True


class _Sign:
    """The sign of life that another rank gives in its file. stillness: of that rank."""

    def __init__(self, rank: int, path: Path, stillness: _Stillness) -> None:
        self.rank, self.stillness = rank, stillness
        self.phase = "start-up"
        self._path, self._number = path, ""

    def look(self, pause: float) -> None:
        """Read it, a pause after the last time."""
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it has ended, or the files are away for a while
            return
        number, _, said = text.partition("\n")
        self.phase = said.strip() or self.phase
        self.stillness.look(number == self._number, pause, self.phase)
        self._number = number


class _Call:
    """Whether the main thread hangs in a call of the system, as of a file system that gives no answer: it sleeps there
    uninterruptibly, and has not run meanwhile. Other ranks cannot see that: the heartbeat goes on."""

    def __init__(self, stillness: _Stillness) -> None:
        self._stillness = stillness
        self._status = Path(f"/proc/self/task/{os.getpid()}/status")  # whose number is the process's
        self._last: list[str] = []

    def look(self, pause: float, phase: str) -> None:
        """Look at it, a pause after the last time. Raises OSError."""
        lines = self._status.read_text().splitlines()
        found = [line for line in lines if line.startswith("State:") or "ctxt_switches:" in line]
        self._stillness.look("D (" in found[0] and found == self._last, pause, phase)
        self._last = found


class _Watch:
    """The heartbeat of one rank, and its look at others; hosts: of all ranks, with their processes. patience, code,
    named: see `watched`.

    Attributes:
        passed: whether all ranks have come to the end of the run: those that stood still have gone on.
    """

    def __init__(
        self,
        library: Path,
        place: Path,
        rank: int,
        hosts: Sequence[tuple[str, int]],
        patience: float,
        code: int,
        named: str,
    ) -> None:
        self._place, self._rank, self._hosts = place, rank, hosts
        self._patience, self._code, self._named = patience, code, named
        self._own = place / str(rank)
        self._pause = min(patience / LOOKS, LONGEST_PAUSE)
        self._library = ctypes.CDLL(str(library))
        self._library.heartbeat_begin.restype = ctypes.c_void_p
        self._library.heartbeat_begin.argtypes = [ctypes.c_char_p, ctypes.c_double]
        self._library.heartbeat_end.argtypes = [ctypes.c_void_p]
        self._done = threading.Event()
        self.passed = False

    @contextmanager
    def running(self) -> Iterator[None]:
        account = ledger.current()
        handle = self._library.heartbeat_begin(os.fsencode(self._own), self._pause)
        thread = threading.Thread(target=self._look, args=[account], name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join(END_SECONDS)
            self._library.heartbeat_end(handle)

    def _look(self, account: ledger.Ledger | None) -> None:
        call = _Call(self._stillness(self._rank, "has hung in a call of the system"))
        signs = [self._after(self._rank)]  # the next rank; while it stands still, the one after it, too
        while not self._done.wait(self._pause):
            phase = account.running if account is not None else "other"
            with suppress(OSError):
                call.look(self._pause, phase)
                self._tell(phase)
            for sign in signs:
                sign.look(self._pause)
            if signs[0].stillness.seconds >= self._patience and not self._done.is_set():
                self._end(signs[0])
                return
            if not signs[-1].stillness.told:
                while len(signs) > 1 and not signs[-2].stillness.told:
                    signs.pop()
            elif (following := self._after(signs[-1].rank)).rank != self._rank:
                signs.append(following)
        if self.passed:
            for sign in signs:
                sign.stillness.look(False, 0.0, sign.phase)

    def _after(self, rank: int) -> _Sign:
        """That of the rank that follows in the ring."""
        other = (rank + 1) % len(self._hosts)
        stillness = self._stillness(other, "has given no sign of life")
        return _Sign(other, self._place / str(other), stillness)

    def _stillness(self, rank: int, how: str) -> _Stillness:
        host, process = self._hosts[rank]
        return _Stillness(f"rank {rank} on {host} (process {process})", how, min(self._patience / 2, NOTE_SECONDS))

    def _tell(self, phase: str) -> None:
        """Write the phase behind the number, which the other thread writes."""
        file = os.open(self._own, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(file, _DIGITS + 1 + os.pwrite(file, f"{phase}\n".encode(), _DIGITS + 1))
        finally:
            os.close(file)

    def _end(self, sign: _Sign) -> None:
        host, process = self._hosts[sign.rank]
        _say(
            "error",
            f"rank {sign.rank} on {host} has stood still for {self._patience:g} s, the {self._named} of this run, "
            f'in the phase "{sign.phase}" (process {process}); the run ends',
        )
        os.kill(os.getpid(), signal.SIGTERM)
        if not self._done.wait(3 * GRACE_SECONDS):
            os._exit(self._code)  # SIGTERM is ignored, as under a parent that ignores it; the launcher ends the others


def _say(kind: str, text: str) -> None:
    with suppress(OSError):
        print(f"fathometer: {kind}: {text}", file=sys.stderr, flush=True)
