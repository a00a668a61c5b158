"""Words of trace headers that nothing here uses, and values that are hardly meant: notes on a file, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.reading import reading
from fathometer.storage.traces.headers import BINARY, TEXT, field_of, swap_pairs
from fathometer.storage.traces.layout import Layout

STATICS = ("source_static", "group_static", "total_static")  # ms
RANGED = (*STATICS, "weighting", "year")
SCALARS = ("coordinate_scalar", "elevation_scalar")
WORDS = (*RANGED, *SCALARS)  # names of headers.FIELDS
POWERS = (0, 1, 10, 100, 1000, 10000)  # scalars of the standard, with either sign
DEEPEST = 12_000.0  # m: farther from the datum lies no source and no receiver
POLARITY = (3257, "i2")  # of the binary header: 1 or 2, what an increase of pressure or an upward movement is
POLARITIES = {1: "a negative number", 2: "a positive number"}


@dataclass
class Doubts:
    """What the headers of a file's traces hold of these words."""

    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)  # of words that are not 0 everywhere
    scalars: dict[str, set[int]] = field(default_factory=dict)
    heights: dict[str, tuple[float, float]] = field(default_factory=dict)  # z of "source" and "receiver", m

    def add(self, head: Mapping[str, NDArray[Any]], z: Mapping[str, NDArray[np.float64]]) -> None:
        """Add traces: their WORDS, (n,) each, and z of their sources and receivers, (n,), m."""
        ends = {name: (int(head[name].min(initial=0)), int(head[name].max(initial=0))) for name in RANGED}
        scalars = {name: set(np.unique(head[name]).astype(int).tolist()) for name in SCALARS}
        self.join(
            Doubts(
                {name: found for name, found in ends.items() if found != (0, 0)},
                {name: {value for value in found if abs(value) not in POWERS} for name, found in scalars.items()},
                {what: (float(values.min()), float(values.max())) for what, values in z.items() if len(values)},
            )
        )

    def join(self, other: Doubts) -> None:
        """Add those of other traces of the file."""
        for name, (low, high) in other.ranges.items():
            mine = self.ranges.get(name, (0, 0))
            self.ranges[name] = min(low, mine[0]), max(high, mine[1])
        for name, values in other.scalars.items():
            self.scalars.setdefault(name, set()).update(values)
        for what, (lowest, highest) in other.heights.items():
            before = self.heights.get(what, (np.inf, -np.inf))
            self.heights[what] = min(lowest, before[0]), max(highest, before[1])

    def notes(self, layout: Layout) -> list[str]:
        """A line on each word that is not used, and on each value that is hardly meant."""
        notes = []
        if statics := {name: ends for name, ends in self.ranges.items() if name in STATICS}:
            named = ", ".join(f"{name.replace('_', ' ')}s {low} to {high} ms" for name, (low, high) in statics.items())
            notes.append(f"the headers hold {named}: they are not applied")
        if "weighting" in self.ranges:
            low, high = self.ranges["weighting"]
            notes.append(f"the headers hold trace weighting factors 2^-N, N from {low} to {high}: they are not applied")
        if "year" in self.ranges:
            notes.append("the headers hold years and times of day of recording: images do not carry them")
        for name, values in self.scalars.items():
            for value in sorted(values):
                done = f"{'divided' if value < 0 else 'multiplied'} by {abs(value)}"
                what = "coordinates" if name.startswith("coordinate") else "depths and elevations"
                notes.append(f"the {name.replace('_', ' ')} is {value}, no power of ten: {what} are {done}")
        for what, (top, bottom) in self.heights.items():
            if max(-top, bottom) > DEEPEST:
                notes.append(
                    f"{what}s lie at z = {top:.8g} to {bottom:.8g} m: are elevations in m, and is the elevation scalar "
                    "right?"
                )
        polarity = polarity_of(layout)
        if polarity in POLARITIES:
            notes.append(
                f"the impulse polarity code is {polarity}: an increase of pressure is {POLARITIES[polarity]}; samples "
                "are taken as they are ([acquisition] conditioning.polarity), and images do not say it"
            )
        return notes


def polarity_of(layout: Layout) -> int:
    """The impulse polarity code of the binary header; 0 where there is none."""
    if not layout.start:
        return 0
    with reading(layout.path), layout.path.open("rb") as file:
        head = file.read(TEXT + BINARY)
    if layout.pairs:
        head = head[:TEXT] + swap_pairs(np.frombuffer(head, np.uint8)[TEXT:]).tobytes()
    return field_of(head, *POLARITY, layout.order)
