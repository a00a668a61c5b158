"""What traces stand for: cells of midpoints against areas that are known."""

import numpy as np
import pytest

from fathometer.seismic.kirchhoff import areas
from fathometer.seismic.kirchhoff.areas import MOST, ClassAreas

WIDTHS = (12.5, 20.0)


def of(points):
    return ClassAreas.of(np.asarray(points, float), WIDTHS)


def grid(nx, ny, dx=25.0, dy=50.0, turned=0.0):
    x, y = (one.ravel() for one in np.meshgrid(dx * np.arange(nx), dy * np.arange(ny), indexing="ij"))
    c, s = np.cos(turned), np.sin(turned)
    return np.column_stack([c * x - s * y, s * x + c * y])


@pytest.mark.parametrize("turned", [0.0, 0.6])
def test_a_grid_has_equal_cells_and_halves_at_its_edges(turned):
    found = of(grid(7, 5, turned=turned)).traces.reshape(7, 5)
    np.testing.assert_allclose(found[1:-1, 1:-1], 1250.0)
    np.testing.assert_allclose(found[0, 1:-1], 625.0)
    np.testing.assert_allclose(found[-1, -1], 312.5)


def test_cells_fill_the_hull():
    points = np.random.default_rng(4).uniform(0, 1000, (400, 2))
    square = np.array([[0, 0], [1000, 0], [0, 1000], [1000, 1000]])
    cells = areas._voronoi(np.concatenate([points, square]) - 500.0)
    assert cells.sum() == pytest.approx(1e6)
    assert cells.min() > 0


def test_cells_against_a_raster():
    """Each cell is the number of points of a fine raster that are nearest to its midpoint."""
    points = np.concatenate(
        [np.random.default_rng(5).uniform(0, 100, (30, 2)), [[0, 0], [100, 0], [0, 100], [100, 100]]]
    )
    x, y = np.meshgrid(np.arange(0.25, 100, 0.5), np.arange(0.25, 100, 0.5), indexing="ij")
    nearest = np.argmin((x[..., None] - points[:, 0]) ** 2 + (y[..., None] - points[:, 1]) ** 2, axis=-1)
    raster = np.bincount(nearest.ravel(), minlength=len(points)) * 0.25
    np.testing.assert_allclose(areas._voronoi(points - 50.0), raster, atol=12)


def test_strips_have_the_same_cells(monkeypatch):
    points = np.random.default_rng(6).uniform(0, 1000, (3000, 2))
    whole = of(points).traces
    monkeypatch.setattr(areas, "STRIP", 400)
    np.testing.assert_allclose(of(points).traces, whole, rtol=1e-9)


def test_traces_of_one_midpoint_share_its_cell():
    points = grid(5, 5)
    once, twice = of(points).traces, of(np.concatenate([points, points[12:13], points[12:13] + 0.001])).traces
    assert twice[12] == pytest.approx(once[12] / 3) == twice[-1]
    np.testing.assert_allclose(twice[:12], once[:12])


def test_nothing_stands_for_a_gap():
    x = np.concatenate([np.arange(0, 500, 25.0), np.arange(1500, 2000, 25.0)])
    assert of(x[:, None]).traces.max() == MOST * 25
    patch = grid(9, 9)
    hole = of(patch[np.abs(patch - patch.mean(axis=0)).max(axis=1) > 60])
    assert hole.traces.max() <= MOST * 1250


def test_midpoints_on_a_line_in_space():
    """Half the distances along the line, times a place across it; one midpoint has a place of its own."""
    line = np.column_stack([np.arange(5) * 30.0, np.arange(5) * 40.0])
    np.testing.assert_allclose(of(line).traces, np.array([25, 50, 50, 50, 25]) * 12.5)
    np.testing.assert_allclose(of(line[:1]).traces, [250.0])
    np.testing.assert_allclose(of(line[:2]).traces, [25 * 12.5, 25 * 12.5])
    np.testing.assert_allclose(of([[3.0]]).traces, [12.5])
    assert of(np.zeros((0, 2))).traces.shape == (0,)


def test_few_midpoints_on_both_sides_of_a_hole_do_not_stand_for_it():
    found = of(np.array([[-300.0], [-275.0], [275.0], [300.0]])).traces
    np.testing.assert_allclose(found, [12.5, 50, 50, 12.5])
