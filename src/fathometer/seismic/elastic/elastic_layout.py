"""The layout of an elastic survey: grid, sources, components, before any value of the model is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fathometer.base.errors import naming
from fathometer.grid.grid import Sides
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.closure import ROWS
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import NORMAL, fields_of, of_dimension
from fathometer.seismic.elastic.layer_width import LayerWidth, SlowWaves, layer_width
from fathometer.seismic.elastic.memory import wavefield_bytes
from fathometer.seismic.elastic.points import reach, weights_of
from fathometer.seismic.elastic.receivers import PRESSURE, components_of, receiver_points
from fathometer.seismic.elastic.snapshots import buffer_bytes, check_every
from fathometer.seismic.elastic.sources import PointSources, point_sources_of
from fathometer.seismic.elastic.survey_checks import check_inside_model
from fathometer.seismic.elastic.time_functions import TOGETHER, transform_bytes
from fathometer.seismic.setup.checks import check_steps
from fathometer.seismic.setup.grazing import peak_frequency
from fathometer.seismic.setup.survey_layout import (
    SurveyHeaders,
    SurveyLayout,
    boundary_of,
    distinct_positions,
    padding,
    survey_headers,
)
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.moment_rate import RateWavelet
from fathometer.seismic.traces.time_axis import TimeAxis, time_axis
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.physics import Physics
from fathometer.seismic.waves.points import HALF_WIDTH


def _physics(two_dimensional: bool, models: int) -> Physics:
    axes = tuple(field.axes for field in fields_of(two_dimensional))
    return Physics("elastic", "elastic", len(axes), models, axes, stages=2, surface_cells=ROWS, layer_work=0.35)


ELASTIC, ELASTIC_2D = _physics(False, 8), _physics(True, 5)


@dataclass(frozen=True, eq=False)
class ElasticLayout(SurveyLayout):
    """A survey layout whose time axis and memory are those of elastic waves; padded for the points of all fields.

    Attributes:
        sources: of each shot. components: that receivers record, in the order in which they are written.
        width: of the absorbing layers.
    """

    sources: PointSources
    components: tuple[str, ...]
    width: LayerWidth

    @property
    def share_in_layers(self) -> float:
        """Of all cells, the share in absorbing layers."""
        inside = 1.0
        for axis in self.grid.axes:
            sides = 1 if axis == 2 and self.free_surface else 2
            inside *= 1 - sides * self.width.cells / self.grid.full_shape[axis]
        return 1 - inside

    @property
    def layers_in_words(self) -> str:
        """How wide the absorbing layers are, and which share of the cells they take."""
        cells, spacing = self.width.cells, [self.grid.spacing[axis] for axis in self.grid.axes]
        metres = " x ".join(f"{cells * h:.4g}" for h in (spacing if len(set(spacing)) > 1 else spacing[:1]))
        words = ", ".join(filter(None, (f"{metres} m", self.width.words)))
        return f"absorbing layers: {cells} cells ({words}); {100 * self.share_in_layers:.0f} % of all cells"

    @property
    def physics(self) -> Physics:
        """The wave equation, in three dimensions or in two."""
        return ELASTIC_2D if self.grid.two_dimensional else ELASTIC

    @property
    def attenuates(self) -> bool:
        return self.files.given("qp")

    def time(self, dt: float) -> tuple[TimeAxis, tuple[str, ...]]:
        """The time axis for a time step (s), and warnings. Raises InputError where it is no use."""
        survey, acquisition, lead = self.survey, self.acquisition, self.sources.lead(self.wavelet)
        warnings = check_steps(survey, lead, acquisition, dt)
        time = time_axis(dt, lead, acquisition.end, 1)
        if survey.snapshots is not None:
            with naming(str(survey.path)):
                check_every(survey.snapshots, time.steps)
        return time, warnings

    def wavefield_bytes(self, block: Decomposition) -> dict[str, int]:
        """Bytes of a rank's fields, medium, layers and snapshots. InputError where [snapshots] does not fit."""
        return wavefield_bytes(self, block) | self._snapshot_bytes(block, steps=1)

    @property
    def points_of_a_receiver(self) -> int:
        """Points of the fields that are sampled for all components of a receiver."""
        normal = len(of_dimension(NORMAL, self.grid.two_dimensional))
        return sum(normal if component == PRESSURE else 1 for component in self.components)

    def shot_bytes(self, block: Decomposition, time: TimeAxis, on_card: bool = False) -> dict[str, int]:
        """Bytes of a rank's traces, of all components, of the series of its sources, and of its snapshots."""
        parts = super().shot_bytes(block, time, on_card)
        for name in ("traces", "weights of receivers"):
            parts[name] *= len(self.components)
        mine, wavelet = self._touching(block), self.wavelet
        rise_times = np.zeros(0)
        if self.sources.rise_time is not None:
            rise_times = np.unique(self.sources.rise_time[mine])
        if self.corrected:  # some at a time
            series, rise_times = self.sources.series(mine), rise_times[-TOGETHER:]
            parts["source series"] = time.steps * series * self.dtype.itemsize
            parts["transforms of traces"] = max(parts["transforms of traces"], transform_bytes(series, time.steps))
        if len(rise_times) and isinstance(wavelet, RateWavelet):
            parts["moment rates"] = wavelet.table_bytes(rise_times)
        return parts | self._snapshot_bytes(block, time.steps)

    def series(self, block: Decomposition) -> int:
        """Most series that a block's part of a shot's sources has; of many shots an estimate from above."""
        return self.sources.series(self._touching(block))

    def _touching(self, block: Decomposition) -> np.ndarray:
        """(n,) which of a shot's sources touch a block, wherever between the outermost shots the shot is."""
        if len(self.sources.onset) == 1:
            return np.ones(1, bool)
        offset, low, high = self._places
        touching = np.ones(len(offset), bool)
        for axis in self.grid.axes:
            touching &= offset[:, axis] + high[axis] >= block.lo[axis] - HALF_WIDTH
            touching &= offset[:, axis] + low[axis] < block.hi[axis] + HALF_WIDTH
        return touching

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In cells: the sources' offsets (n, 3) from their shot, lower and upper end (3,) of where shots are."""
        grid = self.grid
        zero = grid.to_cells(np.zeros((1, 3)))
        shots = grid.to_cells(np.stack([shot.source for shot in self.acquisition.shots]))
        return grid.to_cells(self.sources.offset) - zero, shots.min(axis=0), shots.max(axis=0)

    def _snapshot_bytes(self, block: Decomposition, steps: int) -> dict[str, int]:
        survey = self.survey
        if survey.snapshots is None:
            return {}
        with naming(str(survey.path)):
            return {"snapshots": buffer_bytes(self.grid, block, survey.snapshots, steps=steps)}


