"""First arrivals are lower bounds of a wave's, and no more than some blocks early; rows follow from place and step."""

import math

import numpy as np
import pytest
from mpi4py import MPI
from support import heterogeneous

from fathometer import _native
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.model.medium import scaled_medium
from fathometer.seismic.waves.cone import AGAIN, MARGIN_ROWS, ActiveRows, Speeds, block_cells
from fathometer.seismic.waves.points import sinc_points

DT = 1e-3


class OneOf:
    """A communicator that hands what the other ranks have to the rank that asks."""

    size = 2

    def __init__(self):
        self.parts = []

    def Ibarrier(self):
        return MPI.COMM_SELF.Ibarrier()

    def Allreduce(self, place, array, operation):
        self.parts.append(array)


def speeds_of(vp, spacing, epsilon=None, delta=None):
    grid = Grid(vp.shape, tuple(spacing))
    model = scaled_medium(vp, epsilon, delta, DT, np.dtype(np.float32))
    return Speeds.of_model(grid, Decomposition(vp.shape), model, DT, MPI.COMM_SELF)


def places(shape, spacing):
    return np.meshgrid(*(h * np.arange(n) for n, h in zip(shape, spacing, strict=True)), indexing="ij")


def uniform(x, y, z, source):
    distance = np.sqrt((x - source[0]) ** 2 + (y - source[1]) ** 2 + (z - source[2]) ** 2)
    return np.full(x.shape, 2000.0), distance / 2000


def gradient(x, y, z, source):
    """v = v0 + k z: circular rays (Slotnick 1959)."""
    v0, k = 1500.0, 0.9
    squares = (x - source[0]) ** 2 + (y - source[1]) ** 2 + (z - source[2]) ** 2
    speed = v0 + k * z
    return speed, np.arccosh(1 + k**2 * squares / (2 * speed * (v0 + k * source[2]))) / k


def half_spaces(x, y, z, source):
    """The direct wave and the head wave of a layer; below its bottom no row is reached earlier than at it."""
    slow, fast, bottom = 1500.0, 4000.0, 300.0
    offset = np.sqrt((x - source[0]) ** 2 + (y - source[1]) ** 2)
    head = offset / fast + np.where(z < bottom, 2 * bottom - z - source[2], 0) * math.sqrt(slow**-2 - fast**-2)
    head = np.where(z < bottom, head, offset / fast + (bottom - source[2]) * math.sqrt(slow**-2 - fast**-2))
    direct = np.sqrt(offset**2 + (z - source[2]) ** 2) / slow
    beyond = offset > (2 * bottom - z - source[2]) * slow / math.sqrt(fast**2 - slow**2)
    above = np.where(beyond, np.minimum(direct, head), direct)
    return np.where(z < bottom, slow, fast), np.where(z < bottom, above, np.inf)


@pytest.mark.parametrize("earth", [uniform, gradient, half_spaces])
@pytest.mark.parametrize(
    ("shape", "spacing"),
    [((120, 100, 60), (20.0, 20.0, 20.0)), ((150, 90, 70), (15.0, 25.0, 10.0)), ((300, 1, 90), (10.0, 10.0, 10.0))],
)
def test_lower_bounds_where_the_first_arrival_is_known(earth, shape, spacing):
    cells = np.array([[0.23 * shape[0], 0 if shape[1] == 1 else 0.61 * shape[1], 2.3]])
    vp, exact = earth(*places(shape, spacing), cells[0] * spacing)
    speeds = speeds_of(vp, spacing)
    found = speeds.first_arrivals(sinc_points(cells))
    late = found - exact.min(axis=2)
    assert late.max() <= 0
    # Not by more than the blocks are wide, and the model changes within them.
    block = max(h for h in speeds.spacing if math.isfinite(h))
    assert late.min() >= -(3.5 + AGAIN) * block / vp.min() - 0.03 * exact.min(axis=2).max()


