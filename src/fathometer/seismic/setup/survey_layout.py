"""What a survey and the headers of its files tell, before any value is read: grid, acquisition, counts and bytes.

model's files -> grid -> acquisition -> padding -> decomposition; time axis and memory once the time step is known.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError, naming
from fathometer.grid.grid import Grid, Sides
from fathometer.grid.tiling import slab_rows
from fathometer.parallel.decomposition import Decomposition, Index3, choose_ranks
from fathometer.seismic.history.encoding import PLAIN
from fathometer.seismic.history.strategies import preferred_store
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.setup.checks import check_every, check_steps
from fathometer.seismic.setup.unused_keys import unused_of_migration, unused_of_modelling
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.seismic.shots.inside import Box, check_below, doubted, other_places, within
from fathometer.seismic.shots.modelled import acquisition_to_model
from fathometer.seismic.shots.nothing_left import check_left
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.shots.place import place_of_run, unkept_notes
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.shots.window import window_of
from fathometer.seismic.survey import PropagationTable, Survey
from fathometer.seismic.traces.dispersion import workspace_bytes
from fathometer.seismic.traces.resampling import band_bytes
from fathometer.seismic.traces.series import STRATEGIES, WholeSeries
from fathometer.seismic.traces.time_axis import TimeAxis, imaging_step, time_axis
from fathometer.seismic.traces.wavelet import Wavelet, notes_of, wavelet_of
from fathometer.seismic.waves.boundary import Boundary, Pml, Sponge
from fathometer.seismic.waves.checked_steps import MOST_STEPS
from fathometer.seismic.waves.memory import wavefield_bytes
from fathometer.seismic.waves.physics import ISOTROPIC, VTI, Physics
from fathometer.seismic.waves.points import HALF_WIDTH, halo_depth, sinc_points, weights_bytes
from fathometer.seismic.waves.recording import lines_bytes
from fathometer.storage.volumes.place import Place


@dataclass(frozen=True, eq=False)
class SurveyHeaders:
    """What the headers of a survey's files tell, whatever the physics; place: of the grid's x and y in the world."""

    survey: Survey
    files: EarthFiles
    acquisition: Acquisition
    wavelet: Wavelet
    imaging: bool
    place: Place

    @property
    def free_surface(self) -> bool:
        return self.survey.propagation.top == "free-surface"


@dataclass(frozen=True, eq=False)
class SurveyLayout(SurveyHeaders):
    """Layout of a survey, from the headers of its files, before any value is read: grid, shots, counts and bytes.

    Attributes:
        grid: padded. off_grid: whether any receiver lies between cells.
    """

    boundary: Boundary
    grid: Grid
    off_grid: bool

    @property
    def radius(self) -> int:
        return self.survey.propagation.order // 2

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.survey.propagation.precision)

    @property
    def physics(self) -> Physics:
        """The wave equation: VTI, or isotropic where epsilon and delta are 0."""
        return ISOTROPIC if self.files.isotropic else VTI

    @property
    def layers_in_words(self) -> str:
        """How wide absorbing layers are and what they cost; empty: nothing is said of it."""
        return ""

    @property
    def corrected(self) -> bool:
        """Whether the error of the time steps is corrected."""
        return self.survey.propagation.time_dispersion == "corrected"

    def halo(self, ranks: Index3) -> int:
        """Planes that neighbours exchange where ranks share the grid along x, y, z."""
        return halo_depth(self.radius, self.off_grid, ranks)

    @property
    def thinnest(self) -> Index3:
        """Fewest cells along x, y, z that a block may have where an axis is cut."""
        below = self.physics.surface_cells if self.free_surface else 1
        return self.radius, self.radius, max(self.halo((1, 1, 2)), below)

    @property
    def slab(self) -> int | None:
        """Rows of a rank from which on the grid is shared along y alone: diamonds are computed across such cuts. None:
        never, in two dimensions and where a history takes one snapshot at a time, which leaves no room for them."""
        history = self.survey.history
        one_at_a_time = not preferred_store(history).all_in_memory or history.encoding not in ("auto", PLAIN)
        if self.grid.two_dimensional or (self.imaging and one_at_a_time):
            return None
        return slab_rows(self.radius, self.physics.stages)

    def on(self, shot: Shot) -> SurveyLayout:
        """The same for one shot, on its window of the model ([imaging] aperture); the whole model without one."""
        return replace(self, acquisition=replace(self.acquisition, shots=(shot,)), grid=self.grid_of(shot))

    def grid_of(self, shot: Shot) -> Grid:
        """The grid that a shot of the survey is migrated on; looked for once, since whoever plans asks often."""
        aperture = self.survey.imaging.aperture
        if aperture is None:
            return self.grid
        if shot.index not in self._windows:
            window = window_of(self.files.grid, np.vstack((shot.source, shot.receivers)), aperture)
            alone = replace(self.acquisition, shots=(shot,))
            self._windows[shot.index], _ = padded(window, alone, self.boundary, self.free_surface)
        return self._windows[shot.index]

    @cached_property
    def _windows(self) -> dict[int, Grid]:
        return {}

    def ranks(self, size: int, wanted: Index3 | None = None) -> Index3:
        """How `size` ranks share the grid; wanted: instead of the survey's own. InputError where they cannot."""
        with naming(str(self.survey.path)):
            wanted = wanted or wanted_ranks(self.survey, self.grid)
            name = "[parallel] decomposition"
            return choose_ranks(self.grid.full_shape, size, self.thinnest, wanted, name, self.slab)

    def time(self, dt: float) -> tuple[TimeAxis, tuple[str, ...]]:
        """The time axis for a time step (s), and warnings. Raises InputError where it is no use."""
        survey, wavelet, acquisition = self.survey, self.wavelet, self.acquisition
        warnings = check_steps(survey, wavelet.lead, acquisition, dt)
        every = imaging_step(wavelet.fmax, dt)
        if self.imaging and survey.imaging.every != "auto":
            warnings += check_every(survey, wavelet, acquisition, dt)
            every = survey.imaging.every
        return time_axis(dt, wavelet.lead, acquisition.end, every), warnings

    def wavefield_bytes(self, block: Decomposition) -> dict[str, int]:
        """Bytes of a rank's wavefields, model and layers."""
        return wavefield_bytes(self.physics, block, self.radius, self.off_grid, self.boundary, self.grid, self.dtype)

    def cells_of(self, shot: Shot) -> int:
        """Cells of the grid of a shot, padding included: its share of the work."""
        return math.prod(self.grid_of(shot).full_shape)

    @cached_property
    def largest(self) -> SurveyLayout:
        """The layout of the shot with the most cells and, of these, the most receivers."""
        return self.on(max(self.acquisition.shots, key=lambda shot: (self.cells_of(shot), len(shot.receivers))))

    @cached_property
    def smallest(self) -> SurveyLayout:
        """The layout of the shot with the fewest cells, which the fewest ranks can share; `largest` where all have as
        many."""
        least = min(self.acquisition.shots, key=self.cells_of)
        return self.on(least) if self.cells_of(least) < math.prod(self.largest.grid.full_shape) else self.largest

    def image_shape(self, block: Decomposition) -> Index3:
        """Cells of the model in a block."""
        x, y, z = (hi - lo for lo, hi in zip(*self.grid.model_box(block), strict=True))
        return x, y, z

    def snapshot_bytes(self, block: Decomposition) -> int:
        """Bytes of a rank's part of one snapshot, or of an image."""
        return math.prod(self.image_shape(block)) * self.dtype.itemsize

    def reads_ahead(self, on_card: bool) -> bool:
        """Whether the traces of the next shot are read beside the time steps of the present one: a card takes these,
        all shots are on one grid, and series need neither other ranks nor a file."""
        whole = self.imaging and STRATEGIES[self.survey.storage.traces] is WholeSeries
        return whole and on_card and self.survey.imaging.aperture is None

    def shot_bytes(self, block: Decomposition, time: TimeAxis, on_card: bool = False) -> dict[str, int]:
        """Bytes that a rank takes beside its wavefields and the history: images, traces."""
        parts = {}
        if self.imaging:
            parts["image and illumination"] = len(volumes_of(self.survey.imaging)) * self.snapshot_bytes(block)
            if on_card and self.survey.imaging.aperture is not None:  # the next shot has volumes of its own
                parts["image being written"] = parts["image and illumination"]
        own, most = self.receivers(block)
        samples, itemsize = self.acquisition.samples, self.dtype.itemsize
        strategy = STRATEGIES[self.survey.storage.traces] if self.imaging else WholeSeries
        gathered = 2 * samples * most * 4 if not self.imaging and block.rank == 0 else 0
        parts["traces"] = strategy.memory_bytes(time.steps, samples, own, itemsize) + gathered
        if self.reads_ahead(on_card):
            parts["traces of the next shot"] = parts["traces"]
        parts["weights of receivers"] = weights_bytes(most)
        interval, fmax = self.acquisition.sample_interval, self.wavelet.fmax
        into = (interval, time.dt, time.steps + 1) if self.imaging else (time.dt, interval, samples)
        parts["weights of resampling"] = band_bytes(fmax, *into)
        if not self.imaging:
            points, steps = own * self.points_of_a_receiver, min(MOST_STEPS, time.steps)
            flat = self.grid.two_dimensional
            parts["lines of receivers"] = lines_bytes(points, self.off_grid, flat, steps, itemsize)
        if self.corrected:
            parts["transforms of traces"] = workspace_bytes(time.steps)
        return parts

    @property
    def points_of_a_receiver(self) -> int:
        """Points at which fields are sampled for a receiver."""
        return 1

    @cached_property
    def _spreads(self) -> list[np.ndarray]:
        """Places in the grid, in cells (3, n): of all sources, then of each distinct spread of receivers; along x."""
        spreads = [self.grid.to_cells(positions) for positions in distinct_positions(self.acquisition)]
        return [np.ascontiguousarray(cells[np.argsort(cells[:, 0])].T) for cells in spreads]

    def nearest_cells(self, shot: Shot) -> np.ndarray:
        """The cells of a shot's receivers in the padded grid, (3, n) int32; many shots share theirs."""
        spread = id(shot.receivers)
        if spread not in self._nearest_cells:
            self._nearest_cells[spread] = np.rint(self.grid.to_cells(shot.receivers)).astype(np.int32).T
        return self._nearest_cells[spread]

    @cached_property
    def _nearest_cells(self) -> dict[int, np.ndarray]:
        return {}

    def receivers(self, block: Decomposition) -> tuple[int, int]:
        """Most receivers of a shot that touch a block, and most of any shot. Plans ask often for the same block."""
        ends = block.lo, block.hi
        if ends not in self._receivers_of:
            self._receivers_of[ends] = self._count_receivers(block)
        return self._receivers_of[ends]

    @cached_property
    def _receivers_of(self) -> dict[tuple[Index3, Index3], tuple[int, int]]:
        return {}

    def _count_receivers(self, block: Decomposition) -> tuple[int, int]:
        own = most = 0
        for spread in self._spreads:
            most = max(most, spread.shape[1])
            for axis in range(3):  # each looks at those that the ones before have left
                lo, hi = block.lo[axis] - HALF_WIDTH, block.hi[axis] + HALF_WIDTH
                if axis == 0:
                    spread = spread[:, slice(*np.searchsorted(spread[0], (lo, hi)))]
                else:
                    spread = spread[:, (spread[axis] >= lo) & (spread[axis] < hi)]
            own = max(own, spread.shape[1])
        return own, most


