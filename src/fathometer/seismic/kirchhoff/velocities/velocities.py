"""The velocities of a time migration: RMS velocity and effective eta over the image, from whatever gives them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.depth_model import DepthModel, ModelSource
from fathometer.seismic.kirchhoff.velocities.picks import PicksSource
from fathometer.seismic.kirchhoff.velocities.picks_file import is_picks_file
from fathometer.seismic.kirchhoff.velocities.places import slabs
from fathometer.seismic.kirchhoff.velocities.source import Columns, Floats, Number, Source
from fathometer.seismic.kirchhoff.velocities.volume import VolumeSource
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.shots.rotation import rotation_of
from fathometer.seismic.survey import Survey


@dataclass(frozen=True)
class VelocityBlock:
    """Velocities of some columns of the image.

    Attributes:
        rms: float32 (nx, ny, nt), m/s. eta: float32 of the same shape; None where it is 0 in the whole image.
    """

    rms: NDArray[np.float32]
    eta: NDArray[np.float32] | None


@dataclass(frozen=True)
class Extremes:
    """Extremes of what was read: least and most velocity (m/s), least and largest eta."""

    slowest: float = np.inf
    fastest: float = -np.inf
    least_eta: float = 0.0
    largest_eta: float = 0.0

    def joined(self, other: Extremes) -> Extremes:
        """Of both; exact, in any order."""
        return Extremes(
            min(self.slowest, other.slowest),
            max(self.fastest, other.fastest),
            min(self.least_eta, other.least_eta),
            max(self.largest_eta, other.largest_eta),
        )


class Velocities:
    """Velocities over the columns and times of an image.

    Attributes:
        grid: of the image. notes: what a user should know of where they come from.
        extremes: of all blocks that this rank has read so far.
    """

    def __init__(self, grid: Grid, rms: Source | ModelSource, eta: Source | None) -> None:
        """rms: an own source, or a model, which gives eta too. eta: overrules the model's; None: that of the model, or
        else 0."""
        self.grid = grid
        self._rms, self._eta = rms, eta
        self.notes: tuple[str, ...] = (*rms.notes, *(() if eta is None else eta.notes))
        self.extremes = Extremes()
        self._samples = rms.samples  # of the longest column that is worked on

    def hard_notes(self) -> tuple[str, ...]:
        """Notes on velocities that may be in ft/s, and on eta that may be per cent; some values are read. InputError
        where they cannot be."""
        sources = (self._rms, self._eta)
        kinds = VolumeSource | PicksSource | ModelSource
        return tuple(note for source in sources if isinstance(source, kinds) for note in source.hard_notes())

    @property
    def elliptic(self) -> bool:
        """Whether eta is 0 in the whole image, as the survey says."""
        if isinstance(self._eta, Number):
            return self._eta.value == 0
        return self._eta is None and not isinstance(self._rms, ModelSource)

    @property
    def in_world(self) -> bool:
        """Whether a volume that they come from says where its places lie in the world."""
        return any(isinstance(source, VolumeSource) and source.in_world for source in (self._rms, self._eta))

    def read(self, lo: Columns, hi: Columns) -> VelocityBlock:
        """The velocities of the columns in the half-open box from lo = (x, y) to hi; not collective.

        A column's values do not depend on the box, bit by bit. InputError for values that the checks refuse: not
        finite, out of range, without interval velocities; and for files that cannot be read.
        """
        shape = hi[0] - lo[0], hi[1] - lo[1], self.grid.shape[2]
        block = VelocityBlock(np.empty(shape, np.float32), None if self.elliptic else np.empty(shape, np.float32))
        for first, end in slabs(lo, hi, max(shape[2], self._samples)):
            part = slice(first[0] - lo[0], end[0] - lo[0]), slice(first[1] - lo[1], end[1] - lo[1])
            rms, eta = self._columns(first, end)
            block.rms[part] = rms
            if block.eta is not None and eta is not None:
                block.eta[part] = eta
        self.extremes = self.extremes.joined(extremes_of(block))
        return block

    def _columns(self, lo: Columns, hi: Columns) -> tuple[Floats, Floats | None]:
        """RMS velocities and eta, (nx, ny, nt) each, of the columns in the half-open box [lo, hi)."""
        if isinstance(self._rms, ModelSource):
            rms, eta = self._rms.read(lo, hi)
        else:
            rms, eta = self._rms.read(lo, hi), None
        return rms, eta if self._eta is None or self.elliptic else self._eta.read(lo, hi)

    def files(self) -> dict[str, list[Path]]:
        """All files that velocities and eta come from, by the property: those of a change of which they are others."""
        files = self._rms.files()
        named = files if isinstance(files, dict) else {"velocity": files}
        if self._eta is not None:
            named = named | {"eta": self._eta.files()}
        return {name: paths for name, paths in named.items() if paths}

    def record(self, extremes: Extremes | None = None) -> dict[str, Any]:
        """Where they come from and their extremes, as JSON; extremes: of all ranks, or else of what this one read."""
        found = extremes or self.extremes
        read = found.slowest <= found.fastest
        if self._eta is not None:
            eta = self._eta.record()
        else:
            eta = self._rms.record() if isinstance(self._rms, ModelSource) else Number(0.0, 0).record()
        return {
            "velocity": self._rms.record(),
            "eta": eta,
            "slowest_metres_per_second": found.slowest if read else None,
            "fastest_metres_per_second": found.fastest if read else None,
            "least_eta": found.least_eta,
            "largest_eta": found.largest_eta,
        }


def extremes_of(block: VelocityBlock) -> Extremes:
    """The extremes of a block."""
    if not block.rms.size:
        return Extremes()
    slowest, fastest = float(block.rms.min()), float(block.rms.max())
    if block.eta is None:
        return Extremes(slowest, fastest)
    return Extremes(slowest, fastest, float(block.eta.min()), float(block.eta.max()))


def velocities_of(survey: Survey, grid: Grid, earth: EarthFiles | None = None) -> Velocities:
    """The velocities that [time_migration] names, for the columns and two-way times of an image.

    Only headers and texts are read.

    Args:
        grid: of the image, vertical "time": x and y in m, times in s.
        earth: the files of [model] where they are open already; the survey is then placed as their headers tell.

    InputError: keys and files that are wrong or contradict each other or the image; of texts also their values.
    """
    assert grid.vertical == "time"
    keys, name = survey.time_migration, f"{survey.path}: [time_migration]"
    rotation, samples = rotation_of((survey if earth is None else earth.placed).acquisition), grid.shape[2]

    if keys.units is not None and (not isinstance(keys.velocity, str) or is_picks_file(keys.velocity)):
        raise InputError(f"{name} units: found {keys.units} without a volume of velocities; allowed: left out")
    rms: Source | ModelSource
    if keys.velocity is None:
        if survey.model is None:
            raise InputError(f"{name} velocity: missing; needed where there is no [model]")
        model = DepthModel(str(survey.path), earth or EarthFiles(survey), grid, keys.datum)
        rms = ModelSource(model, grid)
    elif isinstance(keys.velocity, str):
        if is_picks_file(keys.velocity):
            rms = PicksSource(f"{name} velocity", survey.directory / keys.velocity, grid)
        else:
            rms = VolumeSource(
                f"{name} velocity", keys.velocity, survey.directory, grid, rotation, "velocity", keys.units
            )
    else:
        rms = Number(keys.velocity, samples)

    eta: Source | None = None
    if isinstance(keys.eta, str):
        if is_picks_file(keys.eta):
            raise InputError(f"{name} eta: found {keys.eta}, a text; allowed: a volume or a number")
        eta = VolumeSource(f"{name} eta", keys.eta, survey.directory, grid, rotation, "eta")
    elif keys.eta is not None:
        eta = Number(keys.eta, samples)
    return Velocities(grid, rms, eta)
