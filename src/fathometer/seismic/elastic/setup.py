"""All that is decided before the first time step of an elastic run.

headers -> width of the layers -> layout -> this rank's part of the model -> dt -> time axis -> medium -> memory
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.memory_budget import require_memory, spare_memory, usable_memory
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.contact_media import PlaneSides, set_contact
from fathometer.seismic.elastic.earth import ElasticEarth, attenuation_of, read_earth
from fathometer.seismic.elastic.elastic_layout import ElasticLayout, elastic_headers, elastic_layout
from fathometer.seismic.elastic.fields import NORMAL, of_dimension
from fathometer.seismic.elastic.layer_width import slow_waves
from fathometer.seismic.elastic.layers import multiaxial_share
from fathometer.seismic.elastic.media import medium_of
from fathometer.seismic.elastic.medium import Medium
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.receivers import PRESSURE
from fathometer.seismic.elastic.sloping_floor import SlopingFloor
from fathometer.seismic.elastic.sloping_media import SlopingSides, set_sloping_contact
from fathometer.seismic.elastic.sloping_points import floor_point_bytes
from fathometer.seismic.elastic.snapshots import single_node_notes, steps_between
from fathometer.seismic.elastic.sources import PointSources
from fathometer.seismic.elastic.survey_checks import (
    check_cuts,
    check_hydrophones,
    check_solid,
    check_wavelengths,
    onset_notes,
    reference_notes,
)
from fathometer.seismic.setup.checks import check_amplitude, time_step
from fathometer.seismic.setup.fair_cuts import Shares, Work
from fathometer.seismic.setup.grazing import peak_frequency
from fathometer.seismic.setup.setup import MODELLING_ADVICE, Setup
from fathometer.seismic.setup.survey_layout import SurveyHeaders, distinct_positions
from fathometer.seismic.survey import PmlTable, Survey
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.checked_steps import steps_at_a_time
from fathometer.seismic.waves.scheme import Scheme


@dataclass(frozen=True, eq=False)
class ElasticSetup:
    """An elastic survey made ready for propagation on this rank.

    Attributes:
        run: what modelling of all physics has. attenuation: None: there is none; its error: the largest of Q.
        layout: sources and components. floor: as of ElasticEarth.
    """

    run: Setup
    medium: Medium
    attenuation: Attenuation | None
    attenuation_error: float
    layout: ElasticLayout
    floor: SeaFloor | SlopingFloor | None

    @property
    def survey(self) -> Survey:
        return self.run.survey

    @property
    def scheme(self) -> Scheme:
        return self.run.scheme

    @property
    def grid(self) -> Grid:
        return self.run.grid

    @property
    def comm(self) -> MPI.Intracomm:
        return self.run.comm

    @property
    def time(self) -> TimeAxis:
        return self.run.time

    @property
    def sources(self) -> PointSources:
        """What acts in each shot."""
        return self.layout.sources

    @property
    def components(self) -> tuple[str, ...]:
        """What receivers record, in the order in which it is written."""
        return self.layout.components

    @property
    def steps_at_a_time(self) -> int:
        """Time steps of an advance; snapshots are taken between advances."""
        run, stop = self.run, steps_between(self.survey.snapshots)
        return steps_at_a_time(run.grid, run.comm.size, run.time.steps, stop=stop)

    def propagator(self) -> ElasticPropagator:
        """A wavefield at rest in the medium."""
        run = self.run
        off_grid = run.layout.off_grid
        return ElasticPropagator(run.grid, run.block, self.medium, self.scheme, off_grid, run.comm, self.floor)


def prepare_elastic(
    survey: Survey, comm: MPI.Intracomm, before_reading: Callable[[SurveyHeaders], None] | None = None
) -> ElasticSetup:
    """Collective. Make an elastic survey ready. Raises InputError, the same on all ranks, for what is wrong with it.

    before_reading: collective; called when the files are known, before values of the model are read.
    """
    usable = usable_memory(comm, survey.parallel.memory_budget)
    with collective_errors(comm):
        headers = elastic_headers(survey, ranks=comm.size)
    if before_reading is not None:
        before_reading(headers)
    waves = slow_waves(headers.files, headers.survey, comm)
    with collective_errors(comm):
        layout = elastic_layout(headers, waves)
        ranks = layout.ranks(comm.size)
        frequency = peak_frequency(layout.wavelet)
        attenuation = attenuation_of(survey, layout.wavelet, frequency)
    grid = layout.grid
    shares = Shares(Work(layout).cuts(ranks))
    block = Decomposition(grid.full_shape, ranks, comm.rank, cuts=shares.cuts)
    with collective_errors(comm):
        parts = layout.wavefield_bytes(block)
    require_memory(parts, usable, comm, _advice(survey))
    with ledger.phase("read model"):
        earth = read_earth(layout.files, grid, block, attenuation, comm)
    with collective_errors(comm):
        shots = layout.acquisition.shots
        check_cuts(survey, earth, block)
        check_solid(survey, layout.sources, shots, earth, grid, block)
        check_hydrophones(survey, layout.components, shots, earth, grid, block)
        dt = time_step(survey, earth.time_step_limit)
        notes = check_wavelengths(survey, earth.slowest, grid, layout.wavelet, layout.acquisition, dt)
        notes += earth.notes + layout.sources.notes
        time, more = layout.time(dt)
        notes += more + onset_notes(survey, layout.sources, time) + reference_notes(attenuation)
        notes += single_node_notes(grid, survey.snapshots)
        check_amplitude(survey, layout.wavelet, time, layout.dtype)
    parts |= layout.shot_bytes(block, time)
    if isinstance(earth.floor, SlopingFloor):
        parts["points near the floor"] = _floor_point_bytes(layout, earth.floor)
    memory = require_memory(parts, usable, comm, _advice(survey))
    boundary = _boundary(layout, earth)
    scheme = Scheme(dt, layout.radius, layout.dtype, boundary, layout.free_surface, earth.fastest, frequency)
    run = Setup(
        layout=layout,
        comm=comm,
        block=block,
        shares=shares,
        scheme=scheme,
        time=time,
        model=[],  # the medium is not the acoustic one
        slowest=earth.slowest,
        fastest=earth.fastest,
        time_step_limit=earth.time_step_limit,
        weak_epsilon=None,
        ranks_per_shot=comm.size,
        memory_bytes=memory,
        spare_bytes=spare_memory(memory, usable, comm),
        warnings=notes + layout.acquisition.notes,
    )
    medium = medium_of(earth, grid, block.lo, dt, layout.dtype)
    if isinstance(earth.floor, SlopingFloor):
        medium = set_sloping_contact(medium, SlopingSides(earth.arrays, attenuation, earth.floor, grid, block.lo), dt)
    elif earth.floor is not None:
        set_contact(medium, PlaneSides(earth.arrays, attenuation, earth.floor, grid), block.lo, dt)
    return ElasticSetup(run, medium, attenuation, earth.attenuation_error, layout, earth.floor)


def _floor_point_bytes(layout: ElasticLayout, floor: SlopingFloor) -> int:
    """Of the receivers of the shot that has most."""
    normal = len(of_dimension(NORMAL, layout.grid.two_dimensional))
    recorded = sum(normal if name == PRESSURE else 1 for name in layout.components)
    _, *spreads = distinct_positions(layout.acquisition)
    return max((floor_point_bytes(layout.grid.to_cells(spread), recorded, floor) for spread in spreads), default=0)


def _boundary(layout: ElasticLayout, earth: ElasticEarth) -> MultiaxialPml:
    """The layers that the survey names, their multi-axial share from the model if left out."""
    boundary, keys = layout.boundary, layout.survey.propagation.boundary
    assert isinstance(boundary, MultiaxialPml)
    if isinstance(keys, PmlTable) and keys.multiaxial is not None:
        return boundary
    return replace(
        boundary, multiaxial=multiaxial_share(earth.contrast, earth.contacts, earth.unevenness, boundary.width)
    )


def _advice(survey: Survey) -> str:
    """What takes less memory."""
    keys = survey.snapshots
    fewer = "fewer [snapshots] buffered_steps, " * (keys is not None and keys.buffered_steps > 1)
    return f"use {fewer}{MODELLING_ADVICE}"
