"""Checks of an elastic survey once its model is known: wavelengths, places of sources, keys that are not used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.earth import ElasticEarth, inner
from fathometer.seismic.elastic.fields import NORMAL
from fathometer.seismic.elastic.sources import STRESSES, PointSources
from fathometer.seismic.setup.checks import check_sampling
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet

FEW_POINTS = 6.0  # of order 4, grid cells per shortest wavelength; below it there is a note
_ROUNDING = 1e-3  # m
_SAME = 1e-6  # of a tensor's largest component: less is rounding


def check_wavelengths(
    survey: Survey, slowest: float, grid: Grid, wavelet: Wavelet, acquisition: Acquisition, dt: float
) -> tuple[str, ...]:
    """Raises InputError for fewer than 2.5 cells in the shortest wavelength, and for traces that cannot hold it; a note
    for fewer than 6, with the cells that would have 6.

    slowest: m/s, of S waves, and of P waves in fluids (ElasticEarth.slowest).
    """
    return check_sampling(survey, slowest, grid, wavelet, acquisition, dt, FEW_POINTS)


def check_inside_model(survey: Survey, sources: PointSources, shots: Sequence[Shot], grid: Grid) -> None:
    """Raises InputError where point sources of a table lie outside the model or above its first plane.

    grid: of the model, with or without padding. The shots' own positions are checked with the acquisition."""
    lower, upper = np.array(grid.origin) - _ROUNDING, np.array(grid.upper) + _ROUNDING
    count, first = 0, ""
    for shot in shots:
        places = shot.source + sources.offset
        outside = (places < lower) | (places > upper)
        wrong = np.flatnonzero(outside[:, grid.axes].any(axis=1))
        count += len(wrong)
        if len(wrong) and not first:
            x, y, z = places[wrong[0]]
            first = f"row {wrong[0] + 1} (from 1) of shot {shot.index + 1}, at ({x:g}, {y:g}, {z:g}) m"
    if count:
        total = len(shots) * len(sources.offset)
        lowest, highest = (f"({', '.join(f'{m:g}' for m in end)})" for end in (grid.origin, grid.upper))
        raise InputError(
            f"{survey.path}: [source] path: {count} of {total} point sources lie outside the model; first: {first}; "
            f"allowed: from {lowest} to {highest} m"
        )


def check_solid(
    survey: Survey, sources: PointSources, shots: Sequence[Shot], earth: ElasticEarth, grid: Grid, block: Decomposition
) -> None:
    """Raises InputError on the ranks that find a moment other than an explosion's in a fluid, where nothing carries
    shear: what such a source leaves there would stay for ever.

    earth: of the block. grid: padded."""
    if sources.fields[0] not in STRESSES:
        return
    normal = sources.component[:, [n for n, name in enumerate(sources.fields) if name in NORMAL]]
    shear = sources.component[:, [n for n, name in enumerate(sources.fields) if name not in NORMAL]]
    size = np.abs(sources.component).max(axis=1)
    other = (np.ptp(normal, axis=1) > _SAME * size) | (np.abs(shear).max(axis=1) > _SAME * size)
    if not other.any():
        return
    vs = earth.vs[inner(grid.two_dimensional)]
    for shot in shots:
        cells = np.rint(grid.to_cells(shot.source + sources.offset[other])).astype(int)
        mine = np.all((cells >= block.lo) & (cells < block.hi), axis=1)
        fluid = np.flatnonzero(mine)[vs[tuple((cells[mine] - np.array(block.lo)).T)] == 0]
        if len(fluid):
            x, y, z = shot.source + sources.offset[other][fluid[0]]
            raise InputError(
                f"{survey.path}: [source]: a moment of shot {shot.index + 1} at ({x:g}, {y:g}, {z:g}) m lies in a "
                "fluid (vs = 0) and is no explosion; allowed in fluids: explosions and forces"
            )


def onset_notes(survey: Survey, sources: PointSources, time: TimeAxis) -> tuple[str, ...]:
    """A note where point sources of a table begin after the run's end."""
    end = time.first + time.steps * time.dt
    late = int((sources.onset >= end).sum())
    if not late:
        return ()
    return (f"[source] path: {late} of {len(sources.onset)} point sources begin after the end at {end:g} s: not heard",)


def reference_notes(attenuation: Attenuation | None) -> tuple[str, ...]:
    """A note where the reference frequency lies outside the band in which velocities change with frequency as those of
    constant Q."""
    if attenuation is None or attenuation.band[0] <= attenuation.reference <= attenuation.band[1]:
        return ()
    low, high = attenuation.band
    return (
        f"[model] reference_frequency: {attenuation.reference:g} Hz lies outside {low:g} to {high:g} Hz, where Q is "
        "constant: velocities in this band will not be those of constant Q",
    )
