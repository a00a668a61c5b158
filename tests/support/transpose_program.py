"""Run by test_transpose.py under mpirun: transposes arrays whose items hold their own global index, there and back, and
checks every item, on all ranks and on parts of them, of each smaller size. Prints OK from rank 0, and each size with
its number of cases.
"""

import itertools
import time

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import split
from fathometer.parallel.gather import Gather
from fathometer.parallel.transpose import METHODS, Transpose

SHAPES = (
    {"x": 5, "y": 9},
    {"x": 1, "y": 8},  # with up to 7 ranks some have no cells, on one side or on both
    {"x": 2, "y": 3},
    {"level": 4, "x": 7, "y": 6},
    {"species": 2, "x": 6, "y": 1, "z": 5},
    {"species": 2, "v": 2, "x": 7, "y": 3, "z": 2},
)
PADDED = np.dtype([("flag", "u1"), ("value", "f8")], align=True)  # with bytes between its members
DTYPES = ("i8", "u1", "c16", ">f4", "?", "f2", "U3", "M8[s]", PADDED)
LARGEST = (1 << 30, 400)  # bytes
LATE_SECONDS = 0.02


def numbered(shape, dtype):
    """Items whose bits are their index, again and again; also such as are no finite or no usual numbers."""
    dtype = np.dtype(dtype)
    index = np.arange(np.prod(shape), dtype=np.uint64).view(np.uint8).reshape(-1, 8)
    return np.ascontiguousarray(np.tile(index, 1 + dtype.itemsize // 8)[:, : dtype.itemsize]).view(dtype).reshape(shape)


def block(whole, axis, comm):
    """What a rank has of an array that is cut along one axis; copied as plain bytes, to keep paddings."""
    cells = [slice(None)] * whole.ndim
    cells[axis] = slice(*split(whole.shape[axis], comm.size, comm.rank))
    return np.ascontiguousarray(whole.view(f"V{whole.itemsize}")[tuple(cells)]).view(whole.dtype)


def blank(array):
    """An array of the same shape whose bits are those of no item of few."""
    return np.full(array.nbytes, 0xA5, np.uint8).view(array.dtype).reshape(array.shape)


def same(a, b):
    """Whether two arrays hold the same bits, paddings included."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def check(comm, shape, from_axis, to_axis, dtype, fields, method, largest):
    whole = numbered((fields, *shape.values()), dtype)
    before, after = (1 + list(shape).index(axis) for axis in (from_axis, to_axis))
    source, expected = block(whole, before, comm), block(whole, after, comm)
    transpose = Transpose(shape, from_axis, to_axis, dtype, fields, comm, method, largest)
    case = (comm.size, shape, from_axis, to_axis, dtype, fields, method, largest)
    assert (source.shape, expected.shape) == (transpose.source_shape, transpose.target_shape), case
    kept, target, back = source.tobytes(), blank(expected), blank(source)
    transpose.forward(source, target)
    assert same(target, expected), case
    assert source.tobytes() == kept, case
    transpose.backward(target, back)
    assert same(back, source), case
    target, back = blank(expected), blank(source)
    moving = transpose.start_forward(source, target)
    moving.Test()
    moving.finish()
    assert same(target, expected), case
    transpose.start_backward(target, back).finish()
    assert same(back, source), case
    assert source.tobytes() == kept, case
    transpose.close()
    gathered = Gather(whole.shape, before, dtype, comm)(source)
    assert same(gathered, whole), case


def check_account(comm, method):
    """Bytes for other ranks are messages; a message beyond the largest goes in several calls; no second before the last
    rank has come is one of communication."""
    shape, fields = {"x": 11, "z": 3, "y": 10}, 2
    transpose = Transpose(shape, "x", "y", np.float32, fields, comm, method, 160)
    source, target = (np.zeros(one, np.float32) for one in (transpose.source_shape, transpose.target_shape))
    own = fields * 3 * source.shape[1] * target.shape[3]
    assert transpose.forward_bytes == 4 * (source.size - own)
    assert transpose.backward_bytes == 4 * (target.size - own)
    for move, arrays, sent in (
        (transpose.forward, (source, target), transpose.forward_bytes),
        (transpose.backward, (target, source), transpose.backward_bytes),
    ):
        comm.Barrier()
        with ledger.Ledger() as account:
            if comm.rank == 0:
                time.sleep(LATE_SECONDS)
            begin = ledger.now()
            move(*arrays)
            end = ledger.now()
            entries = {(entry["phase"], entry["category"]): entry for entry in account.as_dict()["entries"]}
        assert {phase for phase, _ in entries} == {"transpose"}
        messages = entries.get(("transpose", "communication"), {"bytes": 0, "calls": 0, "seconds": 0.0})
        assert messages["bytes"] == sent
        if method == "alltoallv":
            assert messages["calls"] * 160 >= 4 * source.size
        if method == "pairwise" and comm.size > 1:
            assert messages["calls"] * 160 >= sent
        assert messages["seconds"] <= end - comm.allreduce(begin, MPI.MAX)  # the ranks are on one host, with one clock
        assert entries["transpose", "idle"]["calls"] == 1
    transpose.close()


def check_errors(comm, method):
    """What is wrong on the last rank alone is said by all, in the same words, and the next call is as good as any."""
    transpose = Transpose({"x": 8, "y": 9}, "x", "y", np.float64, 2, comm, method)
    source, target = np.ones(transpose.source_shape), np.zeros(transpose.target_shape)
    fixed = source.copy()
    fixed.flags.writeable = False
    for move, wrong, words in (
        (transpose.forward, (source[:1], target), "source: found float64 of shape (1, "),
        (transpose.forward, (source, target.astype(np.float32)), "target: found float32 of shape"),
        (transpose.forward, (source.astype(">f8"), target), "source: found >f8 of shape"),
        (transpose.forward, (np.ones((9, 2, *source.shape[1:]))[::5], target), "source: found float64 of shape"),
        (transpose.forward, (np.repeat(source, 2, 1)[:, ::2], target), "source: found strides of"),
        (transpose.forward, (source, np.asfortranarray(target)), "target: found strides of"),
        (transpose.backward, (target, fixed), "source: found a read-only array"),
        (transpose.backward, (target, source.astype(int)), "source: found int64 of shape"),
    ):
        good = (source, target) if move == transpose.forward else (target, source)
        try:
            move(*(wrong if comm.rank == comm.size - 1 else good))
            said = "nothing"
        except InputError as error:
            said = str(error)
        assert set(comm.allgather(said)) == {said}
        assert said.startswith(f"rank {comm.size - 1}: {words}"), said
    transpose.forward(fixed, target)
    assert (target == 1).all()
    transpose.close()


def check_all(comm):
    """By every method, x and any other axis; dtypes, fields and limits in turns. Returns the number of cases."""
    count = 0
    dtypes, limits, many = itertools.cycle(DTYPES), itertools.cycle(LARGEST), itertools.cycle((1, 3, 2))
    for shape in SHAPES:
        for from_axis, to_axis in itertools.permutations(shape, 2):
            if "x" not in (from_axis, to_axis):
                continue
            dtype, largest, fields = next(dtypes), next(limits), next(many)
            for method in METHODS:
                check(comm, shape, from_axis, to_axis, dtype, fields, method, largest)
                count += 1
    for method in METHODS:
        check_account(comm, method)
    check_errors(comm, "pairwise")  # found before any method is asked
    return count


def main():
    world = MPI.COMM_WORLD
    done = []
    for size in range(1 + world.size // 2):
        part = world.Split(world.rank < size)  # the first ranks are a communicator, the others another one
        done.append((part.size, check_all(part)))
        part.Free()
    sizes = {size: count for rank in world.allgather(done) for size, count in rank}
    if world.rank == 0:
        print("OK", *(f"{size}:{count}" for size, count in sorted(sizes.items())))


if __name__ == "__main__":
    main()
