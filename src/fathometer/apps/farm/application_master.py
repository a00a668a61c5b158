"""The application master of a farm: knows all tasks, and hands them to the masters of nodes that ask.

A process of its own, without MPI, which rank 0 starts. It sleeps while nobody asks. Where a master of a node ends
before the farm does, it says so and ends the farm; where rank 0 itself has ended, too.
"""

from __future__ import annotations

import selectors
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from time import monotonic, process_time
from typing import Any

import numpy as np

from fathometer.apps.farm.children import INTERRUPTED, child_control
from fathometer.apps.farm.hand_out import DONE, SET_ASIDE, WAITING, HandOut, share_of
from fathometer.apps.farm.journal import FarmJournal
from fathometer.apps.farm.links import accepted, listener

TELL_SECONDS = 0.25  # between two messages on progress
FLUSH_PAUSE = 0.005  # s between two requests to flush, where tasks wait for others
MOST_TOLD = 10_000  # hand-outs in the record
MOST_FAILED = 100  # failures in it


@dataclass
class Node:
    """A node. workers: of it. wanted: tasks that it asks for; 0: none. sent: hand-outs to it. left: it has said that it
    ends."""

    link: Connection
    number: int = -1
    workers: int = 0
    wanted: int = 0
    sent: int = 0
    left: bool = False


@dataclass
class Told:
    """What the record says of the hand-outs; times are in seconds since the first."""

    hand_outs: list[tuple[float, int, int]] = field(default_factory=list)  # time, node, tasks
    count: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)  # number, reason; the first ones
    failures: int = 0
    tried_again: int = 0
    reports: int = 0  # of nodes
    waiting_for_nodes: float = 0.0  # s asleep


