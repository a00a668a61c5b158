"""Elastic sources: forces and moment tensors at points around a shot's source position, each with a time function.

    rho dv/dt = div sigma + sum f(t - onset) delta(x - xs)      dsigma/dt = C : grad v - sum M(t - onset) delta(x - xs)

f and M are the force and the moment rate: components times the wavelet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fathometer.base.errors import InputError, naming
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import NORMAL, SHEAR, VELOCITIES
from fathometer.seismic.elastic.moment_tensors import double_couple
from fathometer.seismic.elastic.points import points_on
from fathometer.seismic.elastic.sloping_floor import SlopingFloor
from fathometer.seismic.elastic.source_table import SourceRows, read_sources
from fathometer.seismic.elastic.time_functions import RISE_TIMES, SourceSeries
from fathometer.seismic.survey import (
    CosineTable,
    DoubleCoupleTable,
    ExplosionTable,
    ForceTable,
    SourceFileTable,
    Survey,
)
from fathometer.seismic.survey.source import TENSOR
from fathometer.seismic.traces.moment_rate import RateWavelet
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet, wavelet_of

FORCES = VELOCITIES
STRESSES = (*NORMAL, *SHEAR)
_SAME = 1e-6  # of a tensor's largest component: less is rounding
_NOTHING = 1e-9  # of a tensor's largest component: rounding of the angles


@dataclass(frozen=True, eq=False)
class PointSources:
    """Point sources that act together as a shot's source.

    Attributes:
        fields: that take the components: FORCES (N) or STRESSES (N m); 2D: N / m and N m / m.
        component: (n, fields) float64, what the time function is multiplied by.
        offset: (n, 3) float64, m, from the shot's source position. onset: (n,) float64, s.
        rise_time: (n,) float64, s, in place of the wavelet's; None: the wavelet's.
        notes: what a user should know.
    """

    fields: tuple[str, ...]
    component: np.ndarray
    offset: np.ndarray
    onset: np.ndarray
    rise_time: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def series(self, some: np.ndarray) -> int:
        """How many different time functions some of them have."""
        return int(np.count_nonzero(np.bincount(self._numbers[some])))

    @cached_property
    def _numbers(self) -> np.ndarray:
        """(n,) which time function each has: looked for once, since whoever plans asks for many blocks."""
        rise_time = np.zeros_like(self.onset) if self.rise_time is None else self.rise_time
        _, number = np.unique(np.stack([self.onset, rise_time], axis=1), axis=0, return_inverse=True)
        return np.asarray(number.reshape(-1))

    @property
    def explosive(self) -> np.ndarray:
        """(n,) which of them are explosions, which water can have."""
        if self.fields[0] not in STRESSES:
            return np.zeros(len(self.component), bool)
        normal = self.component[:, [n for n, name in enumerate(self.fields) if name in NORMAL]]
        shear = self.component[:, [n for n, name in enumerate(self.fields) if name not in NORMAL]]
        size = np.abs(self.component).max(axis=1)
        shear_size = np.abs(shear).max(axis=1, initial=0)
        return np.asarray((np.ptp(normal, axis=1) <= _SAME * size) & (shear_size <= _SAME * size))

    def lead(self, wavelet: Wavelet) -> float:
        """Time before t = 0 at which the first of them begins, s."""
        return max(0.0, wavelet.lead - float(self.onset.min()))


def point_sources_of(survey: Survey, two_dimensional: bool) -> PointSources:
    """What [source] names. Raises InputError where its table cannot be used, and where nothing is left of it in 2D."""
    keys = survey.needed_source
    if isinstance(keys, SourceFileTable):
        with naming(f"{survey.path}: [source] path"):
            sources = _of_table(survey, keys, two_dimensional)
    elif isinstance(keys, ForceTable):
        sources = _single(FORCES, np.array(keys.vector))
    elif isinstance(keys, ExplosionTable):
        sources = _single(STRESSES, keys.moment * np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
    elif isinstance(keys, DoubleCoupleTable):
        sources = _single(STRESSES, double_couple(keys.strike, keys.dip, keys.rake, keys.moment))
    else:
        sources = _single(STRESSES, np.array([getattr(keys, name) for name in TENSOR]))
    if not two_dimensional:
        return sources
    return _in_two_dimensions(survey, sources, silent=isinstance(keys, ExplosionTable))


def _single(fields: tuple[str, ...], component: np.ndarray) -> PointSources:
    return PointSources(fields, component.reshape(1, -1), np.zeros((1, 3)), np.zeros(1))


def _of_table(survey: Survey, keys: SourceFileTable, two_dimensional: bool) -> PointSources:
    table = read_sources(survey.directory / keys.path, two_dimensional)
    kind = survey.needed_wavelet.kind
    if table.rise_time is not None:
        if kind not in RISE_TIMES:
            raise InputError(
                f'{table.path}: column rise_time: found with the wavelet "{kind}", which has none; allowed: with '
                f"{' or '.join(RISE_TIMES)}"
            )
        wavelet = survey.needed_wavelet
        if isinstance(wavelet, CosineTable) and wavelet.maximum_frequency is None:
            shortest = float(table.rise_time.min())
            if shortest < wavelet.rise_time:
                raise InputError(
                    f"{table.path}: column rise_time: found {shortest:g} s; allowed: from [wavelet] rise_time, "
                    f"{wavelet.rise_time:g} s, on, or a [wavelet] maximum_frequency"
                )
        _check_rise_times(survey, table)
    return PointSources(STRESSES, table.moment, table.offset, table.onset, table.rise_time, table.notes)


def _check_rise_times(survey: Survey, table: SourceRows) -> None:
    """Raises InputError where a rise time is out of the wavelet's range."""
    wavelet = wavelet_of(survey)
    assert isinstance(wavelet, RateWavelet)
    assert table.rise_time is not None
    low, high = wavelet.rise_times
    bad = np.flatnonzero(~((table.rise_time >= low) & (table.rise_time <= high)))
    if len(bad):
        raise InputError(
            f"{table.path}: column rise_time: found {table.rise_time[bad[0]]:g} in row {bad[0] + 1} (from 1), and in "
            f"{len(bad)} rows what is out of range; allowed: {low:g} to {high:g} s with [wavelet] maximum_frequency "
            f"{wavelet.fmax:g} Hz"
        )


