"""Checks of an elastic survey once its model is known: wavelengths, places of sources, keys that are not used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.contact_closure import ROCK
from fathometer.seismic.elastic.earth import ElasticEarth, inner
from fathometer.seismic.elastic.receivers import PRESSURE
from fathometer.seismic.elastic.sources import STRESSES, PointSources
from fathometer.seismic.setup.checks import check_sampling
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import Wavelet

FEW_POINTS = 6.0  # of order 4, grid cells per shortest wavelength; below it there is a note
_ROUNDING = 1e-3  # m


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
    other = ~sources.explosive
    if not other.any():
        return
    vs = earth.vs[inner(grid.two_dimensional)]
    for shot in shots:
        places = grid.to_cells(shot.source + sources.offset[other])
        cells = np.rint(places).astype(int)
        if earth.floor is not None:  # the nearest cell may lie on the other side of it
            side = earth.floor.side_of(places, wet=False)
            columns = (np.clip(cells[:, axis], 0, grid.full_shape[axis] - 1) for axis in range(2))
            rock = earth.floor.first_rock(*columns)
            cells[:, 2] = np.where(side == ROCK, np.maximum(cells[:, 2], rock), np.minimum(cells[:, 2], rock - 1))
        mine = np.all((cells >= block.lo) & (cells < block.hi), axis=1)
        fluid = np.flatnonzero(mine)[vs[tuple((cells[mine] - np.array(block.lo)).T)] == 0]
        if len(fluid):
            x, y, z = shot.source + sources.offset[other][fluid[0]]
            raise InputError(
                f"{survey.path}: [source]: a moment of shot {shot.index + 1} at ({x:g}, {y:g}, {z:g}) m lies in a "
                "fluid (vs = 0) and is no explosion; allowed in fluids: explosions and forces"
            )


def check_cuts(survey: Survey, earth: ElasticEarth, block: Decomposition) -> None:
    """Raises InputError where ranks cut columns over a sea floor, whose derivatives take more than a halo of them."""
    if earth.floor is not None and block.ranks[2] > 1:
        raise InputError(
            f"{survey.path}: [parallel] decomposition: found {block.ranks[2]} ranks along z in a model with a sea "
            "floor; allowed: 1 along z, others along x and y"
        )


def check_hydrophones(
    survey: Survey,
    components: Sequence[str],
    shots: Sequence[Shot],
    earth: ElasticEarth,
    grid: Grid,
    block: Decomposition,
) -> None:
    """Raises InputError on the ranks that find receivers of pressure in rock, in a model that has water.

    earth: of the block. grid: padded."""
    if PRESSURE not in components or earth.contacts == 0:
        return
    vs = earth.vs[inner(grid.two_dimensional)]
    seen: set[bytes] = set()
    for shot in shots:
        key = shot.receivers.tobytes()
        if key in seen:
            continue
        seen.add(key)
        places = grid.to_cells(shot.receivers)
        cells = np.rint(places).astype(int)
        mine = np.flatnonzero(np.all((cells >= block.lo) & (cells < block.hi), axis=1))
        if earth.floor is not None:
            dry = earth.floor.side_of(places[mine], wet=True) == ROCK
        else:  # rock above it and below
            local = cells[mine] - np.array(block.lo)
            ends = [
                np.clip(f(places[mine, 2]).astype(int) - block.lo[2], 0, vs.shape[2] - 1) for f in (np.floor, np.ceil)
            ]
            dry = np.all([vs[local[:, 0], local[:, 1], k] > 0 for k in ends], axis=0)
        if dry.any():
            x, y, z = shot.receivers[mine[dry][0]]
            raise InputError(
                f'{survey.path}: [acquisition] components: found "{PRESSURE}" with {np.count_nonzero(dry)} receivers '
                f"of shot {shot.index + 1} in rock, first at ({x:g}, {y:g}, {z:g}) m; allowed: pressure in water, down "
                "to the floor; in rock sxx, syy, szz"
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
