"""The time of a profiled job as the account of a record: every second of a rank is the program's own, or in one
function of MPI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fathometer.base.ledger import CATEGORIES
from fathometer.lab.profile.functions import OUTSIDE, functions
from fathometer.lab.profile.jobs import Job
from fathometer.lab.profile.rank_file import RankProfile
from fathometer.record.ranks import account

OWN = "outside of MPI"
WAITING = "MPI_Barrier"  # moves nothing: all of it is waiting, where there are other ranks


def account_of(job: Job) -> dict[str, Any]:
    """The entry "ledger" of a record. Of each rank the thread that called MPI_Init, from there to MPI_Finalize."""
    return account([_own(rank) for rank in job.ranks])


def account_without_times(results: Mapping[str, Any]) -> dict[str, Any]:
    """The same where nothing but the whole is known."""
    return account([_rank(rank["rank"], rank["host"], rank["wall_seconds"], []) for rank in results["ranks"]])


def _own(rank: RankProfile) -> dict[str, Any]:
    calls, table = rank.calls, functions()
    entries = []
    for number in np.unique(calls.function[calls.main]):
        function = table[int(number)]
        if function.name in OUTSIDE:
            continue
        here = calls.main & (calls.function == number)
        seconds, waiting = float(calls.seconds[here].sum()), float(calls.waiting[here].sum())
        if function.name == WAITING and rank.size > 1:
            waiting = seconds
        moved = int((calls.bytes_out[here] + calls.bytes_in[here]).sum())
        count = int(calls.calls[here].sum())
        category = "io" if function.kind == "file" else "communication"
        if seconds > waiting or not waiting:
            entries.append(_entry(function.name, category, max(0.0, seconds - waiting), count, moved))
        if waiting:
            entries.append(_entry(function.name, "idle", waiting, count, 0))
    entries.sort(key=lambda entry: -float(entry["seconds"]))
    own = max(0.0, rank.wall_seconds - sum(entry["seconds"] for entry in entries))
    return _rank(rank.rank, rank.host, rank.wall_seconds, [_entry(OWN, "compute", own, 1, 0), *entries])


def _entry(phase: str, category: str, seconds: float, calls: int, moved: int) -> dict[str, Any]:
    return {
        "phase": phase,
        "category": category,
        "seconds": seconds,
        "calls": calls,
        "bytes": moved,
        "points": 0.0,
        "flops": 0.0,
    }


def _rank(number: int, host: str, wall_seconds: float, entries: list[dict[str, Any]]) -> dict[str, Any]:
    spent = {name: sum(entry["seconds"] for entry in entries if entry["category"] == name) for name in CATEGORIES}
    return {
        "rank": number,
        "host": host,
        "wall_seconds": wall_seconds,
        "categories": spent,
        "entries": entries,
        "overlapped": [],
        "files": [],
        "timeline": None,
        "waited_seconds": {},
        "usage": {},
    }
