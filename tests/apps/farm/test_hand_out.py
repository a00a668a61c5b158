"""What the application master decides: each task once, in its order, with its tries; many at first, few at the end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fathometer.apps.farm.hand_out import DONE, MOST, SET_ASIDE, WAITING, HandOut, TaskGroup, share_of

NOTHING = np.zeros(0, np.uint64)


def tasks_of(*numbers):
    return np.array(numbers, np.uint64)


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(-2, 2)), min_size=1, max_size=4),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=150)
def test_each_task_is_done_once(groups, seed):
    """Whatever fails, comes back or is done before: in the end all are done or set aside, and none was done twice."""
    chance = np.random.default_rng(seed)
    table, first = [], 1
    for place, (count, priority) in enumerate(groups):
        after = [other for other in range(place) if chance.random() < 0.3]
        before = {}
        for task in range(first + 1, first + count):
            if chance.random() < 0.3:
                before[task] = chance.integers(first, task, chance.integers(1, 4)).tolist()
        table.append(TaskGroup(first, count, priority, after=after, before=before, tries=2))
        first += count
    total = first - 1
    known = np.flatnonzero(chance.random(total) < 0.1).astype(np.uint64) + 1
    farm = HandOut(table, known)
    done, out, aside = set(known.tolist()), [], set()
    for _ in range(20 * total + 20):
        taken = farm.take(int(chance.integers(1, 6))).tolist()
        for task in taken:
            assert task not in done
            assert task not in out
            group = next(one for one in table if one.first <= task < one.first + one.count)
            assert set(group.before.get(task, ())) <= done
            for other in group.after:
                assert set(range(table[other].first, table[other].first + table[other].count)) <= done
        out += taken
        while out and chance.random() < 0.6:
            task = out.pop(int(chance.integers(len(out))))
            event = chance.random()
            if event < 0.1:
                if farm.failed(task):
                    aside.add(task)
            elif event < 0.2:
                farm.returned([task])
            else:
                assert farm.done(tasks_of(task)) == 1
                done.add(task)
        assert farm.handed == len(out)
        if not out and not farm.ready:
            break
    assert not out
    assert (farm.count(DONE), farm.count(SET_ASIDE)) == (len(done), len(aside))
    assert farm.count(WAITING) == total - len(done) - len(aside)
    if not aside:
        assert len(done) == total


def test_priorities():
    farm = HandOut([TaskGroup(1, 3, 0), TaskGroup(4, 2, 5), TaskGroup(6, 3, 0, np.array([1, 9, -1]))], NOTHING)
    assert farm.take(4).tolist() == [7, 4, 5, 6]
    farm.returned([5, 6])  # they are before others of less priority again
    assert farm.take(3).tolist() == [5, 6, 1]
    assert farm.take(10).tolist() == [2, 3, 8]


def test_what_is_set_aside_is_not_handed_out():
    farm = HandOut([TaskGroup(1, 3), TaskGroup(4, 1, after=[0])], tasks_of(1), [3])
    assert farm.take(5).tolist() == [2]
    farm.done(tasks_of(2))
    assert (farm.ready, farm.handed, farm.count(WAITING)) == (0, 0, 1)  # the last one waits for what was set aside


def test_a_result_may_be_told_of_twice():
    farm = HandOut([TaskGroup(1, 2)], NOTHING)
    farm.take(2)
    assert farm.done(tasks_of(1)) == 1
    assert farm.done(tasks_of(1, 2)) == 1
    assert farm.handed == 0


@pytest.mark.parametrize(("nodes", "workers", "tasks"), [(1, 2, 1000), (16, 12, 100_000), (3, 1, 7)])
def test_hand_outs_decrease_and_are_few(nodes, workers, tasks):
    farm = HandOut([TaskGroup(1, tasks)], NOTHING)
    sizes = []
    while farm.ready:
        sizes.append(len(farm.take(share_of(farm.ready, workers, nodes * workers))))
    assert sum(sizes) == tasks
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == min(MOST, -(-tasks // (2 * nodes)))
    assert sizes[-1] == 1
    # A hand-out takes 1 / (2 nodes) of what is left, but MOST at most.
    assert len(sizes) <= 2 * nodes * (np.log(tasks) + 1) + tasks / MOST
