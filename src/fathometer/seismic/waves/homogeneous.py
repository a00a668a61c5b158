"""A wavefield in a homogeneous medium, built from the program's own parts: what benchmarks measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.grid.stencil import LARGEST_SHARE_OF_LIMIT, time_step_limit
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.model.extremes import largest_eigenvalue
from fathometer.seismic.model.medium import scaled_medium
from fathometer.seismic.waves.boundary import Boundary
from fathometer.seismic.waves.points import SincPoints, sinc_points
from fathometer.seismic.waves.propagator import Propagator
from fathometer.seismic.waves.scheme import Scheme

SPACING, VELOCITY, FREQUENCY = 12.5, 2000.0, 15.0  # m, m/s, Hz


@dataclass(frozen=True)
class Material:
    """Thomsen's parameters of a homogeneous medium; both None: isotropic."""

    name: str
    epsilon: float | None = None
    delta: float | None = None


ISOTROPIC = Material("isotropic")
VTI = Material("VTI", 0.25, 0.1)


@dataclass(frozen=True)
class NoBoundary:
    """Sides that absorb nothing and add no cells."""

    width: int = 0

    def damping(self, depth: np.ndarray, spacing: float, vmax: float) -> None:
        return None

    def recursion(self, depth: np.ndarray, spacing: float, vmax: float, frequency: float, dt: float) -> None:
        return None


class Homogeneous:
    """A quiet wavefield in `shape` cells of a material, to which the sides add theirs; ny = 1: two dimensions.

    `ranks` of `comm` share it; with more than one, no point may lie off the grid. propagator: the kind of wavefield.
    """

    def __init__(
        self,
        shape: Index3,
        material: Material,
        boundary: Boundary,
        order: int = 8,
        dtype: type = np.float32,
        weights: str = "taylor",
        ranks: Index3 | None = None,
        comm: MPI.Intracomm = MPI.COMM_SELF,
        propagator: type[Propagator] = Propagator,
    ) -> None:
        width, kind, radius = boundary.width, np.dtype(dtype), order // 2
        x, y, z = ((0, 0) if n == 1 else (width, width) for n in shape)
        self.grid = Grid(shape, (SPACING,) * 3, (0.0, 0.0, 0.0), (x, y, z))
        full = self.grid.full_shape
        block = Decomposition(full, ranks or (1, 1, 1), comm.rank)
        # A card takes one plane for all of them: its memory may be larger than the host's.
        planes = block.local_shape[0] if propagator.tiled else 1
        vp = np.full((planes, *block.local_shape[1:]), VELOCITY, np.float32)
        parameters = [None if p is None else np.full_like(vp, p) for p in (material.epsilon, material.delta)]
        epsilon, delta = (np.full((1,), p or 0.0) for p in (material.epsilon, material.delta))
        eigenvalue = largest_eigenvalue(
            np.array([VELOCITY]), epsilon, delta, self.grid.stencil_spacing, radius, weights
        )
        self.dt = LARGEST_SHARE_OF_LIMIT * time_step_limit(float(eigenvalue[0]))
        fastest = VELOCITY * float(np.sqrt(1 + 2 * epsilon[0]))
        scheme = Scheme(
            dt=self.dt,
            radius=radius,
            dtype=kind,
            boundary=boundary,
            free_surface=False,
            vmax=fastest,
            frequency=FREQUENCY,
            space_weights=weights,
        )
        model = scaled_medium(vp, parameters[0], parameters[1], self.dt, kind)
        if planes < block.local_shape[0]:
            model = [np.broadcast_to(plane, (block.local_shape[0], *plane.shape[1:])) for plane in model]
        self.propagator = propagator(self.grid, block, model, scheme, comm is MPI.COMM_SELF, comm)

    def points(self, positions: np.ndarray) -> SincPoints:
        """Weights of sources or receivers at `positions` (n, 3) in m."""
        return sinc_points(self.grid.to_cells(np.atleast_2d(positions)), None)
