"""Run by test_elastic_ranks.py under mpirun: elastic steps on every decomposition that fits, compared with those of one
rank alone, byte for byte; prints how many were compared."""

import sys

import numpy as np
from elastic_steps import CASES, propagator, run
from mpi4py import MPI
from ranks_program import uneven

from fathometer.grid.tiling import DIAMONDS, PLAIN, Tiling
from fathometer.parallel.decomposition import arrangements
from fathometer.parallel.threads import ThreadCounts

THINNEST = 8  # planes below a free surface


def compare(shape, dtype, ranks, tiling, off_grid, expected, cuts=None):
    wave = propagator(shape, dtype, comm=MPI.COMM_WORLD, ranks=ranks, off_grid=off_grid, cuts=cuts)
    wave.watch_peaks(0)
    wave.tiling, wave.threads = tiling, ThreadCounts(1, 1, 1)
    traces, fields, columns = run(wave, off_grid=off_grid)
    peak = None if wave.peak is None else np.stack(wave.peak)
    block = wave.block
    part = tuple(slice(lo, hi) for lo, hi in zip(block.lo, block.hi, strict=True))
    want_traces, want_fields, want_peak = expected
    same = [traces.tobytes() == want_traces[:, columns].tobytes()]
    same += [field.tobytes() == want_fields[name][part].tobytes() for name, field in fields.items()]
    same += [peak is None or peak.tobytes() == want_peak[(slice(None), *part[:2])].tobytes()]
    wave.close()
    recorded = MPI.COMM_WORLD.allreduce(len(columns))
    assert all(MPI.COMM_WORLD.allgather(all(same))), (shape, ranks, tiling, cuts, same)
    assert recorded == want_traces.shape[1]


def diamonds(shape, ranks, narrowest):
    """Tilings across cuts in y, between parts of so many rows."""
    x, y, z = ranks
    if y == 1 or x * z > 1:
        return []
    return [Tiling(depth, block, DIAMONDS, 1) for depth, block in ((2, 3), (5, 8)) if y == 2 or depth * 16 <= narrowest]


def main():
    compared = 0
    for shape in CASES:
        for dtype, off_grid in ((np.float32, True), (np.float64, False)):
            alone = propagator(shape, dtype, off_grid=off_grid)
            alone.watch_peaks(0)
            traces, fields, _ = run(alone, off_grid=off_grid)
            expected = traces, fields, np.stack(alone.peak)
            assert min(np.abs(values).max() for values in (traces, *fields.values(), expected[2])) > 0
            for ranks in arrangements(MPI.COMM_WORLD.size, shape[1] == 1):
                if all(p == 1 or n // p >= THINNEST for n, p in zip(shape, ranks, strict=True)):
                    across = diamonds(shape, ranks, shape[1] // ranks[1])
                    for tiling in (PLAIN, Tiling(4, 3, 5, 1), Tiling(9, 100, 100, 1), *across):
                        compare(shape, dtype, ranks, tiling, off_grid, expected)
                        compared += 1
                    if all(p == 1 or n >= (p + 1) * THINNEST for n, p in zip(shape, ranks, strict=True)):
                        cuts = uneven(shape, ranks, THINNEST)
                        for tiling in (Tiling(4, 3, 5, 1), *diamonds(shape, ranks, THINNEST)):
                            compare(shape, dtype, ranks, tiling, off_grid, expected, cuts)
                            compared += 1
    if MPI.COMM_WORLD.rank == 0:
        print(compared)


try:
    main()
except BaseException:
    sys.excepthook(*sys.exc_info())
    MPI.COMM_WORLD.Abort(1)
