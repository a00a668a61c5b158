"""Run by test_halo.py under mpirun: exchanges halos of arrays that hold their own global indices, and checks
every halo cell against what it must hold. Prints OK from rank 0.
"""

import itertools

import numpy as np
from mpi4py import MPI

from fathometer.parallel.decomposition import Decomposition, arrangements
from fathometer.parallel.halo import HaloExchange, HaloField

OUTSIDE = 77


def label(cells, shape, periodic, dtype):
    """A distinct value for every cell of the grid; OUTSIDE where there is none."""
    value = np.zeros(cells[0].shape, np.int64)
    inside = np.ones(cells[0].shape, bool)
    for index, n, wraps in zip(cells, shape, periodic, strict=True):
        inside &= wraps | ((index >= 0) & (index < n))
        value = value * n + index % n
    return np.where(inside, 100 + value, OUTSIDE).astype(dtype)


def check(comm, shape, ranks, periodic, depth, corners, dtype, largest):
    block = Decomposition(shape, ranks, comm.rank, periodic)
    thickness = [0 if n == 1 and not wraps else depth for n, wraps in zip(shape, periodic, strict=True)]
    extra = 3  # a first index that differs from the depth
    first = tuple(t + extra for t in thickness)
    size = [n + 2 * t + extra for n, t in zip(block.local_shape, thickness, strict=True)]
    fields = []
    for axes in ((0, 1, 2), (0, 1), (2,)):
        array = np.full(size, OUTSIDE, dtype)
        owned = tuple(slice(f, f + n) for f, n in zip(first, block.local_shape, strict=True))
        cells = np.meshgrid(*[np.arange(a, b) for a, b in zip(block.lo, block.hi, strict=True)], indexing="ij")
        array[owned] = label(cells, shape, periodic, dtype)
        fields.append(HaloField(array, first, axes))
    exchange = HaloExchange(comm, block, fields, depth, corners, largest)
    for _ in range(2):  # persistent: again and again
        exchange.start()
        exchange.test()
        exchange.wait()
    exchange.close()
    wide = tuple(slice(f - t, f + n + t) for f, n, t in zip(first, block.local_shape, thickness, strict=True))
    cells = np.meshgrid(
        *[np.arange(a - t, b + t) for a, b, t in zip(block.lo, block.hi, thickness, strict=True)], indexing="ij"
    )
    expected = label(cells, shape, periodic, dtype)
    outside = [
        (c < a) | (c >= b) for c, a, b in zip(cells, block.lo, block.hi, strict=True)
    ]  # per axis: beyond the owned cells
    beyond = np.sum(outside, axis=0)
    for field in fields:
        want = expected.copy()
        if not corners:
            travels = beyond == 0
            for axis in field.axes:
                travels |= (beyond == 1) & outside[axis]
            want[~travels] = OUTSIDE
        assert np.array_equal(field.array[wide], want), (shape, ranks, periodic, depth, corners, dtype, field.axes)


def main():
    comm = MPI.COMM_WORLD
    count = 0
    for shape, periodic in (
        ((13, 12, 17), (False, False, False)),
        ((13, 12, 17), (True, False, True)),
        ((16, 1, 19), (False, False, False)),
        ((16, 1, 19), (False, False, True)),
    ):
        for ranks in arrangements(comm.size, shape[1] == 1):
            for depth, corners, dtype in itertools.product((1, 4), (False, True), (np.float32, np.int16)):
                thinnest = min(n // p for n, p in zip(shape, ranks, strict=True) if n > 1)
                if thinnest >= depth:
                    for largest in (1 << 30, 512):
                        check(comm, shape, ranks, periodic, depth, corners, dtype, largest)
                        count += 1
    if comm.rank == 0:
        print(f"OK {count}")


if __name__ == "__main__":
    main()
