"""Which tasks are handed to whom, and when: what the application master decides. No processes, no clock.

A node gets many tasks at first and fewer and fewer towards the end: guided self-scheduling, after Polychronopoulos and
Kuck (1987), here with half of a node's share of what is left. So few messages are needed, and the last tasks are spread
over all nodes.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FACTOR = 2  # a node gets its share of what is left over this
MOST = 4096  # tasks at a time

WAITING, HANDED, DONE, SET_ASIDE = range(4)  # states of a task


@dataclass(frozen=True)
class TaskGroup:
    """Some tasks with consecutive numbers.

    Attributes:
        first: number of the first, from 1. count: of them. priority: of all. priorities: of each, in place of it, or
            empty. after: places of groups in the list that must be done before. before: numbers of tasks that a task
            waits for, by its own. tries: failures after which a task is set aside.
    """

    first: int
    count: int
    priority: int = 0
    priorities: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    after: Sequence[int] = ()
    before: Mapping[int, Sequence[int]] = field(default_factory=dict)
    tries: int = 1


def share_of(ready: int, workers: int, all_workers: int) -> int:
    """How many of the tasks that are ready a node of so many workers gets."""
    return max(1, min(MOST, -(-ready * workers // (FACTOR * max(all_workers, 1)))))


class HandOut:
    """The tasks of a farm and their states.

    Args:
        groups: of all tasks, numbered from 1 without gaps. done: numbers of those that are done. set_aside: of those
            that are not tried again.
    """

    def __init__(self, groups: Sequence[TaskGroup], done: NDArray[np.uint64], set_aside: Sequence[int] = ()) -> None:
        self._groups = groups
        self.total = sum(group.count for group in groups)
        self._state = np.zeros(self.total + 1, np.uint8)
        self._state[done] = DONE
        self._state[list(set_aside)] = SET_ASIDE
        self._state[0] = DONE
        self._failures: dict[int, int] = {}
        self._left = [self._count_left(group) for group in groups]  # of each group, tasks that are not done
        self._waits: dict[int, int] = {}  # of a task, how many of those before it are not done
        self._then: dict[int, list[int]] = {}  # tasks that wait for a task
        for group in groups:
            for task, before in group.before.items():
                missing = [other for other in set(before) if self._state[other] != DONE]
                if missing and self._state[task] == WAITING:
                    self._waits[task] = len(missing)
                    for other in missing:
                        self._then.setdefault(other, []).append(task)
        self._order = np.zeros(0, np.int64)  # ready tasks, the next one last
        self._more: list[tuple[int, int]] = []  # further ready tasks, a heap of (-priority, number)
        self._begun = [False] * len(groups)
        self.handed = 0  # tasks that are with the nodes
        self.ready = 0
        self._begin_groups()

    def _count_left(self, group: TaskGroup) -> int:
        states = self._state[group.first : group.first + group.count]
        return int(np.count_nonzero(states != DONE))

    def _begin_groups(self) -> None:
        """Make ready the tasks of groups for which nothing is missing any more."""
        orders, keys = [self._order], [self._priorities(self._order)]
        for place, group in enumerate(self._groups):
            if self._begun[place] or any(self._left[other] for other in group.after):
                continue
            self._begun[place] = True
            tasks = np.arange(group.first, group.first + group.count)
            tasks = tasks[self._state[tasks] == WAITING]
            if self._waits:
                tasks = tasks[[int(task) not in self._waits for task in tasks]]
            orders.append(tasks)
            keys.append(self._priorities(tasks))
        if len(orders) > 1:
            tasks, priorities = np.concatenate(orders), np.concatenate(keys)
            self._order = tasks[np.lexsort((-tasks, priorities))]
            self.ready = len(self._order) + len(self._more)

    def _priorities(self, tasks: NDArray[np.int64]) -> NDArray[np.int64]:
        found = np.zeros(len(tasks), np.int64)
        for group in self._groups:
            own = (tasks >= group.first) & (tasks < group.first + group.count)
            found[own] = group.priorities[tasks[own] - group.first] if len(group.priorities) else group.priority
        return found

    def _priority(self, task: int) -> int:
        return int(self._priorities(np.array([task]))[0])

    def take(self, count: int) -> NDArray[np.int64]:
        """At most so many of the tasks that are ready, those with the highest priority; they count as handed out."""
        count = min(count, self.ready)
        if not self._more:
            taken = self._order[len(self._order) - count :][::-1].copy()
            self._order = self._order[: len(self._order) - count]
        else:
            one_by_one = []
            for _ in range(count):
                if self._more and (not len(self._order) or self._more[0][0] <= -self._priority(int(self._order[-1]))):
                    one_by_one.append(heapq.heappop(self._more)[1])
                else:
                    one_by_one.append(int(self._order[-1]))
                    self._order = self._order[:-1]
            taken = np.array(one_by_one, np.int64)
        self._state[taken] = HANDED
        self.handed += len(taken)
        self.ready -= len(taken)
        return taken

    def done(self, tasks: NDArray[np.uint64]) -> int:
        """Results of these are on the device. How many were not known to be."""
        new = tasks[self._state[tasks] != DONE].astype(np.int64)
        self.handed -= int(np.count_nonzero(self._state[new] == HANDED))
        self._state[new] = DONE
        ended = False
        for place, group in enumerate(self._groups):
            count = int(np.count_nonzero((new >= group.first) & (new < group.first + group.count)))
            self._left[place] -= count
            ended |= bool(count and not self._left[place])
        if self._then:
            self._release(new.tolist())
        if ended:
            self._begin_groups()
        return len(new)

    def _release(self, tasks: Sequence[int]) -> None:
        for task in tasks:
            for other in self._then.pop(task, ()):
                self._waits[other] -= 1
                if not self._waits[other]:
                    del self._waits[other]
                    if self._begun[self._place(other)]:
                        self._make_ready(other)

    def _place(self, task: int) -> int:
        return next(n for n, group in enumerate(self._groups) if group.first <= task < group.first + group.count)

    def _make_ready(self, task: int) -> None:
        self._state[task] = WAITING
        heapq.heappush(self._more, (-self._priority(task), task))
        self.ready += 1

    def failed(self, task: int) -> bool:
        """A task has failed; whether it is set aside now, else it is tried again."""
        self._failures[task] = self._failures.get(task, 0) + 1
        self.handed -= 1
        if self._failures[task] >= self._groups[self._place(task)].tries:
            self._state[task] = SET_ASIDE
            return True
        self._make_ready(task)
        return False

    def returned(self, tasks: Sequence[int]) -> None:
        """Tasks come back that were not begun, or lost through no fault of theirs."""
        self.handed -= len(tasks)
        for task in tasks:
            self._make_ready(task)

    def count(self, state: int) -> int:
        """Tasks in a state."""
        return int(np.count_nonzero(self._state[1:] == state))

    def numbers(self, state: int, most: int) -> list[int]:
        """The first tasks in a state."""
        found: list[int] = np.flatnonzero(self._state[1:] == state)[:most].tolist()
        return [number + 1 for number in found]

    @property
    def waits(self) -> bool:
        """Whether tasks wait for others that are not done."""
        return bool(self._waits) or not all(self._begun)
