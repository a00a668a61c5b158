"""The ranks' ledgers put together: least, mean and most of each number, on which rank, and what makes rates of them.

Only lengths of time are compared: clocks of different hosts are never subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fathometer.base import ledger
from fathometer.base.ledger import CATEGORIES
from fathometer.parallel.threads import Binding, displaced
from fathometer.record.usage import since, usage

MOST_WAITING = 0.1  # share of a rank's time that its threads may be kept from their cpus in a valid run
MOST_TIMELINES = 8  # of ranks, in a record


def spread(values: Sequence[float]) -> dict[str, Any]:
    """How a number differs from rank to rank. imbalance: max / mean, 1 where all are 0."""
    mean = sum(values) / len(values)
    most = max(values)
    return {
        "min": min(values),
        "mean": mean,
        "max": most,
        "max_rank": values.index(most),
        "imbalance": most / mean if mean else 1.0,
    }


def account(ranks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The ledger of a record.

    ranks: own_account of each rank, in order.
    """
    return {
        "wall_seconds": spread([rank["wall_seconds"] for rank in ranks]),
        "categories": {c: spread([rank["categories"][c] for rank in ranks]) for c in CATEGORIES},
        "phases": _entries(ranks, "entries"),
        "overlapped": _entries(ranks, "overlapped"),
        "files": _files(ranks),
        "ranks": [_rank(rank) for rank in ranks],
        "timelines": [_timeline(rank) for rank in ranks[:MOST_TIMELINES] if rank["timeline"] is not None],
    }


def own_account(binding: Binding, peak_memory: int | None = None) -> dict[str, Any]:
    """What this rank tells the others at the end: its ledger, and what the system says of it; JSON-ready.

    peak_memory: bytes, where what came after it was measured is not the run's own.
    """
    here = ledger.current() or ledger.Ledger()
    used = usage() if here.used_before is None else since(here.used_before, usage())
    if peak_memory is not None:
        used["peak_memory_bytes"] = peak_memory
    return here.as_dict() | {
        "rank": binding.rank,
        "host": binding.host,
        "binding": binding.as_dict(),
        "displaced": displaced(binding),
        "usage": used,
    }


def disturbances(ranks: Sequence[dict[str, Any]]) -> list[str]:
    """Why the times of a run are not to be trusted, as far as a program can see; ranks: own_account of each."""
    crowded = sorted({str(rank["host"]) for rank in ranks if rank["binding"]["oversubscribed"]})
    reasons = [f"ranks or threads share cores on {host}" for host in crowded]
    for rank in ranks:
        where, use = f"rank {rank['rank']} on {rank['host']}", rank["usage"]
        if use["swapped_bytes"]:
            reasons.append(f"{where}: {use['swapped_bytes'] / 1e6:.1f} MB are swapped out of memory")
        waited = (use["run_queue_seconds"] or 0.0) / (rank["wall_seconds"] * rank["binding"]["threads"])
        if waited > MOST_WAITING and rank["host"] not in crowded:
            reasons.append(f"{where}: its threads waited for a cpu {100 * waited:.0f} % of the time: others used it")
        if rank["displaced"]:
            reasons.append(f"{where}: {rank['displaced']}")
    return reasons


def unaccounted(rank: dict[str, Any]) -> float:
    """Seconds of a rank's wall time that no phase covers."""
    return float(rank["wall_seconds"] - sum(rank["categories"].values()))


def seconds(told: dict[str, Any], phases: Iterable[str], category: str | None = None) -> float:
    """The most seconds that any rank of a record spent in some phases together, in one category or all."""
    names = set(phases)
    most: float = max(
        sum(
            seconds
            for phase, spent in rank["phases"].items()
            if phase in names
            for name, seconds in spent.items()
            if category in (None, name)
        )
        for rank in told["ranks"]
    )
    return most


def _rank(rank: dict[str, Any]) -> dict[str, Any]:
    phases: dict[str, dict[str, float]] = {}
    for entry in rank["entries"]:
        phases.setdefault(entry["phase"], {})[entry["category"]] = entry["seconds"]
    kept = ("rank", "host", "wall_seconds", "categories", "waited_seconds", "usage")
    return {key: rank[key] for key in kept} | {"unaccounted_seconds": unaccounted(rank), "phases": phases}


def _entries(ranks: Sequence[dict[str, Any]], which: str) -> list[dict[str, Any]]:
    """Each phase x category over the ranks, in the order in which they first occur; 0 where a rank has none."""
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
    """What each kind of file took: bytes of all ranks, over the seconds of the rank that took longest."""
    tables = [{(f["kind"], f["direction"]): f for f in rank["files"]} for rank in ranks]
    found = []
    for kind, direction in dict.fromkeys(key for table in tables for key in table):
        here = [table[kind, direction] for table in tables if (kind, direction) in table]
        total, took = sum(f["bytes"] for f in here), max(f["seconds"] for f in here)
        overlap = sum(f["overlap_bytes"] for f in here)
        found.append(
            {
                "kind": kind,
                "direction": direction,
                "bytes": total,
                "own_bytes": total - overlap,
                "overlap_bytes": overlap,
                "calls": sum(f["calls"] for f in here),
                "seconds": took,
                "flush_seconds": max(f["flush_seconds"] for f in here),
                "bytes_per_second": total / took if took else None,
            }
        )
    return found


def _timeline(rank: dict[str, Any]) -> dict[str, Any]:
    """A rank's timeline; beyond rank 0 by category only, which keeps records small."""
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
