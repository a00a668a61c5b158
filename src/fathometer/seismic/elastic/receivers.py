"""What receivers record: components of velocity and stress, and pressure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import BY_NAME, NORMAL, VELOCITY, fields_of, of_dimension
from fathometer.seismic.elastic.points import points_on
from fathometer.seismic.elastic.sloping_floor import SlopingFloor
from fathometer.seismic.survey import Survey

PRESSURE = "pressure"


def components_of(survey: Survey, two_dimensional: bool) -> tuple[str, ...]:
    """[acquisition] components, or the velocities. Raises InputError for one that two dimensions do not have."""
    known = [field.name for field in fields_of(two_dimensional)]
    given = survey.acquisition.components
    if given is None:
        return tuple(name for name in known if BY_NAME[name].stage == VELOCITY)
    for name in given:
        if name not in (*known, PRESSURE):
            raise InputError(
                f'{survey.path}: [acquisition] components: found "{name}" in 2D, where nothing varies along y; '
                f"allowed: {', '.join((*known, PRESSURE))}"
            )
    return given


def receiver_points(
    grid: Grid,
    positions: np.ndarray,
    components: Sequence[str],
    free_surface: bool,
    attenuates: bool = False,
    floor: SeaFloor | SlopingFloor | None = None,
    block: Decomposition | None = None,
) -> list[FieldPoints]:
    """Where receivers sample the fields; pressure is minus the mean of the normal stresses.

    Args:
        grid: padded. positions: (n, 3), m. components: what each records; column c n + r is component c of receiver r.
        free_surface: whether the plane k = 0 is one. attenuates: whether the medium does, somewhere.
        floor: of the sea, on which pressure is that of the water. block: that they are for; None: any.
    """
    cells = grid.to_cells(np.atleast_2d(positions))
    normal = of_dimension(NORMAL, grid.two_dimensional)
    points = []
    for number, component in enumerate(components):
        fields = normal if component == PRESSURE else (component,)
        amplitude = -1 / len(normal) if component == PRESSURE else 1.0
        for name in fields:
            points.extend(
                points_on(
                    name,
                    cells,
                    number * len(cells) + np.arange(len(cells), dtype=np.int64),
                    np.full(len(cells), amplitude),
                    free_surface=free_surface,
                    injecting=False,
                    attenuates=attenuates,
                    floor=floor,
                    block=block,
                    wet=component == PRESSURE,
                )
            )
    return points


def time_shift(component: str) -> float:
    """Of recorded values from the begin of their step, in steps: velocities are recorded in its middle."""
    return 0.5 * (component != PRESSURE and BY_NAME[component].stage == VELOCITY)
