"""Which ranks exchange messages: pairs (i, i + j) at the same time, by where the two are.

in-node   both on one host          between   on two hosts          mixed   pairs of both kinds at the same time
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean

CLASSES = ("in-node", "between", "mixed")
MANY = "all"

Pair = tuple[int, int]


@dataclass(frozen=True)
class Place:
    """Pairs of ranks that exchange at the same time.

    Attributes:
        kind: of CLASSES. distance: from one rank of a pair to the other. pairs: of them.
    """

    kind: str
    distance: int
    pairs: tuple[Pair, ...]

    @property
    def name(self) -> str:
        """In which these are told from others."""
        count = len(self.pairs)
        return f"{self.kind}, distance {self.distance}, {count} pair{'s' * (count > 1)}"

    def pair_of(self, rank: int) -> int | None:
        """Which of the pairs a rank belongs to; None for a rank that waits."""
        return next((number for number, pair in enumerate(self.pairs) if rank in pair), None)


def pairs_at(distance: int, ranks: int) -> list[Pair]:
    """The pairs (i, i + distance) of so many ranks; no rank is in two of them."""
    return [(i, i + distance) for i in range(ranks - distance) if i // distance % 2 == 0]


def pairs_of_class(kind: str, distance: int, hosts: Sequence[str]) -> list[Pair]:
    """Of these pairs those of a class; hosts: of each rank. Mixed: all, where there are pairs of both kinds."""
    pairs = pairs_at(distance, len(hosts))
    near = [pair for pair in pairs if hosts[pair[0]] == hosts[pair[1]]]
    if kind == "mixed":
        return pairs if 0 < len(near) < len(pairs) else []
    return near if kind == "in-node" else [pair for pair in pairs if pair not in near]


def classes_of(text: str) -> tuple[str, ...]:
    """Names of classes with commas between. Raises InputError for an unknown one."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if unknown := [name for name in names if name not in CLASSES]:
        allowed = f"{', '.join(CLASSES)}, with commas between{did_you_mean(unknown[0], CLASSES)}"
        raise InputError(f"found {unknown[0]}; allowed: {allowed}")
    return names


def numbers_of(text: str) -> tuple[int, ...]:
    """Whole numbers from 1, with commas between; "all" is 0. Raises InputError for others."""
    numbers = []
    for part in text.split(","):
        if part != MANY and not (part.isascii() and part.isdecimal() and len(part) <= 6 and int(part) > 0):
            raise InputError(f"found {part}; allowed: whole numbers from 1, or all, with commas between")
        numbers.append(0 if part == MANY else int(part))
    return tuple(dict.fromkeys(numbers))


def choose_places(
    hosts: Sequence[str], classes: Sequence[str], distances: Sequence[int], counts: Sequence[int]
) -> list[Place]:
    """The places that are asked for.

    Args:
        hosts: of each rank. classes: empty for those that there are. distances: empty for one of each class, that with
            the most pairs, of equal ones the shortest. counts: how many of the pairs exchange at the same time, 0 for
            all; empty for one and all.

    Raises InputError where there is only one rank, no pair of a class or at a distance, or fewer pairs than asked for.
    """
    ranks = len(hosts)
    if ranks < 2:
        raise InputError("--pattern swap, pingpong: found 1 rank; allowed: 2 or more (--ranks 2)")
    if far := [distance for distance in distances if distance >= ranks]:
        raise InputError(f"--distance {far[0]}: allowed: 1 to {ranks - 1}, with {ranks} ranks")
    places: list[Place] = []
    for kind in classes or CLASSES:
        by_distance = {
            distance: pairs
            for distance in (distances or range(1, ranks))
            if (pairs := pairs_of_class(kind, distance, hosts))
        }
        if not by_distance and classes:
            at = f" at --distance {','.join(map(str, distances))}" if distances else ""
            raise InputError(
                f"--class {kind}: found no such pair{at} among {ranks} ranks on {len(set(hosts))} "
                f"host{'s' * (len(set(hosts)) > 1)}; allowed: {', '.join(present(hosts))}"
            )
        if not distances and by_distance:
            best = max(by_distance, key=lambda distance: (len(by_distance[distance]), -distance))
            by_distance = {best: by_distance[best]}
        for distance, pairs in by_distance.items():
            most = max(counts, default=0)
            if classes and most > len(pairs):
                raise InputError(f"--pairs {most}: found {len(pairs)} of the class {kind} at the distance {distance}")
            fewest = 2 if kind == "mixed" else 1  # one pair alone is not mixed
            sizes = {count or len(pairs) for count in (counts or (1, 0)) if count <= len(pairs)}
            places += [Place(kind, distance, tuple(pairs[:size])) for size in sorted(sizes) if size >= fewest]
    most = max((len(place.pairs) for place in places), default=0)
    if not places or max(counts, default=0) > most:
        asked = {"--distance": distances, "--pairs": counts}
        options = " ".join(f"{name} {','.join(map(str, values))}" for name, values in asked.items() if values)
        raise InputError(f"{options}: found no such pairs of {ranks} ranks; allowed: fewer pairs, or more --ranks")
    return places


def present(hosts: Sequence[str]) -> list[str]:
    """The classes of which there are pairs at some distance."""
    return [kind for kind in CLASSES if any(pairs_of_class(kind, distance, hosts) for distance in range(1, len(hosts)))]


def nearest_order(seconds: Sequence[Sequence[float]]) -> list[int]:
    """Ranks in an order in which each is followed by the nearest of those that are left, from rank 0 on.

    seconds: of a message between any two.
    """
    order, left = [0], set(range(1, len(seconds)))
    while left:
        last = order[-1]
        nearest = min(left, key=lambda rank: (seconds[last][rank], rank))
        order.append(nearest)
        left.remove(nearest)
    return order
