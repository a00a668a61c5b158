"""Receivers between cells are summed row by row: what they record is the weighted sum over their cells at that step."""

import numpy as np
import pytest
from support import Medium, heterogeneous, ricker

from fathometer.grid.tiling import DIAMONDS, Tiling
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.waves import recording
from fathometer.seismic.waves.boundary import Pml, Sponge
from fathometer.seismic.waves.points import WEIGHTS, sinc_points
from fathometer.seismic.waves.recording import LineExchange, lines_bytes, select

STEPS = 24


def medium(flat=False):
    shape = (20, 1 if flat else 18, 16)
    full = tuple(n if n == 1 else n + 8 for n in shape)
    return Medium(shape, 10.0, *heterogeneous(full, 2), boundary=Pml(4), order=4)


def places(flat):
    y = 0.0 if flat else 80.0
    sources = np.array([[95.0, y, 70.0]])
    receivers = np.array([[93.0, y + 3.1 * (not flat), 66.0], [90.0, y, 70.0], [71.5, y, 44.0], [120.0, y, 99.9]])
    return sources, receivers


@pytest.mark.parametrize("flat", [False, True])
def test_recorded_values_are_weighted_sums_over_the_field(flat):
    wave, (sources, receivers) = medium(flat), places(flat)
    p, points = wave.propagator, wave.points(receivers)
    injectors, samplers = p.injectors(wave.points(sources)), p.samplers(points)
    series = ricker(np.arange(STEPS) * wave.dt - 0.02, 40.0)[:, None]
    recorded = np.full((STEPS, len(receivers)), np.nan)
    for n in range(STEPS):
        u, v = p.fields()[0] if len(p.fields()[0]) == 2 else (p.fields()[0][0],) * 2
        pressure = (u + v) / 2
        wanted = []
        for first, count, weight in zip(points.first, points.count, points.weight, strict=True):
            x, y, z = (slice(a, a + m) for a, m in zip(first, count, strict=True))
            wx, wy, wz = (w[:m] for w, m in zip(weight, count, strict=True))
            wanted.append(np.einsum("i,j,k,ijk", wx, wy, wz, pressure[x, y, z]))
        p.advance(1, injectors, series[n : n + 1], samplers, recorded[n : n + 1])
        np.testing.assert_allclose(recorded[n], wanted, rtol=1e-12, atol=1e-13 * np.abs(pressure).max())
    assert np.abs(recorded).min(axis=1).max() > 0


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("width", [1, 2])
def test_where_the_padding_is_thin_boxes_reach_beyond_the_grid_and_find_nothing_there(width, flat):
    shape = (14, 1 if flat else 13, 15)
    full = [n if n == 1 else n + 2 * width for n in shape]
    wave = Medium(shape, 10.0, *heterogeneous(full, 1), order=4, boundary=Sponge(width))
    far = 10.0 * np.array(shape) - 14
    y = 0.0 if flat else 60.0
    receivers = np.array([[4.0, y, 70.0], [far[0], y, 70.0], [70.0, y, 5.0], [4.0, min(y, 4.0), far[2]]])
    p, points = wave.propagator, wave.points(receivers)
    p.reset()
    p._lines = np.full(100_000, np.nan)  # as memory may be that was used for something else
    injectors, samplers = p.injectors(wave.points([[70.0, y, 70.0]])), p.samplers(points)
    p.advance(STEPS, injectors, ricker(np.arange(STEPS) * wave.dt - 0.02, 40.0)[:, None])
    recorded = np.empty((1, len(receivers)))
    pressure = np.pad(sum(p.fields()[0]) / 2, 8)
    wanted = []
    for first, count, weight in zip(points.first + 8, points.count, points.weight, strict=True):
        x, y, z = (slice(a, a + m) for a, m in zip(first, count, strict=True))
        wanted.append(np.einsum("i,j,k,ijk", *(w[:m] for w, m in zip(weight, count, strict=True)), pressure[x, y, z]))
    p.advance(1, injectors, np.zeros((1, 1)), samplers, recorded)
    np.testing.assert_allclose(recorded[0], wanted, rtol=1e-12, atol=1e-13 * np.abs(pressure).max())
    assert np.abs(recorded).min() > 0


@pytest.mark.parametrize("tiling", [Tiling(1, 1, 1, 1), Tiling(5, 4, 7, 1), Tiling(3, 4, DIAMONDS, 1)])
def test_lines_that_have_no_room_together_are_recorded_in_parts(tiling, monkeypatch):
    sources, receivers = places(False)
    series = ricker(np.arange(STEPS) * medium().dt - 0.02, 40.0)[:, None]
    whole = medium().run(sources, receivers, series)
    monkeypatch.setattr(recording, "MOST_BYTES", 7 * 8 * 2 * WEIGHTS**2)  # of two receivers between cells, in 7 steps
    wave = medium()
    wave.propagator.tiling = tiling
    assert wave.propagator.samplers(wave.points(receivers)).steps == 12
    assert wave.run(sources, receivers, series).tobytes() == whole.tobytes()


def test_each_line_is_taken_once_and_goes_to_the_receivers_owner():
    """Of ranks that cut all axes, unequally, and of points anywhere."""
    shape, ranks, cuts = (30, 26, 24), (3, 2, 2), ((9, 14), (11,), (13,))
    cells = np.random.default_rng(4).uniform(4, np.array(shape) - 5, (200, 3))
    cells[::5] = np.round(cells[::5])
    points = sinc_points(cells)
    blocks = [Decomposition(shape, ranks, rank, cuts=cuts) for rank in range(12)]
    exchanges = []
    recorded = np.zeros(len(cells), int)
    for block in blocks:
        numbers, owners = select(block, points)
        own = numbers[owners == block.rank]
        assert own.tolist() == points.owned(block).tolist()
        recorded[own] += 1
        exchanges.append((LineExchange(None, block, points.of(numbers), owners), numbers, points.of(numbers)))
    assert (recorded == 1).all()
    for receiving, (exchange, _, _) in enumerate(exchanges):
        for sending, columns in exchange._coming.items():
            assert len(columns) == len(exchanges[sending][0]._leaving[receiving]) > 0
            assert sending != receiving
        total = sum(len(columns) for columns in exchange._coming.values())
        _, numbers, some = exchanges[receiving]
        block = blocks[receiving]
        own = some.owned(block)
        rows = 0  # of its own points that it computes itself
        for first, count in zip(some.first[own], some.count[own], strict=True):
            sides = (min(a + n, hi) - max(a, lo) for a, n, lo, hi in zip(first, count, block.lo, block.hi, strict=True))
            x, y, _ = sides
            rows += x * y
        assert rows + total == (some.count[own, 0] * some.count[own, 1]).sum()
        assert numbers.size


def test_room_of_lines():
    assert lines_bytes(10, True, False, 40, 4) == 10 * 64 * 40 * 4
    assert lines_bytes(10, True, True, 40, 4) == 10 * 8 * 40 * 4
    assert lines_bytes(10, False, False, 40, 4) == 10 * 40 * 4
    assert lines_bytes(10**6, True, False, 40, 4) == recording.MOST_BYTES
    assert lines_bytes(10**8, True, False, 40, 4) == 10**8 * 64 * 4  # a step at least
