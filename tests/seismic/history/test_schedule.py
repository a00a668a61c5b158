"""The schedule of saved states and kept snapshots against a search through everything that can be done."""

from __future__ import annotations

import heapq
from itertools import product

import pytest

from fathometer.seismic.history.schedule import Cost, Schedule, Segment


def least_cost(snapshots: int, room: int, state: int, price: float) -> float:
    """Dijkstra over what can be done: be somewhere, hold snapshots and states, have used the last ones."""
    start = (0, frozenset[int](), frozenset[int](), snapshots)  # at, kept, saved, still needed
    best = {start: 0}
    queue = [(0, 0, start)]
    number = 0
    while queue:
        cost, _, here = heapq.heappop(queue)
        at, kept, saved, needed = here
        if needed == 0:
            return cost - (snapshots - 1)  # the first sweep is needed in any case
        if cost > best[here]:
            continue
        steps = []
        used = len(kept) + state * len(saved)
        if needed - 1 in kept:
            steps.append((0, (at, kept - {needed - 1}, saved, needed - 1)))
        elif at == needed - 1 and used + 1 <= room:
            steps.append((0, (at, kept, saved, needed - 1)))  # it passes through the room of one snapshot
        if at not in kept and at < needed and used + 1 <= room:
            steps.append((0, (at, kept | {at}, saved, needed)))
        if at not in saved and at and used + state <= room:
            steps.append((price, (at, kept, saved | {at}, needed)))
        steps += [(0, (at, kept, saved - {one}, needed)) for one in saved]
        steps += [(0, (one, kept, saved, needed)) for one in (*saved, 0)]
        if at + 1 < needed:
            steps.append((1, (at + 1, kept, saved, needed)))
        for more, there in steps:
            if cost + more < best.get(there, 1 << 30):
                best[there] = cost + more
                number += 1
                heapq.heappush(queue, (cost + more, number, there))
    return float("inf")


@pytest.mark.parametrize(("state", "price"), [(0, 0), (0, 1), (1, 0), (1, 2), (2, 0), (3, 0)])
def test_no_schedule_costs_less(state, price):
    for snapshots, room in product(range(1, 8), range(1, 6)):
        found = Schedule(snapshots, room, state, price).cost()
        least = least_cost(snapshots, room, state, price)
        assert found.advances + price * found.saved == least, (snapshots, room, state)


@pytest.mark.parametrize(("snapshots", "room", "state"), [(121, 54, 9), (40, 7, 2), (25, 3, 5), (60, 60, 3), (9, 1, 1)])
def test_every_snapshot_is_there_when_it_is_needed(snapshots, room, state):
    """Follows the sweeps as a store does, within the memory."""
    schedule = Schedule(snapshots, room, state)
    kept: list[int] = []
    saved = {0}
    again = [schedule.first]
    needed, advances, most = snapshots, 0, 0
    while again:
        segment = again.pop()
        passed = schedule.snapshots_of(segment)
        assert segment.first in saved
        assert passed.stop == needed
        sweep = schedule.sweep(segment)
        if not sweep.first_stays and segment.first:
            saved.remove(segment.first)
        saved |= set(sweep.saved)
        kept += sweep.kept
        again += sweep.again
        advances += len(passed) - 1
        most = max(most, len(kept) + state * len(saved - {0}))
        assert most <= room
        while kept and kept[-1] == needed - 1:
            needed = kept.pop()
    assert needed == 0
    assert advances - (snapshots - 1) == schedule.cost().advances
    assert most == schedule.cost().most_room


def test_memory_for_all_keeps_all():
    schedule = Schedule(30, 30, 5)
    assert schedule.cost() == Cost(0, 0, 30, 0, 30)
    assert schedule.sweep(Segment(0, 30, 30)).kept == tuple(range(30))


def test_long_shots_are_scheduled_some_snapshots_at_a_time():
    schedule = Schedule(20_000, 3_000, 7)
    cost = schedule.cost()
    assert cost.most_kept + 7 * cost.most_states <= 3_000
    assert 0 < cost.advances < 2 * 20_000


@pytest.mark.parametrize("numbers", [(0, 1, 1), (1, 0, 1), (1, 1, -1)])
def test_impossible_numbers_are_refused(numbers):
    with pytest.raises(ValueError, match="are needed"):
        Schedule(*numbers)