def survey_layout(survey: Survey, imaging: bool, headers_only: bool = False, ranks: int = 1) -> SurveyLayout:
    """The layout of acoustic waves. Arguments as of `survey_headers`. Raises InputError for whatever is wrong."""
    found = survey_headers(survey, imaging, headers_only, ranks)
    if not imaging and found.acquisition.recording is None:
        notes = found.acquisition.notes + unused_of_modelling(survey)
        found = replace(found, acquisition=replace(found.acquisition, notes=notes))
    if found.free_surface:
        with doubted(found.acquisition):
            check_below(found.acquisition, found.files.grid.origin[2])
    boundary = boundary_of(found.survey.propagation)
    grid, off_grid = padded(found.files.grid, found.acquisition, boundary, found.free_surface)
    # Halos serve to sample; whoever injects needs its own cells alone.
    return SurveyLayout(**vars(found), boundary=boundary, grid=grid, off_grid=off_grid and not imaging)


def survey_headers(survey: Survey, imaging: bool, headers_only: bool, ranks: int) -> SurveyHeaders:
    """Look at the headers of a survey's files, for imaging or for modelling only.

    headers_only: the model's values may be missing. ranks: that all read the same headers.
    Raises InputError for whatever is wrong.
    """
    with ledger.phase("read model"):
        files = EarthFiles(survey, headers_only)
    survey = files.placed
    with ledger.phase("read traces"), ledger.file("headers", "read", own=1 / ranks):
        acquisition = acquisition_of(survey, files.dimension)
    bare = files.grid
    try:
        with doubted(acquisition):
            acquisition = within(acquisition, Box.of(bare), survey.acquisition.outside == "drop")
    except InputError as error:  # the notes say where the model's place comes from
        reasons = _other_orders(files, acquisition) or other_places(acquisition, Box.of(bare))
        raise InputError("; ".join((str(error), *reasons, *files.notes))) from None
    if not imaging:
        acquisition = acquisition_to_model(survey, acquisition)
    place, notes = place_of_run(survey, files, acquisition, bare.two_dimensional)
    wavelet = wavelet_of(survey)
    if imaging:
        with doubted(acquisition):
            check_left(survey, acquisition, wavelet)
        notes += unkept_notes(survey, place) + unused_of_migration(survey)
    acquisition = replace(acquisition, notes=files.notes + notes_of(wavelet) + acquisition.notes + notes)
    return SurveyHeaders(survey, files, acquisition, wavelet, imaging, place)


