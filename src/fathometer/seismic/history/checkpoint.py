"""A history that keeps some snapshots and states, and computes the others again from these, segment by segment."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fathometer.base import ledger
from fathometer.seismic.history.schedule import Schedule, Segment, Sweep
from fathometer.seismic.history.store import Source, StackedHistory
from fathometer.seismic.waves.propagator import State
from fathometer.storage.scratch.slots import Slots


class States(Protocol):
    """Saved states of the source wavefield by their snapshots' numbers; the last one saved is dropped first."""

    def put(self, number: int, source: Source) -> None: ...

    def get(self, number: int) -> State: ...

    def drop(self, number: int) -> None: ...

    def clear(self) -> None: ...

    def close(self) -> None: ...


class MemoryStates:
    """States in memory: from the end of `room` towards its beginning, where snapshots are kept; or in memory of their
    own."""

    def __init__(self, state_bytes: int, room: np.ndarray | None) -> None:
        self._states: dict[int, State] = {}
        self._bytes, self._room = state_bytes, room

    def put(self, number: int, source: Source) -> None:
        place = None
        if self._room is not None:
            end = len(self._room) - len(self._states) * self._bytes
            place = self._room[end - self._bytes : end]
        self._states[number] = source.save(place)

    def get(self, number: int) -> State:
        return self._states[number]

    def drop(self, number: int) -> None:
        del self._states[number]

    def clear(self) -> None:
        self._states.clear()

    def close(self) -> None:
        self.clear()
        self._room = None


class DiskStates:
    """States in an anonymous scratch file in `folder`. Raises FathometerError where it cannot be written or read."""

    def __init__(self, folder: Path, state_bytes: int, most: int) -> None:
        self._slots = Slots(folder, state_bytes, most, "history")
        self._known: dict[int, tuple[int, State]] = {}  # its slot, and the state less its cells

    def put(self, number: int, source: Source) -> None:
        state = source.save()
        slot = self._slots.put(state.arrays)
        self._known[number] = slot, State(state.step, state.level, [])

    def get(self, number: int) -> State:
        slot, known = self._known[number]
        return State(known.step, known.level, self._slots.get(slot))

    def drop(self, number: int) -> None:
        slot, _ = self._known.pop(number)
        self._slots.drop(slot)

    def clear(self) -> None:
        for number in list(self._known):
            self.drop(number)

    def close(self) -> None:
        self._slots.close()


class CheckpointHistory:
    """Snapshots that a schedule (schedule.py) keeps or has computed again.

    Args:
        stored: where and how snapshots are kept. schedule: the same on all ranks.
    """

    def __init__(self, stored: StackedHistory, schedule: Schedule, states: States) -> None:
        self._stored, self._schedule, self._states = stored, schedule, states
        self.snapshot_bytes = stored.snapshot_bytes
        self._again: list[Segment] = []
        self._numbers: list[int] = []  # of the snapshots that are kept now, ascending
        self._advances = 0

    def begin(self, source: Source) -> None:
        self._source = source
        self._stored.begin(source)
        self._states.clear()
        self._numbers.clear()
        self._again = [self._schedule.first]
        self._needed = self._schedule.snapshots - 1
        self._start(self._again.pop())

    def rooms(self, most: int) -> list[np.ndarray | None]:
        """As far as the next state that is saved, and as many as the store gives."""
        numbers = range(self._next, self._next + most)
        end = next((number + 1 for number in numbers if number in self._sweep.saved), numbers.stop)
        wanted = [number for number in numbers if number < end and number in self._wanted]
        places = self._stored.rooms(len(wanted)) if wanted else []
        if len(places) < len(wanted):
            end = wanted[len(places)]
        given = dict(zip(wanted, places, strict=False))
        return [given.get(number) for number in range(self._next, end)]

    def push(self, count: int) -> None:
        for _ in range(count):
            if self._next in self._wanted:
                self._stored.push(1)
                self._numbers.append(self._next)
            if self._next in self._sweep.saved:
                with ledger.phase("save state"):
                    self._states.put(self._next, self._source)
            self._next += 1

    def pop(self, most: int) -> list[np.ndarray]:
        if not self._numbers or self._numbers[-1] != self._needed:
            self._compute_again(self._again.pop())
        there = 1  # kept ones that follow each other
        while there < min(most + 1, len(self._numbers)) and self._numbers[-there - 1] == self._needed - there:
            there += 1
        snapshots = self._stored.pop(min(most, there), ahead=there > 1)
        del self._numbers[-len(snapshots) :]
        self._needed -= len(snapshots)
        return snapshots

    def rewind(self) -> bool:
        return False

    def close(self) -> None:
        self._stored.close()
        self._states.close()

    def statistics(self) -> dict[str, Any]:
        """As of StackedHistory, and how many advances from snapshot to snapshot were done again."""
        return self._stored.statistics() | {"recomputed_imaging_steps": self._advances}

    def _start(self, segment: Segment) -> None:
        self._sweep: Sweep = self._schedule.sweep(segment)
        self._wanted = frozenset(self._sweep.kept)
        self._again += self._sweep.again
        self._next = self._schedule.snapshots_of(segment).start

    def _compute_again(self, segment: Segment) -> None:
        numbers = self._schedule.snapshots_of(segment)
        with ledger.phase("restore state"):
            self._source.restore(self._states.get(numbers.start) if numbers.start else None)
        self._start(segment)
        if numbers.start and not self._sweep.first_stays:
            self._states.drop(numbers.start)
        [room] = self.rooms(1)
        with ledger.phase("source recomputation"):
            if room is not None:
                self._source.read(room)
        self.push(1)
        while left := numbers.stop - self._next:
            rooms = self.rooms(min(left, self._source.together))
            with ledger.phase("source recomputation"):
                self._source.advance(rooms)
            self._advances += len(rooms)
            self.push(len(rooms))
