"""Several time steps a sweep: the same bits as one by one, whatever the tiles, threads, orders and points."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import ORDERS, Medium, heterogeneous

from fathometer import _native
from fathometer.base import ledger
from fathometer.grid.tiling import DIAMONDS, PLAIN, Tiling
from fathometer.seismic.waves.boundary import Pml, Sponge
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.propagator import Correlation

SPACING = 10.0


@pytest.fixture(autouse=True)
def _threads():
    yield
    _native.set_threads(2)


def propagated(medium, tiling, threads, sources, receivers, series, every, active, together=1):
    """All that a propagation leaves: traces, snapshots, image, illumination, fields, the layers' memories. together:
    imaging steps in an advance."""
    _native.set_threads(threads)
    p = medium.propagator
    p.tiling = tiling
    p.reset(active)
    injectors, samplers = p.injectors(medium.points(sources)), p.samplers(medium.points(receivers))
    steps = len(series)
    traces = np.zeros((steps, len(receivers)), p.scheme.dtype)
    snapshots = np.zeros((steps // every, *p.image_shape), p.scheme.dtype)
    image, illumination = (np.zeros(p.image_shape, p.scheme.dtype) for _ in range(2))
    others = np.random.default_rng(2).standard_normal(snapshots.shape).astype(p.scheme.dtype)  # of another wavefield
    for n in range(0, len(snapshots), together):
        rows, now = slice(n * every, (n + together) * every), slice(n, n + together)
        correlations = [Correlation(other, image, illumination) for other in others[now]]
        steps = len(series[rows])
        p.advance(steps, injectors, series[rows], samplers, traces[rows], list(snapshots[now]), correlations)
    return traces, snapshots, image, illumination, *p.fields()[0], *p.fields()[1], *p._memories()


def some_rows(medium, steps, seed=0):
    """Of each row steps of its own: some never, some all."""
    rng = np.random.default_rng(seed)
    shape = medium.grid.full_shape[:2]
    first = rng.integers(-steps // 4, steps // 2, shape)
    last = first + rng.integers(0, 2 * steps, shape)
    return ActiveRows(*(np.clip(ends, 0, steps).astype(np.int32) for ends in (first, last)))


def same(medium, tilings, sources, receivers, steps, every, dtype, active=None, together=1):
    series = np.random.default_rng(1).standard_normal((steps, len(sources))).astype(dtype)
    arguments = (sources, receivers, series, every, active)
    wanted = [np.copy(a) for a in propagated(medium, PLAIN, 1, *arguments)]
    assert all(np.isfinite(a).all() for a in wanted)
    assert active is not None or wanted[4].any()
    for tiling, threads in tilings:
        found = propagated(medium, tiling, threads, *arguments, together)
        for one, other in zip(wanted, found, strict=True):
            assert one.tobytes() == np.ascontiguousarray(other).tobytes(), (tiling, threads)


@settings(max_examples=40)
@given(data=st.data())
def test_random_tiles(data):
    """Any shape, order, physics, sides, points and tiles."""
    draw = data.draw
    flat = draw(st.booleans(), "2D")
    free = draw(st.booleans(), "free surface")
    order = draw(st.sampled_from(ORDERS), "order")
    dtype = draw(st.sampled_from([np.float32, np.float64]), "dtype")
    sides = draw(st.sampled_from([Pml(4), Pml(6), Sponge(5)]), "sides")
    shape = tuple(
        1 if flat and axis == 1 else draw(st.integers(9, 70 if axis == 2 else 22), "xyz"[axis]) for axis in range(3)
    )
    full = [n if n == 1 else n + 2 * sides.width for n in shape]
    full[2] -= sides.width if free else 0
    vp, epsilon, delta = heterogeneous(full, draw(st.integers(0, 9), "model"))
    anisotropy = (epsilon, delta) if draw(st.booleans(), "VTI") else ()
    medium = Medium(shape, SPACING, vp, *anisotropy, order=order, dtype=dtype, boundary=sides, free_surface=free)

    def points(most, name):
        count = draw(st.integers(1, most), name)
        corners = np.array([[draw(st.integers(0, 4 * (n - 1))) / 4 for n in shape] for _ in range(count)])
        low, high = (0 if n == 1 else 4 for n in shape), (0 if n == 1 else n - 5 for n in shape)
        return np.clip(corners, tuple(low), tuple(high)) * SPACING

    every, times = draw(st.integers(1, 9), "imaging step"), draw(st.integers(2, 5), "imaging steps")
    together = draw(st.integers(1, times), "imaging steps at a time")
    tiling = Tiling(
        *(draw(st.integers(1, most), name) for most, name in ((10, "depth"), (30, "block"), (30, "tile"))), 1
    )
    threads = draw(st.integers(1, 4), "threads")
    team = draw(st.sampled_from([n for n in range(1, threads + 1) if threads % n == 0]), "team")
    tilings = [(Tiling(tiling.depth, tiling.block, tiling.tile, team), threads)]
    tilings += [(Tiling(tiling.depth, tiling.block, DIAMONDS, 1), threads)]
    active = some_rows(medium, times * every) if draw(st.booleans(), "rows left out") else None
    same(medium, tilings, points(3, "sources"), points(6, "receivers"), times * every, every, dtype, active, together)


@pytest.mark.parametrize("order", [order for order in (2, 4, 8, 16) if order in ORDERS])
def test_points_on_the_borders_of_tiles(order):
    """Sources and receivers at and next to every border of a tile at every step, several in a cell."""
    shape, width = (26, 24, 17), 4
    vp, epsilon, delta = heterogeneous([n + 2 * width for n in shape], 2)
    medium = Medium(shape, SPACING, vp, epsilon, delta, order=order, dtype=np.float32, boundary=Pml(width))
    along = np.arange(4.0, 19.0, 0.5)
    across = np.stack([along, along[::-1], np.full_like(along, 8.25)], axis=1) * SPACING
    tilings = [(Tiling(d, b, t, m), m * 2) for d in (2, 5) for b, t in ((1, 1), (4, 6), (7, 30)) for m in (1, 2)]
    tilings += [(Tiling(d, b, DIAMONDS, 1), threads) for d in (1, 2, 3) for b in (1, 4) for threads in (2, 3)]
    same(medium, tilings, across[::3], across, 10, 5, np.float32, None, 2)
    same(medium, tilings[::3], across[::3], across, 10, 5, np.float32, some_rows(medium, 10), 2)


def test_steps_that_the_depth_does_not_divide():
    vp = heterogeneous([30, 28, 26])[0]
    medium = Medium((22, 20, 18), SPACING, vp, dtype=np.float32, boundary=Pml(4))
    middle = np.array([[11.0, 10.0, 9.0]]) * SPACING
    same(medium, [(Tiling(d, 3, 9, 1), 2) for d in (2, 3, 5, 6, 7, 11)], middle, middle, 14, 7, np.float32)


def test_a_tile_need_not_be_asked_twice():
    """No steps at all leave everything as it is."""
    medium = Medium((12, 12, 12), SPACING, 2000.0)
    p = medium.propagator
    p.tiling = Tiling(4, 4, 4, 1)
    p.advance(0)
    assert p.step == 0
    assert not p.fields()[0][0].any()


def test_rows_that_are_left_out_stay_as_they_are_and_are_not_counted():
    """Of two time levels neither changes, whatever is around; they are recorded and imaged as they are."""
    shape, width, steps = (20, 16, 14), 4, 12
    medium = Medium(shape, SPACING, heterogeneous([n + 2 * width for n in shape], 4)[0], boundary=Pml(width))
    p, active = medium.propagator, some_rows(medium, steps, 1)
    source = np.array([[10.0, 8.0, 7.0]]) * SPACING
    injectors, samplers = p.injectors(medium.points(source)), p.samplers(medium.points(source))
    series, recorded = np.ones((1, 1)), np.full((1, 1), np.nan)
    for tiling in (PLAIN, Tiling(3, 4, 5, 1)):
        p.tiling = tiling
        p.reset(active)
        points = 0
        with ledger.Ledger() as account, ledger.phase("time steps"):
            for n in range(steps):
                next_before, now_before = (np.copy(level[0]) for level in p.fields()[::-1])
                snapshot = np.full(p.image_shape, np.nan)
                p.advance(1, injectors, series, samplers, recorded, [snapshot])
                now, before = (level[0] for level in p.fields())
                rest = (n < active.first) | (n >= active.last)
                points += np.count_nonzero(~rest) * p.grid.full_shape[2]
                assert np.array_equal(now[rest], next_before[rest])
                assert np.array_equal(before, now_before)
                assert np.isfinite(recorded).all()
                assert np.array_equal(snapshot, now[tuple(slice(width, -width) for _ in range(3))])
        assert 0 < points < steps * math.prod(p.grid.full_shape)
        assert sum(entry["points"] for entry in account.as_dict()["entries"]) == points
