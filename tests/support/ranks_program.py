"""Run by test_ranks.py under mpirun: propagates every case on every decomposition that fits, and saves what
rank 0 gathers. `python ranks_program.py OUT.npz THREADS [cpu]`, cpu: not on a card, whatever other tests use
"""

import os
import sys

import numpy as np
from mpi4py import MPI
from support import FULL, Medium, heterogeneous, ricker

from fathometer import _native
from fathometer.grid.tiling import DIAMONDS, PLAIN, Tiling
from fathometer.parallel.decomposition import Decomposition, arrangements
from fathometer.seismic.waves.boundary import Pml, Sponge
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.points import halo_depth

SPACING = 12.5
STEPS = 60 if FULL else 36  # waves then cross the cuts in the middle
# name: (model's cells, physics, order, boundary, free surface, dtype)
CASES = {
    "2D isotropic order 2": ((31, 1, 37), "isotropic", 2, Pml(4), False, np.float32),
    "2D vti order 8": ((31, 1, 37), "vti", 8, Pml(7), False, np.float32),
    "2D vti order 8 float64": ((31, 1, 37), "vti", 8, Pml(7), False, np.float64),
    "2D vti order 16 sponge": ((34, 1, 37), "vti", 16, Sponge(6), False, np.float32),
    "2D isotropic order 8 free surface": ((33, 1, 33), "isotropic", 8, Pml(6), True, np.float32),
    "3D vti order 8": ((15, 13, 17), "vti", 8, Pml(5), False, np.float32),
    "3D vti order 2": ((15, 13, 17), "vti", 2, Pml(4), False, np.float32),
    "3D vti order 12 free surface": ((16, 15, 18), "vti", 12, Pml(5), True, np.float32),
    "3D isotropic order 6": ((15, 13, 17), "isotropic", 6, Pml(5), False, np.float32),
    "3D vti order 8 rows left out": ((15, 13, 17), "vti", 8, Pml(5), False, np.float32),
    "3D vti order 12 free surface rows left out": ((16, 15, 18), "vti", 12, Pml(5), True, np.float32),
    "3D isotropic order 8 sponge": ((15, 13, 17), "isotropic", 8, Sponge(5), False, np.float32),
    "3D vti order 8 wide": ((19, 66, 11), "vti", 8, Pml(5), False, np.float32),
    "3D isotropic order 4 wide rows left out": ((17, 66, 11), "isotropic", 4, Pml(5), True, np.float64),
}

# Plain sweeps; one tile that is the whole grid; odd widths and threads that share; where nothing is cut also the
# narrowest tiles, and odd widths of one thread each.
TILINGS = (PLAIN, Tiling(STEPS, 1000, 1000, 1), Tiling(7, 5, 6, 2), Tiling(2, 1, 1, 1), Tiling(4, 3, 11, 1))


def tilings(propagator, ranks, threads):
    """Which are tried: where many threads share few cores, those whose threads share tiles."""
    if not propagator.tiled:
        return TILINGS[:1]
    if ranks == 1:
        return TILINGS
    return TILINGS[:3] if FULL or ranks * threads <= 4 else TILINGS[2:3]


def diamonds(propagator, ranks):
    """Tilings across cuts in y; ranks between two of these have room for whole diamonds."""
    x, y, z = ranks
    if y == 1 or x * z > 1 or not propagator.tiled:
        return []
    narrowest = min(last - first for first, last in propagator.block.parts(1))
    highest = narrowest // (2 * propagator.reach) if y > 2 else 9
    return [Tiling(height, block, DIAMONDS, 1) for height, block in ((2, 1), (3, 7), (9, 4)) if height <= highest]


def positions(shape, free_surface):
    """Sources and receivers between cells, on the borders of any split in two, three or four, and several in a cell."""
    n = np.array(shape)
    middle = (n - 1) / 2
    between = np.array([0.5, 0, 0.5])
    shallow = np.array([0, 0, 0.3 if free_surface else 4.5])
    sources = np.array([middle, middle + between, middle + between, np.floor(middle)])
    receivers = np.array([middle + d for d in ([0.5, 0.5, 0.5], [-0.5, 0.5, 0.2], [2.5, -1.5, 1.1])])
    lines = np.linspace(4.2, n[0] - 5.2, 70)[:, None] * [1, 0, 0] + [0, 1, 0] * middle + shallow
    receivers = np.concatenate([receivers, lines])
    for points in (sources, receivers):
        points[:, 1] = np.clip(points[:, 1], 4, n[1] - 5) if n[1] > 1 else 0
    return sources * SPACING, receivers * SPACING


