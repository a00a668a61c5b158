"""Places of sources and receivers that are hardly meant, and offsets that contradict them: one note each on a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.formatting import number_of
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import FOOT
from fathometer.storage.traces.notches import spread

POINTS = ("source", "receiver")
LEVEL = tuple(f"{what}_{axis}" for what in POINTS for axis in "xy")
NOWHERE = (-(2**31), 2**31 - 1)  # coordinates that stand for none
FAR = 1000.0  # extents of all places, by which one lies apart that is hardly meant
MIDDLE = (5, 95)  # percentiles between which the extent of all is taken
AT_ONCE, MOST = 1 << 8, 1 << 14  # traces that are looked at: of those added at once, and of a file
ROUNDED, SHARE = 2.0, 0.05  # m, and of the distance: by so much offsets may differ from it, as nominal ones do
ON_PLACES = (  # words of the notes, of whatever module, that say why places may be wrong
    *("the coordinate scalar is ", "the elevation scalar is ", "is the elevation scalar right?"),
    *("the unit of coordinates has code ", "coordinates are declared as ", "coordinates may be degrees"),
    *("lengths are in feet by the binary header", "lengths are taken as metres"),
    *("stands for no place", "is that a place?", "contradict the distances of sources and receivers"),
)

Floats = NDArray[np.float64]


@dataclass
class PlaceDoubts:
    """What the headers of a file's live traces hold of places.

    Attributes:
        some: (n, 5) of some traces: x and y of source and receiver, m, and the offset as it stands.
        ends: of each coordinate the least and the largest, m, each with the trace that has it.
        nowhere: of "source_x" … how many traces have a coordinate that stands for none, the first, and that.
    """

    some: Floats = field(default_factory=lambda: np.empty((0, len(LEVEL) + 1)))
    ends: dict[str, tuple[tuple[float, int], tuple[float, int]]] = field(default_factory=dict)
    nowhere: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def add(
        self, head: Mapping[str, NDArray[Any]], places: Mapping[str, Floats], live: NDArray[np.bool_], first: int
    ) -> None:
        """Add traces: their words (n,) each, "source_x" … "receiver_y" (n,) each, m, which of them are live, and the
        number of the first."""
        rows = np.flatnonzero(live)
        if not len(rows):
            return
        chosen = rows[spread(len(rows), AT_ONCE)]
        some = [places[name][chosen] for name in LEVEL] + [head["offset"][chosen]]
        new = PlaceDoubts(np.stack(some, axis=1).astype(np.float64))
        for name in LEVEL:
            own = places[name][rows]
            least, most = int(np.argmin(own)), int(np.argmax(own))
            new.ends[name] = (
                (float(own[least]), first + int(rows[least])),
                (float(own[most]), first + int(rows[most])),
            )
            none = rows[np.isin(head[name][rows], NOWHERE)]
            if len(none):
                new.nowhere[name] = len(none), first + int(none[0]), int(head[name][none[0]])
        self.join(new)

    def join(self, other: PlaceDoubts) -> None:
        """Add those of later traces of the file."""
        self.some = np.concatenate([self.some, other.some])
        if len(self.some) > MOST:
            self.some = self.some[::2]
        for name, (low, high) in other.ends.items():
            mine = self.ends.get(name, (low, high))
            self.ends[name] = min(low, mine[0]), max(high, mine[1], key=lambda end: end[0])
        for name, (count, trace, value) in other.nowhere.items():
            before = self.nowhere.get(name, (0, trace, value))
            self.nowhere[name] = before[0] + count, *before[1:]

    def notes(self, layout: Layout) -> list[str]:
        """A line on places that stand for none, on one far from all others, and on offsets that contradict places."""
        notes = []
        nowhere = {} if layout.additional else self.nowhere  # an extension may hold the place
        for name, (count, trace, value) in nowhere.items():
            what, axis = name.split("_")
            notes.append(
                f"{axis} of the {what} is {value}, which stands for no place, in {number_of(count, 'trace')} (first: "
                f"trace {trace}, from 0): taken as it stands"
            )
        return [*notes, *([] if notes else self._far()), *self._contradicted(layout)]

    def _far(self) -> list[str]:
        """A line on the place that is farthest from all others, if it is far."""
        if not len(self.some):
            return []
        inner = {
            axis: np.percentile(self.some[:, [n for n, name in enumerate(LEVEL) if name.endswith(axis)]], MIDDLE)
            for axis in "xy"
        }
        extent = max(float(np.ptp(ends)) for ends in inner.values())
        apart = [
            (abs(value - float(inner[name[-1]][side])), name, value, trace)
            for name, ends in self.ends.items()
            for side, (value, trace) in enumerate(ends)
        ]
        farthest, name, value, trace = max(apart)
        if not 0 < extent * FAR < farthest:
            return []
        what, axis = name.split("_")
        return [
            f"trace {trace} (from 0) has its {what} at {axis} = {value:.10g} m, {farthest:.4g} m from where nearly all "
            f"others lie, within {extent:.4g} m: is that a place?"
        ]

    def _offsets(self, layout: Layout) -> tuple[Floats, Floats]:
        """Offsets, without sign, and distances (n,) of those looked at, m; none where offsets are missing or one."""
        offsets = np.abs(self.some[:, -1]) * (FOOT if layout.feet else 1.0)
        given = offsets > 0
        if 2 * np.count_nonzero(given) < len(given) or len(np.unique(offsets[given])) < 2:
            given[:] = False
        apart = self.some[given, 2:4] - self.some[given, :2]
        return offsets[given], np.hypot(apart[:, 0], apart[:, 1])

    def confirmed(self, layout: Layout) -> bool:
        """Whether there are offsets, and most of them are the distances."""
        offsets, distances = self._offsets(layout)
        return 2 * int(np.count_nonzero(_differ(offsets, distances))) < len(offsets)

    def _contradicted(self, layout: Layout) -> list[str]:
        """A line on offsets most of which are not the distances."""
        offsets, distances = self._offsets(layout)
        wrong = int(np.count_nonzero(_differ(offsets, distances)))
        if 2 * wrong <= len(offsets):
            return []
        return [
            "offsets of the headers (bytes 37-40) contradict the distances of sources and receivers, which are used: "
            f"medians {np.median(offsets):.6g} and {np.median(distances):.6g} m: are coordinates and their scalar "
            "right?"
        ]


def on_places(notes: Iterable[str]) -> tuple[str, ...]:
    """Those of the notes on files that say why places may be wrong, for whoever refuses the places."""
    return tuple(note for note in notes if any(words in note for words in ON_PLACES))


def _differ(offsets: Floats, distances: Floats) -> NDArray[np.bool_]:
    return np.asarray(np.abs(offsets - distances) > np.maximum(ROUNDED, SHARE * distances))
