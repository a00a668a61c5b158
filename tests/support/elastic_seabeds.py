"""Wavefields in water over rock, with the derivatives that a run has next to the floor."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.contact import SeaFloor
from fathometer.seismic.elastic.contact_limit import contact_eigenvalue, sloping_eigenvalue
from fathometer.seismic.elastic.contact_media import PlaneSides, set_contact
from fathometer.seismic.elastic.earth import ElasticEarth, extended
from fathometer.seismic.elastic.fields import REACH, fields_of
from fathometer.seismic.elastic.media import medium_of
from fathometer.seismic.elastic.medium import Medium
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.sloping_floor import IN_FLOOR, SlopingFloor, sea_floor
from fathometer.seismic.elastic.sloping_media import SlopingSides, set_sloping_contact
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.scheme import Scheme


@dataclass
class Seabed:
    """A wave at rest, its floor, and the medium with a time step of 1 s."""

    wave: ElasticPropagator
    floor: SeaFloor | SlopingFloor
    medium: Medium


def cut_cells(depth: Any, water: Any, rock: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """vp, vs, density: of water (vp, 0, density) above depths (nx, ny) in cells and of rock below, each (nx, ny, nz);
    in the cells between means over them."""
    k = np.arange(water[0].shape[2])
    share = np.clip(k + 0.5 - np.asarray(depth)[..., None], 0, 1)  # of rock
    share[share < 1e-9], share[share > 1 - 1e-9] = 0, 1
    density = (1 - share) * water[1] + share * rock[2]
    modulus = 1 / ((1 - share) / (water[1] * water[0] ** 2) + share / (rock[2] * rock[0] ** 2))
    return np.sqrt(modulus / density), np.where(share == 1, rock[1], 0.0), density


def drawn(shape: tuple[int, int, int], depth: Any, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rock that differs from cell to cell below water that differs a little."""
    random = np.random.default_rng(seed)
    vp = random.uniform(1800, 4500, shape)
    vs = vp / random.uniform(1.5, 3, shape)
    # Next to the floor cells are alike along z: a cut one is a mean of its neighbours.
    water = random.uniform(1480, 1520, (*shape[:2], 1)) + np.zeros(shape), np.full(shape, 1020.0)
    rock = (vp, vs, random.uniform(1500, 2600, shape))
    first = np.floor(np.asarray(depth) + 0.5).astype(int)[..., None]
    for some in rock:
        np.put_along_axis(some, first + 1, np.take_along_axis(some, first, 2), 2)
    return cut_cells(depth, water, rock)


def seabed(
    model: tuple[np.ndarray, np.ndarray, np.ndarray],
    spacing: tuple[float, float, float],
    share: float = 0.95,
    dtype: Any = np.float64,
    free_surface: bool = False,
    comm: MPI.Intracomm = MPI.COMM_SELF,
    ranks: tuple[int, int, int] = (1, 1, 1),
    width: int = 0,
) -> Seabed:
    """share: of the largest stable time step; width: of the layers, in cells of the model itself."""
    shape = model[0].shape
    grid = Grid(shape, spacing)
    block = Decomposition(shape, ranks, comm.rank)
    flat = grid.two_dimensional
    around = [np.pad(some, [(1, 1), (0, 0) if flat else (1, 1), (1, 1)], mode="edge").astype(np.float32)
              for some in model]  # fmt: skip
    (x0, y0, z0), (x1, y1, z1) = extended(block, flat)
    y = slice(y0, y1) if flat else slice(y0 + 1, y1 + 1)
    vp, vs, density = (some[x0 + 1 : x1 + 1, y, z0 + 1 : z1 + 1] for some in around)
    floor, why = sea_floor(vp, vs, density, grid, block, comm)
    assert floor is not None, why
    arrays = {"vp": vp, "vs": vs, "density": density}
    sloping = isinstance(floor, SlopingFloor)
    sides = SlopingSides(arrays, None, floor, grid, block.lo) if sloping else PlaneSides(arrays, None, floor, grid)
    eigenvalue = (sloping_eigenvalue if sloping else contact_eigenvalue)(sides, grid)
    fastest = float(model[0].max())
    plain = 4 * (7 / 6) ** 2 * fastest**2 * sum(1 / spacing[axis] ** 2 for axis in grid.axes)
    # A light node above a stiff one: twice what either has.
    limit = 2 / np.sqrt(comm.allreduce(max(eigenvalue, 2 * plain), MPI.MAX))
    earth = ElasticEarth(vp, vs, density, None, None, None, 1.0, fastest, limit, 0, 1.0, 0.0, floor=floor)
    dt = share * limit
    media = []
    for step in (dt, 1.0):
        medium = medium_of(earth, grid, block.lo, step, np.dtype(dtype))
        if sloping:
            medium = set_sloping_contact(medium, sides, step)
        else:
            set_contact(medium, sides, block.lo, step)
        media.append(medium)
    boundary = MultiaxialPml(width, multiaxial=0.05)
    scheme = Scheme(dt, REACH, np.dtype(dtype), boundary, free_surface, fastest, 5.0)
    return Seabed(ElasticPropagator(grid, block, media[0], scheme, True, comm, floor), floor, media[1])


