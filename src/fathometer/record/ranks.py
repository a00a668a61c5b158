"""The ledgers of all ranks in a record: minimum, mean and maximum of each number over the ranks, and totals.

Only durations are compared: clocks of different hosts are never subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fathometer.base import ledger
from fathometer.base.formatting import bytes_in_words
from fathometer.base.ledger import CATEGORIES
from fathometer.parallel.threads import Binding, displaced
from fathometer.record.usage import since, usage

MAX_RUN_QUEUE_SHARE = 0.1  # fraction of its threads' time that a rank may wait for cpus in a valid run
MAX_TIMELINES = 8  # of ranks, in a record


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Statistics of a number over the ranks: min, mean, max, max_rank, imbalance (max / mean; 1 where all are 0)."""
    mean = sum(values) / len(values)
    largest = max(values)
    return {
        "min": min(values),
        "mean": mean,
        "max": largest,
        "max_rank": values.index(largest),
        "imbalance": largest / mean if mean else 1.0,
    }


def account(ranks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The entry "ledger" of a record; ranks: own_account of each rank, in order."""
    return {
        "wall_seconds": spread([rank["wall_seconds"] for rank in ranks]),
        "categories": {c: spread([rank["categories"][c] for rank in ranks]) for c in CATEGORIES},
        "phases": _entries(ranks, "entries"),
        "overlapped": _entries(ranks, "overlapped"),
        "files": _files(ranks),
        "ranks": [_rank(rank) for rank in ranks],
        "timelines": [_timeline(rank) for rank in ranks[:MAX_TIMELINES] if rank["timeline"] is not None],
    }


def own_account(binding: Binding, peak_memory: int | None = None) -> dict[str, Any]:
    """This rank's ledger, binding and resource usage at the end of a run, JSON-ready.

    peak_memory: bytes of the run, where the process's own peak includes more than the run; None: the process's.
    """
    own = ledger.current() or ledger.Ledger()
    used = usage() if own.used_before is None else since(own.used_before, usage())
    if peak_memory is not None:
        used["peak_memory_bytes"] = peak_memory
    return own.as_dict() | {
        "rank": binding.rank,
        "host": binding.host,
        "binding": binding.as_dict(),
        "displaced": displaced(binding),
        "usage": used,
    }


def disturbances(ranks: Sequence[dict[str, Any]]) -> list[str]:
    """Reasons not to trust the times of a run, such as oversubscribed cpus or swapping; ranks: own_account of each."""
    oversubscribed = sorted({str(rank["host"]) for rank in ranks if rank["binding"]["oversubscribed"]})
    reasons = [f"ranks or threads share cores on {host}" for host in oversubscribed]
    for rank in ranks:
        where, use = f"rank {rank['rank']} on {rank['host']}", rank["usage"]
        if use["swapped_bytes"]:
            reasons.append(f"{where}: {bytes_in_words(use['swapped_bytes'])} are swapped out of memory")
        waited = (use["run_queue_seconds"] or 0.0) / (rank["wall_seconds"] * rank["binding"]["threads"])
        if waited > MAX_RUN_QUEUE_SHARE and rank["host"] not in oversubscribed:
            reasons.append(f"{where}: its threads waited for a cpu {100 * waited:.0f} % of the time: others used it")
        if rank["displaced"]:
            reasons.append(f"{where}: {rank['displaced']}")
    return reasons


def largest_peak(ranks: Iterable[dict[str, Any]]) -> int:
    """Bytes of the rank that took most memory, 0 where none knows; ranks: as in a record, or own_account of each."""
    return max(rank["usage"]["peak_memory_bytes"] or 0 for rank in ranks)


def unaccounted(rank: dict[str, Any]) -> float:
    """Seconds of a rank's wall time that no phase covers."""
    return float(rank["wall_seconds"] - sum(rank["categories"].values()))


def seconds(account: dict[str, Any], phases: Iterable[str], category: str | None = None) -> float:
    """Seconds that some phases took together, in one category or all: the maximum over the ranks.

    account: the entry "ledger" of a record.
    """
    names = set(phases)
    largest: float = max(
        sum(
            seconds
            for phase, spent in rank["phases"].items()
            if phase in names
            for name, seconds in spent.items()
            if category in (None, name)
        )
        for rank in account["ranks"]
    )
    return largest


def _rank(rank: dict[str, Any]) -> dict[str, Any]:
    phases: dict[str, dict[str, float]] = {}
    for entry in rank["entries"]:
        phases.setdefault(entry["phase"], {})[entry["category"]] = entry["seconds"]
    keys = ("rank", "host", "wall_seconds", "categories", "waited_seconds", "usage")
    return {key: rank[key] for key in keys} | {"unaccounted_seconds": unaccounted(rank), "phases": phases}


def _entries(ranks: Sequence[dict[str, Any]], which: str) -> list[dict[str, Any]]:
    """Statistics of each phase x category over the ranks, in order of first occurrence; 0 where a rank has none."""
    tables = [{(e["phase"], e["category"]): e for e in rank[which]} for rank in ranks]
    keys = dict.fromkeys(key for table in tables for key in table)

    def numbers(key: tuple[str, str], name: str) -> list[float]:
        return [table[key][name] if key in table else 0 for table in tables]

    return [
        {
            "phase": key[0],
            "category": key[1],
            "seconds": spread(numbers(key, "seconds")),
            "calls": spread(numbers(key, "calls")),
            "bytes": spread(numbers(key, "bytes")),
            "total_bytes": sum(numbers(key, "bytes")),
            "total_points": sum(numbers(key, "points")),
            "total_flops": sum(numbers(key, "flops")),
        }
        for key in keys
    ]


def _files(ranks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each kind of file and direction: bytes of all ranks, seconds of the slowest rank, and their quotient."""
    tables = [{(f["kind"], f["direction"]): f for f in rank["files"]} for rank in ranks]
    rows = []
    for kind, direction in dict.fromkeys(key for table in tables for key in table):
        here = [table[kind, direction] for table in tables if (kind, direction) in table]
        total, slowest = sum(f["bytes"] for f in here), max(f["seconds"] for f in here)
        overlap = sum(f["overlap_bytes"] for f in here)
        rows.append(
            {
                "kind": kind,
                "direction": direction,
                "bytes": total,
                "own_bytes": total - overlap,
                "overlap_bytes": overlap,
                "calls": sum(f["calls"] for f in here),
                "seconds": slowest,
                "flush_seconds": max(f["flush_seconds"] for f in here),
                "bytes_per_second": total / slowest if slowest else None,
            }
        )
        if any(f.get("compression") for f in here):
            rows[-1]["compression"] = compression_figures([f.get("compression") or {} for f in here], slowest)
    return rows


def compression_figures(ranks: Sequence[Mapping[str, float]], seconds: float) -> dict[str, Any]:
    """What compressing took of the `seconds` from open to close, and what it saved and lost, of all ranks together.

    ranks: numbers of `ledger.compressed`; empty ones of ranks that compressed nothing.
    """

    def total(name: str) -> float:
        return sum(rank.get(name, 0) for rank in ranks)

    compressing = min(seconds, max(rank.get("compress_seconds", 0.0) for rank in ranks))
    plain, stored, values = total("plain_bytes"), total("stored_bytes"), total("values")
    writing = seconds - compressing
    return {
        "compress_seconds": compressing,
        "write_seconds": writing,
        "plain_bytes": int(plain),
        "stored_bytes": int(stored),
        "ratio": plain / stored if stored else None,
        "largest_error": max(rank.get("largest_error", 0.0) for rank in ranks),
        "rms_error": math.sqrt(total("squared_error") / values) if values else 0.0,
        "equivalent_bytes_per_second": plain / seconds if seconds else None,
        "without_transform_bytes_per_second": plain / writing if writing else None,
    }


def _timeline(rank: dict[str, Any]) -> dict[str, Any]:
    """A rank's timeline; on ranks above 0 by category only, which keeps records small."""
    timeline: dict[str, Any] = rank["timeline"]
    rows = timeline["rows"]
    if rank["rank"]:
        rows = [
            {"phase": None, "category": category, "seconds": [sum(bins) for bins in zip(*own, strict=True)]}
            for category in CATEGORIES
            if (own := [row["seconds"] for row in rows if row["category"] == category])
        ]
    rounded = [row | {"seconds": [round(value, 6) for value in row["seconds"]]} for row in rows]
    return {"rank": rank["rank"]} | timeline | {"rows": rounded}
