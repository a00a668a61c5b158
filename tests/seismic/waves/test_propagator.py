"""Putting a wavefield aside and taking it up again."""

import numpy as np
import pytest
from support import Medium, heterogeneous, ricker

from fathometer.grid.grid import Grid
from fathometer.seismic.waves.checked_steps import advances, steps_at_a_time


@pytest.mark.parametrize("free_surface", [False, True])
@pytest.mark.parametrize("steps", [3, 4])
def test_a_restored_wavefield_goes_on_as_it_did(steps, free_surface):
    """After an odd and an even number of steps: the time levels take turns."""
    shape = (30, 1, 25)
    vp, epsilon, delta = heterogeneous([46, 1, 33 if free_surface else 41])
    medium = Medium(shape, 12.5, vp, epsilon, delta, dtype=np.float32, free_surface=free_surface)
    p = medium.propagator
    source = p.injectors(medium.points([[150.0, 0.0, 140.0]]))
    series = np.ascontiguousarray(ricker(np.arange(40) * medium.dt - 0.03, 20.0)[:, None], np.float32)
    p.advance(20 + steps, source, series)
    state = p.save()
    outcomes = []
    for _ in range(2):
        p.advance(15)
        outcomes.append([field.copy() for field in p.fields()[0]])
        p.advance(7)
        p.restore(state)
        assert p.step == 20 + steps
    for first, second in zip(*outcomes, strict=True):
        assert np.abs(first).max() > 0
        assert np.array_equal(first, second)


def test_advances_end_where_they_must():
    assert advances(100, 40) == (3, 2)
    assert advances(100, 25, 50) == (4, 4)
    assert advances(130, 21, 41) == (7, 3)  # 21 + 20 three times, then 7
    assert advances(90, 40, 80) == (3, 2)


def test_steps_at_a_time_are_whole_imaging_steps():
    def grid(*shape):
        return Grid(shape, (10.0,) * 3, (0.0,) * 3, ((0, 0),) * 3)

    small, large = grid(100, 100, 100), grid(1000, 1000, 1000)
    assert steps_at_a_time(small, 1, 1000) == 40
    assert steps_at_a_time(small, 1, 30) == 30
    assert steps_at_a_time(small, 1, 1001, 7) == 35
    for stop, equal in ((50, 25), (25, 25), (41, 21), (1, 1), (1000, 40)):
        assert steps_at_a_time(small, 1, 1000, stop=stop) == equal
    assert steps_at_a_time(small, 1, 90, 45) == 45  # at least one
    assert steps_at_a_time(large, 8, 1000, 4) == 16  # two thousand million updates of each rank
    assert steps_at_a_time(large, 32, 1000, 4) == 40
