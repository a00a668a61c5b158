"""Run by test_card_ranks.py under mpirun: propagates each case on the card, on every arrangement of these ranks, beside
the processors on one rank, and prints what differs. `python card_ranks_program.py`
"""

import sys

import numpy as np
from mpi4py import MPI
from support import Medium, heterogeneous

from fathometer import _native
from fathometer.parallel.decomposition import Decomposition, arrangements
from fathometer.seismic.waves.boundary import Pml, Sponge
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.points import halo_depth
from fathometer.seismic.waves.propagator import Correlation

SPACING, STEPS = 10.0, 9
# name: (model's cells, VTI, order, boundary, free surface, dtype, receivers between cells, rows are left out)
CASES = {
    "2D": ((22, 1, 20), True, 8, Pml(5), False, np.float32, True, False),
    "3D": ((11, 10, 12), True, 8, Pml(4), True, np.float32, True, True),
    "3D isotropic": ((8, 9, 7), False, 2, Pml(3), False, np.float64, True, False),
    "3D sponge": ((8, 7, 8), False, 4, Sponge(4), False, np.float32, False, False),
}


def full_of(shape, boundary, free):
    x, y, z = (n if n == 1 else n + 2 * boundary.width for n in shape)
    return x, y, z - boundary.width * free


def points(shape, between):
    """On the borders of any split, on all axes."""
    middle = (np.array(shape) - 1) // 2
    steps = np.arange(-6, 6)[:, None] * np.array([0.9, 0.35, 0.8]) if between else np.arange(-4, 4)[:, None]
    places = np.clip(middle + steps + (0.3 if between else 0.0), 0.2, np.array(shape) - 1.2)
    places = places if between else np.round(places)
    places[:, 1] = places[:, 1] if shape[1] > 1 else 0
    sources = middle + np.array([[0, 0, 0], [0.4, 0, 0.7], [0.6, 0, -0.2]])
    return SPACING * sources, SPACING * places


def propagated(comm, name, block, card):
    """Traces with their numbers, start and values of the pressure, an image and a snapshot of this rank."""
    shape, vti, order, boundary, free, dtype, between, some_rows = CASES[name]
    full = full_of(shape, boundary, free)
    vp, epsilon, delta = heterogeneous(full, 3)
    medium = Medium(
        shape,
        SPACING,
        vp,
        *((epsilon, delta) if vti else ()),
        order=order,
        dtype=dtype,
        boundary=boundary,
        free_surface=free,
        block=block,
        comm=comm,
        off_grid=between,
        card=card,
    )
    p = medium.propagator
    rows = None
    if some_rows:
        first = np.random.default_rng(2).integers(-9, 6, full[:2])
        rows = ActiveRows(np.clip(first, 0, 99).astype(np.int32), np.clip(first + 26, 0, 99).astype(np.int32))
    sources, receivers = points(shape, between)
    series = np.random.default_rng(5).standard_normal((STEPS, len(sources)))
    traces = medium.run(sources, receivers, series, rows)
    image, illumination, pressure, snapshot = np.zeros((4, *p.image_shape), dtype)
    other = np.ones(p.image_shape, dtype)
    p.advance(4, snapshots=[None, snapshot], correlations=[Correlation(other, image, illumination)] * 2)
    state = p.save()
    p.advance(3)
    p.restore(state)
    p.advance(2)
    p.pressure(pressure)
    p.settle()
    start = [max(a - pad[0], 0) for a, pad in zip(p.block.lo, medium.grid.pad, strict=True)]
    owned = medium.points(receivers).owned(p.block)
    p.close()
    return owned, traces, start, [pressure, image, snapshot]


def gathered(parts, name):
    """Of all ranks: traces, and volumes of the model's cells."""
    shape, *_, dtype, _, _ = CASES[name]
    traces = np.full((STEPS, sum(len(owned) for owned, *_ in parts)), np.nan, dtype)
    volumes = [np.full(shape, np.nan, dtype) for _ in parts[0][3]]
    for owned, some, (x, y, z), blocks in parts:
        traces[:, owned] = some
        for volume, block in zip(volumes, blocks, strict=True):
            nx, ny, nz = block.shape
            volume[x : x + nx, y : y + ny, z : z + nz] = block
    return [traces, *volumes]


def main():
    comm = MPI.COMM_WORLD
    _native.set_threads(1)
    tried, wrong = [], []
    for name, (shape, _, order, boundary, free, _, between, _) in list(CASES.items())[: 4 if comm.size < 4 else 2]:
        full = full_of(shape, boundary, free)
        wanted = None
        if comm.rank == 0:
            wanted = gathered([propagated(MPI.COMM_SELF, name, Decomposition(full), False)], name)
            assert all(np.isfinite(values).all() and values.any() for values in wanted)
        for ranks in arrangements(comm.size, shape[1] == 1) if comm.size < 8 else [(2, 2, 2)]:
            thinnest = halo_depth(order // 2, between, ranks)
            if all(p == 1 or n // p >= thinnest for n, p in zip(full, ranks, strict=True)):
                parts = comm.gather(propagated(comm, name, Decomposition(full, ranks, comm.rank), True))
                if comm.rank == 0:
                    tried.append(f"{name}|{ranks}")
                    pairs = zip(gathered(parts, name), wanted, strict=True)
                    if any(a.tobytes() != b.tobytes() for a, b in pairs):
                        wrong.append(tried[-1])
    if comm.rank == 0:
        print(*tried, sep="\n")
        sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
