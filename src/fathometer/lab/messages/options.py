"""Options of `fathometer messages`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fathometer.base.option_types import choices_of, count, duration, read_by, whole_number
from fathometer.base.options import option, recorded

if TYPE_CHECKING:
    from fathometer.lab.messages.algorithms import Algorithm
    from fathometer.lab.messages.cases import Buffers, Direction, Timing

_CASES, _PLACES = "fathometer.lab.messages.cases", "fathometer.lab.messages.places"


@dataclass(frozen=True)
class MessageOptions:
    """What to measure. Empty: as cases.py and places.py say. lengths, packets: bytes. budget: seconds."""

    patterns: tuple[str, ...] = option(
        "swap, pingpong, echo, halo2d, halo3d, transpose, allreduce, barrier, bcast (swap,pingpong)",
        "--pattern",
        type=read_by(_CASES, "patterns_of"),
        default=("swap", "pingpong"),
        metavar="P,P...|all",
    )
    protocols: tuple[str, ...] = option(
        "send, ssend, bsend, rsend, sendrecv, isend-irecv, irecv-isend, persistent, put- and get- with fence, "
        "pscw or lock, shared-window; of halos and transposes: types, packed ... (all)",
        "--protocol",
        type=read_by(_CASES, "protocols_of"),
        default=(),
        metavar="P,P...|all",
    )
    directions: tuple[Direction, ...] = option(
        "of a swap: both ways at the same time, or one way (both)",
        "--direction",
        type=choices_of("both", "one"),
        default=("both",),
        metavar="both,one",
    )
    lengths: tuple[int, ...] = option(
        "bytes, as in 8,4K,1M or 8..16M: powers of two (8..16M; allreduce: 8)",
        "--length",
        type=read_by(_CASES, "lengths_of"),
        default=(),
        metavar="N,N..N",
        recorded="lengths_bytes",
    )
    packets: tuple[int, ...] = option(
        "bytes that a pair sends at most in one call; 0: all at once (0)",
        "--packet",
        type=read_by(_CASES, "packet_of"),
        default=(0,),
        metavar="N,N...",
        recorded="packets_bytes",
    )
    buffers: tuple[Buffers, ...] = option(
        "messages in the caches, or put out of them before (warm)",
        type=choices_of("warm", "cold"),
        default=("warm",),
        metavar="warm,cold",
    )
    classes: tuple[str, ...] = option(
        "pairs in-node, between nodes, mixed (those that there are)",
        "--class",
        type=read_by(_PLACES, "classes_of"),
        default=(),
        metavar="C,C...",
    )
    distances: tuple[int, ...] = option(
        "ranks i and i + J exchange (of each class the one with the most pairs)",
        "--distance",
        type=read_by(_PLACES, "numbers_of"),
        default=(),
        metavar="J,J...",
    )
    pairs: tuple[int, ...] = option(
        "that exchange at the same time (1,all)",
        type=read_by(_PLACES, "numbers_of"),
        default=(),
        metavar="N,N...|all",
    )
    timings: tuple[Timing, ...] = option(
        "of collective calls: one after the other, or from agreed times on (series)",
        "--timing",
        type=choices_of("series", "window"),
        default=("series",),
        metavar="series,window",
    )
    algorithms: tuple[Algorithm, ...] = option(
        "of Open MPI's allreduce, barrier, bcast or alltoall, beside its own choice; any number of times",
        "--algorithm",
        type=read_by("fathometer.lab.messages.algorithms", "algorithms_of"),
        action="extend",
        default=(),
        metavar="CALL=A,A...|all",
    )
    order: str = option(
        "number the ranks as launched, or each beside its nearest (rank)",
        default="rank",
        choices=("rank", "distance"),
    )
    thread_level: str = option(
        "thread support that MPI is started with: with multiple it takes locks in every call (single)",
        default="single",
        recorded=None,
        choices=("single", "funneled", "serialized", "multiple"),
    )
    repeat: int = option("rounds (20)", type=count, default=20, metavar="N")
    budget: float = option(
        "of the whole command (180s)", type=duration, default=180.0, metavar="TIME", recorded="budget_seconds"
    )
    seed: int = option("of contents and order (1)", type=whole_number, default=1, metavar="N")

    def as_dict(self) -> dict[str, Any]:
        """For a record, whose results have the thread support that MPI gave."""
        return recorded(self) | {"algorithms": [f"{call}={name}" for call, name in self.algorithms]}
