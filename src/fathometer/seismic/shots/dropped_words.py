"""Words of the headers of gathers that an image takes no account of: each is named once, so that nothing is lost
without a word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from segyio import BinField, TraceField

from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.storage.reading import reading
from fathometer.storage.traces.headers import BINARY, HEADER, TEXT, field_of, fields_of, swap_pairs
from fathometer.storage.traces.layout import Layout

SAMPLED_FILES, SAMPLED_TRACES = 16, 64  # looked at, evenly spread: a word is in all traces, or in most
POLARITIES = {1: "pressure or upward movement is negative", 2: "pressure or upward movement is positive"}
TIME_BASES = {1: "local", 2: "GMT", 3: "other", 4: "UTC", 5: "GPS"}
# Fields of trace headers by what they hold; (first byte, NumPy type) each.
STATICS = {
    "source": (int(TraceField.SourceStaticCorrection), "i2"),
    "receiver": (int(TraceField.GroupStaticCorrection), "i2"),
    "total": (int(TraceField.TotalStaticApplied), "i2"),
}
WEIGHT = (int(TraceField.TraceWeightingFactor), "i2")
YEAR, BASIS = (int(TraceField.YearDataRecorded), "i2"), (int(TraceField.TimeBaseCode), "i2")


def dropped_notes_of(acquisition: Acquisition) -> tuple[str, ...]:
    """`dropped_notes` of the recorded gathers of a survey, if it has any."""
    return () if acquisition.recording is None else dropped_notes(acquisition.recording.layouts)


def dropped_notes(layouts: Sequence[Layout]) -> tuple[str, ...]:
    """Notes on polarity, statics, weights and times of day in the headers of files of gathers, which are not applied
    and not in images. A sample of the files and their traces is looked at. InputError where one cannot be read."""
    found: dict[str, list[str]] = {}
    for layout in _spread(layouts, SAMPLED_FILES):
        for words in _words_of(layout):
            found.setdefault(words, []).append(str(layout.path))
    return tuple(
        f"{files[0]}{f' and {len(files) - 1} more' if len(files) > 1 else ''}: {words}"
        for words, files in found.items()
    )


def _words_of(layout: Layout) -> list[str]:
    words = []
    if layout.start >= TEXT + BINARY:
        with reading(layout.path), layout.path.open("rb") as file:
            head = file.read(TEXT + BINARY)
        if layout.pairs:
            head = head[:TEXT] + swap_pairs(np.frombuffer(head, np.uint8)[TEXT:]).tobytes()
        polarity = field_of(head, int(BinField.ImpulseSignalPolarity), "i2", layout.order)
        if polarity in POLARITIES:
            words.append(
                f"impulse polarity {polarity} ({POLARITIES[polarity]}; binary header, bytes 3257 to 3258) is not taken "
                "into account, and images do not say it"
            )
    heads = _sampled(layout)
    statics = [name for name, field in STATICS.items() if fields_of(heads, *field, layout.order).any()]
    if statics:
        words.append(
            f"statics in trace headers ({', '.join(statics)}; bytes 99 to 104) are not applied; times are used as they "
            "are in the traces"
        )
    if np.any(fields_of(heads, *WEIGHT, layout.order)):
        words.append("trace weighting factors (bytes 169 to 170) are not applied")
    years, bases = (fields_of(heads, *field, layout.order) for field in (YEAR, BASIS))
    if years.any():
        known = [TIME_BASES[code] for code in np.unique(bases).tolist() if code in TIME_BASES]
        basis = f", time basis {' and '.join(known)}" if known else ""
        words.append(f"year, day and hour of recording (bytes 157 to 168{basis}) are not in images")
    return words


def _sampled(layout: Layout) -> NDArray[np.uint8]:
    """Headers (n, HEADER) of some traces, evenly spread."""
    numbers = np.unique(np.linspace(0, layout.traces - 1, min(layout.traces, SAMPLED_TRACES)).astype(np.int64))
    rows = layout.rows()
    with reading(layout.path):
        heads = np.ascontiguousarray(rows[numbers, :HEADER])
    return swap_pairs(heads) if layout.pairs else heads


def _spread(layouts: Sequence[Layout], most: int) -> list[Layout]:
    if not layouts:
        return []
    chosen = np.unique(np.linspace(0, len(layouts) - 1, min(len(layouts), most)).astype(int))
    return [layouts[number] for number in chosen.tolist()]
