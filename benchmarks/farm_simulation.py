"""The protocol of a farm's masters on more nodes than there are here, by discrete events.

Each server (the application master; each node's master) does one thing at a time, first come, first served. A node
asks ahead as node_master.py does, and gets as many tasks as hand_out.py says; its workers get batches. Reports of what
is done, for which nothing is handed out, take their part of the application master's time evenly. The writers' time for
results is compared with the tasks' alone: each has a process of its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

from fathometer.apps.farm.hand_out import share_of
from fathometer.apps.farm.node_master import BATCH_SECONDS, MOST_IN_BATCH, REPORT_SECONDS, REPORTS


@dataclass(frozen=True)
class Costs:
    """Seconds: of the application master for a report with its hand-out, and for each task; of a node's master for a
    batch; of a writer for a result; of a message on its way."""

    a_report: float
    a_task: float
    a_batch: float
    a_result: float
    latency: float = 20e-6


class Node:
    """A node's master: its queue, its workers without tasks, and when it is free."""

    def __init__(self, workers: int) -> None:
        self.queue, self.idle, self.free, self.last, self.asked = 0, workers, 0.0, 0, False


def simulated(costs: Costs, nodes: int, workers: int, seconds: float, tasks_each: int, flat: bool) -> dict[str, float]:
    """Tasks a second of a farm, and the share of its time that the application master is at work.

    seconds: of a task. tasks_each: for each worker. flat: the application master hands each worker its next task.
    """
    reports = nodes / max(REPORT_SECONDS, nodes / REPORTS)  # a second, that hand nothing out
    slower = 1.0 / (1.0 - reports * costs.a_report)
    total = left = nodes * workers * tasks_each
    farm = [Node(workers) for _ in range(nodes)]
    events: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
    busy = free = end = 0.0
    count = 0

    def at(time: float, what: Callable[..., None], *of: object) -> None:
        nonlocal count
        count += 1
        heapq.heappush(events, (time, count, what, of))

    def ask(time: float, node: Node) -> None:
        wanted = node.idle if flat else workers
        few = node.idle > 0 and not node.queue if flat else node.queue <= max(workers, node.last // 2)
        if few and not node.asked:
            node.asked = True
            at(time + costs.latency, served, node, wanted)

    def served(time: float, node: Node, wanted: int) -> None:
        """The application master takes a report: it is free some time later."""
        nonlocal left, busy, free
        given = min(left, share_of(left, workers, nodes * workers)) if left else 0
        given = min(given, wanted) if flat else given
        left -= given
        spent = (costs.a_report + given * costs.a_task) * slower
        free = max(free, time) + spent
        busy += spent if given else 0.0
        if given:
            at(free + costs.latency, arrived, node, given)

    def arrived(time: float, node: Node, given: int) -> None:
        node.asked, node.last = False, given
        node.queue += given
        hand_on(time, node)

    def hand_on(time: float, node: Node) -> None:
        nonlocal end
        most = max(1, min(MOST_IN_BATCH, int(BATCH_SECONDS / seconds)))
        while node.idle and node.queue:
            batch = max(1, min(most, node.queue // (2 * workers)))
            node.queue -= batch
            node.idle -= 1
            node.free = max(node.free, time) + costs.a_batch
            done = node.free + batch * max(seconds, costs.a_result * workers)
            end = max(end, done)
            at(done, finished, node)
        ask(max(node.free, time), node)

    def finished(time: float, node: Node) -> None:
        node.idle += 1
        hand_on(time, node)

    for node in farm:
        at(0.0, lambda time, one: ask(time, one), node)
    while events:
        time, _, what, of = heapq.heappop(events)
        what(time, *of)
    return {"rate": total / end, "master": busy / end}
