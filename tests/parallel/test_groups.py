"""Groups of ranks, their windows of the model, and how many ranks work on a shot."""

import numpy as np
import pytest

from fathometer.grid.grid import Grid
from fathometer.parallel.groups import Group
from fathometer.seismic.shots.window import FEWEST, MULTIPLE, window_of


@pytest.mark.parametrize("size", range(1, 12))
def test_every_rank_is_in_one_group_of_neighbours(size):
    for wanted in range(1, size + 1):
        groups = [Group.of(rank, size, wanted) for rank in range(size)]
        assert [group.number for group in groups] == sorted(group.number for group in groups)
        assert {group.groups for group in groups} == {size // wanted}
        for rank, group in enumerate(groups):
            assert group.first <= rank < group.first + group.size
            assert group.size >= wanted
            assert sum(other.number == group.number for other in groups) == group.size


GRID = Grid((101, 61, 40), (10.0, 20.0, 5.0), (1000.0, -200.0, 0.0))


def test_a_window_holds_the_places_and_the_aperture():
    rng = np.random.default_rng(3)
    lower, upper = np.array(GRID.origin), np.array(GRID.upper)
    for _ in range(200):
        places = rng.uniform(lower, upper, (rng.integers(1, 5), 3))
        aperture = rng.uniform(0, 500)
        window = window_of(GRID, places, aperture)
        assert window.shape[2] == 40
        assert window.first[2] == 0
        for axis in (0, 1):
            lo = max(places[:, axis].min() - aperture, lower[axis])
            hi = min(places[:, axis].max() + aperture, upper[axis])
            assert window.origin[axis] <= lo + 1e-9
            assert window.upper[axis] >= hi - 1e-9
            cells = window.shape[axis]
            assert cells == GRID.shape[axis] or (cells % MULTIPLE == 0 and cells >= FEWEST)
            # Not more than rounding asks for.
            assert cells <= max(FEWEST, (hi - lo) / GRID.spacing[axis] + 2 + MULTIPLE)
            assert window.first[axis] + cells <= GRID.shape[axis]
            assert window.origin[axis] == pytest.approx(lower[axis] + window.first[axis] * GRID.spacing[axis])


def test_a_window_in_two_dimensions():
    flat = Grid((101, 1, 40), (10.0, 10.0, 5.0))
    window = window_of(flat, np.array([[505.0, 0.0, 10.0]]), 100.0)
    assert window.shape == (24, 1, 40)
    assert window.first[0] * 10 <= 405 <= 505 <= (window.first[0] + 23) * 10
