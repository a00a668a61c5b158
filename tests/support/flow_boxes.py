"""Boxes of fluid for tests of the solver: sides in few words, models, whole fields from those of the ranks."""

import numpy as np
from mpi4py import MPI

from fathometer.apps.flow.solver.model import FlowModel, Fluid, Problem
from fathometer.apps.flow.solver.sides import Side


def sides(*pairs):
    """Of a kind for both ends of x, y and z, or of a pair of kinds, or of Sides themselves."""
    found = {}
    for axis, pair in zip("xyz", (*pairs, "periodic")[:3], strict=True):
        for end, kind in zip("-+", pair if isinstance(pair, tuple) else (pair, pair), strict=True):
            found[axis + end] = kind if isinstance(kind, Side) else Side(kind)
    return found


def box(cells, lengths, fluid, *pairs):
    """A problem with cells along x, y (and z) of a box of these lengths (m)."""
    cells, lengths = ((*of, 1)[:3] for of in (cells, lengths))
    spacing = tuple(length / n for length, n in zip(lengths, cells, strict=True))
    return Problem(cells, spacing, fluid, sides(*pairs))


def model_of(problem, ranks=(1, 1), comm=MPI.COMM_SELF):
    return FlowModel(problem, ranks, comm, 1)


def places(model, along=None):
    """x, y and z of this rank's values: of the velocity along an axis, or of the centres; broadcast to (z, y, x)."""
    found = []
    for axis in range(3):
        cells = np.arange(model.block.lo[2 - axis], model.block.hi[2 - axis])
        one = (cells + (0.0 if axis == along else 0.5)) * model.problem.spacing[axis]
        found.append(one.reshape([-1 if number == 2 - axis else 1 for number in range(3)]))
    return found


def set_velocity(model, *components):
    """Components: functions of x, y and z."""
    for axis, component in enumerate(components):
        model.arrays[axis] = component(*places(model, axis))
    model.begin()


def run(model, end, steps):
    for _ in range(steps):
        model.step(end / steps)
    return model


def error(model, axis, expected):
    """The largest one of a velocity."""
    return float(np.abs(model.arrays[axis] - expected(*places(model, axis))).max())


def orders(errors):
    """Of errors on grids that are each twice as fine as the one before."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


STILL = Fluid(0.01)
