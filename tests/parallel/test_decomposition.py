"""Where grids are cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathometer.parallel.decomposition import Decomposition, best_ranks, choose_ranks, fair_cuts


@st.composite
def axes(draw):
    """Work of cells, a number of parts, and limits of their sizes that some cuts keep."""
    work = draw(st.lists(st.integers(0, 9), min_size=1, max_size=11))
    parts = draw(st.integers(1, min(4, len(work))))
    thinnest = draw(st.integers(1, len(work) // parts))
    widest = draw(st.integers(-(-len(work) // parts), len(work)))
    return work, parts, thinnest, widest


@given(axes())
def test_fair_cuts_leave_the_busiest_part_as_little_as_can_be(axis):
    work, parts, thinnest, widest = axis

    def most(cuts):
        ends = [0, *cuts, len(work)]
        sizes = [b - a for a, b in itertools.pairwise(ends)]
        if min(sizes) < thinnest or max(sizes) > widest:
            return None
        return max(sum(work[a:b]) for a, b in itertools.pairwise(ends))

    possible = (most(cuts) for cuts in itertools.combinations(range(1, len(work)), parts - 1))
    assert most(fair_cuts(work, parts, thinnest, widest)) == min(value for value in possible if value is not None)


def test_parts_of_a_grid_that_is_cut_unequally():
    blocks = [Decomposition((10, 9, 8), (2, 3, 1), rank, cuts=((3,), (2, 8), ())) for rank in range(6)]
    assert [block.local_shape for block in blocks] == [(3, 2, 8), (3, 6, 8), (3, 1, 8), (7, 2, 8), (7, 6, 8), (7, 1, 8)]
    assert blocks[4].lo == (3, 2, 0)
    assert blocks[4].hi == (10, 8, 8)
    assert blocks[4].parts(1) == [(0, 2), (2, 8), (8, 9)]


@pytest.mark.parametrize(
    ("shape", "size", "slab", "ranks"),
    [
        ((400, 100, 100), 4, None, (4, 1, 1)),  # the least surface
        ((400, 100, 100), 4, 25, (1, 4, 1)),
        ((400, 100, 100), 4, 26, (4, 1, 1)),  # too few rows
        ((100, 100, 100), 8, 24, (2, 4, 1)),
    ],
)
def test_cuts_along_y_come_first_where_each_part_has_so_many_rows(shape, size, slab, ranks):
    assert best_ranks(shape, size, 4, slab) == choose_ranks(shape, size, 4, slab=slab) == ranks