def _other_orders(files: EarthFiles, acquisition: Acquisition) -> tuple[str, ...]:
    """What [model] axes would do for positions outside of a model that does not name its axes."""
    for axes, grid in files.swapped_grids().items():
        with contextlib.suppress(InputError):
            within(acquisition, Box.of(grid), False)
            return (f'all of them lie inside with depth as the first axis: [model] axes = "{axes}"',)
    return ()


def boundary_of(propagation: PropagationTable, pml: type[Pml] = Pml) -> Boundary:
    """The absorbing boundaries that the survey names; auto is the PML, by far the cheaper at equal reflection.

    pml: of the physics."""
    if propagation.boundary == "auto":
        return pml()
    keys = propagation.boundary.model_dump(exclude={"kind"}, exclude_none=True)
    if keys["width"] == "auto":  # as where it is left out
        del keys["width"]
    return (pml if propagation.boundary.kind == "pml" else Sponge)(**keys)


def wanted_ranks(survey: Survey, grid: Grid) -> Index3 | None:
    """[parallel] decomposition as ranks along x, y, z. Raises InputError where it has too many or too few numbers."""
    wanted = survey.parallel.decomposition
    if wanted == "auto":
        return None
    if len(wanted) != len(grid.axes):
        raise InputError(
            f"[parallel] decomposition: found {len(wanted)} numbers; needed: {len(grid.axes)}, since the model is "
            f"{len(grid.axes)}D"
        )
    return (wanted[0], 1, wanted[1]) if grid.two_dimensional else (wanted[0], wanted[1], wanted[2])


