"""The account of a process's seconds, bytes and work: the only clock of the program.

    with ledger.phase("source propagation"):            # what goes on: computation, unless said otherwise
        with ledger.communication("halo exchange", bytes=n):    # a phase of its own, another category
            …
        with ledger.io(bytes=n):                        # without a name: part of the phase around it
            …
        ledger.work(points=cells * steps)               # what makes a rate of the seconds

Times are exclusive: at any moment exactly one entry, phase × category, gets the seconds, so nothing is counted twice
and the entries' sum is the wall time, less what no phase covers. What other threads do beside the main line is kept
apart as overlapped. The functions of this module write into the ledger that is open where they are called (`Ledger` is
a context manager); where none is, they do nothing. Nothing here knows what the phases are about.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Category = Literal["compute", "communication", "io", "idle"]
CATEGORIES: tuple[Category, ...] = ("compute", "communication", "io", "idle")

MOST_SPANS = 1_000_000  # of a rank in a trace: some hundred MB; what comes later is counted only
MOST_BINS = 200  # of a timeline: beyond, two become one

_open: ContextVar[Ledger | None] = ContextVar("the ledger that is open", default=None)
_NOTHING: AbstractContextManager[None] = nullcontext()


def now() -> float:
    """Seconds on this host's steady clock; only differences on one host mean anything."""
    return time.perf_counter()


def process_start() -> float:
    """When the system started this process, on now()'s clock, to a hundredth of a second (Linux; else: now)."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError, AttributeError):
        age = 0.0
    return now() - max(0.0, age)


class Entry:
    """What one phase has spent in one category."""

    __slots__ = ("bytes", "calls", "category", "flops", "phase", "points", "seconds")

    def __init__(self, phase: str, category: Category) -> None:
        self.phase, self.category = phase, category
        self.seconds = self.points = self.flops = 0.0
        self.calls = self.bytes = 0

    def as_dict(self) -> dict[str, Any]:
        """The same, JSON-ready."""
        return {name: getattr(self, name) for name in ("phase", "category", "seconds", "calls", "bytes")} | {
            "points": self.points,
            "flops": self.flops,
        }


class FileAccount:
    """What one kind of file took in one direction: from open to close, the flush included and also told apart.

    `overlap_bytes` of the `bytes` are those that another rank reads or writes too.
    """

    __slots__ = ("bytes", "calls", "flush_seconds", "overlap_bytes", "seconds")

    def __init__(self) -> None:
        self.seconds = self.flush_seconds = 0.0
        self.calls = self.bytes = self.overlap_bytes = 0

    def add(self, other: FileAccount) -> None:
        """Take another one's numbers in."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def as_dict(self) -> dict[str, float]:
        """The same, JSON-ready."""
        return {name: getattr(self, name) for name in self.__slots__}


