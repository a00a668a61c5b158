"""The master of a node: asks the application master for tasks before its workers have done theirs, hands them on, and
starts anew what dies.

It runs in the main thread of a rank and sleeps while nothing comes. A worker that ends, whatever the reason, is
replaced; its task counts as failed, the others that it had are handed to others, once the writer has told which of its
results had come. Where the writer or the application master ends, the farm ends.
"""

from __future__ import annotations

import selectors
import socket
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from time import monotonic, process_time
from typing import Any

from fathometer.apps.farm.children import INTERRUPTED, Child, kill_marked
from fathometer.apps.farm.use_of_workers import UseOfWorkers
from fathometer.apps.farm.worker import Task
from fathometer.base.errors import FathometerError

LOOK_SECONDS = 0.5  # between looks whether a signal has come
REPORT_SECONDS = 0.2  # between reports to the application master that nobody waits for, at least
REPORTS = 1000.0  # a second of all nodes, at most
BATCH_SECONDS, MOST_IN_BATCH = 0.05, 64  # of what a worker gets at a time
MOST_DEATHS = 5  # of workers in a row at their start
MOST_SAID = 20  # lines of tasks on standard error, in the record


@dataclass
class Worker:
    """A worker. born: when it was started, s. ready: it has asked for tasks. batch: what it is at."""

    child: Child
    mark: str
    born: float
    ready: bool = False
    batch: Sequence[Task] = ()


@dataclass
class NodeTold:
    """What a node tells of the run, for the record."""

    use: UseOfWorkers
    workers: int
    batches: int = 0
    cpu_seconds: float = 0.0
    lost_workers: int = 0
    torn_bytes: int = 0
    found: int = 0
    said: list[tuple[int, str]] = field(default_factory=list)
    said_count: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    writer_seconds: Mapping[str, float] = field(default_factory=dict)
    writer_peak_bytes: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return vars(self) | {"use": self.use.as_dict()}