def _in_two_dimensions(survey: Survey, sources: PointSources, silent: bool) -> PointSources:
    """Without the components along y, which radiate nothing in the plane of x and z. silent: no note on that."""
    size = np.abs(sources.component)
    largest = size.max()
    flat = [n for n, name in enumerate(sources.fields) if "y" not in name]
    ignored = [n for n, name in enumerate(sources.fields) if "y" in name and size[:, n].max() > _NOTHING * largest]
    words = ", ".join(("f" if sources.fields is FORCES else "m") + sources.fields[n][1:] for n in ignored)
    if not size[:, flat].max() > _NOTHING * largest:
        raise InputError(
            f"{survey.path}: [source]: found nothing but {words}, which radiates nothing in a 2D model of x and z; "
            "allowed: components along x and z"
        )
    notes = sources.notes
    if ignored and not silent:
        notes += (f"[source]: {words} radiate{'s' * (len(ignored) == 1)} nothing in a 2D model of x and z: ignored",)
    fields = tuple(sources.fields[n] for n in flat)
    return replace(sources, fields=fields, component=sources.component[:, flat], notes=notes)


def source_points(
    grid: Grid,
    sources: PointSources,
    position: np.ndarray,
    wavelet: Wavelet,
    time: TimeAxis,
    free_surface: bool,
    dtype: np.dtype[Any],
    corrected: bool,
    attenuates: bool = False,
    floor: SeaFloor | SlopingFloor | None = None,
    block: Decomposition | None = None,
) -> tuple[list[FieldPoints], SourceSeries]:
    """Where a shot's source touches the fields, and the series of its columns.

    Args:
        grid: padded. position: (3,), of the shot's source, m. free_surface: whether the plane k = 0 is one.
        time: of the propagation. dtype: of the series. corrected: whether time dispersion is.
        attenuates: whether the medium does, somewhere.
        floor: of the sea, on which explosions are in the water, other sources in the rock.
        block: that they are for; None: any.
    """
    cells = grid.to_cells(np.asarray(position, float) + sources.offset)
    forces = sources.fields[0] in FORCES
    scale = (1.0 if forces else -time.dt) / grid.cell_volume
    shift = 0.0 if forces else 0.5
    series, column = SourceSeries.of(wavelet, sources.onset, sources.rise_time, time, shift, dtype, corrected)
    points = []
    largest, explosive = np.abs(sources.component).max(), sources.explosive
    for n, name in enumerate(sources.fields):
        some = np.flatnonzero(np.abs(sources.component[:, n]) > _NOTHING * largest)
        if len(some):
            points.extend(
                points_on(
                    name,
                    cells[some],
                    column[some],
                    scale * sources.component[some, n],
                    free_surface=free_surface,
                    injecting=True,
                    attenuates=attenuates,
                    floor=floor,
                    block=block,
                    wet=explosive[some],
                )
            )
    return points, series
