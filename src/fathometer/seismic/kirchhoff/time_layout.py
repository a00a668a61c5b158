"""What a survey and the headers of its files tell of its time migration: image, velocities, blocks of traces."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import extent_in_words
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.kirchhoff.operator import OperatorSettings, segments, summed_of
from fathometer.seismic.kirchhoff.series import SeriesFilter
from fathometer.seismic.kirchhoff.shares import TraceShares, coarsened, steps_between
from fathometer.seismic.kirchhoff.velocities.depth_model import DepthModel
from fathometer.seismic.kirchhoff.velocities.velocities import Velocities, velocities_of
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.setup.unused_keys import unused_of_time_migration
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.seismic.shots.inside import doubted
from fathometer.seismic.shots.nothing_left import check_left
from fathometer.seismic.shots.offsets import ALL, bins_of, check_bins, name_of, receivers_by_bin
from fathometer.seismic.shots.place import place_of_run, unkept_notes
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.storage.volumes.place import Place

FOLD = "fold"  # name of the volume that counts the traces of each sample
FOLDER = "time"  # of the results, in that of the survey's
_ROUNDING = 1e-6  # of a sample
_SURFACE = 1e-3  # m
MOST_LENGTHS, MOST_SAMPLES = 10.0, 100_000  # of an image: ends of traces, and samples; beyond, a unit is wrong
LONGER = 1.05  # ends of traces from which on a later end of the image is told
COARSE_SECONDS = 0.064  # between nodes of the weights: 16 samples of 4 ms


@dataclass(frozen=True, eq=False)
class TimeLayout:
    """Layout of a time migration, before any velocity or trace is read.

    Attributes:
        grid: of the image; its third axis is two-way time, s. earth: the files of [model], if there is one.
        blocks: shots of each task, fixed by the data alone. place: of the image's x and y in the world.
    """

    survey: Survey
    grid: Grid
    acquisition: Acquisition
    velocities: Velocities
    earth: EarthFiles | None
    blocks: tuple[tuple[Shot, ...], ...]
    notes: tuple[str, ...]
    place: Place = field(default_factory=Place)

    @property
    def volumes(self) -> tuple[str, ...]:
        """Names of the volumes that are summed over blocks, the fold last."""
        return (*image_names(self.survey), FOLD)

    @property
    def series(self) -> SeriesFilter:
        """The filter of the traces."""
        summed = summed_of(self.survey.time_migration, self.grid)
        return SeriesFilter(self.acquisition.sample_interval, self.acquisition.samples, summed)

    @cached_property
    def settings(self) -> OperatorSettings:
        """Of the operator; its anti-alias filter counts on the distance of midpoints where places are no farther."""
        x, y = steps_between(self.acquisition.midpoints, self.grid)
        apart = x * self.grid.spacing[0], y * self.grid.spacing[1]
        return OperatorSettings.of(self.survey.time_migration, self.grid, apart)

    @cached_property
    def traces(self) -> int:
        return sum(len(shot.receivers) for shot in self.acquisition.shots)

    def geometry(self, shot: Shot, receivers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """(n, 5) for some receivers of a shot, as TileOperator.migrate takes it; the shift to the datum is its time."""
        keys = self.survey.time_migration
        places = shot.receivers[receivers]
        rows = np.empty((len(receivers), 5))
        rows[:, :2], rows[:, 2:4] = shot.source[:2], places[:, :2]
        below = (shot.source[2] - keys.datum) + (places[:, 2] - keys.datum)
        # Recorded below the datum, an event comes earlier than from there.
        rows[:, 4] = 0.0 if keys.replacement_velocity is None else -below / keys.replacement_velocity
        return rows

    def images(self, shot: Shot) -> npt.NDArray[np.int32]:
        """(receivers,) which of the image volumes each trace is added to; -1: none."""
        image = np.full(len(shot.receivers), -1, np.int32)
        for number, receivers in enumerate(receivers_by_bin(self.survey.imaging, shot)):
            image[receivers] = number
        return image

    def window(self, shots: Sequence[Shot]) -> tuple[tuple[int, int], tuple[int, int]]:
        """Half-open box of columns (x, y) that traces of the shots may reach."""
        nx, ny, _ = self.grid.shape
        aperture = self.survey.time_migration.aperture
        if aperture is None:
            return (0, 0), (nx, ny)
        near, far = np.full(2, np.inf), np.full(2, -np.inf)
        for shot in shots:
            middle = shot.midpoints
            near, far = np.minimum(near, middle.min(axis=0)), np.maximum(far, middle.max(axis=0))
        lo, hi = [], []
        for axis, cells in enumerate((nx, ny)):
            start, step = self.grid.origin[axis], self.grid.spacing[axis]
            first = math.floor((near[axis] - aperture - start) / step)
            last = math.ceil((far[axis] + aperture - start) / step) + 1
            flat = axis == 1 and ny == 1
            lo.append(0 if flat else min(max(first, 0), cells - 1))
            hi.append(1 if flat else max(min(last, cells), lo[-1] + 1))
        return (lo[0], lo[1]), (hi[0], hi[1])

    @property
    def extents(self) -> str:
        """Where midpoints and the places of the image lie."""
        low, high = self.acquisition.midpoints.min(axis=0), self.acquisition.midpoints.max(axis=0)
        axes = range(1 if self.grid.two_dimensional else 2)
        words = [
            ", ".join(f"{'xy'[axis]} = {extent_in_words(float(low[axis]), float(high[axis]))}" for axis in axes),
            ", ".join(
                f"{'xy'[axis]} = {extent_in_words(self.grid.origin[axis], self.grid.upper[axis])}" for axis in axes
            ),
        ]
        return f"midpoints at {words[0]}; the image at {words[1]}"

    @property
    def apart(self) -> bool:
        """Whether no midpoint lies among the places of the image, or half a cell beside them."""
        inside = np.ones(len(self.acquisition.midpoints), np.bool_)
        for axis in range(1 if self.grid.two_dimensional else 2):
            half = 0.5 * self.grid.spacing[axis]
            own = self.acquisition.midpoints[:, axis]
            inside &= (own >= self.grid.origin[axis] - half) & (own <= self.grid.upper[axis] + half)
        return not inside.any()

    @property
    def weighted(self) -> bool:
        """Whether traces count by what they stand for."""
        return self.survey.time_migration.weights != "none"

    @cached_property
    def shares(self) -> TraceShares:
        """What the traces stand for."""
        images = map(self.images, self.acquisition.shots)
        return TraceShares.of(self.acquisition, images, self.grid, len(self.volumes) - 1)


def image_names(survey: Survey) -> tuple[str, ...]:
    """Names of the images that are summed: of each bin of offset, or one."""
    return (ALL,) if survey.imaging.gathers == "none" else tuple(name_of(*edges) for edges in bins_of(survey.imaging))


def in_own_folder(survey: Survey) -> Survey:
    """The survey with the folder of time migrations for its results: those of depth migrations stay beside them."""
    folder = f"{survey.output.directory}/{FOLDER}"
    return survey.model_copy(update={"output": survey.output.model_copy(update={"directory": folder})})


def time_layout(survey: Survey, ranks: int = 1, headers_only: bool = False) -> TimeLayout:
    """Look at the headers of a survey's files. ranks: that all read the same headers. headers_only: values of volumes
    may be missing.

    Raises InputError for whatever is wrong.
    """
    survey.require_acoustic("migrate-time")
    if survey.acquisition.gathers is None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: missing; `migrate-time` needs recorded shots (SEG-Y); "
            "`fathometer model` makes them from a geometry"
        )
    keys, notes = survey.time_migration, tuple[str, ...]()
    columns: Grid | None = None
    files: EarthFiles | None = None
    if survey.model is not None:
        with ledger.phase("read model"):
            files = EarthFiles(survey, headers_only)
        survey, columns = files.placed, files.grid
    if keys.x is not None:
        columns = _columns(survey, columns)
    if columns is None:
        raise InputError(
            f"{survey.path}: [time_migration] x: missing; needed where no [model] gives the places of the image"
        )
    conditioning = survey.acquisition.conditioning
    if conditioning.line_source is not None:
        if not columns.two_dimensional:
            raise InputError(
                f"{survey.path}: [acquisition] conditioning.line_source: found with an image in 3D; allowed: only in "
                "2D, where `migrate` takes it"
            )
        survey = _without_line_source(survey)
        notes += (
            "[acquisition] conditioning.line_source: left out; the sum over traces of a line takes point sources as "
            "they are",
        )
    with ledger.phase("read traces"), ledger.file("headers", "read", own=1 / ranks):
        acquisition = acquisition_of(survey, 2 if columns.two_dimensional else 3)
    if keys.x is None:
        columns, more = _at_midpoints(columns, acquisition)
        notes += more
    grid = _with_times(survey, columns, acquisition)
    if keys.depth and grid.shape[2] == 1:
        raise InputError(
            f"{survey.path}: [time_migration] interval: found {grid.spacing[2]:g} s, of which the image has one "
            "sample; allowed with depth: two or more, by a smaller interval or a later end"
        )
    with doubted(acquisition):
        _check_datum(survey, acquisition)
        _check_start(survey, acquisition)
        notes += _check_end(survey, acquisition, grid)
        _check_shift(survey, acquisition, grid)
        check_left(survey, acquisition)
    notes += check_bins(survey, acquisition.shots)
    with ledger.phase("read model"):
        velocities = velocities_of(survey, grid, files)
        if keys.depth and files is not None:
            DepthModel(str(survey.path), files, grid, keys.datum)  # refuses now what the stretch would at the end
    blocks = _blocks(acquisition.shots, keys.block_traces)
    place, place_notes = place_of_run(survey, files, acquisition, grid.two_dimensional, velocities.in_world)
    notes += place_notes + unkept_notes(survey, place) + unused_of_time_migration(survey)
    layout = TimeLayout(
        survey=survey,
        grid=grid,
        acquisition=acquisition,
        velocities=velocities,
        earth=files,
        blocks=blocks,
        notes=notes,
        place=place,
    )
    with doubted(acquisition):
        reach_notes = _reach_notes(layout)
    more = (
        reach_notes
        + acquisition.notes
        + velocities.notes
        + _elevation_notes(survey, acquisition)
        + _sampling_notes(grid)
        + (_midpoint_notes(layout) if keys.x is not None else ())
    )
    return replace(layout, notes=notes + more)


def _columns(survey: Survey, model: Grid | None) -> Grid:
    """The places of [time_migration] x and y, with one cell in depth."""
    keys = survey.time_migration
    assert keys.x is not None
    if model is not None and model.two_dimensional != (keys.y is None):
        problem = "missing; needed in 3D" if keys.y is None else "found; allowed only in 3D"
        raise InputError(
            f"{survey.path}: [time_migration] y: {problem}: [model] is {2 if model.two_dimensional else 3}D"
        )
    for name, places, words in (("x", keys.x, ""), ("y", keys.y, ", or left out in 2D")):
        if places is not None and round((places[1] - places[0]) / places[2]) == 0:
            raise InputError(f"{survey.path}: [time_migration] {name}: found one place; allowed: two or more{words}")
    shape, spacing, origin = [], [], []
    for first, last, step in (keys.x, keys.y or (0.0, 0.0, 1.0)):
        shape.append(round((last - first) / step) + 1)
        spacing.append(abs(step))
        origin.append(min(first, last))
    return Grid((shape[0], shape[1], 1), (spacing[0], spacing[1], 1.0), (origin[0], origin[1], 0.0))


def _at_midpoints(model: Grid, acquisition: Acquisition) -> tuple[Grid, tuple[str, ...]]:
    """The model's columns that are as far apart as midpoints, and a note where that is not all of them."""
    columns = coarsened(acquisition.midpoints, model)
    words = [
        f"{columns.spacing[axis]:g} m along {name} (the cells of [model]: {model.spacing[axis]:g} m)"
        for axis, name in enumerate("xy")
        if columns.spacing[axis] > model.spacing[axis]
    ]
    if not words:
        return model, ()
    return columns, (
        f"places of the image are about as far apart as midpoints, {' and '.join(words)}; [time_migration] x (and y) "
        "asks for others",
    )


