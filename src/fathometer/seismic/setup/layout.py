"""What a survey and the headers of its files tell, before any value is read: grid, acquisition, counts and bytes.

model's files -> grid -> acquisition -> padding -> decomposition; time axis and memory once the time step is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError, naming
from fathometer.grid.arrays import field_layout
from fathometer.grid.grid import Grid, Sides
from fathometer.grid.stencil import LARGEST_SHARE_OF_LIMIT
from fathometer.parallel.decomposition import Decomposition, Index3, choose_ranks
from fathometer.runs.sum_file import SLAB_CELLS
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of, check_below, check_inside
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.shots.window import window_of
from fathometer.seismic.survey import PropagationTable, Survey
from fathometer.seismic.traces.dispersion import WORKSPACE_BYTES
from fathometer.seismic.traces.resampling import low_pass
from fathometer.seismic.traces.series import CHUNK_BYTES, GROUP_BYTES
from fathometer.seismic.traces.time_axis import TimeAxis, imaging_step, time_axis
from fathometer.seismic.traces.wavelet import Wavelet, wavelet_of
from fathometer.seismic.waves.boundary import BOUNDARIES, Boundary, Pml
from fathometer.seismic.waves.points import HALF_WIDTH, halo_depth, sinc_points

WEIGHT_BYTES = 512  # of one point: places and weights, once for Python and once for the kernels
SUMMING_BYTES = 64  # of a cell of a slab: its limbs, those that are read, and what adding takes
MOST_STEPS = 1e9  # in time; beyond, a unit is wrong
FEWEST_POINTS, FEW_POINTS = 2.5, 4.0  # grid cells per shortest wavelength: an error below, a warning below


@dataclass(frozen=True, eq=False)
class SurveyLayout:
    """What a survey and the headers of its files tell, before any value is read.

    Attributes:
        grid: padded. off_grid: whether halos carry edges and corners, for receivers between cells.
    """

    survey: Survey
    files: EarthFiles
    acquisition: Acquisition
    wavelet: Wavelet
    boundary: Boundary
    grid: Grid
    off_grid: bool
    imaging: bool

    @property
    def radius(self) -> int:
        return self.survey.propagation.order // 2

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.survey.propagation.precision)

    @property
    def fields(self) -> int:
        """1 isotropic, 2 VTI."""
        return 1 if self.files.isotropic else 2

    @property
    def free_surface(self) -> bool:
        return self.survey.propagation.top == "free-surface"

    @property
    def halo(self) -> int:
        """Planes that neighbours exchange."""
        return halo_depth(self.radius, self.off_grid)

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
            return choose_ranks(self.grid.full_shape, size, self.halo, wanted)

    def time(self, dt: float) -> tuple[TimeAxis, tuple[str, ...]]:
        """The time axis for a time step (s), and warnings. Raises InputError where it is no use."""
        survey, wavelet, acquisition = self.survey, self.wavelet, self.acquisition
        check_steps(survey, wavelet, acquisition, dt)
        every = imaging_step(wavelet.fmax, dt)
        warnings: tuple[str, ...] = ()
        if self.imaging and survey.imaging.every != "auto":
            warnings = check_every(survey, wavelet, acquisition, dt)
            every = survey.imaging.every
        return time_axis(dt, wavelet.lead, acquisition.end, every), warnings

    def wavefield_bytes(self, block: Decomposition) -> dict[str, int]:
        """Bytes of a rank's wavefields, model and layers."""
        return wavefield_bytes(block, self.fields, self.radius, self.off_grid, self.boundary, self.grid, self.dtype)

    def cells_of(self, shot: Shot) -> int:
        """Cells of the grid of a shot, padding included: its share of the work."""
        return math.prod(self.grid_of(shot).full_shape)

    @cached_property
    def largest(self) -> SurveyLayout:
        """The frame of the shot with the most cells and, of these, the most receivers."""
        return self.on(max(self.acquisition.shots, key=lambda shot: (self.cells_of(shot), len(shot.receivers))))

    @cached_property
    def smallest(self) -> SurveyLayout:
        """The frame of the shot with the fewest cells, which the fewest ranks can share; `largest` where all have as
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

    def shot_bytes(self, block: Decomposition, time: TimeAxis) -> dict[str, int]:
        """Bytes that a rank takes beside its wavefields and the history: images, traces."""
        parts = {}
        if self.imaging:
            parts["image and illumination"] = len(volumes_of(self.survey.imaging)) * self.snapshot_bytes(block)
        gathered = not self.imaging and block.rank == 0
        sliced = self.imaging and self.survey.storage.traces != "whole"
        own, most = self._receivers(block)
        traces = 3 * (time.steps + self.acquisition.samples) * own * self.dtype.itemsize
        if sliced:
            traces = min(traces, 3 * CHUNK_BYTES + 2 * GROUP_BYTES)
        parts["traces"] = traces + (2 * self.acquisition.samples * most * 4 if gathered else 0)
        parts["weights of receivers"] = most * WEIGHT_BYTES
        if self.survey.propagation.time_dispersion == "corrected":
            parts["transforms of traces"] = WORKSPACE_BYTES * time.steps
        return parts

    def summing_bytes(self, cells: int) -> dict[str, int]:
        """Bytes that a rank takes for its cells of the whole image while what the shots add is added up."""
        imaging = self.survey.imaging
        made = imaging.gathers != "none" or imaging.condition == "source-normalised"  # from sums, beside them
        return {
            "sums of shots": (len(volumes_of(imaging)) + made) * cells * self.dtype.itemsize,
            "sum under way": SUMMING_BYTES * min(cells, SLAB_CELLS),
        }

    @cached_property
    def _spreads(self) -> list[np.ndarray]:
        """Places in the grid, in cells (3, n): of all sources, then of each distinct spread of receivers; along x."""
        places = [self.grid.to_cells(one) for one in _distinct_positions(self.acquisition)]
        return [np.ascontiguousarray(one[np.argsort(one[:, 0])].T) for one in places]

    def _receivers(self, block: Decomposition) -> tuple[int, int]:
        """Most receivers of a shot that touch a block, and most of any shot."""
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
    """Look at the headers of a survey's files, for imaging or for modelling only.

    headers_only: the model's values may be missing. ranks: that all read the same headers.
    Raises InputError for whatever is wrong.
    """
    with ledger.phase("read model"):
        files = EarthFiles(survey, headers_only)
    with ledger.phase("read traces"), ledger.file("headers", "read", own=1 / ranks):
        acquisition = acquisition_of(survey, files.dimension)
    wavelet = wavelet_of(survey)
    bare = files.grid
    free = survey.propagation.top == "free-surface"
    lower, upper = np.array(bare.origin), np.array(bare.upper)
    if bare.two_dimensional:
        lower[1] = upper[1] = 0.0
    check_inside(acquisition, lower, upper)
    if free:
        check_below(acquisition, bare.origin[2])
    boundary = boundary_of(survey.propagation)
    grid, off_grid = padded(bare, acquisition, boundary, free)
    # Halos serve to sample; whoever injects needs its own cells alone.
    return SurveyLayout(survey, files, acquisition, wavelet, boundary, grid, off_grid and not imaging, imaging)


def boundary_of(propagation: PropagationTable) -> Boundary:
    """The absorbing sides that the survey names; auto is the PML, by far the cheaper at equal reflection."""
    if propagation.boundary == "auto":
        return Pml()
    return BOUNDARIES[propagation.boundary.kind](width=propagation.boundary.width)


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
    for positions in _distinct_positions(acquisition):
        points = sinc_points(grid.to_cells(positions), surface_of(free_surface))
        off_grid = off_grid or not points.on_grid
        reach[:, 0] = np.maximum(reach[:, 0], -points.first.min(axis=0))
        last = (points.first + points.count).max(axis=0)
        reach[:, 1] = np.maximum(reach[:, 1], last - np.array(grid.shape))
    x, y, z = ((int(lo), int(hi)) for lo, hi in reach)
    return (x, y, z), off_grid


def _distinct_positions(acquisition: Acquisition) -> Iterator[np.ndarray]:
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


def wavefield_bytes(
    block: Decomposition,
    fields: int,
    radius: int,
    off_grid: bool,
    boundary: Boundary,
    grid: Grid,
    dtype: np.dtype[Any],
) -> dict[str, int]:
    """Bytes of a rank's wavefields, model and layers."""
    _, shape = field_layout(block, halo_depth(radius, off_grid), dtype)
    own = math.prod(block.local_shape)
    layers = sum(2 * 2 * boundary.width * own // max(1, block.local_shape[axis]) for axis in grid.axes)
    return {
        "wavefields": 2 * fields * math.prod(shape) * dtype.itemsize,
        "model": own * (4 * (1 if fields == 1 else 3) + dtype.itemsize * (1 if fields == 1 else 3)),
        "absorbing layers": layers * dtype.itemsize,
    }


def time_step(survey: Survey, limit: float) -> float:
    """dt of the survey, or 0.95 of the stability limit. Raises InputError for a dt above the limit."""
    dt = survey.propagation.dt
    if dt == "auto":
        return LARGEST_SHARE_OF_LIMIT * limit
    if dt > limit:
        raise InputError(
            f"{survey.path}: [propagation] dt: found {dt:g} s; allowed: up to {_round_down(limit):g} s, the stability "
            f'limit of this model and grid at order {survey.propagation.order}, or "auto"'
        )
    return dt


def _round_down(value: float) -> float:
    """To four digits, towards zero."""
    unit: float = 10.0 ** (math.floor(math.log10(value)) - 3)
    return math.floor(value / unit) * unit


def points_per_wavelength(slowest: float, fmax: float, grid: Grid) -> float:
    """Grid cells in the shortest wavelength, along the axis with the largest cells."""
    return slowest / (fmax * max(grid.spacing[axis] for axis in grid.axes))


def check_sampling(
    survey: Survey, slowest: float, grid: Grid, wavelet: Wavelet, acquisition: Acquisition, dt: float
) -> tuple[str, ...]:
    """Raises InputError where waves or traces are sampled too coarsely; returns warnings where only just."""
    points = points_per_wavelength(slowest, wavelet.fmax, grid)
    size = max(grid.spacing[axis] for axis in grid.axes)
    where = f"{points:.2g} cells per shortest wavelength ({slowest:.0f} m/s at {wavelet.fmax:g} Hz on {size:g} m)"
    if points < FEWEST_POINTS:
        raise InputError(
            f"{survey.path}: [wavelet]: {where}; allowed: at least {FEWEST_POINTS:g}, that is frequencies up to "
            f"{slowest / (FEWEST_POINTS * size):.3g} Hz or cells up to "
            f"{slowest / (FEWEST_POINTS * wavelet.fmax):.3g} m"
        )
    with naming(f"{survey.path}: [wavelet]"):
        low_pass(wavelet.fmax, dt, acquisition.sample_interval)  # raises where traces cannot hold fmax
    if points < FEW_POINTS:
        return (f"{where}: waves will be dispersed; {FEW_POINTS:g} or more are advised",)
    return ()


def check_steps(survey: Survey, wavelet: Wavelet, acquisition: Acquisition, dt: float) -> None:
    """Raises InputError for more time steps than any run can have meant."""
    steps = (wavelet.lead + max(acquisition.end, 0.0)) / dt
    if not steps <= MOST_STEPS:
        raise InputError(
            f"{survey.path}: [propagation]: {steps:.3g} time steps of {dt:g} s, from {-wavelet.lead:g} s (the "
            f"wavelet's beginning) to {acquisition.end:g} s; allowed: at most {MOST_STEPS:g}"
        )


def check_every(survey: Survey, wavelet: Wavelet, acquisition: Acquisition, dt: float) -> tuple[str, ...]:
    """Raises InputError where not even two images of a shot would be taken; warns where the image will be aliased."""
    every = survey.imaging.every
    assert every != "auto"
    steps = time_axis(dt, wavelet.lead, acquisition.end, 1).steps
    if every > steps:
        raise InputError(
            f"{survey.path}: [imaging] every: found {every}; allowed: up to {steps}, the time steps of a shot, "
            'or "auto"'
        )
    if 2 * wavelet.fmax * every * dt > 1:
        return (
            f"an image every {every} steps ({every * dt:.3g} s) is too few for {wavelet.fmax:g} Hz: it will be "
            f"aliased; {max(1, math.floor(1 / (2 * wavelet.fmax * dt)))} or fewer are advised",
        )
    return ()


def check_amplitude(survey: Survey, wavelet: Wavelet, time: TimeAxis, dtype: np.dtype[Any]) -> None:
    """Raises InputError for a wavelet that the propagation's numbers cannot hold."""
    peak, most = float(np.abs(wavelet(time.times())).max()), float(np.finfo(dtype).max)
    if not peak <= most:
        raise InputError(
            f"{survey.path}: [wavelet]: found amplitudes up to {peak:.3g}; allowed: up to {most:.3g}, the largest "
            f"{dtype} number"
        )
