"""Small elastic propagations in media that need not be physical, so that no two arrays are alike."""

import numpy as np
from elastic_reference import STRESSES, VELOCITIES
from mpi4py import MPI

from fathometer.grid.arrays import padded
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import REACH, fields_of
from fathometer.seismic.elastic.medium import Medium, Relaxation
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.points import sinc_points
from fathometer.seismic.waves.scheme import Scheme

DT, VMAX = 1e-3, 4000.0
STEPS = 12
CASES = [(21, 18, 37), (30, 1, 40), (18, 66, 20)]


def padded_array(values, dtype):
    out = np.zeros((*values.shape[:2], padded(values.shape[2], np.dtype(dtype).itemsize)), dtype)
    out[:, :, : values.shape[2]] = values
    return out


def medium_of(shape, dtype, seed=7, relaxing=True, part=None):
    """Anything: it need not be physical, so that no two arrays are alike. part: local slices of the whole."""
    random = np.random.default_rng(seed)
    flat = shape[1] == 1
    names = [name for name in VELOCITIES + STRESSES if not (flat and "y" in name)]

    def draw(low, high):
        values = random.uniform(low, high, shape)
        return padded_array(values if part is None else values[part], dtype)

    buoyancy = {name: draw(0.8, 1.2) * DT / 2000 for name in names if name[0] == "v"}
    p_modulus, lame = draw(1.5e10, 2e10) * DT, draw(4e9, 7e9) * DT
    shear = {name: draw(3e9, 5e9) * DT for name in names if name in ("sxy", "sxz", "syz")}
    relaxation = Relaxation((0.9, 0.95, 0.99), draw(0.02, 0.1), draw(0.02, 0.2)) if relaxing else None
    return Medium(buoyancy, p_modulus, lame, shear, relaxation)


def grid_of(shape):
    return Grid(shape, (10.0, 11.0, 9.0))


def points_of(shape, off_grid=True):
    """Sources and receivers of several fields, between cells and on them; two points share a column."""
    flat = shape[1] == 1
    middle = np.array(shape) / 2

    def at(*offset):
        cell = middle + offset
        if not off_grid:
            cell = np.round(cell)
        if flat:
            cell[1] = 0
        return sinc_points(cell.reshape(1, 3))

    def one(field, points, column, amplitude):
        return FieldPoints(field, points, np.array([column]), np.array([amplitude]))

    sources = [
        one("vx", at(0.3, 1.2, -0.4), 0, 0.7),
        one("szz", at(-2, 0, -1.5), 1, -3.0),
        one("sxz", at(1, 1, 2), 0, 2.0),
    ]
    receivers = [
        one("vz", at(-3.3, 2.2, 1.7), 2, 1.5),
        one("sxx", at(3.1, -2.2, 0.7), 0, -0.5),
        one("szz", at(3.1, -2.2, 0.7), 0, -0.5),
        one("sxz", at(4, 1, -2), 1, 1.0),
    ]
    return sources, receivers


def series(steps, columns, dtype):
    return np.random.default_rng(3).standard_normal((steps, columns)).astype(dtype)


def propagator(
    shape,
    dtype,
    width=6,
    free_surface=True,
    relaxing=True,
    comm=MPI.COMM_SELF,
    ranks=(1, 1, 1),
    off_grid=True,
    cuts=None,
):
    block = Decomposition(shape, ranks, comm.rank, cuts=cuts)
    part = tuple(slice(lo, hi) for lo, hi in zip(block.lo, block.hi, strict=True))
    scheme = Scheme(DT, REACH, np.dtype(dtype), MultiaxialPml(width), free_surface, VMAX, 25.0)
    medium = medium_of(shape, dtype, relaxing=relaxing, part=part)
    return ElasticPropagator(grid_of(shape), block, medium, scheme, off_grid, comm)


def run(wave, steps=STEPS, parts=1, off_grid=True):
    """Traces, all fields at the end, the columns of the traces."""
    dtype = wave.scheme.dtype
    sources, receivers = points_of(wave.grid.shape, off_grid)
    injectors, samplers = wave.injectors(sources), wave.samplers(receivers)
    injected = np.ascontiguousarray(series(steps, 2, dtype)[:, injectors.indices])
    recorded = np.full((steps, len(samplers.indices)), np.nan, dtype)
    for part in range(parts):
        some = slice(steps * part // parts, steps * (part + 1) // parts)
        wave.advance(some.stop - some.start, injectors, injected[some], samplers, recorded[some])
    names = [field.name for field in fields_of(wave.grid.two_dimensional)]
    return recorded, {name: wave.field(name).copy() for name in names}, samplers.indices
