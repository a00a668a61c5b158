"""The file of a rank (native/profile/layout.hpp), as NumPy reads it.

It is written as mapped memory: of a process that was killed it holds all calls that had ended. Only a file whose rank
has ended MPI has a sum by which any change of it is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.lab.profile.functions import checksum, functions
from fathometer.storage.reading import readable, reading

MAGIC, VERSION = b"FATHPROF", 2
HEADER_BYTES, BLOCK_BYTES = 4096, 64
MOST = {"clock": 1, "communicators": 256, "files": 128, "sites": 2048, "blocks": 64}  # of these in a header
# 1: still running when nothing more was said: a signal, or _exit.
ENDS = {1: "ended suddenly", 2: "finalized", 3: "aborted", 4: "left without MPI_Finalize"}
OPTIONS = {"communicators": 1, "sites": 2, "wait": 4, "counters": 8}
LEVELS = ("single", "funneled", "serialized", "multiple")  # of threads

_USAGE = np.dtype(
    [
        (name, "<u8")
        for name in (
            "nanoseconds",
            "user_microseconds",
            "system_microseconds",
            "minor_faults",
            "major_faults",
            "resident_kilobytes",
            "voluntary_switches",
            "involuntary_switches",
            "io_known",
            "characters_read",
            "characters_written",
            "bytes_read",
            "bytes_written",
            "cycles",
            "instructions",
            "cache_references",
            "cache_misses",
        )
    ]
)
_INSTANT = np.dtype([("ticks", "<u8"), ("nanoseconds", "<u8")])
_HEADER = np.dtype(
    [
        ("magic", "S8"),
        *((name, "<u4") for name in ("version", "checksum", "functions", "header_bytes")),
        *((name, "<i4") for name in ("rank", "size", "pid", "state", "code", "thread_level")),
        *((name, "<u4") for name in ("clock", "options", "counter_error", "newer_calls")),
        *(
            (name, "<u8")
            for name in (
                "communicators_at",
                "communicators",
                "files_at",
                "files",
                "sites_at",
                "sites",
                "blocks_at",
                "block_bytes",
                "blocks",
                "calls_each",
                "peers_each",
                "windows_each",
                "begin_real_nanoseconds",
                "init_begin",
                "init_end",
                "end",
                "dropped",
                "sum",
            )
        ),
        ("first", _INSTANT),
        ("last", _INSTANT),
        ("before", _USAGE),
        ("latest", _USAGE),
        ("host", "S64"),
        ("job", "S128"),
        ("program", "S256"),
        ("library", "S256"),
    ]
)
_COMMUNICATOR = np.dtype(
    [("size", "<i4"), ("me", "<i4"), ("between", "<i4"), ("window", "<i4"), ("members", "<u8"), ("name", "S104")]
)
_FILE = np.dtype(
    [
        *((name, "<u8") for name in ("opened", "calls", "ticks", "bytes_read", "bytes_written")),
        ("name", "S216"),
    ]
)
_SITE = np.dtype([("address", "<u8"), ("offset", "<u8"), ("module", "S136"), ("symbol", "S360")])
_CALL = np.dtype(
    [(name, "<u8") for name in ("key", "calls", "ticks", "longest", "waiting", "bytes_out", "bytes_in", "unused")]
)
_PEER = np.dtype([(name, "<u8") for name in ("key", "messages", "bytes", "unused")])
_WINDOW = np.dtype([(name, "<u8") for name in ("ticks", "calls", "messages", "bytes")])
_BLOCK = np.dtype(
    [(name, "<u8") for name in ("current", "since", "main", "calls_dropped", "shift", "origin", "shared", "unused")]
)
Array = NDArray[Any]


@dataclass(frozen=True)
class Calls:
    """Calls of a rank, an entry for each function, size, communicator and call site, of all threads.

    Arrays of one length. function: its number; bin: 0 for calls without bytes, else 1 + the exponent of the largest
    power of two not above the bytes; communicator, site: their numbers in the rank's tables. seconds, waiting: sums;
    main: whether they are of the thread that called MPI_Init.
    """

    function: Array
    bin: Array
    communicator: Array
    site: Array
    main: Array
    calls: Array
    seconds: Array
    longest: Array
    waiting: Array
    bytes_out: Array
    bytes_in: Array


@dataclass(frozen=True)
class Windows:
    """Windows of time of one thread. begin: s since 1970, of the first; width: s; seconds: in MPI, of each."""

    begin: float
    width: float
    seconds: Array
    calls: Array
    messages: Array
    bytes: Array


@dataclass(frozen=True)
class RankProfile:
    """What a rank left.

    Attributes:
        job: which processes belong together. begin: s since 1970 when MPI_Init had ended.
        wall_seconds: from there to MPI_Finalize, or to the last that is known. init_seconds: of MPI_Init.
        end: a value of ENDS. inside: the function that it had called when it was killed; "" for none.
        options: of OPTIONS. dropped: calls that no table had room for, and threads that were not counted.
        communicators, files, sites: rows of their tables. peers: world rank (-1: others), kind (1 sent, 2 put, 3 got),
        messages and bytes.
        usage: of the system, since MPI_Init but for peaks. counter_error: errno; 0 where there are counters.
    """

    path: Path
    rank: int
    size: int
    pid: int
    host: str
    job: str
    program: str
    library: str
    begin: float
    wall_seconds: float
    init_seconds: float
    end: str
    code: int
    inside: str
    threads: int
    thread_level: str
    options: tuple[str, ...]
    dropped: int
    newer_calls: bool
    by_counter: bool
    calls: Calls
    communicators: list[dict[str, Any]]
    files: list[dict[str, Any]]
    sites: list[dict[str, Any]]
    peers: Array
    windows: list[Windows]
    usage: dict[str, float]
    counter_error: int


def read_rank(path: Path) -> RankProfile:
    """Read a rank's file. Raises InputError where it is none, damaged, or of another version of this program."""
    with reading(readable(path)):
        content = path.read_bytes()
        if not content:
            raise InputError(f"{path}: is empty")
        if content[:8] != MAGIC:
            raise InputError(f"{path}: is no file of a rank, or one that was never begun")
        if len(content) < HEADER_BYTES:
            raise InputError(f"{path}: is cut short")
        header = np.frombuffer(content, _HEADER, 1)[0]
        ours = (VERSION, checksum(), _HEADER.itemsize)
        if tuple(int(header[name]) for name in ("version", "checksum", "header_bytes")) != ours:
            raise InputError(f"{path}: was written by another version of this program")
        _check(path, content, header)
        return _Reader(path, content, header).profile()


