"""Derivatives along z next to a sea floor as the kernels take them: dense tables over the nodes and half points around
it (native/elastic/contact.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer.seismic.elastic.contact import BESIDE, SeaFloor
from fathometer.seismic.elastic.contact_closure import HALVES, ROCK, ROWS, WATER, closure

ALIGNMENT = 16  # cells: whole vectors
COLUMNS = 2 * BESIDE  # rows of values that a derivative asks for


def contact_tables(floor: SeaFloor, cells: int, spacing: float, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Keyword arguments of the kernels' set_contact; cells: of a row.

    Tables are of the derivatives of the force: of szz, of shear stresses; and of strain: of vz, of velocities along the
    floor. keep: 1 where a derivative is the grid's.
    """
    first = (floor.last - HALVES) // ALIGNMENT * ALIGNMENT
    last = min(-(-(floor.last + HALVES + 1) // ALIGNMENT) * ALIGNMENT, cells)
    start = floor.last + 1 - BESIDE  # the first row of values
    whole = np.zeros((4, cells, cells))
    changed = np.zeros((4, cells), bool)
    water, rock = closure(WATER, floor.part), closure(ROCK, 1 - floor.part)
    nodes = np.arange(ROWS + 3)
    above, below = floor.last - nodes, floor.last + 1 + nodes  # nodes of the sides
    up, down = floor.last - np.arange(HALVES), floor.last + np.arange(HALVES)  # half points
    # szz at nodes to half points; the one in the floor by both sides, each with its weight there.
    for n in range(1, HALVES):
        whole[0, up[n], above] = -water.to_half_points[n]
        whole[0, down[n], below] = rock.to_half_points[n]
    whole[0, floor.last, above] = -water.half_points[0] * water.to_half_points[0]
    whole[0, floor.last, below] = rock.half_points[0] * rock.to_half_points[0]
    changed[0, up], changed[0, down] = True, True
    # Shear stresses of the rock, 0 in the floor, to its nodes; the water gets none from the grid's stencil.
    whole[1, below[:ROWS][:, None], down[1:]] = rock.to_nodes[:, 1:]
    changed[1, below[:ROWS]] = changed[1, floor.last] = True
    # vz to nodes.
    whole[2, above[:ROWS][:, None], up] = -water.to_nodes
    whole[2, below[:ROWS][:, None], down] = rock.to_nodes
    changed[2, above[:ROWS]], changed[2, below[:ROWS]] = True, True
    # Velocities along the floor, in the rock, to half points; in the floor and above it nothing asks for them.
    whole[3, down[1:][:, None], below] = rock.to_half_points[1:]
    changed[3, down[1:]] = True
    tables = whole[:, first:last, start : start + COLUMNS].swapaxes(1, 2) / spacing
    return {
        "first": first,
        "last": last,
        "start": start,
        "table": np.ascontiguousarray(tables, dtype),
        "keep": np.ascontiguousarray(~changed[:, first:last], dtype),
    }
