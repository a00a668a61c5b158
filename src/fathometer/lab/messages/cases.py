"""What `fathometer messages` can measure: patterns, their protocols, lengths, buffers; and which of them are asked for.

swap       ranks i and i + j send to each other at the same time, all pairs at once; or i sends alone (one way)
pingpong   a message there and back; its seconds are half of both
echo       the same out of and into one buffer, which both ranks write in turns, as NetPIPE has it
halo2d, halo3d   faces of a block to the neighbours in a grid of all ranks
transpose  every rank sends a block to every other one
allreduce, barrier, bcast   of all ranks
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.parallel.collectives import LARGEST_MESSAGE

Buffers = Literal["warm", "cold"]
Direction = Literal["both", "one", "pingpong", "echo", ""]
Timing = Literal["series", "window"]

TWO_SIDED = ("send", "ssend", "bsend", "rsend", "sendrecv", "isend-irecv", "irecv-isend", "persistent")
ONE_SIDED = ("put-fence", "put-pscw", "put-lock", "get-fence", "get-pscw", "get-lock")
SHARED = "shared-window"
PAIR_PROTOCOLS = (*TWO_SIDED, *ONE_SIDED, SHARED)

PROTOCOLS = MappingProxyType(
    {
        "swap": PAIR_PROTOCOLS,
        "pingpong": tuple(name for name in PAIR_PROTOCOLS if name != "irecv-isend"),  # nothing can be posted earlier
        "echo": tuple(name for name in TWO_SIDED if name != "irecv-isend"),
        "halo2d": ("types", "persistent", "packed"),
        "halo3d": ("types", "persistent", "packed"),
        "transpose": ("types", "packed", "pairwise", "alltoall"),
        "allreduce": ("allreduce",),
        "barrier": ("barrier",),
        "bcast": ("bcast",),
    }
)
PATTERNS = tuple(PROTOCOLS)
PAIR_PATTERNS = ("swap", "pingpong", "echo")
COLLECTIVES = ("transpose", "allreduce", "barrier", "bcast")
ALGORITHMS_OF = MappingProxyType(
    {"allreduce": "allreduce", "barrier": "barrier", "bcast": "bcast", "alltoall": "transpose"}
)  # collective call: the pattern that makes it

SHORTEST, LONGEST = 8, LARGEST_MESSAGE  # bytes
USUAL_LONGEST = 16 << 20
ALLREDUCE_LENGTHS = (8,)  # as conjugate gradients have it, where no lengths are named
ITEM = 8  # bytes of a number in halos, blocks and sums
COLD_SLOTS = 64  # places in the buffers, each used once after it was put out of the caches
COLD_BYTES = 1 << 24  # of the messages in them, at most


@dataclass(frozen=True)
class MessageCase:
    """What one row of the results is of.

    Attributes:
        pattern, protocol: of PATTERNS and PROTOCOLS. direction: of pairs.
        length: bytes of a message, a face, a block for one rank, or what is reduced or sent to all.
        packet: bytes sent at most by one call; 0: all at once.
        buffers: whether messages lie in the caches. place: which ranks, as `places.Place` says; "" for all of them.
        timing: of a series without barriers, or in windows of an agreed time. algorithm: of the MPI's; "": its choice.
    """

    pattern: str
    protocol: str
    direction: Direction
    length: int
    packet: int
    buffers: Buffers
    place: str
    timing: Timing = "series"
    algorithm: str = ""

    @property
    def slots(self) -> int:
        """Places in the buffers."""
        if self.buffers == "warm" or self.pattern not in PAIR_PATTERNS:
            return 1 if self.buffers == "warm" else 2
        return max(2, min(COLD_SLOTS, COLD_BYTES // max(1, self.length)))

    @property
    def messages_per_exchange(self) -> int:
        """By which an exchange's seconds are divided."""
        return 1 if self.direction in ("both", "one", "") else 2

    def __str__(self) -> str:
        protocol = "" if self.protocol == self.pattern else f" {self.protocol}"
        parts = [f"{self.pattern}{protocol}", "one way" if self.direction == "one" else "", f"{self.length} B"]
        parts += [f"packets of {self.packet} B" if self.packet else "", "cold" if self.buffers == "cold" else ""]
        parts += [self.place, self.algorithm and f"algorithm {self.algorithm}"]
        parts += ["in windows" if self.timing == "window" else ""]
        return ", ".join(part for part in parts if part)


