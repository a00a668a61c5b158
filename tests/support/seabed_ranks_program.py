"""Run by test_contact.py under mpirun: steps of waves over a sea floor on every decomposition along x and y
that fits, compared with those of one rank alone, byte for byte; prints how many."""

import sys

import numpy as np
from elastic_seabeds import drawn, seabed
from mpi4py import MPI

from fathometer.grid.tiling import PLAIN, Tiling
from fathometer.parallel.decomposition import arrangements
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.elastic.fields import fields_of
from fathometer.seismic.elastic.points import points_on
from fathometer.seismic.elastic.receivers import receiver_points

SPACING = (10.0, 11.0, 9.0)
STEPS = 12


def stepped(model, depth, comm, ranks, tiling):
    """The fields of a rank after some steps, and the traces of receivers around the floor and between cells."""
    shape = model[0].shape
    bed = seabed(model, SPACING, dtype=np.float32, comm=comm, ranks=ranks, width=3)
    wave, block = bed.wave, bed.wave.block
    wave.tiling, wave.threads = tiling, ThreadCounts(1, 1, 1)
    part = tuple(slice(lo, hi) for lo, hi in zip(block.lo, block.hi, strict=True))
    for n, field in enumerate(fields_of(shape[1] == 1)):
        whole = np.random.default_rng(n).standard_normal(shape) * (1.0 if field.name[0] == "v" else 2e6)
        wave.field(field.name)[...] = whole[part]
    x, y = np.array(SPACING[:2]) * (np.array(shape[:2]) // 2)
    floor = SPACING[2] * depth[shape[0] // 2, shape[1] // 2]
    places = np.array([[x + dx, y, floor + dz] for dz in (-14.0, -4.0, 0.0, 5.0) for dx in (0.0, 3.0)])
    keys = {"free_surface": False, "floor": bed.floor}
    receivers = wave.samplers(receiver_points(wave.grid, places, ("vx", "vz", "pressure"), **keys))
    recorded = np.zeros((STEPS, len(receivers.indices)), np.float32)
    cells = wave.grid.to_cells(places[[2, -1]])  # the water's vz in the floor has a share of the first
    force = points_on("vz", cells, np.arange(2), np.ones(2), injecting=True, **keys)
    sources = wave.injectors(force)
    pulse = np.full((STEPS, len(sources.indices)), 1e9, np.float32)
    wave.advance(STEPS, sources, pulse, receivers, recorded)
    fields = {field.name: wave.field(field.name).copy() for field in fields_of(shape[1] == 1)}
    wave.close()
    return part, fields, receivers.indices, recorded


def floors(shape):
    """Depths in cells: planes of z, and one that falls along x and y and bends."""
    x, y = (np.arange(n) - n / 2 for n in shape[:2])
    bent = 0.25 * x[:, None] - 0.15 * y * (shape[1] > 1) + 0.6 * np.sin(x / 4)[:, None]
    return [np.full(shape[:2], 18.3), np.full(shape[:2], 18.5), shape[2] / 2 + bent]


def main():
    compared = 0
    for nx, ny in ((40, 1), (20, 18)):
        for depth in floors((nx, ny, 68)):
            shape = (nx, ny, 40 if np.ptp(depth) == 0 else 68)
            model = drawn(shape, depth)
            _, fields, _, traces = stepped(model, depth, MPI.COMM_SELF, (1, 1, 1), PLAIN)
            assert np.isfinite(traces).all()
            assert traces.any(axis=0).all()
            for ranks in arrangements(MPI.COMM_WORLD.size, ny == 1):
                if ranks[2] > 1 or any(p > 1 and n // p < 8 for n, p in zip(shape, ranks, strict=True)):
                    continue
                for tiling in (PLAIN, Tiling(4, 3, 5, 1)):
                    part, mine, columns, recorded = stepped(model, depth, MPI.COMM_WORLD, ranks, tiling)
                    same = [mine[name].tobytes() == fields[name][part].tobytes() for name in mine]
                    same.append(recorded.tobytes() == np.ascontiguousarray(traces[:, columns]).tobytes())
                    assert all(MPI.COMM_WORLD.allgather(all(same))), (shape, ranks, tiling, same)
                    compared += 1
    if MPI.COMM_WORLD.rank == 0:
        print(compared)


try:
    main()
except BaseException:
    sys.excepthook(*sys.exc_info())
    MPI.COMM_WORLD.Abort(1)
