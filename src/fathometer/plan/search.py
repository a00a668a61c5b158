"""Search for the number of nodes and the layout on which a run is fastest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from fathometer.base.errors import InputError

AS_GOOD_AS = 1.02  # times the least time: then the fewer ranks
WORTH_MORE_NODES = 0.8  # of the time on fewer nodes
EVERY_COUNT_UP_TO = 64  # nodes; above, only some numbers of nodes are tried


class Candidate(Protocol):
    """The predicted cost of a run on one layout."""

    @property
    def seconds(self) -> float:
        """Of the whole run."""

    @property
    def ranks_per_node(self) -> int:
        """Ranks that each node runs."""


Layout = TypeVar("Layout", bound=Candidate)


def node_counts(requested: int | None, available: int) -> Iterator[int]:
    """Numbers of nodes to try, ascending: the one requested; else all up to EVERY_COUNT_UP_TO, then small multiples of
    powers of two, and all nodes of the machine.

    Raises InputError for more than are available.
    """
    if requested is not None:
        if requested > available:
            raise InputError(f"--nodes {requested}: the machine has {available}")
        yield requested
        return
    counts = set(range(1, min(available, EVERY_COUNT_UP_TO) + 1)) | {available}
    counts |= {n << k for n in (1, 3, 5, 7) for k in range(available.bit_length()) if n << k <= available}
    yield from sorted(counts)


def best_layout(
    counts: Iterable[int], layouts_on: Callable[[int], Sequence[Layout]], within: float | None = None
) -> tuple[Layout | None, float]:
    """The layout to recommend, and the least seconds of those that were compared (infinite without any).

    Without `within`: the fastest, on more nodes only where these save enough time. With it: the first that takes at
    most so many seconds; if there is none, the fastest.

    Args:
        counts: numbers of nodes, ascending. layouts_on: the layouts on so many nodes that fit the memory.
    """
    best: Layout | None = None
    least = float("inf")
    for nodes in counts:
        layouts = layouts_on(nodes)
        if not layouts:
            continue
        least_here = min(layout.seconds for layout in layouts)
        as_good = (layout for layout in layouts if layout.seconds <= AS_GOOD_AS * least_here)
        fastest = min(as_good, key=lambda layout: layout.ranks_per_node)
        least = min(least, fastest.seconds)
        if within is not None and fastest.seconds <= within:
            return fastest, least
        if best is None or fastest.seconds < WORTH_MORE_NODES * best.seconds:
            best = fastest
    return best, least