def surface_of(free_surface: bool) -> int | None:
    """Index along z of the free surface in the padded grid: the model's first plane, which has no padding above it."""
    return 0 if free_surface else None


def padded(bare: Grid, acquisition: Acquisition, boundary: Boundary, free_surface: bool) -> tuple[Grid, bool]:
    """The model's cells with margins for sources and receivers and absorbing layers around them; whether any of these
    points lies between cells."""
    margins, off_grid = margins_of(acquisition, bare, free_surface)
    return replace(bare, pad=padding(bare, boundary.width, margins, free_surface)), off_grid


def margins_of(acquisition: Acquisition, grid: Grid, free_surface: bool) -> tuple[Sides, bool]:
    """Cells that off-grid points reach beyond the model per side, and whether any point is off the grid at all.

    The weights of a source must not lie in an absorbing layer: there injection is no longer sampling's transpose.
    """
    reach = np.zeros((3, 2), np.int64)
    off_grid = False
    for positions in distinct_positions(acquisition):
        points = sinc_points(grid.to_cells(positions), surface_of(free_surface))
        off_grid = off_grid or not points.on_grid
        reach[:, 0] = np.maximum(reach[:, 0], -points.first.min(axis=0))
        last = (points.first + points.count).max(axis=0)
        reach[:, 1] = np.maximum(reach[:, 1], last - np.array(grid.shape))
    x, y, z = ((int(lo), int(hi)) for lo, hi in reach)
    return (x, y, z), off_grid


def distinct_positions(acquisition: Acquisition) -> Iterator[np.ndarray]:
    """All sources at once, then each distinct spread of receivers."""
    yield np.array([shot.source for shot in acquisition.shots])
    seen: set[int] = set()
    for shot in acquisition.shots:
        if id(shot.receivers) not in seen:
            seen.add(id(shot.receivers))
            yield shot.receivers


def padding(grid: Grid, width: int, margins: Sides, free_surface: bool) -> Sides:
    """Cells around the model: absorbing layers behind the margins; nothing above a free surface or across 2D."""
    x, y, z = (
        (before + width, after + width) if axis in grid.axes else (0, 0) for axis, (before, after) in enumerate(margins)
    )
    return x, y, (0, z[1]) if free_surface else z
