"""Words of trace headers that nothing here uses, and values that are hardly meant: notes on a file, each once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.formatting import number_of
from fathometer.storage.reading import reading
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import BINARY, TEXT, field_of, swap_pairs
from fathometer.storage.traces.place_doubts import POINTS, PlaceDoubts

PLACES = tuple(f"{what}_{axis}" for what in POINTS for axis in "xyz")
STATICS = ("source_static", "group_static", "total_static")  # ms
DATUMS = ("source_datum", "receiver_datum")
OF_ALL = (*STATICS, "weighting", "year")
OF_LIVE = ("lag_a", "lag_b", "mute_end", *DATUMS, "correlated", "sweep")
RANGED = (*OF_ALL, *OF_LIVE)
SCALARS = ("coordinate_scalar", "elevation_scalar", "time_scalar")
# Names of headers.FIELDS.
OF_SAMPLES = {  # words that scale samples or name their unit: since which revision, and what is said where they differ
    "gain": (0, "instrument gains differ between traces, {} to {} dB (bytes 121-122): they are not applied"),
    "early_gain": (
        0,
        "instrument initial gains differ between traces, {} to {} dB (bytes 123-124): they are not applied",
    ),
    "unit": (
        1,
        "units of samples differ between traces, codes {} to {} (bytes 203-204): samples are taken as they are",
    ),
    "transduction": (1, "transduction constants differ between traces, {} to {} (bytes 205-210): they are not applied"),
    "constant_unit": (
        1,
        "transduction units differ between traces, codes {} to {} (bytes 211-212): samples are taken as they are",
    ),
}
CONSTANT = ("constant", "constant_power")  # of which "transduction" is made, mantissa and power of ten
WORDS = (
    *(*RANGED, *SCALARS, *(name for name in OF_SAMPLES if name != "transduction"), *CONSTANT),
    *("data_use", "delay", "offset", "source_elevation", "receiver_elevation", "coordinate_units"),
)
UNITS = (0, 1, 2, 3, 4)  # codes of the coordinates' units
MOST_POWER = 290  # of ten: with any mantissa of four bytes a float64 has it
ROUNDED = 1e-9  # of transduction constants: as near ones are the same, with another mantissa
POWERS = (0, 1, 10, 100, 1000, 10000)  # scalars of the standard, with either sign
DEEPEST = 12_000.0  # m: farther from the datum lies no source and no receiver
POLARITY = (3257, "i2")  # of the binary header: 1 or 2, what an increase of pressure or an upward movement is
CORRELATED, SWEEP = (3249, "i2"), (3237, "i2")  # of the binary header: 1 no, 2 yes; length of the sweep, ms
SYSTEM = (3255, "i2")  # of the binary header: 1, lengths are in metres, or 2, in feet; 0 where nothing is said
SWAPPED = {256: 1, 512: 2}  # of the other byte order
SHORT = 50e-6  # s: sample intervals below are hardly those of seismic data
DEGREES = {"x": 180.0, "y": 90.0}  # largest magnitudes of longitudes and latitudes
TOGETHER = 1.0  # m: no survey is smaller, and 1 degree is 111 km
WIDEST = 10.0  # degrees: hardly a survey is larger
MOST_NAMED = 3  # scalars
TEST = 2  # data use
NO_DELAY = -32768  # ms
SHORT_MUTE = 100  # ms: shorter ones are of recorders that begin, not of a choice
SCALED = {
    "coordinate_scalar": "coordinates",
    "elevation_scalar": "depths and elevations",
    "time_scalar": "delays",
}
POLARITIES = {1: "a negative number", 2: "a positive number"}


@dataclass
class Doubts:
    """What the headers of a file's traces hold of these words."""

    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)  # of words that are not 0 everywhere
    scalars: dict[str, set[int]] = field(default_factory=dict)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)  # "source_x" … "receiver_z", m
    of_samples: dict[str, tuple[float, float]] = field(default_factory=dict)  # least and largest
    marked: Counter[str] = field(default_factory=Counter)  # how many traces are for tests, or have no delay
    units: set[int] = field(default_factory=set)  # codes of coordinates' units that no standard has
    places: PlaceDoubts = field(default_factory=PlaceDoubts)

    def add(
        self,
        head: Mapping[str, NDArray[Any]],
        places: Mapping[str, NDArray[np.float64]],
        live: NDArray[np.bool_],
        first: int,
    ) -> None:
        """Add traces: their WORDS and coordinates, (n,) each, "source_x" … "receiver_z", (n,) each, m, which of them
        are live, and the number of the first."""
        self.places.add(head, places, live, first)
        words = {name: head[name] for name in OF_ALL} | {name: np.where(live, head[name], 0) for name in OF_LIVE}
        lag = head["delay"] + words["lag_a"] + words["lag_b"] != 0  # a delay may make a lag good
        for name in ("lag_a", "lag_b"):
            words[name] = np.where(lag, words[name], 0)
        for name in DATUMS:
            words[name] = np.where(words[name] != head[name.replace("datum", "elevation")], words[name], 0)
        ends = {name: (int(values.min(initial=0)), int(values.max(initial=0))) for name, values in words.items()}
        scaling = {name: head[name] for name in SCALARS} | {
            "time_scalar": np.where(live & (head["delay"] != 0), head["time_scalar"], 0)
        }
        scalars = {name: set(np.unique(values).astype(int).tolist()) for name, values in scaling.items()}
        scaling_samples = {
            name: (transduction(head) if name == "transduction" else head[name])[live] for name in OF_SAMPLES
        }
        units = np.unique(head["coordinate_units"][live]).astype(int).tolist()
        self.join(
            Doubts(
                {name: found for name, found in ends.items() if found != (0, 0)},
                scalars,
                {name: (float(places[name].min()), float(places[name].max())) for name in PLACES if len(places[name])},
                {name: (values.min(), values.max()) for name, values in scaling_samples.items() if len(values)},
                Counter(
                    test=int(np.count_nonzero(live & (head["data_use"] == TEST))),
                    delay=int(np.count_nonzero(live & (head["delay"] == NO_DELAY))),
                ),
                {code for code in units if code not in UNITS},
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
        for name, (least, most) in other.of_samples.items():
            own = self.of_samples.get(name, (least, most))
            self.of_samples[name] = min(least, own[0]), max(most, own[1])
        self.marked.update(other.marked)
        self.units |= other.units
        self.places.join(other.places)

    def notes(self, layout: Layout) -> list[str]:
        """A line on each word that is not used, and on each value that is hardly meant."""
        notes = []
        if statics := {name: ends for name, ends in self.ranges.items() if name in STATICS}:
            named = ", ".join(f"{name.replace('_', ' ')}s {low} to {high} ms" for name, (low, high) in statics.items())
            notes.append(f"the headers hold {named}: they are not applied")
        if "weighting" in self.ranges:
            notes += weighting_doubts(np.array(self.ranges["weighting"]))
        if "year" in self.ranges:
            notes.append("the headers hold years and times of day of recording: images do not carry them")
        notes += self._notes_on_times() + self._notes_on_records(layout)
        for name, values in self.scalars.items():
            if name == "time_scalar" and layout.revision < 1:  # it has no such word
                continue
            for value in sorted(value for value in values if abs(value) not in POWERS):
                done = f"{'divided' if value < 0 else 'multiplied'} by {abs(value)}"
                notes.append(f"the {name.replace('_', ' ')} is {value}, no power of ten: {SCALED[name]} are {done}")
        if self.units and any(any(ends) for name, ends in self.spans.items() if not name.endswith("z")):
            codes = ", ".join(map(str, sorted(self.units)))
            notes.append(
                f"the unit of coordinates has code {codes} (bytes 89-90), which no standard has: taken as lengths"
            )
        for what in POINTS:
            top, bottom = self.spans.get(f"{what}_z", (0.0, 0.0))
            if max(-top, bottom) > DEEPEST:
                scalars = ", ".join(map(str, sorted(self.scalars["elevation_scalar"])[:MOST_NAMED]))
                notes.append(
                    f"{what}s lie at z = {top:.8g} to {bottom:.8g} m with elevation scalar {scalars} (bytes 69-70): "
                    "are elevations in m, and is the elevation scalar right?"
                )
        if self._degrees(layout):
            x, y = (self._span(axis) for axis in "xy")
            notes.append(
                f"all sources and receivers lie within {x[0]:.8g} to {x[1]:.8g} m along x and {y[0]:.8g} to {y[1]:.8g} "
                "m along y: coordinates may be degrees, which are taken as metres; project them to metres"
            )
        notes += self.places.notes(layout)
        polarity = polarity_of(layout)
        if polarity in POLARITIES:
            notes.append(
                f"the impulse polarity code is {polarity}: an increase of pressure is {POLARITIES[polarity]}; samples "
                "are taken as they are ([acquisition] conditioning.polarity), and images do not say it"
            )
        return [*notes, *interval_doubts(layout), *system_doubts(layout), *_trailers(layout)]

    def _notes_on_times(self) -> list[str]:
        """A line on each word that shifts or cuts traces."""
        notes = []
        if lags := {name: ends for name, ends in self.ranges.items() if name.startswith("lag_")}:
            named = ", ".join(f"{name[-1].upper()} {low} to {high} ms" for name, (low, high) in lags.items())
            notes.append(f"the headers hold lag times {named} (bytes 105-108): they are not applied")
        if datums := {name: self.ranges[name] for name in DATUMS if name in self.ranges}:
            named = ", ".join(f"of {name.split('_')[0]}s {low} to {high}" for name, (low, high) in datums.items())
            notes.append(
                f"the headers hold datum elevations {named} (bytes 53-60, without their scalar), other than the "
                "elevations: traces are not shifted, and lie at the elevations"
            )
        if (high := self.ranges.get("mute_end", (0, 0))[1]) > SHORT_MUTE:
            notes.append(f"the headers hold mute times up to {high} ms (bytes 113-114): they are not applied")
        if count := self.marked["delay"]:
            notes.append(
                f"the delay of {number_of(count, 'trace')} is {NO_DELAY} ms (bytes 109-110), which hardly is one: it "
                "is taken as it stands"
            )
        return notes

    def _notes_on_records(self, layout: Layout) -> list[str]:
        """A line on each word that says how traces were recorded, where that matters."""
        notes = []
        revision = 0 if layout.kind == "SU" else layout.revision  # SU has other words there
        for name, (since, words) in OF_SAMPLES.items():
            low, high = self.of_samples.get(name, (0, 0))
            if since <= revision and not math.isclose(low, high, rel_tol=ROUNDED):
                notes.append(words.format(f"{low:.10g}", f"{high:.10g}"))
        if count := self.marked["test"]:
            notes.append(f"{number_of(count, 'trace')} are marked as tests (data use 2, bytes 35-36): used like others")
        of_traces = self.ranges.get("correlated", (0, 0))[1]
        codes = {of_traces, _binary_word(layout, *CORRELATED)}
        sweep = max(self.ranges.get("sweep", (0, 0))[1], _binary_word(layout, *SWEEP))
        if of_traces == 2 or (2 in codes and sweep > 0):  # without a sweep the binary header's word means little
            notes.append(
                "the headers say that traces are correlated with a sweep (bytes 125-126): their wavelet is that of the "
                "correlation, and [wavelet] has to be it"
            )
        elif 1 in codes and sweep > 0:
            notes.append(
                f"the headers say that traces are not correlated with their sweep of {sweep} ms: they are taken as "
                "they are; correlate them before"
            )
        return notes

    def _span(self, axis: str) -> tuple[float, float]:
        """Least and largest coordinate of sources and receivers."""
        ends = [self.spans[f"{what}_{axis}"] for what in POINTS]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def _degrees(self, layout: Layout) -> bool:
        """Whether all places could be longitudes and latitudes, and hardly be metres: they differ by less than any
        survey's; or by a little more, but as seen from the origin by less than they lie from both axes, and no offsets
        confirm them."""
        if not self.spans:
            return False
        spans = {axis: self._span(axis) for axis in "xy"}
        spread = max(high - low for low, high in spans.values())
        if not all(max(-spans[axis][0], spans[axis][1]) <= most for axis, most in DEGREES.items()) or not spread > 0:
            return False
        if spread < TOGETHER:  # not at the origin, as small models are
            return any(max(map(abs, ends)) >= 1 for ends in spans.values())
        aside = all(low > spread or high < -spread for low, high in spans.values())
        return spread < WIDEST and aside and not self.places.confirmed(layout)


def transduction(head: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Transduction constants (n,) of traces, by which samples are to be multiplied."""
    mantissa, power = (head[name].astype(np.float64) for name in CONSTANT)
    return np.asarray(mantissa * 10.0 ** np.clip(power, -MOST_POWER, MOST_POWER))


def interval_doubts(layout: Layout) -> list[str]:
    """A line on a sample interval so short that its word may hold milliseconds."""
    if layout.given_interval or not 0 < layout.interval < SHORT:
        return []
    micros = 1e6 * layout.interval
    return [
        f"the sample interval is taken as {micros:.10g} µs, as the headers say: if {micros:.10g} ms are meant, "
        f"[acquisition] sample_interval = {1e-3 * micros:.10g} (--sample-interval of `info` and `survey build`)"
    ]


def weighting_doubts(weighting: NDArray[Any]) -> list[str]:
    """A line on trace weighting factors, (n,) as in the headers, that are not 0 everywhere."""
    low, high = int(weighting.min(initial=0)), int(weighting.max(initial=0))
    if (low, high) == (0, 0):
        return []
    return [f"the headers hold trace weighting factors 2^-N, N from {low} to {high}: they are not applied"]


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


def _trailers(layout: Layout) -> list[str]:
    """A line on what lies behind the traces."""
    with reading(layout.path):
        size = layout.path.stat().st_size
    behind = size - layout.start - layout.traces * layout.trace_bytes - layout.spare
    return [f"{behind} bytes of trailers lie behind the traces (revision 2): they are not read"] if behind > 0 else []


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
