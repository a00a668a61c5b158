"""A grid cut into blocks that all lie in this process, with halos filled from a global array: what kernels need."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fathometer.apps.ocean.grid import OceanGrid
from fathometer.apps.ocean.solver.baroclinic import Baroclinic
from fathometer.apps.ocean.solver.physics import Physics
from fathometer.apps.ocean.solver.state import State

HALO = 3


@dataclass
class Block:
    lo: tuple[int, int]
    hi: tuple[int, int]


class Blocks:
    """As the layout of a single rank; cut at the given bounds along x and y."""

    def __init__(self, grid, cuts_x=(), cuts_y=()):
        nx, ny, _ = grid.shape
        self.shape, self.periodic = (nx, ny), grid.periodic
        bounds = [[0, *cuts, n] for cuts, n in ((cuts_x, nx), (cuts_y, ny))]
        pieces = [list(pairwise(b)) for b in bounds]
        self.own = [Block((x0, y0), (x1, y1)) for x0, x1 in pieces[0] for y0, y1 in pieces[1]]
        self.extents = np.array([np.subtract(b.hi, b.lo) for b in self.own], np.int64)
        self.padded = tuple(int(n) + 2 * HALO for n in self.extents.max(0))

    def blocked(self, values, fill=0):
        wide = [(HALO, HALO), (HALO, HALO)] + [(0, 0)] * (values.ndim - 2)
        outside = np.pad(values, wide, constant_values=fill)
        if self.periodic:
            outside[:, HALO:-HALO] = np.pad(values, [wide[0]] + [(0, 0)] * (values.ndim - 1), mode="wrap")
        result = np.full((len(self.own), *self.padded, *values.shape[2:]), fill, values.dtype)
        for n, b in enumerate(self.own):
            piece = outside[b.lo[0] : b.hi[0] + 2 * HALO, b.lo[1] : b.hi[1] + 2 * HALO]
            result[n, : piece.shape[0], : piece.shape[1]] = piece
        return result

    def rows(self, values):
        edge = np.pad(values, [(HALO, HALO)] + [(0, 0)] * (values.ndim - 1), mode="edge")
        result = np.empty((len(self.own), self.padded[1], *values.shape[1:]))
        for n, b in enumerate(self.own):
            piece = edge[b.lo[1] : b.hi[1] + 2 * HALO]
            result[n] = np.concatenate([piece, np.repeat(piece[-1:], self.padded[1] - len(piece), axis=0)])
        return result

    def whole(self, array):
        """The global array of the owned cells."""
        result = np.zeros((*self.shape, *array.shape[3:]), array.dtype)
        for n, b in enumerate(self.own):
            ex, ey = self.extents[n]
            result[b.lo[0] : b.hi[0], b.lo[1] : b.hi[1]] = array[n, HALO : HALO + ex, HALO : HALO + ey]
        return result

    def exchange(self, *arrays):
        """Fill the halos; an array with more axes than (nb, X, Y, nz) is a stack of such arrays."""
        for array in arrays:
            array[...] = self.blocked(self.whole(array))


class Sea:
    """A state on blocks, stepped by the kernels. The barotropic part is not solved for: steps are short."""

    def __init__(self, grid, physics=None, cuts_x=(), cuts_y=(), tracers=2):
        self.grid, self.physics = grid, physics or Physics()
        self.blocks = Blocks(grid, cuts_x, cuts_y)
        self.part = Baroclinic(self.blocks, grid, self.physics)
        self.state = State.at_rest(self.part.columns, grid.shape[2], tracers)
        self.stress = np.zeros((2, *self.part.columns))
        self.surface_flux = np.zeros((tracers, *self.part.columns))

    def set(self, u=None, v=None, eta=None, tracers=None, next_too=False):
        """Global arrays, masked to water, halos filled."""
        s, b, nz = self.state, self.blocks, self.grid.shape[2]
        wet, wet_u = wet_levels(self.grid.levels, nz), wet_levels(self.grid.levels_u, nz)
        if eta is not None:
            s.eta[...] = b.blocked(np.where(self.grid.levels > 0, eta, 0.0))
        for values, arrays in ((u, (s.u, s.u_next)), (v, (s.v, s.v_next))):
            if values is not None:
                for array in arrays[: 2 if next_too else 1]:
                    array[...] = b.blocked(np.where(wet_u, values, 0.0))
        for n, values in enumerate(tracers if tracers is not None else ()):
            s.tracers[n] = b.blocked(np.where(wet, values, 0.0))
        return self

    def move(self, dt):
        """Fluxes and tracers of a step, with u_next, v_next as they are."""
        s = self.state
        self.part.fluxes(s, dt)
        self.part.tracers(s, dt, self.surface_flux)

    def exchange(self):
        s = self.state
        self.blocks.exchange(s.eta, s.u, s.v, *s.tracers)

    def step(self, dt, theta=0.5):
        """A whole step; d is what the provisional transport makes of the surface."""
        s, b = self.state, self.blocks
        self.part.pressure(s)
        self.part.momentum(s, dt, theta, *self.stress)
        b.exchange(*s.transport)
        transport = [b.whole(t) for t in s.transport]
        d = b.blocked(-dt * divergence(self.grid, *transport) / self.grid.area)
        self.part.correct(s, dt, theta, d)
        b.exchange(s.u_next, s.v_next, *s.shift)
        self.part.fluxes(s, dt)
        b.exchange(s.eta_next)
        self.part.tracers(s, dt, self.surface_flux)
        s.advance()
        b.exchange(*s.tracers)


def wet_levels(levels, nz):
    return np.arange(nz) < levels[..., None]


def divergence(grid, a, b):
    """What leaves a column, m³/s, by transports a, b at U points (m²/s)."""
    west = np.roll(a, 1, 0), np.roll(b, 1, 0)
    if not grid.periodic:
        west[0][0] = west[1][0] = 0
    south = [np.pad(q, ((0, 0), (1, 0)))[:, :-1] for q in (a, b, *west)]
    width = grid.dx_u, np.pad(grid.dx_u, (1, 0))[:-1]
    flux_x = 0.5 * grid.dy * (a + south[0]), 0.5 * grid.dy * (west[0] + south[2])
    flux_y = 0.5 * width[0] * (b + west[1]), 0.5 * width[1] * (south[1] + south[3])
    return flux_x[0] - flux_x[1] + flux_y[0] - flux_y[1]


def basin(nx=20, ny=18, nz=6, *, seed=1, periodic=False, sphere=False, rough=True, dx=20e3):
    """A sea with islands and a bottom of levels where asked; else flat with walls."""
    rng = np.random.default_rng(seed)
    levels = np.full((nx, ny), nz, np.int32)
    if rough:
        levels = rng.integers(1, nz + 1, (nx, ny)).astype(np.int32)
        levels[rng.random((nx, ny)) < 0.1] = 0
    levels[:, [0, -1]] = 0
    if not periodic:
        levels[[0, -1]] = 0
    thickness = np.linspace(40.0, 300.0, nz)
    if not sphere:
        f = 1e-4 + 2e-11 * dx * np.arange(ny)
        same = np.full(ny, dx)
        return OceanGrid(
            dx * np.arange(nx), dx * np.arange(ny), same, same, dx, f, np.zeros(ny), thickness, levels, periodic
        )
    radius, y = 6.371e6, 20 + 1.0 * np.arange(ny)
    corners = np.deg2rad(y + 0.5)
    step = np.deg2rad(1.0) * radius
    return OceanGrid(
        1.0 * np.arange(nx),
        y,
        step * np.cos(np.deg2rad(y)),
        step * np.cos(corners),
        step,
        1.4584e-4 * np.sin(corners),
        np.tan(corners) / radius,
        thickness,
        levels,
        periodic,
        True,
    )
