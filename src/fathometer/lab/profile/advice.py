"""What a profile says, in sentences: which calls cost most, what that means, what to try.

Rules of thumb over the counts; each names the numbers that it was drawn from. None of them is a measurement of what the
change would win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fathometer.lab.profile.shares import SMALL_BYTES, imbalance, mpi_seconds, small_share, user_seconds
from fathometer.report import formatting

LARGE_SHARE = 0.05  # of the ranks' time: calls that are worth a sentence
MOST_CALLS = 4
LATENCY_BYTES = 512  # a call with fewer takes as long as one with none
UNEVEN = 1.10
MOSTLY = 0.9
MANY_SETUPS = 100  # communicators or types made by a rank


@dataclass(frozen=True)
class Finding:
    """what: was seen, with its numbers. means: what it tells. attempt: what to try."""

    what: str
    means: str
    attempt: str


def findings(results: Mapping[str, Any]) -> list[Finding]:
    """The findings of a profile, what costs most first."""
    if mpi_seconds(results) is None:
        return _of_sizes(results)
    found = [*_of_calls(results), *_of_balance(results), *_of_sizes(results), *_of_setup(results)]
    return found or [
        Finding(
            f"no call of MPI takes {formatting.percent(LARGE_SHARE)} of the ranks' time",
            "communication is no bottleneck at this size",
            "look at the program's own work, or at more ranks",
        )
    ]


def _of_calls(results: Mapping[str, Any]) -> list[Finding]:
    time = sum(rank["wall_seconds"] for rank in results["ranks"])
    found = []
    for row in [row for row in results["functions"] if not row["outside"]][:MOST_CALLS]:
        if not time or row["seconds"] < LARGE_SHARE * time:
            break
        means, attempt = next(texts(row) for fits, texts in _RULES if fits(row))
        size = _bytes_a_call(row)
        each = f"{formatting.scaled(size, 'B')} and " if size else ""
        found.append(
            Finding(
                f"{row['name']}: {formatting.percent(row['seconds'] / time)} of the ranks' time, "
                f"{formatting.count(row['calls'])} calls of {each}"
                f"{formatting.digits(1e6 * row['seconds'] / row['calls'])} µs each"
                + (
                    f", {formatting.percent(row['waiting_seconds'] / row['seconds'])} of it waiting for other ranks"
                    if row["waiting_seconds"]
                    else ""
                ),
                means,
                attempt,
            )
        )
    return found


def _bytes_a_call(row: Mapping[str, Any]) -> float:
    return float(max(row["bytes_out"], row["bytes_in"]) / row["calls"])


def _waits(row: Mapping[str, Any]) -> bool:
    return bool(row["waiting_seconds"] > 0.5 * row["seconds"])


Rule = tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], tuple[str, str]]]
_RULES: Sequence[Rule] = (
    (
        lambda row: row["name"] in ("MPI_Barrier", "MPI_Ibarrier"),
        lambda row: (
            "ranks wait for the slowest",
            "see whether the barrier is needed at all; else even out the work before it",
        ),
    ),
    (
        _waits,
        lambda row: (
            "ranks come to it at different times: it is the imbalance before it that costs",
            "even out the work",
        ),
    ),
    (
        lambda row: row["kind"] == "collective" and _bytes_a_call(row) <= LATENCY_BYTES,
        lambda row: (
            "bound by latency: so few bytes take as long as none, and what is paid is the number of calls, and waiting "
            "(--wait tells them apart)",
            "several values in one call; a method that needs fewer; a non-blocking one behind which work goes on; "
            "fewer ranks with threads; another algorithm of the MPI",
        ),
    ),
    (
        lambda row: row["kind"] == "collective" and "lltoall" in row["name"],
        lambda row: (
            "every rank sends to every other: bound by the links between nodes",
            "fewer and larger pieces (fewer ranks with threads), a decomposition that transposes within groups, "
            "overlap with work",
        ),
    ),
    (
        lambda row: row["kind"] == "collective",
        lambda row: (
            "bytes and waiting for other ranks both count (--wait tells them apart)",
            "less data a call; another algorithm of the MPI; overlap with work",
        ),
    ),
    (
        lambda row: row["name"].removeprefix("MPI_") in ("Wait", "Waitall", "Waitany", "Waitsome", "Recv", "Mrecv"),
        lambda row: (
            "messages that are waited for: their sender is late, or nothing is done meanwhile",
            "begin receives earlier and do work before the wait; compare user time by rank; see the matrix for who "
            "sends most",
        ),
    ),
    (
        lambda row: row["kind"] == "waiting",
        lambda row: (
            "the program asks again and again whether something has come",
            "wait, or do work between two questions",
        ),
    ),
    (
        lambda row: row["kind"] == "point-to-point" and _bytes_a_call(row) < SMALL_BYTES,
        lambda row: (
            "small messages: each pays the latency",
            "put several into one; non-blocking, all at once",
        ),
    ),
    (
        lambda row: row["kind"] == "point-to-point",
        lambda row: (
            "large messages wait until their receiver is ready (rendezvous), and then for the link",
            "post receives before; non-blocking with work in between; see whether less has to be sent",
        ),
    ),
    (
        lambda row: row["kind"] == "file" and "read" not in row["name"] and "write" not in row["name"],
        lambda row: ("files are made, opened and closed, which all ranks do together", "fewer files, opened once"),
    ),
    (
        lambda row: row["kind"] == "file" and "_all" not in row["name"] and "ordered" not in row["name"],
        lambda row: (
            "each rank by itself at the file system",
            "collective calls (…_all) where pieces are small or interleaved; fewer, larger pieces",
        ),
    ),
    (
        lambda row: row["kind"] == "file",
        lambda row: (
            "the file system, or what ranks exchange before they reach it",
            "hints (cb_nodes, cb_buffer_size)",
        ),
    ),
    (
        lambda row: row["kind"] == "one-sided",
        lambda row: ("synchronisation of one-sided communication: waits as messages do", "fewer epochs, passive locks"),
    ),
    (lambda row: True, lambda row: ("administration of MPI, not communication", "make once what is made often")),
)


def _of_balance(results: Mapping[str, Any]) -> list[Finding]:
    uneven, user = imbalance(results), user_seconds(results)
    if uneven is None or not user or uneven < UNEVEN or user < LARGE_SHARE * results["wall_seconds"]:
        return []
    slowest = max(results["ranks"], key=lambda rank: rank["user_seconds"])
    return [
        Finding(
            f"rank {slowest['rank']} works {formatting.seconds(slowest['user_seconds'])} outside of MPI, the mean is "
            f"{formatting.seconds(user)}: {uneven:.2f} times as much",
            "the others wait for it inside MPI, in whatever call comes next",
            "a decomposition by cost; look whether that rank alone does input, output or the master's work",
        )
    ]


def _of_sizes(results: Mapping[str, Any]) -> list[Finding]:
    small = small_share(results, "point-to-point")
    if small is None or small < MOSTLY:
        return []
    return [
        Finding(
            f"{formatting.percent(small)} of the messages are below 4 KB",
            "the link's bandwidth does not matter to them, its latency does",
            "put several into one; a faster link helps little unless its latency is shorter",
        )
    ]


def _of_setup(results: Mapping[str, Any]) -> list[Finding]:
    made = [
        row
        for row in results["functions"]
        if row["name"] in ("MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create", "MPI_Win_create", "MPI_Win_allocate")
        and row["calls"] > MANY_SETUPS * row["ranks"]
    ]
    return [
        Finding(
            f"{row['name']}: {formatting.count(row['calls'] / row['ranks'])} calls a rank",
            "communicators and windows are made in a loop; making one is collective and slow",
            "make them once",
        )
        for row in made
    ]
