"""Numbers of a profile that a sentence, a table or a study needs: shares, ratios, imbalance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from fathometer.record.envelope import Figure

SMALL_BYTES, SMALL_TEXT = 4096, "4 KiB"
MOST_RANKS = 8  # by number in a sentence


@dataclass(frozen=True)
class Extreme:
    """A largest or smallest value of a rank, and all ranks whose value reads the same: nobody is named as the only one
    of several that are alike.

    value, text: of the first of them.
    """

    ranks: tuple[int, ...]
    value: float
    text: str

    @property
    def several(self) -> bool:
        """Whether the verb is a plural."""
        return len(self.ranks) > 1

    @property
    def of(self) -> str:
        """The ranks in words."""
        return ranks_text(self.ranks)


def extreme(
    ranks: Sequence[Mapping[str, Any]],
    value: Callable[[Mapping[str, Any]], float],
    text: Callable[[float], str],
    pick: Callable[..., Mapping[str, Any]] = max,
) -> Extreme:
    """The rank with the largest value, with pick=min the smallest, and those whose value has the same text."""
    first = pick(ranks, key=value)
    shown = text(value(first))
    return Extreme(tuple(rank["rank"] for rank in ranks if text(value(rank)) == shown), value(first), shown)


def ranks_text(numbers: Sequence[int]) -> str:
    """Ranks by number, as a sentence names them."""
    shown = ", ".join(map(str, numbers[:MOST_RANKS])) + (", …" if len(numbers) > MOST_RANKS else "")
    return f"{'ranks' if len(numbers) > 1 else 'rank'} {shown}"


def mpi_seconds(results: Mapping[str, Any]) -> float | None:
    """In MPI, the mean over the ranks; None where no times are known."""
    return _mean(results, "mpi_seconds")


def user_seconds(results: Mapping[str, Any]) -> float | None:
    """Outside of MPI, the mean over the ranks."""
    return _mean(results, "user_seconds")


def mpi_share(results: Mapping[str, Any]) -> float | None:
    """Of the ranks' time, that in MPI; None where no times are known, or none passed."""
    wall = sum(rank["wall_seconds"] for rank in results["ranks"])
    return None if mpi_seconds(results) is None or not wall else _sum(results, "mpi_seconds") / wall


def own_share(rank: Mapping[str, Any]) -> float:
    """Of a rank's time, that in MPI."""
    return float(rank["mpi_seconds"] / rank["wall_seconds"]) if rank["wall_seconds"] else 0.0


def thread_seconds(row: Mapping[str, Any]) -> float:
    """Seconds of a function in the threads that called MPI_Init, of all ranks: what is a share of the ranks' time.
    Records of before have only the sum over all threads."""
    return float(row.get("thread_seconds", row["seconds"]))


def share_of_time(row: Mapping[str, Any], results: Mapping[str, Any]) -> float | None:
    """Of the ranks' time, that of a function; None for begin and end of MPI, and where no time passed."""
    wall = sum(rank["wall_seconds"] for rank in results["ranks"])
    return None if row["outside"] or not wall else thread_seconds(row) / wall


def imbalance(results: Mapping[str, Any]) -> float | None:
    """Of the time outside of MPI: longest over mean, 1 where all ranks have the same work."""
    mean = user_seconds(results)
    if mean is None:
        return None
    return max(rank["user_seconds"] for rank in results["ranks"]) / mean if mean else 1.0


def missing_ranks(results: Mapping[str, Any], most: int) -> list[int]:
    """The first `most` ranks of which there is no file that can be read: no number has them in it."""
    there = {rank["rank"] for rank in results["ranks"]}
    return list(islice((rank for rank in range(results["size"]) if rank not in there), most))


def total_bytes(results: Mapping[str, Any]) -> int:
    """That all ranks handed to MPI, files not among them."""
    return sum(rank["bytes_out"] for rank in results["ranks"])


def small_share(results: Mapping[str, Any], kind: str | None = None) -> float | None:
    """Of the calls with bytes, those of less than 4 KB; None where there are none. kind: of functions; None: all but
    files."""
    calls = [0, 0]
    for row in results["sizes"]:
        if row["kind"] == kind or (kind is None and row["kind"] != "file"):
            calls[row["least_bytes"] < SMALL_BYTES] += row["calls"]
    return calls[1] / sum(calls) if sum(calls) else None


def sums_share(results: Mapping[str, Any]) -> float | None:
    """Of the time in MPI, that in MPI_Allreduce; None where no times are known or there is no such time."""
    mpi = mpi_seconds(results)
    if not mpi:
        return None
    own = sum(thread_seconds(row) for row in results["functions"] if row["name"] == "MPI_Allreduce")
    return own / (mpi * len(results["ranks"]))


def figures(results: Mapping[str, Any]) -> list[Figure]:
    """Figures of a record; those that are not known are left out. Where ranks are missing the names say of how many
    they are, so that no figure is compared with that of all."""
    mpi, user, small, uneven = mpi_seconds(results), user_seconds(results), small_share(results), imbalance(results)
    data, sums = total_bytes(results), sums_share(results)
    known = all("calls" in rank for rank in results["ranks"])  # Open MPI's monitoring has none
    calls = sum(rank["calls"] for rank in results["ranks"]) if known else None
    found: list[Figure | None] = [
        Figure("wall time", results["wall_seconds"], "seconds", "lower"),
        None if mpi is None else Figure("time in MPI", mpi, "seconds", "lower"),
        None if user is None else Figure("time outside of MPI", user, "seconds", "lower"),
        None if not user or mpi is None else Figure("MPI over user time", mpi / user, "1", "lower"),
        None if uneven is None else Figure("load imbalance", uneven, "1", "lower"),
        Figure("data of all ranks", data, "bytes", "none", "context"),
        Figure("data a rank", data / len(results["ranks"]), "bytes", "none", "context"),
        Figure("messages", sum(rank["messages"] for rank in results["ranks"]), "1", "none", "context"),
        None if small is None else Figure("calls below 4 KB", small, "1", "none", "context"),
        None if sums is None else Figure("Allreduce of MPI time", sums, "1", "none", "context"),
        None if calls is None else Figure("calls of MPI", calls, "1", "none", "context"),
    ]
    there = len(results["ranks"])
    part = f" ({there} of {results['size']} ranks)" if there < results["size"] else ""
    return [replace(figure, name=figure.name + part) for figure in found if figure is not None]


def _mean(results: Mapping[str, Any], name: str) -> float | None:
    values = [rank[name] for rank in results["ranks"]]
    return None if None in values or not values else sum(values) / len(values)


def _sum(results: Mapping[str, Any], name: str) -> float:
    return float(sum(rank[name] for rank in results["ranks"]))
