"""Decomposition and halos, on their own."""

import itertools
import json
import math

import pytest
from cli_support import under_mpirun
from hypothesis import given
from hypothesis import strategies as st
from paths import SUPPORT

from fathometer.base.errors import InputError
from fathometer.parallel.collectives import LARGEST_MESSAGE
from fathometer.parallel.decomposition import Decomposition, arrangements, choose_ranks, split
from fathometer.parallel.halo import directions, pieces, region

PROGRAM = SUPPORT / "halo_program.py"


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_halo_cell_is_its_neighbours(ranks):
    """Faces, edges and corners, 2D and 3D, several depths, dtypes and fields, periodic axes, messages cut in pieces."""
    done = under_mpirun(ranks, PROGRAM)
    assert done.returncode == 0, done.stderr
    word, count = done.stdout.split()
    assert word == "OK"
    assert int(count) >= 30


def test_waiting_for_a_neighbour_that_computes_is_not_transfer():
    """Its cells move only when it lets MPI work: meanwhile the other rank is idle, and that is said."""
    done = under_mpirun(2, SUPPORT / "late_neighbour_program.py")
    assert done.returncode == 0, done.stderr
    early, late = json.loads(done.stdout)
    assert early["idle"] > 0.9 * 4 * 0.25  # however busy the machine is: the other rank sleeps so long
    assert not early["left"]
    assert not late["left"]
    assert max(early["closing"], late["closing"]) < 0.9  # the last empty message is there


@given(st.integers(1, 10**6), st.integers(1, 300))
def test_parts_tile_the_axis_and_differ_by_one_at_most(cells, parts):
    bounds = [split(cells, parts, part) for part in range(parts)]
    assert bounds[0][0] == 0
    assert bounds[-1][1] == cells
    assert all(a[1] == b[0] for a, b in itertools.pairwise(bounds))
    sizes = {hi - lo for lo, hi in bounds}
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("shape", "size", "expected"),
    [
        ((400, 300, 200), 1, (1, 1, 1)),
        ((400, 300, 200), 2, (2, 1, 1)),
        ((300, 400, 200), 2, (1, 2, 1)),
        ((100, 100, 4000), 2, (1, 2, 1)),  # z is not cut although that would send less
        ((400, 400, 200), 4, (2, 2, 1)),
        ((400, 1, 200), 6, (6, 1, 1)),
        ((9, 9, 400), 8, (1, 1, 8)),  # nothing fits without cutting z
    ],
)
def test_auto_sends_the_fewest_halo_bytes_and_prefers_whole_rows(shape, size, expected):
    chosen = choose_ranks(shape, size, 4)
    assert math.prod(chosen) == size
    assert chosen == expected


def test_too_many_ranks_names_the_largest_usable_number():
    with pytest.raises(InputError, match=r"5 ranks are too many .* at most 4 ranks can be used"):
        choose_ranks((9, 1, 9), 5, 4)
    with pytest.raises(InputError, match=r"ranks per axis: \[3, 1, 1\] cuts"):
        choose_ranks((9, 9, 9), 3, 4, (3, 1, 1))
    with pytest.raises(InputError, match="is for 6 ranks, but 4 are running"):
        choose_ranks((90, 90, 90), 4, 4, (3, 2, 1))


def test_messages_of_a_grid_of_more_than_two_to_the_31_cells():
    """2486 x 1151 x 1231 cells in two blocks: no call moves more than 1 GiB, no cell is left out or sent twice."""
    shape = (2486, 1151, 1231)
    assert math.prod(shape) > 2**31
    block = Decomposition(shape, (1, 1, 2), 1)
    assert block.lo[2] + block.local_shape[2] == shape[2]
    face = region((8, 8, 16), block.local_shape, (0, 0, -1), 300, False)
    parts = list(pieces(face, 4))
    sizes = [math.prod(s.stop - s.start for s in part) for part in parts]
    assert max(sizes) * 4 <= LARGEST_MESSAGE
    assert sum(sizes) == 2486 * 1151 * 300
    assert len(parts) >= 4


def test_every_arrangement_is_found_once():
    assert sorted(arrangements(12, True)) == [(1, 1, 12), (2, 1, 6), (3, 1, 4), (4, 1, 3), (6, 1, 2), (12, 1, 1)]
    grids = list(arrangements(12, False))
    assert len(grids) == len(set(grids)) == 18
    assert len(list(directions((0, 1, 2), True))) == 26
    assert sorted(directions((2,), False)) == [(0, 0, -1), (0, 0, 1)]