def _with_times(survey: Survey, columns: Grid, acquisition: Acquisition) -> Grid:
    """The image's grid: columns, and times."""
    keys = survey.time_migration
    step = acquisition.sample_interval if keys.interval is None else keys.interval
    end = acquisition.end if keys.end is None else keys.end
    if not end > keys.start:
        raise InputError(
            f"{survey.path}: [time_migration] start: found {keys.start:g} s; allowed: before the end of the traces, "
            f"{acquisition.end:g} s"
        )
    samples = math.floor((end - keys.start) / step + _ROUNDING) + 1
    nx, ny, _ = columns.shape
    (dx, dy, _), (x, y, _) = columns.spacing, columns.origin
    return Grid((nx, ny, samples), (dx, dy, step), (x, y, keys.start), vertical="time")


def _without_line_source(survey: Survey) -> Survey:
    conditioning = survey.acquisition.conditioning.model_copy(update={"line_source": None})
    acquisition = survey.acquisition.model_copy(update={"conditioning": conditioning})
    return survey.model_copy(update={"acquisition": acquisition})


def _blocks(shots: Sequence[Shot], least: int) -> tuple[tuple[Shot, ...], ...]:
    """Consecutive shots, in the survey's order (that of their files), with at least so many traces a block."""
    blocks: list[tuple[Shot, ...]] = []
    waiting: list[Shot] = []
    traces = 0
    for shot in shots:
        waiting.append(shot)
        traces += len(shot.receivers)
        if traces >= least:
            blocks.append(tuple(waiting))
            waiting, traces = [], 0
    return tuple(blocks + ([tuple(waiting)] if waiting else []))


