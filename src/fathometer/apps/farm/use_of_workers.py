"""What a node's workers did with their time: as bins over the run, and by reason."""

from __future__ import annotations

import heapq
from typing import Any

BINS = 240
LONGEST = 20  # tasks that the record names


class UseOfWorkers:
    """The account of a node's workers. begin: of the run, s, on the clock of all processes of a host."""

    def __init__(self, begin: float) -> None:
        self._begin, self._width = begin, 0.05
        self._bins = [0.0] * BINS
        self.busy = self.starting = self.waited_for_tasks = self.waited_for_writer = self.cpu = 0.0
        self.tasks = 0
        self._squares = 0.0
        self._longest: list[tuple[float, int]] = []
        self.last_end: dict[int, float] = {}  # of each worker
        self.last_begin = 0.0

    def begun(self, worker: int, born: float, ready: float) -> None:
        """A worker that was born at one time has first asked for tasks at another."""
        if worker not in self.last_end:
            self.starting += max(0.0, ready - born)

    def batch(
        self,
        worker: int,
        done: list[tuple[int, float, float]],
        begin: float,
        end: float,
        waited_for_tasks: float,
        waited_for_writer: float,
    ) -> None:
        """A batch that a worker has done: of each task number, seconds and seconds of cpus."""
        busy = end - begin - waited_for_writer
        self.busy += busy
        self.waited_for_tasks += min(waited_for_tasks, begin - self._begin)  # some wait before the run begins
        self.waited_for_writer += waited_for_writer
        self.tasks += len(done)
        for number, seconds, cpu in done:
            self.cpu += cpu
            self._squares += seconds * seconds
            if len(self._longest) < LONGEST:
                heapq.heappush(self._longest, (seconds, number))
            elif seconds > self._longest[0][0]:
                heapq.heapreplace(self._longest, (seconds, number))
        self.last_end[worker] = end - self._begin
        if done:
            self.last_begin = max(self.last_begin, end - self._begin - done[-1][1])
        self._fill(begin - self._begin, end - self._begin, busy)

    def _fill(self, begin: float, end: float, busy: float) -> None:
        while end >= self._width * BINS:
            self._bins = [a + b for a, b in zip(self._bins[::2], self._bins[1::2], strict=True)] + [0.0] * (BINS // 2)
            self._width *= 2
        share = busy / (end - begin) if end > begin else 0.0
        first, last = int(begin / self._width), int(end / self._width)
        for place in range(first, last + 1):
            low, high = max(begin, place * self._width), min(end, (place + 1) * self._width)
            self._bins[place] += max(0.0, high - low) * share

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; times in seconds since the beginning of the run."""
        count = int(max(self.last_end.values(), default=0.0) / self._width) + 1
        return {
            "bin_seconds": self._width,
            "busy_seconds_of_bins": [round(value, 6) for value in self._bins[:count]],
            "busy_seconds": self.busy,
            "starting_seconds": self.starting,
            "waited_for_tasks_seconds": self.waited_for_tasks,
            "waited_for_writer_seconds": self.waited_for_writer,
            "cpu_seconds": self.cpu,
            "tasks": self.tasks,
            "squared_seconds": self._squares,
            "longest": [[number, seconds] for seconds, number in sorted(self._longest, reverse=True)],
            "last_end_seconds": self.last_end,
            "last_begin_seconds": self.last_begin,
        }