class NodeMaster:
    """A node.

    Args:
        number: of the node, its rank. workers, cpus: how many, and on which. flat: the application master hands each of
            them its tasks.
        setup: of the workers, but for what each has of its own. token: in the marks of its processes.
        writer: its process, which has not said anything yet.
        ends: whether the run is to end, asked now and then. nodes: of the farm.

    Raises FathometerError where the farm cannot go on.
    """

    def __init__(
        self,
        number: int,
        workers: int,
        cpus: Sequence[int],
        flat: bool,
        setup: Mapping[str, Any],
        token: str,
        writer: Child,
        ends: Callable[[], bool],
        nodes: int,
    ) -> None:
        self._number, self._count, self._cpus, self._flat = number, workers, cpus, flat
        self._setup, self._token, self._writer, self._ends = setup, token, writer, ends
        self._selector = selectors.DefaultSelector()
        self._link: Connection | None = None
        self._workers: dict[int, Worker] = {}
        self._gone: dict[int, tuple[Worker, str]] = {}  # workers that have ended, until the writer has told of them
        self._closed: dict[int, set[int]] = {}  # workers of which it has told before their end was seen
        self._received = 0  # hand-outs
        self._writes = True  # the writer is there
        self._born = 0
        self._report_seconds = max(REPORT_SECONDS, nodes / REPORTS)
        self._deaths = 0
        self._queue: deque[Task] = deque()
        self._last_hand_out = 0
        self._asked = False
        self._mean = 0.0  # s, of the tasks of late
        self._finished = 0
        self._flushed: list[bytes] = []
        self._failed: list[tuple[int, str]] = []
        self._returned: list[int] = []
        self._reported = monotonic()
        self._ended: str | None = None
        for _ in range(workers):
            self._start()
        _, found, torn = self._from_writer()
        self.found = found
        self.told = NodeTold(UseOfWorkers(monotonic()), workers, torn_bytes=torn, found=len(found) // 8)

    def _from_writer(self) -> tuple[Any, ...]:
        """What the writer says next."""
        try:
            message: tuple[Any, ...] = self._writer.control.recv()
        except (EOFError, OSError):
            raise self._no_writer() from None
        if message[0] == "wrong":
            self._writes = False
            raise FathometerError(message[1])
        return message

    def _no_writer(self) -> FathometerError:
        self._writes = False
        return FathometerError(
            f"the writer of node {self._number} has ended ({self._writer.ended()}); --resume goes on with what is "
            "written"
        )

    def run(self, link: Connection, tell: Callable[[], None], more: Connection | None) -> str:
        """Do tasks until there are none, or a signal comes. Why the farm ends; "": all is done.

        link: with the application master. tell: called where `more` has something to read.
        """
        self._link = link
        link.send(("open", self._number, self._count, self.found))
        self.found = b""
        self._selector.register(link, selectors.EVENT_READ, self._hear)
        self._selector.register(self._writer.control, selectors.EVENT_READ, self._hear_writer)
        if more is not None:
            self._selector.register(more, selectors.EVENT_READ, tell)
        self.told.use = UseOfWorkers(monotonic())
        for worker in self._workers.values():
            worker.born = monotonic()  # what they took before is of the set-up
        begun = process_time()
        try:
            try:
                self._work()
            finally:
                self._stop_workers()
        except FathometerError as error:
            with suppress(OSError):
                link.send(("wrong", str(error)))
            if not self._writes:
                raise
            self._ended = str(error)
        self.told.cpu_seconds = process_time() - begun
        self._close_writer()
        return self._ended or ""

    def _work(self) -> None:
        while self._ended is None:
            self._hand_on()
            self._ask()
            for key, _ in self._selector.select(
                LOOK_SECONDS if self._settled() else min(LOOK_SECONDS, self._report_seconds)
            ):
                key.data()
            if self._ends():
                self._leave()

    def _settled(self) -> bool:
        return not (self._finished or self._flushed or self._failed or self._returned)

    def _start(self) -> None:
        """A new worker, which the writer listens to."""
        number = self._born
        self._born += 1
        born = monotonic()
        ours, theirs = socket.socketpair()
        mark = f"{self._token}-{self._number}-{number}"
        own = {"writer": theirs.fileno(), "worker": number, "node": self._number}
        child = Child("worker", f"worker {number}", {**self._setup, **own}, [theirs.fileno()], self._cpus, mark)
        theirs.close()
        try:
            self._writer.control.send(("worker", number))
            send_handle(self._writer.control, ours.fileno(), self._writer.number)
        except OSError:
            raise self._no_writer() from None
        finally:
            ours.close()
        worker = Worker(child, mark, born)
        self._workers[number] = worker
        self._selector.register(child.control, selectors.EVENT_READ, lambda: self._hear_worker(number))

    def _hear(self) -> None:
        """From the application master."""
        assert self._link is not None, "it is connected"
        try:
            message = self._link.recv()
        except (EOFError, OSError):
            self._selector.unregister(self._link)
            raise FathometerError("the application master has ended; --resume goes on with what is written") from None
        if message[0] == "tasks":
            numbers, begins, ends = (array("q", data) for data in message[1:])
            self._queue.extend(zip(numbers, begins, ends, strict=True))
            self._last_hand_out = len(numbers)
            self._received += 1
            self._asked = False
        elif message[0] == "flush":
            self._to_writer(("flush",))
        else:
            self._ended = message[1]

    def _to_writer(self, message: tuple[Any, ...]) -> None:
        try:
            self._writer.control.send(message)
        except OSError:
            raise self._no_writer() from None

    def _hear_writer(self) -> None:
        message = self._from_writer()
        if message[0] == "flushed":
            self._flushed.append(message[1])
        elif message[0] == "closed":
            self._settle(message[1], set(message[2]))

    def _settle(self, number: int, taken: set[int]) -> None:
        """A worker's socket is closed, and these are the last of its results that came: tasks of which none came are
        done anew; at the first of them it was."""
        gone = self._gone.pop(number, None)
        if gone is None:
            self._closed[number] = taken
            return
        worker, how = gone
        left = [task for task, _, _ in worker.batch if task not in taken]
        self._finished += len(worker.batch) - len(left)
        self.told.use.tasks += len(worker.batch) - len(left)
        if left:
            self._failed.append((left[0], f"its worker has ended ({how})"))
            self._returned += left[1:]

    def _hear_worker(self, number: int) -> None:
        worker = self._workers[number]
        try:
            message = worker.child.control.recv()
        except (EOFError, OSError):
            self._bury(number)
            return
        if not worker.ready:
            worker.ready, self._deaths = True, 0
            return
        done, failed, said, begin, end, for_tasks, for_writer = message
        self.told.batches += 1
        self.told.use.begun(number, worker.born, begin - for_tasks)
        self.told.use.batch(number, done, begin, end, for_tasks, for_writer)
        self._finished += len(done)
        self._failed += failed
        self.told.said_count += len(said)
        self.told.said += said[: MOST_SAID - len(self.told.said)]
        seconds = (end - begin) / max(1, len(worker.batch))
        self._mean = seconds if not self._mean else 0.8 * self._mean + 0.2 * seconds
        worker.batch = ()

    def _bury(self, number: int) -> None:
        """A worker has ended by itself: end what it has left, and start another one."""
        worker = self._workers.pop(number)
        self._selector.unregister(worker.child.control)
        how = worker.child.ended()
        worker.child.control.close()
        kill_marked(worker.mark)
        self.told.lost_workers += 1
        self._deaths += not worker.ready
        if self._deaths >= MOST_DEATHS:
            raise FathometerError(f"node {self._number}: {MOST_DEATHS} workers have ended at their start ({how})")
        self._gone[number] = worker, how
        if number in self._closed:
            self._settle(number, self._closed.pop(number))
        self._start()

    def _hand_on(self) -> None:
        """Give tasks to workers that have none."""
        for worker in self._workers.values():
            if worker.batch or not worker.ready:
                continue
            if not self._queue:
                return
            most = int(BATCH_SECONDS / self._mean) if self._mean else 1
            count = max(1, min(most, MOST_IN_BATCH, len(self._queue) // (2 * self._count)))
            worker.batch = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
            with suppress(OSError):  # its end is heard next
                worker.child.control.send(worker.batch)

    def _ask(self) -> None:
        """Report, and ask for tasks where there are few."""
        idle = sum(worker.ready and not worker.batch for worker in self._workers.values())
        wanted = 0
        if not self._queue and idle and self._flat:
            wanted = idle
        elif not self._flat and len(self._queue) <= max(self._count, self._last_hand_out // 2):
            wanted = self._count
        asks = wanted and not self._asked
        due = monotonic() - self._reported >= self._report_seconds
        if not (asks or self._failed or self._returned or ((self._flushed or self._finished) and (due or idle))):
            return
        report = {
            "wanted": wanted,
            "received": self._received,
            "finished": self._finished,
            "flushed": b"".join(self._flushed),
            "failed": self._failed,
            "returned": self._returned,
        }
        self._asked = bool(wanted)
        self._reported = monotonic()
        self._finished, self._flushed, self._failed, self._returned = 0, [], [], []
        assert self._link is not None, "it is connected"
        with suppress(OSError):  # its end is heard next
            self._link.send(("report", report))

    def _leave(self) -> None:
        """A signal has come: no more tasks, those under way are dropped."""
        assert self._link is not None, "it is connected"
        with suppress(OSError):
            self._link.send(("leaving",))
        self._ended = INTERRUPTED

    def _stop_workers(self) -> None:
        """End all workers, with their tasks."""
        idle = [worker for worker in self._workers.values() if not worker.batch]
        for worker in idle:
            with suppress(OSError):
                worker.child.control.send(None)
        for worker in self._workers.values():
            if worker.batch:
                worker.child.kill()
                kill_marked(worker.mark)
        for worker in idle:
            worker.child.ended()
            worker.child.control.close()
        self._workers = {}

    def end(self) -> None:
        """End what is still there, at once; after an error, or an interrupt."""
        for worker in self._workers.values():
            worker.child.kill()
            kill_marked(worker.mark)
        self._writer.kill()

    def _close_writer(self) -> None:
        """Have the writer write all that it has, and end."""
        self._to_writer(("finish",))
        while True:
            message = self._from_writer()
            if message[0] == "finished":
                self.told.counts, self.told.writer_seconds, self.told.writer_peak_bytes = message[1:]
                self._writer.ended()
                return
            if message[0] == "flushed":
                self._flushed.append(message[1])