class ApplicationMaster:
    """The process. setup: `groups`, TaskGroups; `places`, begin and end of each group's tasks in its file; `nodes`, how
    many; `key`; `one_host`; `flat`; `set_aside`; `output`, folder of the results; `finished`, tasks of earlier runs."""

    def __init__(self, control: Connection, setup: Mapping[str, Any]) -> None:
        self._control, self._setup = control, setup
        self._socket, places = listener(setup["one_host"])
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._selector.register(control, selectors.EVENT_READ)
        self._nodes: list[Node] = []
        self._opened = 0
        self._done_before: list[np.ndarray] = []
        self._tasks: HandOut | None = None
        self._told = Told()
        self._begin = self._told_at = monotonic()
        self._finished = self._done = 0
        self._flushed_at = 0.0
        self._waits_for_flush = False
        self._ends: str | None = None
        self._journal: FarmJournal | None = None
        control.send(places)

    def run(self) -> None:
        """Until all is done, or cannot go on."""
        while self._ends is None:
            begin = monotonic()
            events = self._selector.select(self._pause())
            self._told.waiting_for_nodes += monotonic() - begin
            for key, _ in events:
                if self._ends is not None:
                    break
                if key.fileobj is self._socket:
                    self._welcome()
                elif key.fileobj is self._control:
                    self._lost("the master of node 0")  # which is rank 0
                else:
                    self._hear(key.data)
            if self._tasks is not None and self._ends is None:
                self._feed()
                self._tell()
        self._end()

    def _pause(self) -> float | None:
        """How long it may sleep, s."""
        if self._tasks is None:
            return None
        return FLUSH_PAUSE if self._waits_for_flush else TELL_SECONDS

    def _welcome(self) -> None:
        link = accepted(self._socket, self._setup["key"])
        if link is not None:
            node = Node(link)
            self._nodes.append(node)
            self._selector.register(link, selectors.EVENT_READ, node)

    def _hear(self, node: Node) -> None:
        try:
            message = node.link.recv()
        except (EOFError, OSError):
            self._selector.unregister(node.link)
            if not node.left:
                self._lost(f"the master of node {node.number}")
            return
        kind = message[0]
        if kind == "open":
            _, node.number, node.workers, done = message
            self._done_before.append(np.frombuffer(done, np.uint64))
            self._opened += 1
            if self._opened == self._setup["nodes"]:
                self._open()
        elif kind == "report":
            self._report(node, message[1])
        elif kind == "wrong":
            self._ends = message[1]
        elif kind == "leaving":
            node.left = True
            if self._ends is None:
                self._ends = INTERRUPTED

    def _open(self) -> None:
        """All nodes have told what is in their files: hand out the rest."""
        setup = self._setup
        found = np.concatenate(self._done_before)
        done = np.unique(found)
        total = sum(group.count for group in setup["groups"])
        if len(done) and (done[0] < 1 or done[-1] > total):
            self._ends = f"{setup['output']}: holds results of task {done[-1]}, but there are {total} tasks"
            return
        self._doubled = len(found) - len(done)
        self._tasks = HandOut(setup["groups"], done, setup["set_aside"])
        self._done = self._before = len(done)
        self._finished = self._before
        self._journal = FarmJournal(setup["output"])
        self._begin = monotonic()
        self._firsts = np.array([group.first for group in setup["groups"]])

    def _report(self, node: Node, told: Mapping[str, Any]) -> None:
        self._told.reports += 1
        if told["received"] == node.sent:  # else it has asked before it had the last ones
            node.wanted = told["wanted"]
        tasks = self._tasks
        if tasks is None:  # not all nodes are there yet
            return
        self._finished += told["finished"]
        self._done += tasks.done(np.frombuffer(told["flushed"], np.uint64))
        tasks.returned(told["returned"])
        for number, reason in told["failed"]:
            self._told.failures += 1
            if len(self._told.failed) < MOST_FAILED:
                self._told.failed.append((number, reason))
            if tasks.failed(number):
                assert self._journal is not None, "it is opened before tasks are handed out"
                try:
                    self._journal.set_aside(number, reason)
                except OSError as error:
                    self._ends = f"{self._journal.path}: cannot be written: {error.strerror}"
            else:
                self._told.tried_again += 1

    def _feed(self) -> None:
        """Hand out what is ready to those who ask; or see that the end has come, or that it waits for a flush."""
        tasks = self._tasks
        assert tasks is not None, "called when they are there"
        self._waits_for_flush = False
        if tasks.ready:
            workers = sum(node.workers for node in self._nodes)
            for node in self._nodes:
                if node.wanted and tasks.ready:
                    count = share_of(tasks.ready, node.workers, workers)
                    self._hand(node, min(node.wanted, count) if self._setup["flat"] else count)
            return
        if not tasks.handed:
            self._ends = ""
            return
        unflushed = self._finished - self._done
        self._waits_for_flush = unflushed >= tasks.handed or (unflushed > 0 and tasks.waits)
        if self._waits_for_flush and monotonic() - self._flushed_at >= FLUSH_PAUSE:
            self._flushed_at = monotonic()
            self._send_all(("flush",))

    def _hand(self, node: Node, count: int) -> None:
        assert self._tasks is not None, "called when they are there"
        taken = self._tasks.take(count)
        node.wanted = 0
        node.sent += 1
        begins, ends = np.zeros(len(taken), np.int64), np.zeros(len(taken), np.int64)
        places = np.searchsorted(self._firsts, taken, side="right") - 1
        for place, (first, last) in enumerate(self._setup["places"]):
            own = places == place
            if len(first) and own.any():
                within = taken[own] - self._firsts[place]
                begins[own], ends[own] = first[within], last[within]
        with suppress(OSError):  # that it has ended is heard next
            node.link.send(("tasks", taken.tobytes(), begins.tobytes(), ends.tobytes()))
        self._told.count += 1
        if len(self._told.hand_outs) < MOST_TOLD:
            self._told.hand_outs.append((monotonic() - self._begin, node.number, len(taken)))

    def _send_all(self, message: tuple[Any, ...]) -> None:
        for node in self._nodes:
            with suppress(OSError):
                node.link.send(message)

    def _tell(self) -> None:
        """Say how far it is, now and then: to rank 0, and in the journal."""
        if monotonic() - self._told_at < TELL_SECONDS:
            return
        self._told_at = monotonic()
        assert self._journal is not None, "it is opened before tasks are handed out"
        with suppress(OSError):  # the writers will say that the disk is full
            self._journal.progress(self._finished, self._done)
        with suppress(OSError):
            self._control.send(("progress", self._finished))

    def _lost(self, who: str) -> None:
        """Somebody without whom there is no farm has ended."""
        if self._ends is not None:
            return
        print(
            f"fathometer: error: {who} has ended; the farm ends, --resume goes on with what is written",
            file=sys.stderr,
            flush=True,
        )
        self._ends = f"{who} has ended"

    def _end(self) -> None:
        assert self._ends is not None, "it has ended"
        self._send_all(("end", self._ends))
        tasks, told = self._tasks, self._told
        if self._journal is not None:
            with suppress(OSError):
                self._journal.progress(self._finished, self._done)
        found: dict[str, Any] = {}
        if tasks is not None:
            found = {
                "tasks": tasks.total,
                "done": tasks.count(DONE),
                "done_before": self._before,
                "doubled": self._doubled,
                "set_aside": tasks.numbers(SET_ASIDE, MOST_FAILED),
                "set_aside_count": tasks.count(SET_ASIDE),
                "not_begun": tasks.count(WAITING),
                "failures": told.failures,
                "tried_again": told.tried_again,
                "failed": told.failed,
                "hand_outs": told.hand_outs,
                "hand_out_count": told.count,
                "seconds": monotonic() - self._begin,
                "reports": told.reports,
                "asleep_seconds": told.waiting_for_nodes,
                "cpu_seconds": process_time(),
            }
        with suppress(OSError):
            self._control.send(("ended", found))
            self._control.recv()  # until rank 0 lets it go


def main() -> None:
    """The process."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        ApplicationMaster(*child_control()).run()


if __name__ == "__main__":
    main()
