"""Results in which there is nothing: images, traces and fields that are 0 or the same everywhere, said to the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.runs.value_range import ValueRange, joined, range_of, same_everywhere
from fathometer.seismic.shots.offsets import ALL, OFFSET

FOLD = "fold"  # which counts: it may well be the same everywhere


@dataclass(frozen=True)
class Emptiness:
    """What of a run's results is the same everywhere.

    Attributes:
        notes: a sentence each. nothing: why the results are not to be trusted at all; "" where there is something.
    """

    notes: tuple[str, ...] = ()
    nothing: str = ""

    @property
    def reasons(self) -> list[str]:
        """For the record's validity."""
        return [self.nothing] if self.nothing else []

    def with_notes(self, notes: Sequence[str]) -> Emptiness:
        """The same with further notes."""
        return Emptiness((*self.notes, *notes), self.nothing)

    def facts(self, notes: Sequence[str]) -> dict[str, Any]:
        """For the record's results, which have `notes` besides; nothing where there is nothing to say."""
        if not self.notes:
            return {}
        found = {"same_everywhere": list(self.notes), "notes": [*notes, *self.notes]}
        return found | ({"nothing_imaged": self.nothing} if self.nothing else {})


def ranges_of(images: Mapping[str, npt.NDArray[Any]], comm: MPI.Intracomm) -> dict[str, ValueRange]:
    """Collective. The least and the largest value of some volumes; images: this rank's cells of each, of any shape."""
    with ledger.phase("write image"):
        return joined({name: range_of(values) for name, values in images.items()}, comm)


def emptiness_of_images(ranges: Mapping[str, ValueRange], hint: str) -> Emptiness:
    """What of some volumes is the same everywhere, by their ranges.

    hint: which keys may lead to an image of zeros, or what has.
    """
    ranges = dict(ranges)
    nothing = f"nothing was imaged, the image is 0 everywhere: {hint}" if ranges[ALL].zero else ""
    if nothing:
        del ranges[ALL]
    notes = same_everywhere({_words(name): one for name, one in ranges.items() if one.zero or name != FOLD})
    return Emptiness((*([nothing] if nothing else []), *notes), nothing)


def _words(name: str) -> str:
    """What a volume is called in a sentence."""
    return f"the image {name}" if name.startswith(OFFSET) else f"the {name}"


class TraceRanges:
    """The ranges of modelled traces, shot by shot, on the rank that writes them."""

    def __init__(self) -> None:
        self.all: dict[str, ValueRange] = {}
        self.maps: dict[str, ValueRange] = {}
        self.silent: list[str] = []  # names of shots whose traces are all 0

    def add(self, shot: str, traces: Mapping[str, npt.NDArray[np.floating[Any]]]) -> None:
        """Add a shot's traces, by what they are called."""
        of_shot = {name: range_of(values) for name, values in traces.items()}
        for name, one in of_shot.items():
            self.all.setdefault(name, ValueRange()).join(one)
        if of_shot and all(one.zero for one in of_shot.values()):
            self.silent.append(shot)

    def add_map(self, name: str, values: npt.NDArray[np.floating[Any]]) -> None:
        """Add what has been made beside the traces, by what it is called."""
        self.maps.setdefault(name, ValueRange()).join(range_of(values))

    def emptiness(self) -> Emptiness:
        """What of the traces is the same everywhere."""
        notes = same_everywhere(self.all | self.maps)
        if self.all and all(one.zero for one in self.all.values()):
            reason = "nothing was recorded, all traces are 0: see [propagation] duration, and where the receivers are"
            return Emptiness((reason,), reason)
        if self.silent:
            some = ", ".join(self.silent[:3]) + ", …" * (len(self.silent) > 3)
            notes.append(f"all traces are 0 of {len(self.silent)} shots: {some}")
        return Emptiness(tuple(notes))