class Timeline:
    """How the seconds of one stretch were spent, in bins of equal length that grow with it."""

    def __init__(self, name: str, start: float) -> None:
        self.name, self.start = name, start
        self.width = 1e-3
        self.bins: list[dict[tuple[str, Category], float]] = []

    def add(self, entry: Entry, begin: float, end: float) -> None:
        """Seconds from `begin` to `end` were `entry`'s."""
        begin, end = begin - self.start, end - self.start
        while end > MOST_BINS * self.width:
            self._coarsen()
        key = entry.phase, entry.category
        n = int(begin / self.width)
        while begin < end:
            stop = min(end, (n + 1) * self.width)
            while len(self.bins) <= n:
                self.bins.append({})
            if stop > begin:
                self.bins[n][key] = self.bins[n].get(key, 0.0) + stop - begin
                begin = stop
            n += 1

    def _coarsen(self) -> None:
        self.width *= 2
        pairs = [self.bins[n : n + 2] for n in range(0, len(self.bins), 2)]
        self.bins = [
            {key: sum(one.get(key, 0.0) for one in pair) for key in dict.fromkeys(k for one in pair for k in one)}
            for pair in pairs
        ]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: for each entry that occurs, its seconds in every bin."""
        keys = dict.fromkeys(key for one in self.bins for key in one)
        return {
            "name": self.name,
            "bin_seconds": self.width,
            "rows": [
                {
                    "phase": phase,
                    "category": category,
                    "seconds": [one.get((phase, category), 0.0) for one in self.bins],
                }
                for phase, category in keys
            ],
        }


class _Line:
    """The account of one thread: its entries, and which of them is running; its files, and which of them are open."""

    __slots__ = ("entries", "files", "files_open", "mark", "running")

    def __init__(self, start: float) -> None:
        self.entries: dict[tuple[str, Category], Entry] = {}
        self.files: dict[tuple[str, str], FileAccount] = {}
        self.files_open: list[FileAccount] = []
        self.running: list[tuple[Entry, float]] = []  # and since when
        self.mark = start  # since when the seconds are the running entry's

    def entry(self, phase: str | None, category: Category) -> Entry:
        name = phase if phase is not None else self.running[-1][0].phase if self.running else "other"
        found = self.entries.get((name, category))
        if found is None:
            found = self.entries[name, category] = Entry(name, category)
        return found


class _Span:
    """One stretch of a phase."""

    __slots__ = ("_bytes", "_category", "_ledger", "_phase")

    def __init__(self, ledger: Ledger, phase: str | None, category: Category, bytes: int) -> None:
        self._ledger, self._phase, self._category, self._bytes = ledger, phase, category, bytes

    def __enter__(self) -> None:
        ledger = self._ledger
        line = ledger._line()
        time = ledger._charge(line)
        entry = line.entry(self._phase, self._category)
        entry.calls += 1
        entry.bytes += self._bytes
        line.running.append((entry, time))

    def __exit__(self, *_: object) -> None:
        ledger = self._ledger
        line = ledger._line()
        time = ledger._charge(line)
        entry, begin = line.running.pop()
        if ledger._spans is not None:
            ledger._keep(entry, begin, time, line)


class _Wait(_Span):
    """One stretch of waiting for a rank."""

    __slots__ = ("_begin", "_rank")

    def __init__(self, ledger: Ledger, rank: int) -> None:
        super().__init__(ledger, None, "idle", 0)
        self._rank = rank

    def __enter__(self) -> None:
        super().__enter__()
        self._begin = self._ledger._line().mark

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        waited = self._ledger._waited
        waited[self._rank] = waited.get(self._rank, 0.0) + self._ledger._line().mark - self._begin


class _Flush(_Span):
    """One flush of what was written."""

    __slots__ = ("_begin",)

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger, None, "io", 0)

    def __enter__(self) -> None:
        super().__enter__()
        self._begin = self._ledger._line().mark

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        line = self._ledger._line()
        if line.files_open:
            line.files_open[-1].flush_seconds += line.mark - self._begin


class _File:
    """One file from open to close."""

    __slots__ = ("_bytes", "_key", "_ledger", "_own", "_start")

    def __init__(self, ledger: Ledger, kind: str, direction: str, own: float) -> None:
        self._ledger, self._key, self._own = ledger, (kind, direction), own

    def __enter__(self) -> None:
        line = self._ledger._line()
        account = line.files.setdefault(self._key, FileAccount())
        line.files_open.append(account)
        self._start, self._bytes = now(), account.bytes

    def __exit__(self, *_: object) -> None:
        account = self._ledger._line().files_open.pop()
        account.calls += 1
        account.seconds += now() - self._start
        account.overlap_bytes += round((1 - self._own) * (account.bytes - self._bytes))


class Ledger:
    """The account of one process. Open from `with` to its end for the functions of this module.

    Args:
        start: when the account begins, on now()'s clock; None: now.
        begun: a phase that has been running since then, until `begin_ends`.
        tracing: also keep every span, for a trace.
        used_before: what the system says that the process had used until then (usage.usage()), where it began earlier.
    """

    def __init__(
        self,
        start: float | None = None,
        begun: str | None = None,
        tracing: bool = False,
        used_before: dict[str, int | float | None] | None = None,
    ) -> None:
        self.start = now() if start is None else start
        self.used_before = used_before
        self.timeline: Timeline | None = None
        self.dropped_spans = 0
        self._main = _Line(self.start)
        self._thread = threading.get_ident()
        self._beside = threading.local()
        self._lines: list[_Line] = []  # of other threads
        self._lock = threading.Lock()
        self._timed = False  # the timeline goes on
        self._waited: dict[int, float] = {}
        self._spans: list[tuple[str, Category, float, float, int]] | None = [] if tracing else None
        if begun is not None:
            entry = self._main.entry(begun, "compute")
            entry.calls = 1
            self._main.running.append((entry, self.start))

    def begin_ends(self) -> None:
        """The phase that the account began with is over."""
        time = self._charge(self._main)
        entry, begin = self._main.running.pop()
        if self._spans is not None:
            self._keep(entry, begin, time, self._main)

    def __enter__(self) -> Self:
        self._token = _open.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open.reset(self._token)

    @property
    def wall_seconds(self) -> float:
        """Seconds since the account began."""
        return now() - self.start

    def seconds(self, phase: str, category: Category | None = None) -> float:
        """Seconds of one phase so far, in one category or all."""
        self._charge(self._main)
        return sum(
            e.seconds for e in self._main.entries.values() if e.phase == phase and category in (None, e.category)
        )

    def as_dict(self) -> dict[str, Any]:
        """The account so far, JSON-ready; what still runs is charged up to now.

        wall_seconds; categories: seconds of each; entries: of each phase x category seconds, calls, bytes, points and
        flops; overlapped: the same of what other threads did; files: of each kind and direction; waited_seconds: for
        each rank that was waited for; timeline.
        """
        wall = self._charge(self._main) - self.start
        entries = list(self._main.entries.values())
        with self._lock:
            lines = list(self._lines)
        beside = [entry for line in lines for entry in line.entries.values()]
        files: dict[tuple[str, str], FileAccount] = {}
        for line in (self._main, *lines):
            for key, account in line.files.items():
                files.setdefault(key, FileAccount()).add(account)
        overlapped: dict[tuple[str, str], Entry] = {}
        for entry in beside:
            sum_ = overlapped.setdefault((entry.phase, entry.category), Entry(entry.phase, entry.category))
            for name in ("seconds", "calls", "bytes", "points", "flops"):
                setattr(sum_, name, getattr(sum_, name) + getattr(entry, name))
        return {
            "wall_seconds": wall,
            "categories": {c: sum(e.seconds for e in entries if e.category == c) for c in CATEGORIES},
            "entries": [entry.as_dict() for entry in entries],
            "overlapped": [entry.as_dict() for entry in overlapped.values()],
            "files": [
                {"kind": kind, "direction": direction} | account.as_dict()
                for (kind, direction), account in files.items()
            ],
            "waited_seconds": {str(rank): seconds for rank, seconds in sorted(self._waited.items())},
            "timeline": self.timeline.as_dict() if self.timeline is not None else None,
        }

    def spans(self) -> list[tuple[str, Category, float, float, int]]:
        """What was traced: phase, category, begin and end on now()'s clock, line (0: the main one)."""
        return list(self._spans or ())

    def _line(self) -> _Line:
        if threading.get_ident() == self._thread:
            return self._main
        line: _Line | None = getattr(self._beside, "line", None)
        if line is None:
            line = self._beside.line = _Line(now())
            with self._lock:
                self._lines.append(line)
        return line

    def _charge(self, line: _Line) -> float:
        """Give the seconds since the last charge to what is running; the time now."""
        time = now()
        if line.running:
            entry = line.running[-1][0]
            entry.seconds += time - line.mark
            if self._timed and line is self._main and self.timeline is not None:
                self.timeline.add(entry, line.mark, time)
        line.mark = time
        return time

    def _keep(self, entry: Entry, begin: float, end: float, line: _Line) -> None:
        assert self._spans is not None
        if len(self._spans) < MOST_SPANS:
            number = 0 if line is self._main else 1 + self._lines.index(line)
            self._spans.append((entry.phase, entry.category, begin, end, number))
        else:
            self.dropped_spans += 1


