"""When states of the source wavefield are saved and which snapshots are kept, so that the least is computed again.

A sweep passes snapshots 0 … n - 1; they are needed in reverse order. Memory holds `room` snapshots' worth: a kept
snapshot takes 1 of it, a saved state, from which a sweep can start again, takes `state`. The state of snapshot 0 is
known by itself (the wavefield is at rest) and takes nothing. From the state of snapshot p to snapshot k it is k - p
advances.

Between two saved states a sweep first passes snapshots that it does not keep, then keeps the last ones in front of the
next state; when these have been used, the first ones are swept again. With

    H(n, m)   advances to go back over n snapshots with memory m, from a start whose state is not saved
    A(n, m)   the same where it is, as part of m: over snapshots that were passed and are swept again
    P         the price of saving a state, in advances

    S(n, m) = min over 0 < a < n  of  (a - 1) + A(a, m) + H(n - a, m - state)   pass a; later these a again
    H(n, m) = 0                                      if n <= m                  keep all
            = min(P + S(n, m), H(n - 1, m - 1))      otherwise                  save the start, or keep one
    A(n, m) = 0, = min(S(n, m), H(n - 1, m - 1))                                leave it saved, or drop it

this weighs states, which cost several snapshots, against snapshots, where the binomial schedules of Griewank & Walther
(2000, ACM TOMS 26(1)) hold states only; computing a source wavefield again so is Symes' (2007, Geophysics 72(5)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

MOST_WORK = 3e8  # n x n x m of the tables, about a second; beyond, several snapshots are scheduled as one


@dataclass(frozen=True)
class Segment:
    """Snapshots [first, first + count) to go back over with memory `room`, from the state at `first`."""

    first: int
    count: int
    room: int


@dataclass(frozen=True)
class Sweep:
    """One way forward over a segment.

    Attributes:
        kept: snapshots, ascending. saved: snapshots whose states are saved on the way, the first one's left out.
        first_stays: the segment's own state is needed again.
        again: segments that were passed, in the order of the sweep: to be swept again from the last to the first.
    """

    kept: tuple[int, ...]
    saved: tuple[int, ...]
    first_stays: bool
    again: tuple[Segment, ...]


@dataclass(frozen=True)
class Cost:
    """Advances from one snapshot to the next that are done again, states saved; what is held at a time at most:
    snapshots, states, and both together in snapshots."""

    advances: int
    saved: int
    most_kept: int
    most_states: int
    most_room: int


class Schedule:
    """The best way back over the snapshots of a shot.

    Args:
        snapshots: of a shot. room: memory, in snapshots. state: what a saved state takes of it, 0 if it lies elsewhere.

        price: of saving a state, in advances. most_work: less finds schedules sooner, and worse ones.

    Raises ValueError for no snapshots, no room, less than no state.
    """

    def __init__(self, snapshots: int, room: int, state: int, price: float = 0.0, most_work: float = MOST_WORK) -> None:
        if min(snapshots, room) < 1 or state < 0:
            raise ValueError(f"snapshots {snapshots}, room {room}, state {state}: at least 1, 1 and 0 are needed")
        room = min(room, snapshots)
        grain = 1
        while (-(-snapshots // grain)) ** 2 * (room / grain) > most_work and room // (grain + 1) >= 1:
            grain += 1
        self.snapshots, self.state = snapshots, state
        self._grain, self._state, self._price = grain, -(-state // grain), price / grain
        self._all = Segment(0, -(-snapshots // grain), room // grain)
        self._fill(self._all.count, self._all.room, self._state)

    def _fill(self, n: int, m: int, state: int) -> None:
        """Tables of H and S and of the best a by rising n, for all m at once; and for the start at rest, at m alone."""
        kept = np.full((n + 1, m + 1), np.inf)  # H
        kept[0] = 0.0
        swept = kept.copy()  # A
        again = np.full((n + 1, m + 1), np.inf)  # S
        passed = np.zeros((n + 1, m + 1), np.int32)
        for count in range(1, n + 1):
            if count > 1 and m > state:
                steps = np.arange(count - 1, dtype=float)[:, None]
                costs = steps + swept[1:count, state + 1 :] + kept[count - 1 : 0 : -1, 1 : m + 1 - state]
                best = costs.argmin(axis=0)
                again[count, state + 1 :] = costs[best, np.arange(len(best))]
                passed[count, state + 1 :] = best + 1
            kept[count, 1:] = np.minimum(self._price + again[count, 1:], kept[count - 1, :-1])
            swept[count, 1:] = np.minimum(again[count, 1:], kept[count - 1, :-1])
            kept[count, count:] = swept[count, count:] = 0.0
        at_rest, again_at_rest, passed_at_rest = np.zeros(n + 1), np.full(n + 1, np.inf), np.zeros(n + 1, np.int32)
        for count in range(m + 1, n + 1):
            costs = np.arange(count - 1) + at_rest[1:count] + kept[count - 1 : 0 : -1, m]
            best = int(costs.argmin())
            again_at_rest[count], passed_at_rest[count] = costs[best], best + 1
            at_rest[count] = min(costs[best], kept[count - 1, m - 1])
        self._kept, self._again, self._passed = kept, again, passed
        self._again_at_rest, self._passed_at_rest = again_at_rest, passed_at_rest

    @property
    def first(self) -> Segment:
        """The whole shot."""
        return self._all

    def sweep(self, segment: Segment) -> Sweep:
        """How to go forward over a segment. Its numbers are those of `first`, or of a segment of an earlier sweep."""
        at, left, room = segment.first, segment.count, segment.room
        kept: list[int] = []
        saved: list[int] = []
        again: list[Segment] = []
        while left > room:
            at_rest = at == 0
            cost = self._again_at_rest[left] if at_rest else self._again[left, room]
            price = 0.0 if at == segment.first else self._price  # of what is there already, or known by itself
            if price + cost <= self._kept[left - 1, room - 1]:
                passed = int(self._passed_at_rest[left] if at_rest else self._passed[left, room])
                saved.append(at)
                again.append(Segment(at, passed, room))
                room -= 0 if at_rest else self._state
                at, left = at + passed, left - passed
            else:
                kept.append(at)
                at, left, room = at + 1, left - 1, room - 1
        kept += range(at, at + left)
        first_stays = bool(saved) and saved[0] == segment.first
        on_the_way = tuple(unit * self._grain for unit in saved[first_stays:])
        return Sweep(tuple(self._spread(kept)), on_the_way, first_stays, tuple(again))

    def snapshots_of(self, segment: Segment) -> range:
        """The snapshots of a segment."""
        return range(segment.first * self._grain, min((segment.first + segment.count) * self._grain, self.snapshots))

    def _spread(self, units: list[int]) -> Iterator[int]:
        for unit in units:
            yield from self.snapshots_of(Segment(unit, 1, 0))

    def cost(self) -> Cost:
        """What the whole way back takes beyond its first sweep."""
        advances, saved, most_kept, most_states, most_room = 1 - self.snapshots, 0, 0, 0, 0
        kept: list[int] = []
        open_ = [self.first]
        while open_:
            segment = open_.pop()
            sweep = self.sweep(segment)
            passed = self.snapshots_of(segment)
            advances += len(passed) - 1
            saved += len(sweep.saved)
            kept = [k for k in kept if k < passed.start] + list(sweep.kept)
            open_ += sweep.again
            states = sum(waiting.first > 0 for waiting in open_)
            most_kept, most_states = max(most_kept, len(kept)), max(most_states, states)
            most_room = max(most_room, len(kept) + self.state * states)
        return Cost(advances, saved, most_kept, most_states, most_room)
