"""What a profile says, in sentences: which calls cost most, what that means, what to try.

Rules of thumb over the counts; each names the numbers that it was drawn from. None of them is a measurement of what the
change would win.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fathometer.base import formatting
from fathometer.lab.profile.shares import (
    SMALL_BYTES,
    SMALL_TEXT,
    extreme,
    imbalance,
    mpi_seconds,
    mpi_share,
    own_share,
    share_of_time,
    small_share,
    user_seconds,
)

LARGE_SHARE = 0.05  # of the ranks' time: calls that are worth a sentence
MOST_CALLS = 4
LATENCY_BYTES = 512  # a call with fewer takes as long as one with none
UNEVEN = 1.10
MOSTLY = 0.9
MANY_SETUPS = 100  # communicators or types made by a rank
SETUPS = ("MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create", "MPI_Win_create", "MPI_Win_allocate")


@dataclass(frozen=True)
class Finding:
    """what: was seen, with its numbers. means: what it tells. attempt: what to try."""

    what: str
    means: str
    attempt: str


def findings(results: Mapping[str, Any]) -> list[Finding]:
    """The findings of a profile, what costs most first."""
    found = [*_of_calls(results), *_of_balance(results), *_of_sizes(results), *_of_setup(results)]
    return found or _of_no_call(results)


def _of_calls(results: Mapping[str, Any]) -> list[Finding]:
    shares = [
        (share, row) for row in results["functions"] if (share := share_of_time(row, results)) and share >= LARGE_SHARE
    ]
    found = []
    for share, row in sorted(shares, key=lambda entry: -entry[0])[:MOST_CALLS]:
        means, attempt = _meaning(row, results)
        size = _bytes_a_call(row)
        waiting = row["waiting_seconds"] / row["seconds"] if row["seconds"] else 0.0
        each = (f"{formatting.scaled(size, 'B')} and " if size else "") + formatting.short_seconds(
            row["seconds"] / row["calls"]
        )
        found.append(
            Finding(
                f"{row['name']}: {formatting.percent(share)} of the ranks' time, {formatting.count(row['calls'])} "
                f"{'call' if row['calls'] == 1 else 'calls'}, on the mean "
                f"{each}" + (f", {formatting.percent(waiting)} of it waiting for other ranks" if waiting else ""),
                means,
                attempt,
            )
        )
    return found


def _of_no_call(results: Mapping[str, Any]) -> list[Finding]:
    """Where no function takes much."""
    share = mpi_share(results)
    if share is None:
        return []
    if share >= LARGE_SHARE:
        return [
            Finding(
                f"no function of MPI takes {formatting.percent(LARGE_SHARE)} of the ranks' time, all of them together "
                f"take {formatting.percent(share)}",
                "many functions share what communication costs",
                "look at the table of functions, and at the program's own work",
            )
        ]
    what = f"all calls of MPI together take {formatting.percent(share)} of the ranks' time"
    most = extreme(results["ranks"], own_share, formatting.percent)
    if most.value >= LARGE_SHARE:
        return [
            Finding(
                what,
                f"little on the mean of the ranks, but {most.of} {'spend' if most.several else 'spends'} "
                f"{most.text} of {'their' if most.several else 'its'} time there",
                "look at the table of ranks",
            )
        ]
    return [
        Finding(
            what,
            "communication is no bottleneck at this size",
            "look at the program's own work, or at more ranks",
        )
    ]


def _bytes_a_call(row: Mapping[str, Any]) -> float:
    return float(max(row["bytes_out"], row["bytes_in"]) / row["calls"])


def _waits(row: Mapping[str, Any]) -> bool:
    return bool(row["waiting_seconds"] > 0.5 * row["seconds"])


def _begins(row: Mapping[str, Any]) -> bool:
    """Whether it is a non-blocking call, which leaves the waiting to another."""
    return bool(row["name"].startswith("MPI_I"))


def _meaning(row: Mapping[str, Any], results: Mapping[str, Any]) -> tuple[str, str]:
    if results["size"] == 1 and row["kind"] in ("collective", "point-to-point", "waiting"):
        return (
            "the world has one rank, in which nobody else has to be waited for: it is what the calls themselves cost",
            "fewer calls, or none where there is one rank",
        )
    how = (
        "less than half of it is waiting for other ranks"
        if "wait" in results["options"]
        else "and waiting for other ranks (--wait tells them apart)"
    )
    means, attempt = next(texts for fits, texts in _RULES if fits(row))
    return means.format(how=how), attempt


_RECEIVING = re.compile(r"MPI_(Wait(all|any|some)?|M?(recv|probe)|Sendrecv(_replace)?)(_c)?", re.IGNORECASE)
Rule = tuple[Callable[[Mapping[str, Any]], bool], tuple[str, str]]
_RULES: Sequence[Rule] = (
    (
        lambda row: row["name"] == "MPI_Barrier",
        ("ranks wait for the slowest", "see whether the barrier is needed at all; else even out the work before it"),
    ),
    (
        _waits,
        ("ranks come to it at different times: it is the imbalance before it that costs", "even out the work"),
    ),
    (
        lambda row: row["kind"] == "collective" and _begins(row),
        (
            "the call should only begin something: the MPI does part of it within the call",
            "fewer of them, several values in one; compare with the blocking one",
        ),
    ),
    (
        lambda row: row["kind"] == "collective" and _bytes_a_call(row) <= LATENCY_BYTES,
        (
            "so few bytes take as long as none: what is paid is the number of calls, {how}",
            "several values in one call; a method that needs fewer; a non-blocking one behind which work goes on; "
            "fewer ranks with threads; another algorithm of the MPI",
        ),
    ),
    (
        lambda row: row["kind"] == "collective" and "lltoall" in row["name"],
        (
            "every rank sends to every other: what is paid is the bytes, over links between nodes where there are "
            "several, {how}",
            "fewer and larger pieces (fewer ranks with threads), a decomposition that transposes within groups, "
            "overlap with work",
        ),
    ),
    (
        lambda row: row["kind"] == "collective",
        (
            "what is paid is the bytes, {how}",
            "less data a call; another algorithm of the MPI; overlap with work",
        ),
    ),
    (
        lambda row: _RECEIVING.fullmatch(row["name"]) is not None,
        (
            "messages that are waited for: their sender is late, or nothing is done meanwhile",
            "begin receives earlier and do work before the wait; compare user time by rank; see the matrix for who "
            "sends most",
        ),
    ),
    (
        lambda row: row["kind"] == "waiting",
        (
            "the program asks again and again whether something has come",
            "wait, or do work between two questions",
        ),
    ),
    (
        lambda row: row["name"].startswith("MPI_Ssend"),
        ("it returns only when its receiver has begun to receive", "begin receives earlier; an ordinary send"),
    ),
    (
        lambda row: row["kind"] == "point-to-point" and _bytes_a_call(row) < SMALL_BYTES,
        (
            "small messages: each pays the latency, or waits where a receiver is late and has no more room",
            "put several into one; non-blocking, all at once",
        ),
    ),
    (
        lambda row: row["kind"] == "point-to-point" and _begins(row),
        (
            "the call should only begin a message: the MPI copies it, or moves others on, within the call",
            "fewer, larger messages; see whether less has to be sent",
        ),
    ),
    (
        lambda row: row["kind"] == "point-to-point",
        (
            "large messages wait until their receiver is ready (rendezvous), and then for the link",
            "post receives before; non-blocking with work in between; see whether less has to be sent",
        ),
    ),
    (
        lambda row: row["kind"] == "file" and "read" not in row["name"] and "write" not in row["name"],
        ("files are made, opened and closed, which all ranks do together", "fewer files, opened once"),
    ),
    (
        lambda row: row["kind"] == "file" and "_all" not in row["name"] and "ordered" not in row["name"],
        (
            "each rank by itself at the file system",
            "collective calls (…_all) where pieces are small or interleaved; fewer, larger pieces",
        ),
    ),
    (
        lambda row: row["kind"] == "file",
        (
            "the file system, or what ranks exchange before they reach it",
            "hints (cb_nodes, cb_buffer_size)",
        ),
    ),
    (
        lambda row: row["kind"] == "one-sided" and not row["name"].startswith("MPI_Win_"),
        ("bytes that the MPI moves within the call, or begins to move", "fewer, larger pieces"),
    ),
    (
        lambda row: row["name"].startswith(("MPI_Win_create", "MPI_Win_allocate", "MPI_Win_free")),
        ("windows are made and freed, which all ranks do together", "make them once"),
    ),
    (
        lambda row: row["kind"] == "one-sided",
        ("synchronisation of one-sided communication: waits as messages do", "fewer epochs, passive locks"),
    ),
    (
        lambda row: "ack" in row["name"] and row["kind"] == "datatype",
        ("data are copied in memory before they are sent, or after", "a derived type, or a plain buffer"),
    ),
    (lambda row: True, ("administration of MPI, not communication", "make once what is made often")),
)


def _of_balance(results: Mapping[str, Any]) -> list[Finding]:
    uneven, user, mpi = imbalance(results), user_seconds(results), mpi_seconds(results)
    if uneven is None or not user or uneven < UNEVEN or user < LARGE_SHARE * results["wall_seconds"]:
        return []
    slowest = extreme(results["ranks"], lambda rank: float(rank["user_seconds"]), formatting.seconds)
    others = [rank for rank in results["ranks"] if rank["rank"] not in slowest.ranks]
    behind = slowest.value - sum(rank["user_seconds"] for rank in others) / len(others) if others else 0.0
    wait = sum(rank["mpi_seconds"] for rank in others) / len(others) >= 0.5 * behind if others else False
    them = "them" if slowest.several else "it"
    return [
        Finding(
            f"{slowest.of} {'are' if slowest.several else 'is'} {slowest.text} outside of MPI, the mean is "
            f"{formatting.seconds(user)}: {uneven:.2f} times as much",
            f"the others wait for {them} inside MPI, in whatever call comes next"
            if wait
            else f"the others do not wait for {them} inside MPI, where ranks spend {formatting.seconds(mpi)} "
            "on the mean: they end MPI earlier, or ended suddenly",
            f"a decomposition by cost; look whether {them.replace('it', 'that rank')} alone "
            f"{'do' if slowest.several else 'does'} input, output or the master's work",
        )
    ]


def _of_sizes(results: Mapping[str, Any]) -> list[Finding]:
    small = small_share(results, "point-to-point")
    if small is None or small < MOSTLY:
        return []
    return [
        Finding(
            f"{formatting.percent(small)} of the point-to-point calls with bytes have less than {SMALL_TEXT}",
            "the link's bandwidth does not matter to these, its latency does",
            "put several into one",
        )
    ]


def _of_setup(results: Mapping[str, Any]) -> list[Finding]:
    made = [row for row in results["functions"] if row["name"] in SETUPS and row["calls"] > MANY_SETUPS * row["ranks"]]
    return [
        Finding(
            f"{row['name']}: {formatting.count(row['calls'])} calls, on the mean "
            f"{formatting.count(row['calls'] / row['ranks'])} on each of {row['ranks']} "
            f"{'rank' if row['ranks'] == 1 else 'ranks'}",
            "communicators and windows are made in a loop; making one is collective and slow",
            "make them once",
        )
        for row in made
    ]
