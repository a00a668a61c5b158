"""The verdict on a run in one sentence, made from its ledger alone.

    87 % of 312 s in the kernel; halos took up to 6 % of a rank's time; “history push” moved 1.9 GB/s beside the
    computation, fully hidden

The kernel is the phases that count their work (flops, or points alone), and the exchange of halos that goes with them.
A record whose results have a `headline` says that: its ledger alone does not tell what it knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from fathometer.base.formatting import percent, scaled, seconds

HALO = "halo exchange"
# Phases of another thread's work and the phase that waits for them, by that of them which moves bytes; other work is
# waited for in its own phase.
AWAITED = MappingProxyType({"read traces": (("read traces", "filter traces"), "wait for traces")})
# Work of a graphics card, by its own clock, that goes beside the kernel, by what moves bytes to it and from it.
BY_CARD = MappingProxyType({"card transfers": ("steps on the card", "imaging on the card")})
LARGE = 0.10  # of the wall time: a phase outside the kernel that the sentence names
LEAST_WAITING = 0.005  # of a rank's time: waiting that is named
LEAST_FILE_SHARE = 0.005  # of the wall time: files that took less are named only if none took more
LEAST_BESIDE = 0.005  # of the wall time: of other threads' work that is named
HIDDEN, EXPOSED = 0.98, 0.02  # shares of overlapped work: from the first on "fully" hidden, up to the second "not"


def kernel_phases(ledger: dict[str, Any]) -> list[str]:
    """The phases whose work is counted, in flops or points, and the exchanges that they need."""
    counted = [entry["phase"] for entry in ledger["phases"] if entry["total_flops"] > 0 or entry["total_points"] > 0]
    names = list(dict.fromkeys(counted))
    halos = any(entry["phase"] == HALO for entry in ledger["phases"])
    return [*names, HALO] if names and halos else names


def kernel_seconds(ledger: dict[str, Any]) -> float:
    """Seconds of the kernel on the rank that spent most in it."""
    names = set(kernel_phases(ledger))
    return max(_of(rank, names) for rank in ledger["ranks"])


def verdict(record: dict[str, Any]) -> str:
    """The sentence, without its full stop."""
    if headline := record["results"].get("headline"):
        return str(headline)
    ledger = record["ledger"]
    wall = ledger["wall_seconds"]["max"]
    if not wall > 0:
        return "nothing was accounted"
    parts = [_kernel(ledger, wall), _waiting(ledger), *_beside(ledger, wall), *_files(ledger, wall)]
    sentence = "; ".join(part for part in parts if part)
    if not record["validity"]["finished"]:
        return f"unfinished after {seconds(wall)}, as far as rank 0 knew: {sentence}"
    return sentence


def _of(rank: dict[str, Any], phases: Iterable[str], category: str | None = None) -> float:
    """Seconds of one rank in some phases, in one category or all."""
    spent = [entry for phase in phases for entry in rank["phases"].get(phase, {}).items()]
    return float(sum(seconds for name, seconds in spent if category in (None, name)))


def _kernel(ledger: dict[str, Any], wall: float) -> str:
    """How much of the time was the kernel, and the largest phase beside it."""
    kernel = kernel_phases(ledger)
    others: dict[str, float] = {}
    for entry in ledger["phases"]:
        if entry["phase"] not in kernel and entry["category"] != "idle":
            others[entry["phase"]] = others.get(entry["phase"], 0.0) + entry["seconds"]["max"]
    largest = max(others, key=lambda name: others[name], default=None)
    beside = f"{percent(others[largest] / wall)}%s in “{largest}”" if largest is not None else ""
    if not kernel:
        return beside.replace("%s", f" of {seconds(wall)}") or f"{seconds(wall)} in no phase"
    text = f"{percent(min(1.0, kernel_seconds(ledger) / wall))} of {seconds(wall)} in the kernel"
    if largest is not None and others[largest] >= LARGE * wall:
        text += ", " + beside.replace("%s", "")
    return text


def _waiting(ledger: dict[str, Any]) -> str:
    """The largest share of a rank's time in halo exchanges, waiting included; without halos, the rank that waited
    longest, where one did."""
    ranks = ledger["ranks"]
    if len(ranks) < 2:
        return ""
    kernel = kernel_phases(ledger)
    if HALO in kernel:
        return f"halos took up to {percent(max(_share(_of(rank, [HALO]), rank) for rank in ranks))} of a rank's time"
    waiting = max(ranks, key=lambda rank: float(rank["categories"]["idle"]))
    share = _share(waiting["categories"]["idle"], waiting)
    return f"rank {waiting['rank']} waited longest, {percent(share)}" if share >= LEAST_WAITING else ""


def _share(seconds: float, rank: dict[str, Any]) -> float:
    return float(seconds / rank["wall_seconds"]) if rank["wall_seconds"] else 0.0


def _beside(ledger: dict[str, Any], wall: float) -> list[str]:
    """What other threads, or a graphics card, moved beside the computation, and how much of that time was waited for;
    nothing where it would have taken no time worth a word."""
    least = LEAST_BESIDE * wall
    moved = [entry for entry in ledger["overlapped"] if entry["total_bytes"] and entry["seconds"]["max"] > least]
    if not moved:
        return []
    most = max(moved, key=lambda entry: entry["total_bytes"])
    worked, waited = most["seconds"]["max"], _idle(ledger, most["phase"])
    rate = scaled(most["total_bytes"] / worked, "B/s")
    if most["phase"] in BY_CARD:  # nothing waits by name: the kernel takes longer than the card's work, or it does not
        busy = sum(
            entry["seconds"]["max"] for entry in ledger["overlapped"] if entry["phase"] in BY_CARD[most["phase"]]
        )
        late = kernel_seconds(ledger) - busy > (1 - HIDDEN) * worked
        return [f"“{most['phase']}” moved {rate} beside the time steps" + ", fully hidden" * (not late)]
    together, waiting = AWAITED.get(most["phase"], ((), ""))
    if any(entry["phase"] == waiting for entry in ledger["phases"]):
        worked = sum(entry["seconds"]["max"] for entry in ledger["overlapped"] if entry["phase"] in together)
        waited += _idle(ledger, waiting)
    hidden = max(0.0, 1.0 - waited / worked)
    how = "fully" if hidden >= HIDDEN else "not" if hidden <= EXPOSED else percent(hidden)
    return [f"“{most['phase']}” moved {rate} beside the computation, {how} hidden"]


def _idle(ledger: dict[str, Any], phase: str) -> float:
    """Seconds of waiting in a phase."""
    idle = (entry for entry in ledger["phases"] if entry["phase"] == phase and entry["category"] == "idle")
    return float(sum(entry["seconds"]["max"] for entry in idle))


def _files(ledger: dict[str, Any], wall: float) -> list[str]:
    """The kind of file that took longest, or that was largest where none took long."""
    files = [file for file in ledger["files"] if file["bytes_per_second"]]
    if not files:
        return []
    slow = [file for file in files if file["seconds"] >= LEAST_FILE_SHARE * wall]
    file = max(slow, key=lambda file: file["seconds"]) if slow else max(files, key=lambda file: file["bytes"])
    verb = {"read": "read", "write": "written"}[file["direction"]]
    were = "were" if file["kind"].endswith("s") else "was"
    rate, share = scaled(file["bytes_per_second"], "B/s"), percent(file["seconds"] / wall)
    return [f"the {file['kind']} {were} {verb} at {rate}, {share} of the time"]