def some_rows(full):
    """Of each row steps of its own."""
    rng = np.random.default_rng(3)
    first = rng.integers(-STEPS // 2, STEPS // 3, full[:2])
    last = first + rng.integers(0, 90, full[:2])
    return ActiveRows(*(np.clip(end, 0, STEPS).astype(np.int32) for end in (first, last)))


def uneven(full, ranks, thinnest):
    """Cuts drawn at random; the first part of each axis that is cut is as thin as it may be."""
    rng = np.random.default_rng(sum(ranks))
    cuts = []
    for n, parts in zip(full, ranks, strict=True):
        spare = n - parts * thinnest
        more = np.sort(rng.integers(0, spare + 1, parts - 2)) if parts > 2 else []
        cuts.append(tuple(int(thinnest * (k + 1) + m) for k, m in enumerate([0, *more][: parts - 1])))
    return tuple(cuts)


def runs(comm, name, ranks, threads, thinnest):
    """Each tiling, with traces (steps, receivers) and final pressure of the model's cells on rank 0, of equal parts and
    of others where there is room."""
    medium = medium_of(comm, name, ranks)
    tried = [*tilings(medium.propagator, comm.size, threads), *diamonds(medium.propagator, ranks)]
    full = medium.propagator.grid.full_shape
    medium.propagator.close()
    for tiling in tried:
        yield tiling.numbers, run(comm, name, ranks, tiling)
    if comm.size > 1 and all(p == 1 or n >= (p + 1) * thinnest for n, p in zip(full, ranks, strict=True)):
        cuts = uneven(full, ranks, thinnest)
        medium = medium_of(comm, name, ranks, cuts)
        tried = [tilings(medium.propagator, comm.size, threads)[-1], *diamonds(medium.propagator, ranks)]
        medium.propagator.close()
        for tiling in tried:
            yield (*tiling.numbers, cuts), run(comm, name, ranks, tiling, cuts)


def medium_of(comm, name, ranks, cuts=None):
    """A case on these ranks."""
    shape, physics, order, boundary, free, dtype = CASES[name]
    pads = np.array([0 if n == 1 else 2 * boundary.width for n in shape])
    pads[2] -= boundary.width if free else 0
    full = tuple(int(n) for n in np.array(shape) + pads)
    vp, epsilon, delta = heterogeneous(full, 11)
    block = Decomposition(full, ranks, comm.rank, cuts=cuts)
    return Medium(
        shape,
        SPACING,
        vp,
        *((epsilon, delta) if physics == "vti" else ()),
        order=order,
        dtype=dtype,
        boundary=boundary,
        free_surface=free,
        block=block,
        comm=comm,
    )


def run(comm, name, ranks, tiling=PLAIN, cuts=None):
    """Traces (steps, receivers) and the final pressure of the model's cells, gathered on rank 0."""
    shape, _, _, _, free, dtype = CASES[name]
    medium = medium_of(comm, name, ranks, cuts)
    block, full = medium.propagator.block, medium.propagator.grid.full_shape
    medium.propagator.tiling = tiling
    sources, receivers = positions(shape, free)
    t = -0.08 + np.arange(STEPS) * medium.dt
    series = ricker(t[:, None] - 0.003 * np.arange(len(sources)), 18.0)
    mine = medium.run(sources, receivers, series, some_rows(full) if name.endswith("rows left out") else None)
    p = medium.propagator
    pressure = np.zeros(p.image_shape, dtype)
    p.pressure(pressure)
    indices = medium.points(receivers).owned(block)
    start = [max(a - pad[0], 0) for a, pad in zip(block.lo, medium.grid.pad, strict=True)]
    parts = comm.gather((indices, mine, start, pressure))
    p.close()
    if comm.rank:
        return None
    traces = np.full((STEPS, len(receivers)), np.nan, dtype)
    image = np.full(shape, np.nan, dtype)
    for indices, values, (x, y, z), block_pressure in parts:
        traces[:, indices] = values
        nx, ny, nz = block_pressure.shape
        image[x : x + nx, y : y + ny, z : z + nz] = block_pressure
    return traces, image


def main(out, threads, processor=""):
    if processor:
        os.environ.pop("FATHOMETER_TEST_PROCESSOR", None)
    comm = MPI.COMM_WORLD
    _native.set_threads(int(threads))
    results = {}
    for name, case in CASES.items():
        shape, _, order, boundary, free, _ = case
        full = [n if n == 1 else n + 2 * boundary.width for n in shape]
        full[2] -= boundary.width if free else 0
        for ranks in arrangements(comm.size, shape[1] == 1):
            thinnest = halo_depth(order // 2, True, ranks)
            if not all(p == 1 or n // p >= thinnest for n, p in zip(full, ranks, strict=True)):
                continue
            for how, gathered in runs(comm, name, ranks, int(threads), thinnest):
                if gathered:
                    key = f"{name}|{ranks}, {how}"
                    results[f"{key}|traces"], results[f"{key}|pressure"] = gathered
    if comm.rank == 0:
        np.savez(out, **results)


if __name__ == "__main__":
    main(*sys.argv[1:])
