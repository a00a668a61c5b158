"""Blocks of the grid, and which rank has which."""

from itertools import pairwise

import numpy as np
import pytest
from barotropic_support import layout_of, world

from fathometer.apps.ocean.barotropic.block_layout import HALO, cut
from fathometer.apps.ocean.barotropic.curve import hilbert
from fathometer.base.errors import InputError

CASES = [
    {"ranks": (2, 3), "size": 6},
    {"blocks": (16, 8), "size": 4},
    {"blocks": (16, 8), "size": 4, "order": "grid"},
    {"blocks": (13, 100), "size": 3},
    {"size": 5},
    {"size": 1},
]


@pytest.mark.parametrize("keys", CASES)
@pytest.mark.parametrize("continents", [True, False])
def test_each_cell_of_water_belongs_to_one_block(keys, continents):
    grid = world(75, 61, continents=continents)
    layout = layout_of(grid, **keys)
    times = np.zeros(grid.shape[:2], int)
    for lo, hi in [(b.lo, b.hi) for b in layout.blocks] + list(layout.left_out):
        times[lo[0] : hi[0], lo[1] : hi[1]] += 1
        assert all(n % 8 == 0 for n in lo)
        assert all(n % 8 == 0 or n == most for n, most in zip(hi, (75, 61), strict=True))
    assert (times == 1).all()
    for block in layout.blocks:
        assert block.wet_columns == (grid.levels[block.lo[0] : block.hi[0], block.lo[1] : block.hi[1]] > 0).sum() > 0
    for lo, hi in layout.left_out:
        assert not grid.levels[lo[0] : hi[0], lo[1] : hi[1]].any()
    assert layout.cells_left_out == sum((hi[0] - lo[0]) * (hi[1] - lo[1]) for lo, hi in layout.left_out)
    assert {b.rank for b in layout.blocks} == set(range(keys["size"]))
    assert len({b.number for b in layout.blocks}) == len(layout.blocks)


def test_ranks_agree_on_the_blocks():
    grid = world(75, 61)
    layouts = [layout_of(grid, 4, rank, blocks=(8, 8)) for rank in range(4)]
    assert len({layout.blocks for layout in layouts}) == len({layout.padded for layout in layouts}) == 1
    assert [block for layout in layouts for block in layout.own] == list(layouts[0].blocks)
    assert layouts[0].left_out


@pytest.mark.parametrize("periodic", [True, False])
def test_blocked_arrays_have_their_neighbours_cells(periodic):
    grid = world(40, 24, periodic=periodic)
    values = np.random.default_rng(0).standard_normal((40, 24, 2))
    layout = layout_of(grid, 3, 1, blocks=(8, 16))
    blocked, rows = layout.blocked(values, fill=-7.0), layout.rows(values[0, :, 0])
    assert blocked.shape == (len(layout.own), 8 + 2 * HALO, 16 + 2 * HALO, 2)
    for n, block in enumerate(layout.own):
        np.testing.assert_array_equal(
            layout.owned(blocked, n), values[block.lo[0] : block.hi[0], block.lo[1] : block.hi[1]]
        )
        for x in range(block.lo[0] - HALO, block.hi[0] + HALO):
            for y in range(block.lo[1] - HALO, block.hi[1] + HALO):
                inside = 0 <= y < 24 and (periodic or 0 <= x < 40)
                found = blocked[n, x - block.lo[0] + HALO, y - block.lo[1] + HALO]
                assert (found == (values[x % 40, y] if inside else -7.0)).all()
                assert rows[n, y - block.lo[1] + HALO] == values[0, min(max(y, 0), 23), 0]


def test_hilbert_curve_goes_to_neighbours():
    places = sorted((hilbert(x, y, 4), x, y) for x in range(16) for y in range(16))
    assert [place for place, _, _ in places] == list(range(256))
    steps = [abs(a[1] - b[1]) + abs(a[2] - b[2]) for a, b in pairwise(places)]
    assert set(steps) == {1}


def test_work_is_spread():
    grid = world(320, 384)
    layout = layout_of(grid, 8, blocks=(16, 16))
    assert layout.imbalance < 1.05
    assert layout.cells_left_out > 0.15 * 320 * 384


def test_as_many_blocks_as_ranks():
    """Each rank has one, though little work is in some."""
    levels = np.zeros((64, 8), np.int32)
    levels[:, 0] = 1
    levels[-8:] = 1
    for order in ("curve", "grid"):
        layout = cut((64, 8), 8, 0, levels, blocks=(8, 8), order=order)
        assert sorted(block.rank for block in layout.blocks) == list(range(8))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"size": 4, "ranks": (3, 1)}, "3 x 1"),
        ({"size": 4, "ranks": (2, 2), "blocks": (8, 8)}, "together"),
        ({"size": 7, "ranks": (7, 1)}, "7 along x"),
        ({"size": 2, "blocks": (100, 100)}, "1 blocks"),
        ({"size": 61}, "61 ranks"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(keys, words):
    with pytest.raises(InputError, match=words) as error:
        cut((48, 24), keys.pop("size"), 0, np.ones((48, 24), np.int32), **keys)
    assert "\n" not in str(error.value)