def _depths(acquisition: Acquisition) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    """What lies at which depths (n,), m."""
    for shot in acquisition.shots:
        yield f"the source of {shot.name}", shot.source[2:]
        yield f"a receiver of {shot.name}", shot.receivers[:, 2]


def _check_datum(survey: Survey, acquisition: Acquisition) -> None:
    """With a replacement velocity nothing may lie above the datum: there it would be no velocity of the ground."""
    keys = survey.time_migration
    if keys.replacement_velocity is None:
        return
    above = [(name, float(z.min())) for name, z in _depths(acquisition) if float(z.min()) < keys.datum - _SURFACE]
    if above:
        name, depth = min(above, key=lambda pair: pair[1])
        raise InputError(
            f"{survey.path}: [time_migration] datum: found {keys.datum:g} m, below {name} at a depth of {depth:g} m, "
            f"the highest of {len(above)}; allowed: up to {depth:g} m"
        )


def _check_start(survey: Survey, acquisition: Acquisition) -> None:
    """The image has to begin before the traces end, as they are shifted to the datum: no event is later in it than in
    them."""
    keys = survey.time_migration
    end = latest_time(survey, acquisition)
    if keys.start >= end:
        raise InputError(
            f"{survey.path}: [time_migration] start: found {keys.start:g} s; allowed: before the end of the traces, "
            f"{end:g} s"
        )


