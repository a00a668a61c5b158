"""Words of trace headers that nothing here uses, and values that are hardly meant: notes on a file, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.storage.reading import reading
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import BINARY, TEXT, field_of, swap_pairs

POINTS = ("source", "receiver")
PLACES = tuple(f"{what}_{axis}" for what in POINTS for axis in "xyz")
STATICS = ("source_static", "group_static", "total_static")  # ms
RANGED = (*STATICS, "weighting", "year")
SCALARS = ("coordinate_scalar", "elevation_scalar")
WORDS = (*RANGED, *SCALARS)  # names of headers.FIELDS
POWERS = (0, 1, 10, 100, 1000, 10000)  # scalars of the standard, with either sign
DEEPEST = 12_000.0  # m: farther from the datum lies no source and no receiver
POLARITY = (3257, "i2")  # of the binary header: 1 or 2, what an increase of pressure or an upward movement is
SYSTEM = (3255, "i2")  # of the binary header: 1, lengths are in metres, or 2, in feet; 0 where nothing is said
SWAPPED = {256: 1, 512: 2}  # of the other byte order
SHORT = 50e-6  # s: sample intervals below are hardly those of seismic data
DEGREES = {"x": 180.0, "y": 90.0}  # largest magnitudes of longitudes and latitudes
TOGETHER = 1.0  # m: no survey is smaller, and 1 degree is 111 km
POLARITIES = {1: "a negative number", 2: "a positive number"}


@dataclass
class Doubts:
    """What the headers of a file's traces hold of these words."""

    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)  # of words that are not 0 everywhere
    scalars: dict[str, set[int]] = field(default_factory=dict)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)  # "source_x" … "receiver_z", m

    def add(self, head: Mapping[str, NDArray[Any]], places: Mapping[str, NDArray[np.float64]]) -> None:
        """Add traces: their WORDS, (n,) each, and "source_x" … "receiver_z", (n,) each, m."""
        ends = {name: (int(head[name].min(initial=0)), int(head[name].max(initial=0))) for name in RANGED}
        scalars = {name: set(np.unique(head[name]).astype(int).tolist()) for name in SCALARS}
        self.join(
            Doubts(
                {name: found for name, found in ends.items() if found != (0, 0)},
                {name: {value for value in found if abs(value) not in POWERS} for name, found in scalars.items()},
                {name: (float(places[name].min()), float(places[name].max())) for name in PLACES if len(places[name])},
            )
        )

    def join(self, other: Doubts) -> None:
        """Add those of other traces of the file."""
        for name, (low, high) in other.ranges.items():
            mine = self.ranges.get(name, (0, 0))
            self.ranges[name] = min(low, mine[0]), max(high, mine[1])
        for name, values in other.scalars.items():
            self.scalars.setdefault(name, set()).update(values)
        for what, (lowest, highest) in other.spans.items():
            before = self.spans.get(what, (np.inf, -np.inf))
            self.spans[what] = min(lowest, before[0]), max(highest, before[1])

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
        for what in POINTS:
            top, bottom = self.spans.get(f"{what}_z", (0.0, 0.0))
            if max(-top, bottom) > DEEPEST:
                notes.append(
                    f"{what}s lie at z = {top:.8g} to {bottom:.8g} m: are elevations in m, and is the elevation scalar "
                    "right?"
                )
        if self._degrees():
            x, y = (self._span(axis) for axis in "xy")
            notes.append(
                f"all sources and receivers lie within {x[0]:.8g} to {x[1]:.8g} m along x and {y[0]:.8g} to {y[1]:.8g} "
                "m along y: coordinates may be degrees, which are taken as metres; project them to metres"
            )
        polarity = polarity_of(layout)
        if polarity in POLARITIES:
            notes.append(
                f"the impulse polarity code is {polarity}: an increase of pressure is {POLARITIES[polarity]}; samples "
                "are taken as they are ([acquisition] conditioning.polarity), and images do not say it"
            )
        return [*notes, *interval_doubts(layout), *system_doubts(layout)]

    def _span(self, axis: str) -> tuple[float, float]:
        """Least and largest coordinate of sources and receivers."""
        ends = [self.spans[f"{what}_{axis}"] for what in POINTS]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _degrees(self) -> bool:
        """Whether places differ, by less than any survey's, and all could be longitudes and latitudes."""
        if not self.spans:
            return False
        spans = {axis: self._span(axis) for axis in "xy"}
        spread = max(high - low for low, high in spans.values())
        small = all(max(-spans[axis][0], spans[axis][1]) <= most for axis, most in DEGREES.items())
        far = any(max(map(abs, ends)) >= 1 for ends in spans.values())  # not at the origin, as small models are
        return small and far and 0 < spread < TOGETHER


def interval_doubts(layout: Layout) -> list[str]:
    """A line on a sample interval so short that its word may hold milliseconds."""
    if layout.given_interval or not 0 < layout.interval < SHORT:
        return []
    micros = 1e6 * layout.interval
    return [
        f"the sample interval is taken as {micros:.10g} µs, as the headers say: if {micros:.10g} ms are meant, "
        f"[acquisition] sample_interval = {1e-3 * micros:.10g} (--sample-interval of `info` and `survey build`)"
    ]


def system_doubts(layout: Layout) -> list[str]:
    """A line on a code of the unit of lengths that no standard has."""
    code = _binary_word(layout, *SYSTEM)
    if code in (0, 1, 2):
        return []
    meant = f"; with its bytes swapped it is {SWAPPED[code]}" if code in SWAPPED else ""
    return [
        f"the measurement system of the binary header is {code}, neither 1 (metres) nor 2 (feet){meant}: lengths are "
        "taken as metres"
    ]


def polarity_of(layout: Layout) -> int:
    """The impulse polarity code of the binary header; 0 where there is none."""
    return _binary_word(layout, *POLARITY)


def _binary_word(layout: Layout, position: int, dtype: str) -> int:
    """A word of the binary header; 0 where there is none."""
    if not layout.start:
        return 0
    with reading(layout.path), layout.path.open("rb") as file:
        head = file.read(TEXT + BINARY)
    if layout.pairs:
        head = head[:TEXT] + swap_pairs(np.frombuffer(head, np.uint8)[TEXT:]).tobytes()
    return field_of(head, position, dtype, layout.order)
