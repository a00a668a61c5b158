"""Whole steps give the same bits however the grid is cut into blocks, and whatever the number of threads."""

import numpy as np
import pytest
from ocean_blocks import Sea, basin

from fathometer import _native
from fathometer.apps.ocean.solver.physics import Drag, Physics, StateEquation

PHYSICS = Physics(
    viscosity=1e3,
    diffusivity=500.0,
    vertical_viscosity=1e-2,
    vertical_diffusivity=1e-4,
    convective_diffusivity=1.0,
    drag=Drag.QUADRATIC,
    drag_coefficient=1e-3,
    state_equation=StateEquation.WRIGHT,
)


def after_steps(grid, cuts_x=(), cuts_y=()):
    sea, rng, shape = Sea(grid, PHYSICS, cuts_x, cuts_y, tracers=3), np.random.default_rng(3), grid.shape
    t, s, dye = (rng.standard_normal(shape) for _ in range(3))
    u, v, eta = 0.1 * rng.standard_normal(shape), 0.1 * rng.standard_normal(shape), rng.standard_normal(shape[:2])
    sea.set(u, v, eta, [10 + t, 35 + s, dye])
    sea.stress[...] = sea.blocks.blocked(0.1 * rng.standard_normal(shape[:2]))
    sea.surface_flux[...] = sea.blocks.blocked(1e-4 * rng.standard_normal(shape[:2]))
    for _ in range(4):
        sea.step(60.0)
    s = sea.state
    return [sea.blocks.whole(q) for q in (s.eta, s.u, s.v, *s.tracers)], sea.part.courant(s, 60.0)


@pytest.mark.parametrize(("periodic", "sphere"), [(False, False), (True, True)])
def test_blocks_do_not_matter(periodic, sphere):
    """Blocks smaller than the stencils' reach, of one row, and larger than tiles among them."""
    grid = basin(40, 37, 11, periodic=periodic, sphere=sphere)
    one, courant = after_steps(grid)
    assert courant.finite
    assert np.abs(one[1]).max() > 0.1
    for cuts in (((13, 29), (7,)), ((1, 3, 20), (34, 36))):
        parts, same = after_steps(grid, *cuts)
        assert same == courant
        for a, b in zip(one, parts, strict=True):
            assert np.array_equal(a, b)


def test_threads_do_not_matter():
    grid, before = basin(70, 40, 9, periodic=True), _native.threads()
    results = []
    try:
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            results.append(after_steps(grid))
    finally:
        _native.set_threads(before)
    for fields, courant in results[1:]:
        assert courant == results[0][1]
        for a, b in zip(results[0][0], fields, strict=True):
            assert np.array_equal(a, b)


def test_no_blocks():
    """A rank may have none."""
    grid = basin(8, 8, 3)
    sea = Sea(grid)
    empty = type("Empty", (), {"own": [], "extents": np.zeros((0, 2), np.int64), "padded": (7, 7)})()
    empty.blocked = lambda values: np.zeros((0, 7, 7), values.dtype)
    empty.rows = lambda values: np.zeros((0, 7))
    part = type(sea.part)(empty, grid, PHYSICS)
    state = type(sea.state).at_rest(part.columns, 3)
    nothing = np.zeros(part.columns)
    part.pressure(state)
    part.momentum(state, 60.0, 0.5, nothing, nothing)
    part.correct(state, 60.0, 0.5, nothing)
    part.fluxes(state, 60.0)
    part.tracers(state, 60.0, np.zeros((2, *part.columns)))
    assert part.courant(state, 60.0) == (0.0, 0.0, True)
