"""The first sentence on a profile, of its numbers alone.

38 % of the ranks' time is in MPI (MPI_Barrier 35 %); rank 1 was in MPI longest, 0.400 s, 75 % of its time, rank 0
shortest, < 0.0001 s
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer.base import formatting
from fathometer.lab.profile.shares import (
    MOST_RANKS,
    Extreme,
    extreme,
    missing_ranks,
    mpi_share,
    own_share,
    ranks_text,
    share_of_time,
    thread_seconds,
)

MOST_FUNCTIONS = 3
LEAST_OF_MPI = 0.1  # of the time in MPI: a function that is named


def headline(results: Mapping[str, Any]) -> str:
    """The sentence, without its full stop. results: of a record."""
    share = mpi_share(results)
    parts = _messages(results) if share is None else [_share(results, share), *_ranks(results), *_waiting(results)]
    if left_out := missing_ranks(results, MOST_RANKS + 1):
        parts.append(f"{ranks_text(left_out)} {'are' if len(left_out) > 1 else 'is'} not in these numbers")
    return "; ".join(parts)


def _share(results: Mapping[str, Any], share: float) -> str:
    """How much of the time is in MPI, and in which functions."""
    whose = "ranks'" if results["size"] > 1 else "rank's"
    rows = sorted((row for row in results["functions"] if not row["outside"]), key=lambda row: -thread_seconds(row))
    least = LEAST_OF_MPI * sum(rank["mpi_seconds"] for rank in results["ranks"])
    named = [row for row in rows if thread_seconds(row) > 0 and thread_seconds(row) >= least][:MOST_FUNCTIONS]
    functions = ", ".join(f"{row['name']} {formatting.percent(share_of_time(row, results))}" for row in named)
    return f"{formatting.percent(share)} of the {whose} time is in MPI{f' ({functions})' if functions else ''}"


def _ranks(results: Mapping[str, Any]) -> list[str]:
    """Which ranks are in MPI longest and shortest."""
    ranks = results["ranks"]
    if len(ranks) < 2:
        return []
    most, least = (extreme(ranks, _mpi, formatting.seconds, pick) for pick in (max, min))
    if most.text == least.text:
        return [f"each of the {len(ranks)} ranks was in MPI for {most.text}"]
    return [f"{_were(most)} in MPI longest, {most.text}{_of_own(ranks, most)}, {least.of} shortest, {least.text}"]


def _mpi(rank: Mapping[str, Any]) -> float:
    return float(rank["mpi_seconds"])


def _were(found: Extreme) -> str:
    return f"{found.of} {'were' if found.several else 'was'}"


def _of_own(ranks: list[Mapping[str, Any]], found: Extreme) -> str:
    """The share of a single rank's time."""
    if found.several:
        return ""
    (own,) = (rank for rank in ranks if rank["rank"] in found.ranks)
    return f", {formatting.percent(own_share(own))} of its time"


def _waiting(results: Mapping[str, Any]) -> list[str]:
    """Who waited before collective calls, where it was asked for."""
    if "wait" not in results["options"] or len(results["ranks"]) < 2:
        return []
    longest = extreme(results["ranks"], lambda rank: float(rank["waiting_seconds"]), formatting.seconds)
    if not longest.value:
        return []
    if len(longest.ranks) == len(results["ranks"]):
        return [f"each waited {longest.text} before collective calls"]
    return [f"before collective calls {longest.of} waited longest, {longest.text}"]


def _messages(results: Mapping[str, Any]) -> list[str]:
    """Where there are no times."""
    number = sum(rank["messages"] for rank in results["ranks"])
    moved = sum(rank["message_bytes"] for rank in results["ranks"])
    parts = [f"the ranks sent {formatting.count(number)} messages of {formatting.scaled(moved, 'B')} together"]
    if len(results["ranks"]) > 1 and moved:
        most = extreme(
            results["ranks"], lambda rank: float(rank["message_bytes"]), lambda value: formatting.scaled(value, "B")
        )
        if len(most.ranks) < len(results["ranks"]):
            parts.append(f"{most.of} sent most, {most.text}")
    return parts
