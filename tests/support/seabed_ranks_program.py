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
from fathometer.seismic.elastic.receivers import receiver_points

SPACING = (10.0, 11.0, 9.0)
STEPS = 12


def stepped(model, comm, ranks, tiling):
    """The fields of a rank after some steps, and the traces of receivers on the floor and between cells."""
    shape = model[0].shape
    bed = seabed(model, SPACING, dtype=np.float32, comm=comm, ranks=ranks, width=3)
    wave, block = bed.wave, bed.wave.block
    wave.tiling, wave.threads = tiling, ThreadCounts(1, 1, 1)
    part = tuple(slice(lo, hi) for lo, hi in zip(block.lo, block.hi, strict=True))
    for n, field in enumerate(fields_of(shape[1] == 1)):
        whole = np.random.default_rng(n).standard_normal(shape) * (1.0 if field.name[0] == "v" else 2e6)
        wave.field(field.name)[...] = whole[part]
    x, y = np.array(SPACING[:2]) * (np.array(shape[:2]) // 2)
    places = np.array([[x, y, 9.0 * bed.floor.depth + dz] for dz in (-4.0, 0.0, 5.0)])
    receivers = wave.samplers(receiver_points(wave.grid, places, ("vx", "vz", "pressure"), False, bed.floor))
    recorded = np.zeros((STEPS, len(receivers.indices)), np.float32)
    wave.advance(STEPS, receivers=receivers, recorded=recorded)
    fields = {field.name: wave.field(field.name).copy() for field in fields_of(shape[1] == 1)}
    wave.close()
    return part, fields, receivers.indices, recorded


def main():
    compared = 0
    for shape in ((40, 1, 40), (20, 18, 40)):
        for depth in (18.3, 18.5):
            model = drawn(shape, np.full(shape[:2], depth))
            _, fields, _, traces = stepped(model, MPI.COMM_SELF, (1, 1, 1), PLAIN)
            assert np.isfinite(traces).all()
            assert traces.any()
            for ranks in arrangements(MPI.COMM_WORLD.size, shape[1] == 1):
                if ranks[2] > 1 or any(p > 1 and n // p < 8 for n, p in zip(shape, ranks, strict=True)):
                    continue
                for tiling in (PLAIN, Tiling(4, 3, 5, 1)):
                    part, mine, columns, recorded = stepped(model, MPI.COMM_WORLD, ranks, tiling)
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