def latest_time(survey: Survey, acquisition: Acquisition) -> float:
    """Two-way time after which no trace has a sample, as they are shifted to the datum, s."""
    keys = survey.time_migration
    if keys.replacement_velocity is None:
        return acquisition.end
    deepest = max(float(z.max()) for _, z in _depths(acquisition))
    return acquisition.end + 2 * (deepest - keys.datum) / keys.replacement_velocity


def _check_end(survey: Survey, acquisition: Acquisition, grid: Grid) -> tuple[str, ...]:
    """A note where the image goes on long after the traces have ended. Raises InputError where it does so for so long,
    or has so many samples, that a unit is wrong."""
    keys, samples, latest = survey.time_migration, grid.shape[2], latest_time(survey, acquisition)
    end = grid.upper[2]
    if keys.end is not None and keys.end > MOST_LENGTHS * latest:
        raise InputError(
            f"{survey.path}: [time_migration] end: found {keys.end:g} s; the traces end at {latest:g} s; allowed: up "
            f"to {MOST_LENGTHS * latest:g} s, {MOST_LENGTHS:g} times that; is the end in s?"
        )
    if samples > MOST_SAMPLES:
        raise InputError(
            f"{survey.path}: [time_migration] interval: {grid.spacing[2]:g} s make {samples} samples from "
            f"{keys.start:g} to {end:g} s; allowed: at most {MOST_SAMPLES}; is the interval in s?"
        )
    if end <= LONGER * latest + grid.spacing[2]:
        return ()
    return (
        f"[time_migration] end: the image ends at {end:g} s and the traces at {latest:g} s; what is later holds "
        "nothing of any trace",
    )


def _check_shift(survey: Survey, acquisition: Acquisition, grid: Grid) -> None:
    """The image has to end after the traces begin, as they are shifted to a datum above them."""
    keys = survey.time_migration
    if keys.replacement_velocity is None:
        return
    end = grid.origin[2] + (grid.shape[2] - 1) * grid.spacing[2]
    least = min(
        float(shot.source[2]) + float(shot.receivers[:, 2].min()) - 2 * keys.datum
        for shot in acquisition.shots
        if len(shot.receivers)
    )
    begins = acquisition.start + least / keys.replacement_velocity
    if begins >= end:
        raise InputError(
            f"{survey.path}: [time_migration] datum: found {keys.datum:g} m, from {0.5 * least:g} m above sources and "
            f"receivers on; shifted to it at {keys.replacement_velocity:g} m/s, the traces begin at {begins:g} s, "
            f"after the end of the image, {end:g} s; allowed: a nearer datum, or a larger replacement_velocity"
        )