@pytest.mark.parametrize("points", [1, 6])
@pytest.mark.parametrize("contrast", [0.1, 0.5])
def test_lower_bounds_in_rough_models(contrast, points):
    """Every block of 4^3 cells with a speed of its own, which changes by half from one to the next at the most:
    against blocks of half a cell."""
    shape = (36, 28, 20)
    rng = np.random.default_rng(points)
    rough = rng.standard_normal([n // 4 for n in shape])
    vp = 2500 * np.exp(contrast * np.kron(rough, np.ones((4, 4, 4))))
    cells = rng.uniform(5, 15, (points, 3))
    found = speeds_of(vp, (20.0,) * 3).first_arrivals(sinc_points(cells))
    times = np.full([2 * n + 1 for n in shape], np.inf)
    for i, j, k in np.floor(2 * cells + 1).astype(int):  # the corners of the half cell that the point lies in
        times[i : i + 2, j : j + 2, k : k + 2] = 0
    _native.first_arrivals(vp.repeat(2, 0).repeat(2, 1).repeat(2, 2), (10.0,) * 3, times)
    fine = times[1::2, 1::2].min(axis=2)  # at the cells, in the middle of theirs
    assert (found - fine).max() <= 0
    if contrast == 0.1:
        assert np.all(found[-4:] + AGAIN * 80.0 / vp.min() > 0.45 * fine[-4:])


@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_lower_bounds_behind_a_fast_body(shift):
    """A box with the source at its end: waves spread anew from every point of its surface."""
    shape, slow, fast, half, length = (120, 120, 40), 1500.0, 6000.0, 4, 60
    x, y, z = 16 + shift, 60 + shift, 20
    vp = np.full(shape, slow)
    vp[x : x + length + 1, y - half : y + half + 1, z - half : z + half + 1] = fast
    found = speeds_of(vp, (20.0,) * 3).first_arrivals(sinc_points(np.array([[x, y, z]], float)))
    i, j = np.meshgrid(*(np.arange(n) for n in shape[:2]), indexing="ij")
    earliest = np.hypot(i - x, j - y) / slow
    for leaves_x in range(x, x + length + 1):
        for leaves_y in (y - half, y, y + half):
            inside = math.hypot(leaves_x - x, leaves_y - y) / fast
            earliest = np.minimum(earliest, inside + np.hypot(i - leaves_x, j - leaves_y) / slow)
    within = (i >= x) & (i <= x + length) & (np.abs(j - y) <= half)
    earliest[within] = (np.hypot(i - x, j - y) / fast)[within]
    assert (found - 20.0 * earliest).max() <= 0


def test_speeds_are_the_highest_of_any_direction_and_of_all_ranks():
    shape, rng = (21, 18, 23), np.random.default_rng(4)
    vp, epsilon, delta = heterogeneous(shape, 3)
    speeds = speeds_of(vp, (20.0, 20.0, 20.0), epsilon, delta)
    angle = rng.uniform(0, np.pi / 2, shape)
    s, c = np.sin(angle) ** 2, np.cos(angle) ** 2
    half = (1 + 2 * epsilon) * s + c
    phase = vp * np.sqrt((half + np.sqrt(half**2 - 8 * (epsilon - delta) * s * c)) / 2)
    at = np.meshgrid(*(np.arange(n) // b for n, b in zip(shape, speeds.cells, strict=True)), indexing="ij")
    assert np.all(phase <= speeds.fastest[tuple(at)] * (1 + 1e-6))
    highest = np.zeros_like(speeds.fastest)
    np.maximum.at(highest, tuple(at), vp * np.sqrt(1 + 2 * np.maximum(epsilon, 0)))
    assert speeds.fastest == pytest.approx(highest, rel=1e-6)

    grid, model = speeds.grid, scaled_medium(vp, epsilon, delta, DT, np.dtype(np.float32))
    ranks = OneOf()
    for rank in range(6):
        block = Decomposition(shape, (3, 1, 2), rank)
        own = tuple(slice(lo, hi) for lo, hi in zip(block.lo, block.hi, strict=True))
        Speeds.of_model(grid, block, [np.ascontiguousarray(array[own]) for array in model], DT, ranks)
    assert np.array_equal(np.sqrt(np.max(ranks.parts, axis=0)) / DT, speeds.fastest)


def test_rows_that_points_spread_over_are_reached_at_once():
    speeds = speeds_of(np.full((60, 50, 30), 3000.0), (10.0,) * 3)
    points = sinc_points(np.array([[20.5, 30.0, 4.5]]))
    found = speeds.first_arrivals(points)
    (x, y, _), (nx, ny, _) = points.first[0], points.count[0]
    assert not found[x : x + nx, y : y + ny].any()
    assert found[x + nx + 8, y] > 0


def test_blocks_are_about_as_long_along_all_axes_and_not_too_many():
    assert block_cells(Grid((100, 100, 100), (20.0, 20.0, 10.0))) == (4, 4, 8)
    assert block_cells(Grid((100, 1, 100), (20.0, 20.0, 10.0))) == (4, 1, 8)
    large = block_cells(Grid((2000, 2000, 500), (25.0, 25.0, 25.0)))
    assert large[0] == large[1] == large[2] > 4
    assert np.prod([-(-n // large[0]) for n in (2000, 2000, 500)]) <= 200_000


def test_rows_of_blocks_and_their_numbers():
    rng = np.random.default_rng(0)
    shape = (23, 19, 9)
    first = rng.integers(0, 12, shape[:2]).astype(np.int32)
    rows = ActiveRows(first, (first + rng.integers(-3, 9, shape[:2])).astype(np.int32))
    computed = [(rows.first <= n) & (n < rows.last) for n in range(25)]
    total = rows.computed()
    assert [total[min(n, len(total) - 1)] for n in range(26)] == [0, *np.cumsum([step.sum() for step in computed])]
    for rank in range(4):
        block = Decomposition(shape, (2, 2, 1), rank)
        own = slice(block.lo[0], block.hi[0]), slice(block.lo[1], block.hi[1])
        assert rows.computed(block)[-1] == sum(step[own].sum() for step in computed)
        of_block = rows.on(block)
        for array, whole in zip(of_block, (rows.first, rows.last), strict=True):
            wide = np.pad(whole, [(MARGIN_ROWS, 0)] * 2, mode="edge")
            assert np.array_equal(array, wide[own[0].start : own[0].stop + 8, own[1].start : own[1].stop + 8])