def usual_lengths() -> tuple[int, ...]:
    """Powers of two from 8 B to 16 MiB."""
    return tuple(SHORTEST << n for n in range((USUAL_LONGEST // SHORTEST).bit_length()))


def lengths_of(text: str) -> tuple[int, ...]:
    """Bytes of a message from texts such as "8,4K,1M" or "8..16M" (powers of two times the first).

    Raises InputError for what is none, is less than 8 B or more than 1 GiB.
    """
    lengths: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        low = one_length(first, text)
        if not dots:
            lengths.append(low)
            continue
        high = one_length(last, text)
        if high < low:
            raise InputError(f"found {part}; allowed: the shorter length first")
        while low <= high:
            lengths.append(low)
            low *= 2
    return tuple(sorted(dict.fromkeys(lengths)))


def one_length(part: str, text: str, least: int = SHORTEST) -> int:
    """One of these lengths, bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number, unit = (part[:-1], units[part[-1].upper()]) if part[-1:].upper() in units else (part, 1)
    value = int(number) * unit if number.isascii() and number.isdecimal() and len(number) <= 10 else -1
    if not least <= value <= LONGEST:
        raise InputError(f"found {part or text}; allowed: bytes from {least} to {LONGEST}, as in 8,4K,1M or 8..16M")
    return value


def packet_of(text: str) -> tuple[int, ...]:
    """Bytes of packets, 0 for messages that are sent at once, with commas between; InputError as `lengths_of`."""
    return tuple(dict.fromkeys(0 if part == "0" else one_length(part, text, 1) for part in text.split(",")))


def patterns_of(text: str) -> tuple[str, ...]:
    """Names of patterns with commas between, or all. Raises InputError for an unknown one."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if "all" in names:
        return PATTERNS
    if unknown := [name for name in names if name not in PATTERNS]:
        allowed = f"{', '.join(PATTERNS)}, with commas between, or all{did_you_mean(unknown[0], PATTERNS)}"
        raise InputError(f"found {unknown[0]}; allowed: {allowed}")
    return names


def protocols_of(text: str) -> tuple[str, ...]:
    """Names of protocols with commas between, or all. Raises InputError for an unknown one."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    known = tuple(dict.fromkeys(name for names in PROTOCOLS.values() for name in names))
    if "all" in names:
        return ()
    if unknown := [name for name in names if name not in known]:
        allowed = f"{', '.join(known)}, with commas between, or all{did_you_mean(unknown[0], known)}"
        raise InputError(f"found {unknown[0]}; allowed: {allowed}")
    return names


def protocols_for(pattern: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Of the protocols that are asked for, none for all, those that a pattern has."""
    return tuple(name for name in PROTOCOLS[pattern] if not asked or name in asked or name == pattern)


def require_used(patterns: Sequence[str], asked: Sequence[str]) -> None:
    """Raises InputError where a protocol that is asked for is none of any of the patterns."""
    for name in asked:
        if not any(name in PROTOCOLS[pattern] for pattern in patterns):
            allowed = dict.fromkeys(known for pattern in patterns for known in PROTOCOLS[pattern])
            raise InputError(
                f"--protocol {name}: not one of --pattern {','.join(patterns)}; allowed: {', '.join(allowed)}"
            )


def memory_of(case: MessageCase, ranks: int) -> int:
    """Bytes that a rank needs for a case."""
    if case.pattern in PAIR_PATTERNS:
        each = (case.length // 64 + 1) * 64 + (4096 if case.slots > 1 else 0)
        copies = min(2 * case.length + (1 << 23), 1 << 31) if case.protocol == "bsend" else 0
        return 2 * each * case.slots + copies
    if case.pattern.startswith("halo"):
        dimensions = 2 if case.pattern == "halo2d" else 3
        side = max(1, round((case.length / ITEM) ** (1 / (dimensions - 1)))) + 2
        return int(2 * ITEM * side**dimensions)  # the neighbour's block is made again when it is checked
    return 4 * case.length * (ranks if case.pattern == "transpose" else 1)