def elastic_headers(survey: Survey, headers_only: bool = False, ranks: int = 1) -> SurveyHeaders:
    """Look at the headers of a survey's files; arguments as of `survey_headers`. Raises InputError for what is
    wrong."""
    return survey_headers(survey, False, headers_only, ranks)


def elastic_layout(found: SurveyHeaders, waves: SlowWaves) -> ElasticLayout:
    """The layout of a survey. waves: of its model; where the survey says how wide layers are, any. Raises InputError
    for what is wrong."""
    survey, bare = found.survey, found.files.grid
    width = layer_width(survey, bare, waves, peak_frequency(found.wavelet))
    boundary = boundary_of(survey.propagation, MultiaxialPml)
    assert isinstance(boundary, MultiaxialPml)
    boundary = replace(boundary, width=width.cells)
    found = replace(found, acquisition=replace(found.acquisition, notes=width.notes + found.acquisition.notes))
    sources = point_sources_of(survey, bare.two_dimensional)
    components = components_of(survey, bare.two_dimensional)
    check_inside_model(survey, sources, found.acquisition.shots, bare)
    margins = _margins(found, sources, components)
    grid = replace(bare, pad=padding(bare, boundary.width, margins, found.free_surface))
    # Whatever lies on a node lies between the points of other fields.
    return ElasticLayout(
        **vars(found),
        boundary=boundary,
        grid=grid,
        off_grid=True,
        sources=sources,
        components=components,
        width=width,
    )


def _margins(headers: SurveyHeaders, sources: PointSources, components: tuple[str, ...]) -> Sides:
    """Cells that points of any field reach beyond the model per side: their weights must not lie in a layer."""
    bare, free, attenuates = headers.files.grid, headers.free_surface, headers.files.given("qp")
    shots, *spreads = distinct_positions(headers.acquisition)
    positions = (shots[:, None] + sources.offset).reshape(-1, 3)
    none = np.zeros(len(positions), np.int64)
    points = [
        FieldPoints(name, weights_of(name, bare.to_cells(positions), free, True, attenuates), none, none.astype(float))
        for name in sources.fields
    ]
    for receivers in spreads:
        points += receiver_points(bare, receivers, components, free, attenuates)
    x, y, z = ((int(before), int(after)) for before, after in reach(points, bare.shape))
    return x, y, z
