"""Weights of elastic sources and receivers: polynomials are reproduced, below a free surface too."""

import numpy as np
import pytest

from fathometer.grid.grid import Grid
from fathometer.seismic.elastic.fields import BY_NAME, FIELDS
from fathometer.seismic.elastic.points import POLYNOMIAL, lagrange, reach, weights_of
from fathometer.seismic.elastic.receivers import receiver_points

NAMES = [field.name for field in FIELDS]


def column(points, depth=40):
    """Weights along z of each point on all of a field's cells there."""
    dense = np.zeros((len(points.first), depth))
    for p, (first, count) in enumerate(zip(points.first[:, 2], points.count[:, 2], strict=True)):
        dense[p, first : first + count] = points.weight[p, 2, :count]
    return dense


def zero_in_surface(name, z, degree):
    """Polynomials in z, zero at the surface where the field is."""
    return z**degree if name not in ("sxz", "syz") else z ** (degree + 1)


@pytest.mark.parametrize("name", NAMES)
def test_sampling_reproduces_polynomials_below_the_surface(name):
    z = np.array([0.0, 0.2, 0.5, 1.0, 1.4, 2.5, 2.9])
    cells = np.stack([np.full(7, 20.0), np.full(7, 20.0), z], axis=1)
    dense = column(weights_of(name, cells, True, False))
    k = np.arange(40) + BY_NAME[name].offset[2]
    for degree in range(POLYNOMIAL):
        values = dense @ zero_in_surface(name, k, degree)
        assert np.allclose(values, zero_in_surface(name, z, degree), rtol=1e-10, atol=1e-10)


def test_injection_is_the_transpose_of_sampling_but_for_what_is_lost():
    z = np.array([0.0, 0.2, 0.5, 1.0, 1.4, 2.5, 2.9, 3.6])
    cells = np.stack([np.full(8, 20.0), np.full(8, 20.0), z], axis=1)
    for name in NAMES:
        injected, sampled = (column(weights_of(name, cells, True, injecting)) for injecting in (True, False))
        if name != "szz":
            assert np.array_equal(injected, sampled)
            continue
        assert not injected[:, 0].any()
        for degree in range(POLYNOMIAL):
            moments = injected @ np.arange(40.0) ** degree
            assert np.allclose(moments[:7], z[:7] ** degree, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("injecting", [False, True])
def test_deep_points_do_not_know_of_the_surface(name, injecting):
    rng = np.random.default_rng(2)
    cells = rng.uniform(8, 20, (30, 3))
    below, without = (weights_of(name, cells, free, injecting) for free in (True, False))
    for attribute in ("nearest", "first", "count", "weight"):
        assert np.array_equal(getattr(below, attribute), getattr(without, attribute))


@pytest.mark.parametrize("name", NAMES)
def test_plane_waves_between_cells(name):
    """A wave of eight cells is sampled at its own phase, wherever the field lies in the cell."""
    rng = np.random.default_rng(3)
    cells = rng.uniform(10, 12, (20, 3))
    points = weights_of(name, cells, False, False)
    k, offset = np.array([0.3, -0.5, 0.4]), np.array(BY_NAME[name].offset)
    for p, place in enumerate(cells):
        total = 1.0 + 0j
        for axis in range(3):
            some = points.first[p, axis] + np.arange(points.count[p, axis]) + offset[axis]
            total *= points.weight[p, axis, : len(some)] @ np.exp(1j * k[axis] * some)
        assert abs(total - np.exp(1j * k @ place)) < 2e-3


@pytest.mark.parametrize("name", NAMES)
def test_mechanisms_share_stresses_evenly(name):
    """Whose sum stays; waves of six cells along x are sampled as before within 1 %, those of ten within 0.3 %."""
    x = np.array([10.0, 10.5, 10.2, 10.49, 10.51, 10.9, 11.0])
    cells = np.stack([x, np.full(7, 12.3), np.full(7, 9.8)], axis=1)
    plain, even = (weights_of(name, cells, False, True, attenuates) for attenuates in (False, True))
    assert np.array_equal(plain.nearest, even.nearest)
    for axis in (1, 2):
        assert np.array_equal(plain.weight[:, axis], even.weight[:, axis])
    if name[0] == "v":
        assert np.array_equal(plain.weight, even.weight)
        return
    for p in range(len(x)):
        sums, waves = [], []
        for points in (plain, even):
            some = points.first[p, 0] + np.arange(points.count[p, 0])
            weight = points.weight[p, 0, : len(some)]
            sums.append([weight[some % 3 == mechanism].sum() for mechanism in range(3)])
            waves.append([np.exp(2j * np.pi / length * some) @ weight for length in (6, 10)])
        assert np.allclose(sums[1], np.sum(sums[0]) / 3, rtol=1e-12)
        error = np.abs(np.array(waves[1]) / waves[0] - 1)
        assert error[0] < 0.01
        assert error[1] < 0.003
        alone = weights_of(name, cells[p : p + 1], False, True, True)  # no bit depends on other points
        assert np.array_equal(alone.weight[0], even.weight[p])


def test_nothing_lies_above_the_surface():
    cells = np.stack([np.full(60, 9.0), np.full(60, 9.0), np.linspace(0, 6, 60)], axis=1)
    for name in NAMES:
        for injecting in (False, True):
            points = weights_of(name, cells, True, injecting)
            assert (points.first[:, 2] >= 0).all()
            assert (points.nearest[:, 2] >= 0).all()


def test_lagrange():
    assert np.allclose(lagrange(np.array([0.0, 1.0]), 0.25), [0.75, 0.25])
    assert np.allclose(lagrange(np.array([0.0, 1.0, 2.0]), 1.0), [0, 1, 0])


def test_receivers_number_their_columns_component_by_component():
    grid = Grid((20, 20, 20), (10.0, 10.0, 10.0), pad=((5, 5), (5, 5), (0, 5)))
    positions = np.array([[50.0, 60.0, 0.0], [70.0, 80.0, 40.0]])
    points = receiver_points(grid, positions, ["vz", "pressure", "sxy"], True)
    assert [some.field for some in points] == ["vz", "sxx", "syy", "szz", "sxy"]
    assert [some.column.tolist() for some in points] == [[0, 1], [2, 3], [2, 3], [2, 3], [4, 5]]
    assert [some.amplitude[0] for some in points] == [1, -1 / 3, -1 / 3, -1 / 3, 1]
    # on a node, normal stresses are sampled where they are; vz lies between
    assert points[1].points.first[1].tolist() == [12, 13, 4]
    assert points[1].points.on_grid
    assert not points[0].points.on_grid


def test_reach_of_boxes_beyond_the_model():
    grid = Grid((20, 20, 20), (10.0, 10.0, 10.0))
    points = receiver_points(grid, np.array([[0.0, 100.0, 190.0]]), ["vx", "sxx"], False)
    assert reach(points, grid.shape).tolist() == [[4, 0], [0, 0], [0, 0]]
    points = receiver_points(grid, np.array([[190.0, 100.0, 100.0]]), ["vx"], False)
    assert reach(points, grid.shape).tolist() == [[0, 3], [0, 0], [0, 0]]
