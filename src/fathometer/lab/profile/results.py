"""A job's profile as it stands in a record: sums over its ranks, what each rank did, the matrix of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.lab.profile.functions import OUTSIDE, functions
from fathometer.lab.profile.jobs import Job
from fathometer.lab.profile.rank_file import RankProfile, Windows

Results = dict[str, Any]
KINDS = {1: "messages", 2: "puts", 3: "gets"}  # of peers
MOST_WINDOWS = 256  # of a record
MOST_SITES = 200
UNITS = {"minor_faults": 1.0, "major_faults": 1.0, "voluntary_switches": 1.0, "involuntary_switches": 1.0}
COUNTERS = ("cycles", "instructions", "cache_references", "cache_misses")


def results_of(job: Job) -> Results:
    """The results of a record."""
    first = job.ranks[0]
    every = [_by_function(rank) for rank in job.ranks]
    return {
        "profiler": "fathometer",
        "program": first.program,
        "mpi": first.library,
        "size": job.size,
        "hosts": sorted({rank.host for rank in job.ranks}),
        "thread_level": first.thread_level,
        "options": list(first.options),
        "wall_seconds": max(rank.wall_seconds for rank in job.ranks),
        "ranks": [_rank(rank) for rank in job.ranks],
        "functions": _functions(every),
        "sizes": _sizes(job),
        "communicators": _communicators(job) if "communicators" in first.options else [],
        "sites": _sites(job) if "sites" in first.options else [],
        "files": _files(job),
        "matrix": _matrix(job),
        "windows": windows_of([window for rank in job.ranks for window in rank.windows], first.begin, job),
    }


def _outside() -> list[int]:
    return [number for number, function in enumerate(functions()) if function.name in OUTSIDE]


def _rank(rank: RankProfile) -> dict[str, Any]:
    calls, table = rank.calls, functions()
    kinds = np.array([function.kind for function in table])
    used = ~np.isin(calls.function, _outside())
    main = used & calls.main
    mpi = min(float(calls.seconds[main].sum()), rank.wall_seconds)
    io = kinds[calls.function] == "file"
    sent = rank.peers[rank.peers[:, 1] == 1]
    return {
        "rank": rank.rank,
        "host": rank.host,
        "pid": rank.pid,
        "end": rank.end,
        "code": rank.code,
        "inside": rank.inside,
        "threads": rank.threads,
        "wall_seconds": rank.wall_seconds,
        "init_seconds": rank.init_seconds,
        "mpi_seconds": mpi,
        "file_seconds": min(mpi, float(calls.seconds[main & io].sum())),
        "waiting_seconds": min(mpi, float(calls.waiting[main].sum())),
        "user_seconds": rank.wall_seconds - mpi,
        "other_threads_mpi_seconds": float(calls.seconds[used & ~calls.main].sum()),
        "calls": int(calls.calls[used].sum()),
        "bytes_out": int(calls.bytes_out[used & ~io].sum()),
        "bytes_in": int(calls.bytes_in[used & ~io].sum()),
        "file_written_bytes": int(calls.bytes_out[used & io].sum()),
        "file_read_bytes": int(calls.bytes_in[used & io].sum()),
        "messages": int(sent[:, 2].sum()),
        "message_bytes": int(sent[:, 3].sum()),
        "dropped": rank.dropped,
        "system": _system(rank),
    }


def _system(rank: RankProfile) -> dict[str, Any]:
    """What the system has counted. None where it does not say; counters: None where none were asked for."""
    used, known = rank.usage, bool(rank.usage["io_known"])
    counted = "counters" in rank.options
    return {
        "cpu_user_seconds": 1e-6 * used["user_microseconds"],
        "cpu_system_seconds": 1e-6 * used["system_microseconds"],
        **{name: int(used[name]) for name in UNITS},
        "peak_memory_bytes": 1024 * int(used["resident_kilobytes"]),
        "read_bytes": int(used["characters_read"]) if known else None,
        "written_bytes": int(used["characters_written"]) if known else None,
        "storage_read_bytes": int(used["bytes_read"]) if known else None,
        "storage_written_bytes": int(used["bytes_written"]) if known else None,
        "counters": {name: int(used[name]) for name in COUNTERS} if counted and not rank.counter_error else None,
        "counters_refused": rank.counter_error if counted else 0,
    }


def _by_function(rank: RankProfile) -> NDArray[Any]:
    """Rows of functions: calls, seconds, longest, waiting, bytes out, bytes in, seconds of first threads."""
    calls, sums = rank.calls, np.zeros((len(functions()), 7))
    main = np.where(calls.main, calls.seconds, 0.0)
    columns = [calls.calls, calls.seconds, calls.longest, calls.waiting, calls.bytes_out, calls.bytes_in, main]
    np.add.at(sums, calls.function, np.stack(columns, 1).astype(float))
    sums[:, 2] = 0
    np.maximum.at(sums[:, 2], calls.function, calls.longest)
    return sums


def _functions(ranks: Sequence[NDArray[Any]]) -> list[dict[str, Any]]:
    """Rows by seconds, the most first; at the end those of begin and end. Seconds: of all ranks, and of single ones."""
    stacked = np.stack(ranks)
    rows = []
    for number, function in enumerate(functions()):
        own = stacked[:, number]
        if own[:, 0].any():
            rows.append(
                {
                    "name": function.name,
                    "kind": function.kind,
                    "outside": function.name in OUTSIDE,
                    "calls": int(own[:, 0].sum()),
                    "ranks": int(np.count_nonzero(own[:, 0])),
                    "seconds": float(own[:, 1].sum()),
                    "thread_seconds": float(own[:, 6].sum()),
                    "least_seconds": float(own[:, 1].min()),
                    "mean_seconds": float(own[:, 1].mean()),
                    "most_seconds": float(own[:, 1].max()),
                    "longest_seconds": float(own[:, 2].max()),
                    "waiting_seconds": float(own[:, 3].sum()),
                    "bytes_out": int(own[:, 4].sum()),
                    "bytes_in": int(own[:, 5].sum()),
                }
            )
    return sorted(rows, key=lambda row: (row["outside"], -float(row["seconds"])))


def _sizes(job: Job) -> list[dict[str, Any]]:
    """Calls with bytes by function and power of two: from `least_bytes` to below twice that."""
    sums: dict[tuple[int, int], NDArray[Any]] = {}
    for rank in job.ranks:
        calls = rank.calls
        columns = np.stack([calls.calls, calls.seconds, calls.bytes_out + calls.bytes_in], 1).astype(float)
        for function, size, row in zip(calls.function, calls.bin, columns, strict=True):
            if size:
                sums[int(function), int(size)] = sums.get((int(function), int(size)), np.zeros(3)) + row
    table = functions()
    return [
        {
            "name": table[function].name,
            "kind": table[function].kind,
            "least_bytes": 2 ** (size - 1),
            "calls": int(row[0]),
            "seconds": float(row[1]),
            "bytes": int(row[2]),
        }
        for (function, size), row in sorted(sums.items())
    ]


def _communicators(job: Job) -> list[dict[str, Any]]:
    """Communicators alike in name and size, over all ranks; seconds of the calls in them."""
    found: dict[tuple[str, int, bool], dict[str, Any]] = {}
    for rank in job.ranks:
        seen: set[tuple[str, int, bool]] = set()
        for number in np.unique(rank.calls.communicator):
            here = (rank.calls.communicator == number) & ~np.isin(rank.calls.function, _outside())
            known = int(number) < len(rank.communicators)
            slot: dict[str, Any] = {"name": "(calls without a communicator)", "size": 0, "window": 0}
            if known:
                slot = rank.communicators[int(number)]
            key = (slot["name"], slot["size"], bool(slot["window"]))
            row = found.setdefault(
                key,
                {
                    "name": key[0],
                    "size": key[1],
                    "window": key[2],
                    "ranks": 0,
                    "calls": 0,
                    "seconds": 0.0,
                    "bytes_out": 0,
                    "bytes_in": 0,
                },
            )
            row["ranks"] += key not in seen
            seen.add(key)
            row["calls"] += int(rank.calls.calls[here].sum())
            row["seconds"] += float(rank.calls.seconds[here].sum())
            row["bytes_out"] += int(rank.calls.bytes_out[here].sum())
            row["bytes_in"] += int(rank.calls.bytes_in[here].sum())
    return sorted((row for row in found.values() if row["calls"]), key=lambda row: -float(row["seconds"]))


def _sites(job: Job) -> list[dict[str, Any]]:
    """Places of the program that call MPI, by module, symbol and place in the module, over all ranks."""
    found: dict[tuple[str, str, int, int], list[float]] = {}
    for rank in job.ranks:
        calls = rank.calls
        for n in range(len(calls.function)):
            site = int(calls.site[n])
            slot: dict[str, Any] = {"module": "", "symbol": "", "offset": 0}
            if 0 < site < len(rank.sites):
                slot = rank.sites[site]
            key = (slot["module"], slot["symbol"], slot["offset"], int(calls.function[n]))
            sums = found.setdefault(key, [0.0] * 4)
            values = (calls.calls[n], calls.seconds[n], calls.bytes_out[n], calls.bytes_in[n])
            for place, value in enumerate(values):
                sums[place] += float(value)
    table = functions()
    rows: list[dict[str, Any]] = [
        {
            "module": module,
            "symbol": symbol,
            "offset": offset,
            "name": table[function].name,
            "calls": int(sums[0]),
            "seconds": sums[1],
            "bytes_out": int(sums[2]),
            "bytes_in": int(sums[3]),
        }
        for (module, symbol, offset, function), sums in found.items()
        if table[function].name not in OUTSIDE
    ]
    return sorted(rows, key=lambda row: -float(row["seconds"]))[:MOST_SITES]


def _files(job: Job) -> list[dict[str, Any]]:
    """Files opened by MPI-IO, over all ranks."""
    found: dict[str, dict[str, Any]] = {}
    for rank in job.ranks:
        for slot in rank.files:
            row = found.setdefault(
                slot["name"],
                {"name": slot["name"], "ranks": 0, "calls": 0, "seconds": 0.0, "read_bytes": 0, "written_bytes": 0},
            )
            row["ranks"] += 1
            row["calls"] += slot["calls"]
            row["seconds"] += slot["seconds"]
            row["read_bytes"] += slot["bytes_read"]
            row["written_bytes"] += slot["bytes_written"]
    return sorted(found.values(), key=lambda row: -(int(row["read_bytes"]) + int(row["written_bytes"])))


def _matrix(job: Job) -> dict[str, dict[str, list[int]]]:
    """Messages and bytes between ranks, of those pairs that have any: counted where they are sent; -1: not of this
    world, or one of very many."""
    matrix = {}
    for kind, name in KINDS.items():
        rows = [(rank.rank, *map(int, row)) for rank in job.ranks for row in rank.peers if row[1] == kind]
        matrix[name] = {
            "rank": [row[0] for row in rows],
            "peer": [row[1] for row in rows],
            "messages": [row[3] for row in rows],
            "bytes": [row[4] for row in rows],
        }
    return matrix


def windows_of(windows: Sequence[Windows], begin: float, job: Job) -> dict[str, Any]:
    """Messages over time, of all ranks: windows of one width from the end of the first MPI_Init on.

    Those of the ranks begin at other times and are longer or shorter: each is spread over the common ones in
    proportion, so that sums stay.
    """
    start = min((rank.begin for rank in job.ranks), default=begin)
    end = max((rank.begin + rank.wall_seconds for rank in job.ranks), default=begin)
    finest = max((window.width for window in windows), default=1.0)
    number = int(np.clip(np.ceil((end - start) / finest), 1, MOST_WINDOWS))
    width = max((end - start) / number, 1e-9)
    edges = start + width * np.arange(number + 1)
    totals = np.zeros((4, number))
    for window in windows:
        own = window.begin + window.width * np.arange(len(window.calls) + 1)
        for place, values in enumerate((window.seconds, window.calls, window.messages, window.bytes)):
            running = np.concatenate([[0.0], np.cumsum(values)])
            at = np.interp(edges, own, running)
            if place:  # what came before the first or after the last belongs to these; but not seconds of MPI_Finalize
                at[0], at[-1] = 0.0, running[-1]
            totals[place] += np.diff(at)
    names = ("mpi_seconds", "calls", "messages", "bytes")
    return {"width_seconds": width} | {name: totals[place].tolist() for place, name in enumerate(names)}