def _check(path: Path, content: bytes, header: Any) -> None:
    """Raises InputError where header or sum show damage."""
    size = int(header["blocks_at"]) + int(header["blocks"]) * int(header["block_bytes"])
    known = all(0 <= int(header[name]) <= most for name, most in MOST.items())
    if not known or not 0 <= int(header["rank"]) < int(header["size"]):
        raise InputError(f"{path}: is damaged: its header has impossible numbers")
    if size > len(content):
        raise InputError(f"{path}: is cut short")
    if header["sum"]:
        words = np.frombuffer(content, "<u8", size // 8)
        own = int(header.dtype.fields["sum"][1]) // 8
        factors = np.arange(1, 2 * len(words), 2, dtype=np.uint64)
        found = (int((words * factors).sum()) - int(words[own]) * (2 * own + 1)) % 2**64
        if found != header["sum"]:
            raise InputError(f"{path}: is damaged: its bytes do not have its sum")


class _Reader:
    def __init__(self, path: Path, content: bytes, header: Any) -> None:
        self._path, self._content, self._header = path, content, header
        first, last = header["first"], header["last"]
        passed = int(last["ticks"]) - int(first["ticks"])
        elapsed = int(last["nanoseconds"]) - int(first["nanoseconds"])
        self._tick = 1e-9 * (elapsed / passed if passed > 0 and header["clock"] == 0 else 1.0)

    def _table(self, kind: np.dtype[Any], at: int, count: int) -> Array:
        if at + count * kind.itemsize > len(self._content):
            raise InputError(f"{self._path}: is cut short")
        return np.frombuffer(self._content, kind, count, at)

    def profile(self) -> RankProfile:
        header = self._header
        blocks = [self._block(number) for number in range(int(header["blocks"]))]
        main = next((block for block, *_ in blocks if block["main"]), None)
        origin = int(header["first"]["ticks"])
        last = max([int(header["last"]["ticks"]), *(int(block["since"]) for block, *_ in blocks)])
        end = int(header["end"]) or last
        start = int(header["init_end"]) or origin
        inside = 0 if main is None or header["state"] != 1 else int(main["current"])
        zero = 1e-9 * int(header["begin_real_nanoseconds"])
        options = tuple(name for name, bit in OPTIONS.items() if int(header["options"]) & bit)
        return RankProfile(
            path=self._path,
            rank=int(header["rank"]),
            size=int(header["size"]),
            pid=int(header["pid"]),
            host=_text(header["host"]),
            job=_text(header["job"]),
            program=_text(header["program"]),
            library=(_text(header["library"]).splitlines() or [""])[0].strip(),
            begin=zero + self._tick * (start - origin),
            wall_seconds=max(0.0, self._tick * (end - start)),
            init_seconds=max(0.0, self._tick * (int(header["init_end"]) - int(header["init_begin"]))),
            end=ENDS.get(int(header["state"]), ENDS[1]),
            code=int(header["code"]),
            inside=functions()[inside - 1].name if inside else "",
            threads=len(blocks),
            thread_level=LEVELS[int(header["thread_level"])] if int(header["thread_level"]) in range(4) else "unknown",
            options=options,
            dropped=int(header["dropped"]) + sum(int(block["calls_dropped"]) for block, *_ in blocks),
            newer_calls=bool(header["newer_calls"]),
            by_counter=int(header["clock"]) == 0,
            calls=self._calls(blocks),
            communicators=[_row(row) for row in self._used(_COMMUNICATOR, "communicators")],
            files=[_row(row) | {"seconds": self._tick * int(row["ticks"])} for row in self._used(_FILE, "files")],
            sites=[_row(row) for row in self._used(_SITE, "sites")] if "sites" in options else [],
            peers=_peers([peers for _, _, peers, _ in blocks]),
            windows=[self._windows(block, windows, zero - self._tick * origin) for block, _, _, windows in blocks],
            usage=self._usage(),
            counter_error=int(header["counter_error"]),
        )

    def _used(self, kind: np.dtype[Any], name: str) -> Array:
        return self._table(kind, int(self._header[f"{name}_at"]), int(self._header[name]))

    def _block(self, number: int) -> tuple[Any, Array, Array, Array]:
        header = self._header
        at = int(header["blocks_at"]) + number * int(header["block_bytes"])
        block = self._table(_BLOCK, at, 1)[0]
        at += BLOCK_BYTES
        calls = self._table(_CALL, at, int(header["calls_each"]))
        at += calls.nbytes
        peers = self._table(_PEER, at, int(header["peers_each"]))
        at += peers.nbytes
        windows = self._table(_WINDOW, at, int(header["windows_each"]))
        return block, calls[calls["key"] > 0], peers[peers["key"] > 0], windows

    def _calls(self, blocks: list[tuple[Any, Array, Array, Array]]) -> Calls:
        tables = [calls for _, calls, _, _ in blocks] or [np.zeros(0, _CALL)]
        all_calls = np.concatenate(tables)
        key = all_calls["key"]
        if ((key & 0x3FF) >= len(functions())).any():
            raise InputError(f"{self._path}: is damaged: it counts calls of functions that there are not")
        main = [np.full(len(calls), bool(block["main"])) for block, calls, _, _ in blocks] or [np.zeros(0, bool)]
        return Calls(
            function=(key & 0x3FF).astype(int),
            bin=(key >> 10 & 0x7F).astype(int),
            communicator=(key >> 17 & 0xFF).astype(int),
            site=(key >> 25 & 0xFFF).astype(int),
            main=np.concatenate(main),
            calls=all_calls["calls"].astype(np.int64),
            seconds=self._tick * all_calls["ticks"],
            longest=self._tick * all_calls["longest"],
            waiting=self._tick * all_calls["waiting"],
            bytes_out=all_calls["bytes_out"].astype(np.int64),
            bytes_in=all_calls["bytes_in"].astype(np.int64),
        )

    def _windows(self, block: Any, windows: Array, zero: float) -> Windows:
        return Windows(
            zero + self._tick * int(block["origin"]),
            self._tick * 2.0 ** int(block["shift"]),
            self._tick * windows["ticks"],
            windows["calls"].astype(np.int64),
            windows["messages"].astype(np.int64),
            windows["bytes"].astype(np.int64),
        )

    def _usage(self) -> dict[str, float]:
        before, latest = self._header["before"], self._header["latest"]
        used = {name: float(int(latest[name]) - int(before[name])) for name in _USAGE.names or ()}
        used["resident_kilobytes"], used["io_known"] = float(latest["resident_kilobytes"]), float(latest["io_known"])
        return used


def _peers(tables: list[Array]) -> Array:
    """Columns world rank, kind, messages, bytes; of all threads together."""
    found = np.concatenate(tables) if tables else np.zeros(0, _PEER)
    keys, place = np.unique(found["key"], return_inverse=True)
    sums = np.zeros((len(keys), 2), np.int64)
    np.add.at(sums, place, np.stack([found["messages"], found["bytes"]], 1).astype(np.int64))
    return np.column_stack([(keys >> 2).astype(np.int64) - 2, (keys & 3).astype(np.int64), sums])


def _row(row: Any) -> dict[str, Any]:
    return {name: _text(row[name]) if row.dtype[name].kind == "S" else int(row[name]) for name in row.dtype.names}


def _text(value: bytes) -> str:
    return bytes(value).decode(errors="replace")