class _Stretch:
    """Where the timeline goes on."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger, self._name = ledger, name

    def __enter__(self) -> None:
        time = self._ledger._charge(self._ledger._main)
        self._ledger.timeline = Timeline(self._name, time)
        self._ledger._timed = True

    def __exit__(self, *_: object) -> None:
        self._ledger._charge(self._ledger._main)
        self._ledger._timed = False


def current() -> Ledger | None:
    """The ledger that is open here."""
    return _open.get()


def phase(name: str, bytes: int = 0) -> AbstractContextManager[None]:
    """A phase of computation."""
    return _span(name, "compute", bytes)


def communication(name: str | None = None, bytes: int = 0) -> AbstractContextManager[None]:
    """Messages of `bytes`; without a name, of the phase around."""
    return _span(name, "communication", bytes)


def io(name: str | None = None, bytes: int = 0) -> AbstractContextManager[None]:
    """`bytes` from or to files; they are also those of the innermost `file`."""
    ledger = _open.get()
    if ledger is not None and (line := ledger._line()).files_open:
        line.files_open[-1].bytes += bytes
    return _span(name, "io", bytes)


def idle(name: str | None = None) -> AbstractContextManager[None]:
    """Waiting for other ranks, or for a thread that works beside the main line."""
    return _span(name, "idle", 0)


def waiting_for(rank: int) -> AbstractContextManager[None]:
    """Waiting for one rank: idle, and noted who was waited for."""
    ledger = _open.get()
    return _NOTHING if ledger is None else _Wait(ledger, rank)


def work(points: float = 0.0, flops: float = 0.0, bytes: int = 0) -> None:
    """Add what was done to the phase that is running here."""
    ledger = _open.get()
    if ledger is not None and (line := ledger._line()).running:
        entry = line.running[-1][0]
        entry.points += points
        entry.flops += flops
        entry.bytes += bytes


def file(kind: str, direction: Literal["read", "write"], own: float = 1.0) -> AbstractContextManager[None]:
    """A file, or the part of one, from open to close; `kind` is its class: model, image, …

    own: share of the bytes that no other rank moves too.
    """
    ledger = _open.get()
    return _NOTHING if ledger is None else _File(ledger, kind, direction, own)


def flush() -> AbstractContextManager[None]:
    """Flushing what was written: input/output, and told apart in the innermost `file`."""
    ledger = _open.get()
    return _NOTHING if ledger is None else _Flush(ledger)


def timeline(name: str) -> AbstractContextManager[None]:
    """A stretch whose course in time is kept; the first one only."""
    ledger = _open.get()
    return _NOTHING if ledger is None or ledger.timeline is not None else _Stretch(ledger, name)


def carried(function: Callable[P, T]) -> Callable[P, T]:
    """`function` for another thread, with the ledger that is open here: what it accounts is overlapped."""
    ledger = _open.get()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        token = _open.set(ledger)
        try:
            return function(*args, **kwargs)
        finally:
            _open.reset(token)

    return run


def awaited(work: Future[T], name: str | None = None) -> T:
    """What a thread beside the main line comes to; waiting for it is idle, without a name of the phase around."""
    if work.done():
        return work.result()
    with idle(name):
        return work.result()


def _span(name: str | None, category: Category, bytes: int) -> AbstractContextManager[None]:
    ledger = _open.get()
    return _NOTHING if ledger is None else _Span(ledger, name, category, bytes)