def weights(name, floor, shape):
    """What the points of a field stand for, in cells."""
    first = np.indices((*shape[:2], 1)).reshape(3, -1).T
    return floor.inertia(name, first, shape[2]).reshape(shape)


def water_weights(floor, shape):
    """The same of the water's own motion in a floor that slopes."""
    return floor.inertia(IN_FLOOR, np.indices((*shape[:2], 1)).reshape(3, -1).T, 1).reshape(shape[:2])


def state_of(bed, names):
    """A copy of what energy_of asks for."""
    state = {name: bed.wave.field(name).copy() for name in names}
    return state | ({IN_FLOOR: bed.wave.in_floor.copy()} if isinstance(bed.floor, SlopingFloor) else {})


def energies(bed, shape, steps=40):
    """Of a wave that begins with anything that the media bear, after the first step."""
    names, total = energy_of(bed, shape)
    excite(bed, names, shape)
    totals = []
    for _ in range(steps):
        before = state_of(bed, names)
        bed.wave.advance(1)
        totals.append(total(before))
    return totals[1:]


def energy_of(bed, shape):
    """A function of fields before a step; kinetic energy is the product of velocities before it and after."""
    wave, medium, floor = bed.wave, bed.medium, bed.floor
    in_floor = water_weights(floor, shape) / medium.water_in_floor if isinstance(floor, SlopingFloor) else 0.0
    names = [field.name for field in fields_of(shape[1] == 1)]
    normal = [name for name in names if name[0] == "s" and name[1] == name[2]]
    cut = {name: weights(name, floor, shape) for name in names}

    def total(before):
        kinetic = sum(
            (cut[v] * before[v] * wave.field(v) / b[:, :, : shape[2]]).sum() for v, b in medium.buoyancy.items()
        )
        if IN_FLOOR in before:
            kinetic += (in_floor * before[IN_FLOOR] * wave.in_floor).sum()
        p, lame = (a[:, :, : shape[2]] for a in (medium.p_modulus, medium.lame))
        mu, axes = (p - lame) / 2, len(normal)
        trace = sum(before[name] for name in normal)
        with np.errstate(divide="ignore", invalid="ignore"):
            shear = sum(np.where(mu > 0, (before[n] - trace / axes) ** 2 / (2 * mu), 0.0) for n in normal)
            out = (cut["sxx"] * (shear + trace**2 / (axes * (axes * lame + 2 * mu)))).sum()
            for name, m in medium.shear.items():
                m = m[:, :, : shape[2]]
                out += (cut[name] * np.where(m > 0, before[name] ** 2 / m, 0.0)).sum()
        return kinetic + out

    return names, total


def excite(bed, names, shape):
    """Anything that the media bear."""
    random, wave, medium = np.random.default_rng(0), bed.wave, bed.medium
    fluid = medium.p_modulus[:, :, : shape[2]] == medium.lame[:, :, : shape[2]]
    for name in names:
        wave.field(name)[...] = random.standard_normal(shape) * (1.0 if name[0] == "v" else 2e6)
    for name in names:
        if name[0] == "s" and name[1] == name[2]:
            wave.field(name)[fluid] = wave.field("szz")[fluid]
        elif name[0] == "s":
            wave.field(name)[medium.shear[name][:, :, : shape[2]] == 0] = 0
