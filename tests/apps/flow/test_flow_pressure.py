"""The pressure's equation on every pair of sides."""

import itertools

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.apps.flow.solver.poisson import PressureSolver, Waves

ENDS = {"periodic": None, "walls": (1.0, 1.0), "open above": (1.0, -1.0), "open below": (-1.0, 1.0)}


def second_difference(p, waves):
    """Of an array (z, y, x), with its values beyond the ends."""
    total = np.zeros_like(p)
    for axis, one in enumerate(waves):
        if one.n == 1:
            continue
        first, last = np.take(p, [0], axis), np.take(p, [-1], axis)
        low, high = (last, first) if one.ends is None else (one.ends[0] * first, one.ends[1] * last)
        wide = np.concatenate([low, p, high], axis)
        total += np.diff(wide, 2, axis) / one.spacing**2
    return total


@pytest.mark.parametrize("kinds", [*itertools.product(ENDS, repeat=3)])
def test_three_dimensions(kinds):
    waves = [Waves(n, h, ENDS[kind]) for n, h, kind in zip((6, 7, 9), (0.3, 0.2, 0.25), kinds, strict=True)]
    check(waves, 3)


@pytest.mark.parametrize("kinds", [*itertools.product(ENDS, repeat=2)])
def test_two_dimensions(kinds):
    check([Waves(1, 1.0, None)] + [Waves(n, 0.2, ENDS[kind]) for n, kind in zip((8, 5), kinds, strict=True)], 2)


def check(waves, dims):
    values = np.random.default_rng(3).standard_normal([one.n for one in waves])
    free = all(one.ends in (None, (1.0, 1.0)) for one in waves)
    if free:
        values -= values.mean()
    solver = PressureSolver(tuple(one.n for one in waves), waves, (1, 1), MPI.COMM_SELF, 1, dims)
    p = solver.solve(values.copy())
    assert np.abs(second_difference(p, waves) - values).max() < 1e-12 * np.abs(values).max() * 100
    if free:
        assert abs(p.mean()) < 1e-14
    solver.close()


def test_more_columns_than_one_thread_takes_at_a_time():
    waves = [Waves(3, 0.1, None), Waves(40, 0.1, (1.0, 1.0)), Waves(50, 0.1, (1.0, 1.0))]
    check(waves, 3)
