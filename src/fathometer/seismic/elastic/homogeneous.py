"""A quiet elastic wavefield in a homogeneous medium, built from the program's own parts: what benchmarks measure."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from fathometer.grid.arrays import allocate, padded
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.elastic.attenuation import MECHANISMS, Attenuation
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.fields import REACH, SHEAR, VELOCITIES, WEIGHT_SUM, of_dimension
from fathometer.seismic.elastic.medium import Medium, Relaxation
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.sloping_floor import SlopingFloor
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.scheme import Scheme

SPACING, VP, VS, DENSITY, FREQUENCY, QUALITY = 10.0, 3000.0, 1700.0, 2200.0, 15.0, 50.0
SHARE_OF_LIMIT = 0.9  # that the time step is
EQUATIONS = {"elastic": False, "viscoelastic": True}  # in machine files; whether there is attenuation


def homogeneous(
    shape: Index3,
    width: int,
    free_surface: bool,
    relaxing: bool,
    off_grid: bool = False,
    ranks: Index3 = (1, 1, 1),
    comm: MPI.Intracomm = MPI.COMM_SELF,
    floor: SeaFloor | SlopingFloor | None = None,
) -> ElasticPropagator:
    """A wavefield at rest in `shape` cells, layers of `width` cells at each side included; ny = 1: two dimensions.

    relaxing: with attenuation. off_grid: for receivers between points of their fields. ranks: of `comm`, that share it.
    floor: of a sea, next to which derivatives are taken as a run takes them.
    """
    flat, dtype = shape[1] == 1, np.dtype(np.float32)
    block = Decomposition(shape, ranks, comm.rank)
    nx, ny, nz = block.local_shape
    dt = SHARE_OF_LIMIT * SPACING / (VP * WEIGHT_SUM * np.sqrt(2 if flat else 3))

    def array(value: float) -> np.ndarray:
        out = allocate((nx, ny, padded(nz, dtype.itemsize)), dtype)
        out[:, :, :nz] = value
        return out

    mu, p_modulus = DENSITY * VS**2, DENSITY * VP**2
    relaxation = None
    if relaxing:
        attenuation = Attenuation(2.5 * FREQUENCY, FREQUENCY)
        defect = float(attenuation.defects(np.array(QUALITY)).sum()) / MECHANISMS
        relaxation = Relaxation(attenuation.decay(dt), array(defect), array(defect))
    medium = Medium(
        {name: array(dt / DENSITY) for name in of_dimension(VELOCITIES, flat)},
        array(dt * p_modulus),
        array(dt * (p_modulus - 2 * mu)),
        {name: array(dt * mu) for name in of_dimension(SHEAR, flat)},
        relaxation,
        None if floor is None else np.full((nx, ny), dt / DENSITY, dtype),
    )
    scheme = Scheme(dt, REACH, dtype, MultiaxialPml(width), free_surface, VP, FREQUENCY)
    grid = Grid(shape, (SPACING,) * 3)
    return ElasticPropagator(grid, block, medium, scheme, off_grid, comm, floor)
