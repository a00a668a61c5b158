"""Memory of elastic waves: fields, memory variables, medium, absorbing layers."""

from __future__ import annotations

import math

from fathometer.grid.arrays import field_layout, held_bytes, padded
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.fields import REACH, fields_of
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.waves.points import halo_depth

PARAMETER_BYTES = 4  # of a number as it is read
READ_AT_ONCE = 5  # properties of the model that are held while the medium is made of them


def wavefield_bytes(layout: SurveyLayout, block: Decomposition) -> dict[str, int]:
    """Bytes of a rank, by part, in 2D and 3D."""
    grid, item = layout.grid, layout.dtype.itemsize
    fields = len(fields_of(grid.two_dimensional))
    models = layout.physics.models
    _, shape = field_layout(block, halo_depth(REACH, layout.off_grid, block.ranks), layout.dtype)
    own = math.prod(block.local_shape)
    nx, ny, nz = block.local_shape
    rows = (nx, ny, padded(nz, item))
    array = held_bytes(math.prod(rows) * item)
    parts = {"wavefields": fields * held_bytes(math.prod(shape) * item)}
    if layout.files.given("qp"):
        parts["attenuation"] = (fields - len(grid.axes) + 2) * array
    parts["model"] = models * array + READ_AT_ONCE * own * PARAMETER_BYTES
    # Each axis differentiates as many velocities and as many stresses as there are axes.
    width = layout.boundary.width + 1  # the half point before the first node
    layers = 0
    for axis in grid.axes:
        sides = 1 if axis == 2 and layout.free_surface else 2
        cells = padded(width, item) + padded(1, item) if axis == 2 else width  # whole cache lines along z
        layers += sides * held_bytes(math.prod(rows) // rows[axis] * cells * item)
    parts["absorbing layers"] = 2 * len(grid.axes) * layers
    return parts
