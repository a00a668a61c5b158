"""All that is decided before the first time step: time step, imaging step, who works on what, and whether it fits.

layout -> this rank's part of the model -> dt -> time axis -> ranks of a shot -> memory
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, number_of
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Decomposition, Index3, choose_ranks
from fathometer.parallel.groups import Group
from fathometer.parallel.memory_budget import memory_of_rank, require_memory, spare_memory, usable_memory
from fathometer.runs.sum_file import CELL_BYTES
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.model.medium import scaled_medium
from fathometer.seismic.model.weak_epsilon import WeakEpsilon, weak_epsilon_notes
from fathometer.seismic.setup.checks import (
    check_amplitude,
    check_sampling,
    key_of_lead,
    long_lead,
    points_per_wavelength,
    time_step,
)
from fathometer.seismic.setup.cone import Cone
from fathometer.seismic.setup.fair_cuts import Shares, shares_of_run
from fathometer.seismic.setup.ghosts import ghost_notes
from fathometer.seismic.setup.grazing import grazing_notes, peak_frequency
from fathometer.seismic.setup.processor import Processor, card_parts, choose_processor, host_parts
from fathometer.seismic.setup.rank_groups import ranks_of_a_shot
from fathometer.seismic.setup.survey_layout import SurveyLayout, surface_of, survey_layout
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.loud_search import treated
from fathometer.seismic.shots.offsets import check_bins, volumes_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet
from fathometer.seismic.waves.points import SincPoints, sinc_points
from fathometer.seismic.waves.propagator import Propagator
from fathometer.seismic.waves.scheme import Scheme

MODEL_BYTES = 24  # of a cell while the model is read and checked
MODELLING_ADVICE = (
    "more hosts, a shorter [propagation] duration, larger cells, a smaller model or a larger [parallel] memory_budget"
)
IMAGING_ADVICE = f"a larger [imaging] every, {MODELLING_ADVICE}"


SummingMemory = Callable[[SurveyLayout, int], Mapping[str, int]]


@dataclass(frozen=True, eq=False)
class Setup:
    """A survey made ready for propagation on this rank.

    Attributes:
        comm: the ranks that share the layout's grid.
        model: dt^2 M on this rank's block (medium.scaled_medium); None where groups of ranks have models of their own.
        ranks_per_shot: of a group of ranks; those of comm where all work on one shot.
        shares: of the ranks that share the grid, in its work.
        weak_epsilon: what was done where epsilon < delta; None: such a model is refused.
        memory_bytes, spare_bytes: of a rank while it works on a shot. processor: what takes the time steps.
        held_bytes: of memory_bytes those of sums of images; 0: sums are on disk alone.
    """

    layout: SurveyLayout
    comm: MPI.Intracomm
    block: Decomposition
    shares: Shares
    scheme: Scheme
    time: TimeAxis
    model: list[np.ndarray] | None
    slowest: float
    fastest: float
    time_step_limit: float
    weak_epsilon: WeakEpsilon | None
    ranks_per_shot: int
    memory_bytes: int
    spare_bytes: int
    warnings: tuple[str, ...]
    processor: Processor = field(default_factory=Processor)
    held_bytes: int = 0

    @property
    def survey(self) -> Survey:
        return self.layout.survey

    @property
    def files(self) -> EarthFiles:
        return self.layout.files

    @property
    def grid(self) -> Grid:
        return self.layout.grid

    @property
    def acquisition(self) -> Acquisition:
        return self.layout.acquisition

    @property
    def wavelet(self) -> Wavelet:
        return self.layout.wavelet

    @property
    def points_per_wavelength(self) -> float:
        """Grid cells per shortest wavelength."""
        return points_per_wavelength(self.slowest, self.wavelet.fmax, self.grid)

    @property
    def corrected(self) -> bool:
        """Whether the error of the time steps is corrected."""
        return self.layout.corrected

    def propagator(self) -> Propagator:
        """A wavefield at rest in the model."""
        assert self.model is not None
        kind = self.processor.propagator
        return kind(self.grid, self.block, self.model, self.scheme, self.layout.off_grid, self.comm)

    @property
    def card_bytes(self) -> int:
        """Of a graphics card that takes the time steps: of a wavefield; 0 without one."""
        return 0 if self.processor.card is None else sum(card_parts(self.layout, self.block, volumes=0).values())

    def card_bytes_left(self, volumes: Sequence[str]) -> int:
        """Of the card for the history, beside the wavefield that is there, and volumes that correlations go to."""
        return self.processor.left(card_parts(self.layout, self.block, len(volumes)))

    def cone(self) -> Cone:
        """Collective. The rows that are computed."""
        assert self.model is not None
        return Cone.of_model(self.layout, self.time, self.block, self.model, self.comm)

    def scratch_folder(self) -> Path:
        """Where scratch files of the history and of traces lie. Raises InputError where that is no folder."""
        name = self.survey.history.directory
        folder = self.survey.output_directory if name is None else self.survey.directory / name
        if not folder.is_dir():
            raise InputError(f"{self.survey.path}: [history] directory: {folder} is no folder; needed: one that exists")
        return folder

    def points(self, positions: np.ndarray) -> SincPoints:
        """Weights of sources or receivers at `positions` (n, 3) in m."""
        return sinc_points(self.grid.to_cells(np.atleast_2d(positions)), surface_of(self.scheme.free_surface))

    def summary(self) -> list[str]:
        """What a user wants to know before the run, a line each."""
        g, t = self.grid, self.time
        cells = " x ".join(str(n) for axis, n in enumerate(g.full_shape) if axis in g.axes)
        share = 100 * t.dt / self.time_step_limit
        error = "corrected" if self.corrected else "not corrected"
        space = f"order {2 * self.scheme.radius}, {self.scheme.space_weights} weights"
        return [
            f"{self.layout.physics.title} model, {cells} cells with absorbing boundaries, "
            f"{len(self.acquisition.shots)} shots",
            f"time step {1000 * t.dt:.4g} ms ({share:.0f} % of the limit, time dispersion {error}), {t.steps} steps, "
            + f"an image every {t.every} steps, " * self.layout.imaging
            + f"{self.points_per_wavelength:.1f} cells per shortest wavelength ({space})",
            f"{self._layout()}, {bytes_in_words(self.memory_bytes)} on rank 0"
            + " beside the history" * self.layout.imaging,
            *filter(None, [self.layout.layers_in_words, str(self.shares), str(self.processor)]),
        ]

    def _layout(self) -> str:
        """How ranks share shots and grid, in words."""
        group = Group.of(0, self.comm.size, self.ranks_per_shot)
        ranks = number_of(self.comm.size, "rank")
        if self.model is not None:
            return f"{ranks} as {' x '.join(map(str, self.block.ranks))}"
        windows = "" if self.survey.imaging.aperture is None else ", each shot on a window of its own"
        return f"{ranks} in {number_of(group.groups, 'group')} with shots of their own{windows}"


def prepare(
    survey: Survey,
    comm: MPI.Intracomm,
    imaging: bool,
    summing: SummingMemory | None = None,
    before_reading: Callable[[SurveyLayout], None] | None = None,
) -> Setup:
    """Collective. Make a survey ready, for imaging (with a history) or for modelling only.

    summing: memory that groups of ranks take to add up their results, by part, for so many cells on a rank.
    before_reading: collective; called when the files are known, before values of the model are read.

    Raises InputError, the same on all ranks, for whatever is wrong with it.
    """
    usable = usable_memory(comm, survey.parallel.memory_budget)
    advice = f"use {IMAGING_ADVICE if imaging else MODELLING_ADVICE}"
    with collective_errors(comm):
        layout = survey_layout(survey, imaging, ranks=comm.size)
        ranks, cannot = _image_ranks(layout, comm.size) if imaging else (layout.ranks(comm.size), None)
    grid, wavelet, acquisition = layout.grid, layout.wavelet, layout.acquisition
    if long_lead(wavelet.lead, acquisition):
        advice += f" or another {key_of_lead(survey)}: the wavelet is far longer than the traces"
    shares = shares_of_run(layout, ranks, memory_of_rank(comm, usable), comm)
    block = Decomposition(grid.full_shape, ranks, comm.rank, cuts=shares.cuts)
    processor = choose_processor(layout, comm)
    model_bytes = {"model": MODEL_BYTES * math.prod(block.local_shape)}
    require_memory(
        model_bytes if imaging else host_parts(processor, layout.wavefield_bytes(block)), usable, comm, advice
    )
    if imaging:
        acquisition = treated(survey, acquisition, comm)
        layout = replace(layout, acquisition=acquisition)
    if before_reading is not None:
        before_reading(layout)
    with ledger.phase("read model"):
        earth = layout.files.read(grid, block, layout.radius, comm)
    frequency = peak_frequency(wavelet)
    ghosts = ghost_notes(layout, comm) if imaging else ()
    room = memory_of_rank(comm, usable)
    with collective_errors(comm):
        dt = time_step(survey, earth.time_step_limit)
        warnings = check_sampling(survey, earth.slowest, grid, wavelet, acquisition, dt)
        warnings += grazing_notes(layout, earth.slowest, earth.fastest, frequency) + ghosts
        warnings += check_bins(survey, acquisition.shots) if imaging else ()
        time, more = layout.time(dt)
        largest = layout.largest if imaging else layout
        ranks_per_shot = ranks_of_a_shot(layout, time, comm.size, room) if imaging else comm.size
        group = Group.of(comm.rank, comm.size, ranks_per_shot)
        apart = group.groups > 1 or (imaging and survey.imaging.aperture is not None)
        if apart:
            layout.smallest.ranks(group.size)  # before the run, not in the middle of it
            place = Decomposition(largest.grid.full_shape, largest.ranks(group.size), comm.rank - group.first)
        else:
            if cannot is not None:
                raise cannot
            largest, place = layout, block
    if apart and summing is not None:
        require_memory(summing(layout, math.prod(layout.image_shape(block))), usable, comm, advice)
    processor = processor.fitted(largest, place, comm)
    on_card = processor.card is not None
    parts = host_parts(processor, largest.wavefield_bytes(place)) | largest.shot_bytes(place, time, on_card)
    held = held_sum_bytes(layout, sum(parts.values()), usable) if imaging and on_card and comm.size == 1 else 0
    memory = require_memory(parts | ({"sums of images": held} if held else {}), usable, comm, advice)
    with collective_errors(comm):
        check_amplitude(survey, wavelet, time, layout.dtype)
    weights = survey.propagation.space_weights
    scheme = Scheme(
        dt=dt,
        radius=layout.radius,
        dtype=layout.dtype,
        boundary=layout.boundary,
        free_surface=layout.free_surface,
        vmax=earth.fastest,
        frequency=frequency,
        space_weights=weights,
    )
    model = None if apart else scaled_medium(earth.vp, earth.epsilon, earth.delta, dt, layout.dtype)
    return Setup(
        layout=layout,
        comm=comm,
        block=block,
        shares=shares,
        scheme=scheme,
        time=time,
        model=model,
        slowest=earth.slowest,
        fastest=earth.fastest,
        time_step_limit=earth.time_step_limit,
        weak_epsilon=earth.weak_epsilon,
        ranks_per_shot=ranks_per_shot,
        memory_bytes=memory,
        spare_bytes=spare_memory(memory, usable, comm),
        warnings=warnings
        + earth.notes
        + weak_epsilon_notes(earth.weak_epsilon)
        + more
        + acquisition.notes
        + processor.notes,
        processor=processor,
        held_bytes=held,
    )


def held_sum_bytes(layout: SurveyLayout, beside: int, usable: float) -> int:
    """Bytes of the exact sums of all images of a survey, which one rank with a card keeps in memory
    (runs/held_sums.py) where half of it is free all the same; else 0.

    beside: bytes of all else but the history. usable: bytes that the run may take.
    """
    held = CELL_BYTES * len(volumes_of(layout.survey.imaging)) * math.prod(layout.grid.shape)
    return held if beside + held <= usable // 2 else 0


def _image_ranks(layout: SurveyLayout, size: int) -> tuple[Index3, InputError | None]:
    """How all ranks share the whole image; and why they could not share its time steps, where that is so."""
    try:
        return layout.ranks(size), None
    except InputError as error:
        try:
            return choose_ranks(layout.grid.full_shape, size, 1), error
        except InputError:
            raise error from None


def on_shot(whole: Setup, shot: Shot, comm: MPI.Intracomm) -> Setup:
    """Collective in a group of ranks, `comm`. The same, ready for one shot on its own window of the model.

    Raises InputError on all of them: they are too many for it, the model cannot be read.
    """
    with collective_errors(comm):
        layout = whole.layout.on(shot)
        block = Decomposition(layout.grid.full_shape, layout.ranks(comm.size), comm.rank)
    with ledger.phase("read model"):
        parts = layout.files.parts(layout.grid, block, comm)
    model = scaled_medium(parts["vp"], parts.get("epsilon"), parts.get("delta"), whole.time.dt, layout.dtype)
    return replace(whole, layout=layout, comm=comm, block=block, shares=Shares(), model=model)
