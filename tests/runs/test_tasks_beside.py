"""Contributions that are written beside the next task: when that is waited for, and what ends it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.progress import Progress
from fathometer.parallel.groups import Group
from fathometer.parallel.threads import over_planes
from fathometer.runs import task_loop
from fathometer.runs.contributions import Kept
from fathometer.runs.journal import Journal
from fathometer.runs.journal_folder import write_fingerprint
from fathometer.runs.options import RunKind
from fathometer.runs.run_input import RunInput

COMM = MPI.COMM_SELF


def loop(folder, monkeypatch, work, written):
    """A loop over three tasks with a slow writer; what happened in which order."""
    write_fingerprint(folder, RunInput({}), RunKind())
    journal, events, real = Journal(folder, run="run"), [], task_loop.contribute

    def contribute(journal, group, task, result, seconds, comm):
        assert threading.current_thread() is not threading.main_thread()
        assert comm != COMM
        written.wait(10)
        events.append(("written", task))
        return real(journal, group, task, result, seconds, comm)

    monkeypatch.setattr(task_loop, "contribute", contribute)
    with ThreadPoolExecutor(2) as beside:
        worker = SimpleNamespace(
            beside=beside,
            prepare=lambda task, most: events.append(("prepared", task)),
            expect=lambda task: events.append(("expected", task)),
            work=lambda task, progress, wait: work(task, wait, events),
            close=lambda: events.append(("closed", None)),
            abandon=lambda: events.append(("abandoned", None)),
            figures=lambda: None,
        )
        tasks = SimpleNamespace(numbers=range(3), steps=1, comm=COMM, volumes=None, held=None)
        with Progress(3, now=lambda: 0.0, quiet=True) as progress:
            try:
                task_loop.run_tasks(tasks, worker, journal, Group.of(0, 1, 1), COMM, progress)
            except KeyboardInterrupt:
                events.append(("interrupted", None))
    return events, journal


def test_a_contribution_is_written_beside_the_next_task(tmp_path, monkeypatch):
    written = threading.Event()

    def work(task, wait, events):
        events.append(("begun", task))
        if task == 1:  # nothing is written yet: the task has begun beside it
            assert ("written", 0) not in events
            written.set()
        wait()
        assert all(("written", before) in events for before in range(task))
        return Kept({"a": np.full(3, float(task))})

    events, journal = loop(tmp_path, monkeypatch, work, written)
    assert sorted(journal.done) == [0, 1, 2]
    assert events[0:4] == [("prepared", 0), ("expected", 1), ("begun", 0), ("prepared", 1)]
    assert events.index(("closed", None)) > events.index(("written", 2))


def test_an_interrupt_while_a_contribution_is_written(tmp_path, monkeypatch):
    """The thread comes to its end before anything is given back: its task is done."""
    written = threading.Event()
    awaited = task_loop.ledger.awaited

    def interrupted(work, name=None):
        threading.Timer(0.3, written.set).start()
        raise KeyboardInterrupt

    def work(task, wait, events):
        if task == 1:
            monkeypatch.setattr(task_loop.ledger, "awaited", interrupted)
        wait()
        return Kept({"a": np.full(3, 1.0)})

    events, journal = loop(tmp_path, monkeypatch, work, written)
    monkeypatch.setattr(task_loop.ledger, "awaited", awaited)
    assert sorted(journal.done) == [0]
    assert events[-3:] == [("written", 0), ("abandoned", None), ("interrupted", None)]


def test_kernels_in_threads_over_planes_have_one_each():
    from fathometer import _native

    before = _native.threads()
    try:
        _native.set_threads(3)
        assert set(over_planes(lambda plane: _native.threads(), 8)) == {1}
        assert _native.threads() == 3
    finally:
        _native.set_threads(before)


@pytest.mark.parametrize("planes", [0, 1, 5])
def test_over_planes_in_order(planes):
    assert over_planes(lambda plane: plane, planes) == list(range(planes))