def _sampling_notes(grid: Grid) -> tuple[str, ...]:
    """A note where the weights' nodes are so far apart that an image of finer samples would be another one."""
    apart = grid.spacing[2] * (segments(1))
    if apart <= COARSE_SECONDS * (1 + _ROUNDING):
        return ()
    return (
        f"weights, tapers and the anti-alias filter are known every {1000 * apart:g} ms and linear between: shallow "
        "images want a smaller [time_migration] interval",
    )


def _midpoint_notes(layout: TimeLayout) -> tuple[str, ...]:
    """A note where the places of the image are asked to be finer than midpoints."""
    steps = steps_between(layout.acquisition.midpoints, layout.grid)
    words = [
        f"{step * spacing:g} m along {name} (places: {spacing:g} m)"
        for name, step, spacing in zip("xy", steps, layout.grid.spacing, strict=False)
        if step > 1
    ]
    if not words:
        return ()
    return (
        f"midpoints are farther apart than the places of the image: {' and '.join(words)}; what lies between is made "
        "of the same traces, and [time_migration] x and y need not be as fine",
    )


def _elevation_notes(survey: Survey, acquisition: Acquisition) -> tuple[str, ...]:
    """A note where sources and receivers lie off the datum and are not shifted."""
    keys = survey.time_migration
    if keys.replacement_velocity is not None:
        return ()
    farthest = max(float(np.abs(z - keys.datum).max()) for _, z in _depths(acquisition))
    if farthest <= _SURFACE:
        return ()
    return (
        f"sources and receivers lie up to {farthest:g} m from the datum ({keys.datum:g} m) and are not shifted to it; "
        "[time_migration] replacement_velocity does that",
    )


def _reach_notes(layout: TimeLayout) -> tuple[str, ...]:
    """A note on traces beyond the aperture of all places of the image. Raises InputError where all of them are."""
    aperture = layout.survey.time_migration.aperture
    if aperture is None:
        return ()
    outside = 0
    origin, spacing = np.array(layout.grid.origin[:2]), np.array(layout.grid.spacing[:2])
    last = np.array(layout.grid.shape[:2]) - 1
    least, flat = math.inf, layout.grid.two_dimensional
    for shot in layout.acquisition.shots:
        middle = shot.midpoints
        beyond = middle - (origin + spacing * np.clip(np.rint((middle - origin) / spacing), 0, last))
        if flat:
            beyond[:, 1] = 0.0
        distance = np.sqrt((beyond**2).sum(axis=1))
        outside += int((distance > aperture).sum())
        least = min(least, float(distance.min(initial=math.inf)))
    if least > aperture:
        raise InputError(
            f"{layout.survey.path}: [time_migration] aperture: found {aperture:g} m; the midpoint nearest to a place "
            f"of the image is {least:g} m from it: no trace lies within the aperture ({layout.extents}); allowed: "
            "more, or other places"
        )
    if not outside:
        return ()
    return (f"{outside} of {layout.traces} traces lie beyond the aperture of all places of the image, and add nothing",)


def compared(survey: Survey) -> Mapping[str, object]:
    """The keys that must be the same for blocks of two runs to be added up."""
    keys = survey.resolved()
    migration = {name: value for name, value in keys["time_migration"].items() if name not in ("work", "depth")}
    imaging = {name: keys["imaging"][name] for name in ("gathers", "offset_bins")}
    duration = keys["propagation"]["duration"]
    return {
        "model": keys["model"],
        "acquisition": keys["acquisition"],
        "imaging": imaging,
        "duration": duration,
        "time_migration": migration,
    }


def tiles(shape: Index3, ranks: int) -> Index3:
    """Ranks along x and y that share an image: as few cuts of y as x allows."""
    for py in range(1, ranks + 1):
        if ranks % py == 0 and ranks // py <= shape[0] and py <= shape[1]:
            return ranks // py, py, 1
    raise InputError(
        f"found {ranks} ranks for an image of {shape[0]} x {shape[1]} places; allowed: as many as can share it"
    )
