"""Redistribution of arrays over ranks; its messages and errors."""

import itertools
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from cli_support import under_mpirun
from mpi4py import MPI
from paths import SUPPORT

from fathometer.base.errors import InputError
from fathometer.parallel.collectives import LARGEST_MESSAGE
from fathometer.parallel.transpose import METHODS, Transpose, side


def test_every_item_arrives_on_one_to_seven_ranks():
    """By every method, axes in several orders, dtypes and fields, ranks without cells, messages cut in parts;
    there and back; its account; errors of one rank on all. At once, as starting ranks takes longer than these do."""
    done = under_mpirun(7, SUPPORT / "transpose_program.py")
    assert done.returncode == 0, done.stderr
    word, *counts = done.stdout.split()
    assert word == "OK"
    assert [int(count.split(":")[0]) for count in counts] == [1, 2, 3, 4, 5, 6, 7]
    assert min(int(count.split(":")[1]) for count in counts) >= 72


@pytest.mark.parametrize(("ranks", "largest"), [(1, 100), (3, 100), (3, 8), (7, 33), (13, 4), (4, 1 << 30)])
def test_rounds_of_messages_are_the_same_on_all_ranks_and_tile_the_array(ranks, largest):
    """What a rank sends in a round, another receives in it: the same cells of the whole array, in the same order."""
    whole, itemsize = (2, 5, 9, 11), 8
    index = np.arange(math.prod(whole)).reshape(whole)
    comms = [SimpleNamespace(size=ranks, rank=rank) for rank in range(ranks)]
    for cut, shared in itertools.permutations(range(1, 4), 2):
        blocks = []  # of each rank: its part of the array, with the rounds
        for a, b in ((cut, shared), (shared, cut)):
            sides = [side(whole, a, b, comm, itemsize, largest) for comm in comms]
            stops = np.cumsum([one.shape[a] for one in sides])
            assert stops[-1] == whole[a]
            blocks.append(list(zip(np.split(index, stops[:-1], a), (one.rounds for one in sides), strict=True)))
        assert len({len(rounds) for one in blocks for _, rounds in one}) == 1
        met = np.zeros(index.size, int)
        for sender, receiver in itertools.product(range(ranks), repeat=2):
            (sent, going), (received, coming) = blocks[0][sender], blocks[1][receiver]
            for out, into in zip(going, coming, strict=True):
                message = sent[out[receiver]]
                assert np.array_equal(message, received[into[sender]])
                assert message.nbytes <= max(largest, itemsize)
                met[message.ravel()] += 1
        assert (met == 1).all()


def test_messages_of_an_array_of_more_than_two_to_the_31_cells():
    """Of 3 fields of 3000 x 1 x 2000 x 1000 complex numbers on 2 ranks no call moves more than 1 GiB to a rank, and no
    cell is left out."""
    whole, itemsize = (3, 3000, 1, 2000, 1000), 16
    comm = SimpleNamespace(size=2, rank=1)
    one = side(whole, 3, 1, comm, itemsize, LARGEST_MESSAGE)
    assert one.shape == (3, 3000, 1, 1000, 1000)
    messages = [math.prod(s.stop - s.start for s in cells) for cells in itertools.chain(*one.rounds)]
    assert sum(messages) == math.prod(one.shape) > 2**31
    assert max(messages) * itemsize <= LARGEST_MESSAGE
    assert one.bytes_sent == math.prod(one.shape) * itemsize // 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"from_axis": "q"}, "from_axis: found q; allowed: x, y, z"),
        ({"to_axis": "q"}, "to_axis: found q; allowed: y, z"),
        ({"to_axis": "x"}, "to_axis: found x; allowed: y, z"),
        ({"method": "alltoall"}, "method: found alltoall; allowed: alltoallw, alltoallv, pairwise"),
        ({"dtype": "f9"}, "dtype: found 'f9'; allowed: a dtype of NumPy"),
        ({"dtype": object}, "dtype: found object; allowed: items of a fixed size, without Python objects"),
        ({"dtype": "U"}, "dtype: found <U0; allowed: items of a fixed size, without Python objects"),
        ({"fields": 0}, "fields: found 0; allowed: at least 1"),
        ({"shape": {"x": 3, "y": 4, "z": 0}}, "z: found 0; allowed: at least 1"),
        ({"largest": 0}, "largest: found 0; allowed: at least 1"),
    ],
)
def test_what_cannot_be_set_up_is_named(change, words):
    arguments = {"shape": {"x": 3, "y": 4, "z": 5}, "from_axis": "x", "to_axis": "y", "dtype": float, "fields": 1}
    with pytest.raises(InputError, match=f"^{re.escape(words)}$"):
        Transpose(**(arguments | {"comm": MPI.COMM_SELF} | change))


@pytest.mark.parametrize("method", METHODS)
def test_an_array_is_not_transposed_into_itself(method):
    transpose = Transpose({"x": 3, "y": 4}, "x", "y", float, 1, MPI.COMM_SELF, method)
    array = np.ones(transpose.source_shape)
    with pytest.raises(InputError, match=r"^rank 0: source and target: found the same memory"):
        transpose.forward(array, array)
    transpose.close()
