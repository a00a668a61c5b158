"""What a step must keep: volume, contents of tracers, and the uniformity of a uniform one, over rough topography under
a moving surface; and the balance with what comes through the surface."""

import math
from dataclasses import replace

import numpy as np
import pytest
from ocean_support import model, plane, problem, sphere, whole

from fathometer.apps.ocean.solver.physics import Drag, Physics, StateEquation
from fathometer.apps.ocean.solver.problem import Surface

STEPS = 100
CELLS = (24, 20)
THICKNESS = (20.0, 30.0, 50.0, 100.0, 200.0)
PHYSICS = Physics(
    viscosity=500.0,
    diffusivity=100.0,
    vertical_viscosity=1e-3,
    vertical_diffusivity=1e-4,
    convective_diffusivity=0.1,
    drag=Drag.QUADRATIC,
    drag_coefficient=2e-3,
    state_equation=StateEquation.WRIGHT,
)


def rough(periodic):
    """Levels of each cell: any number, beside any other, with islands, holes and a coast."""
    random = np.random.default_rng(3)
    levels = random.integers(2, len(THICKNESS) + 1, CELLS)
    levels[random.random(CELLS) < 0.1] = 0
    levels[7:11, 6:12] = 0
    levels[:, 0] = 0
    if not periodic:
        levels[0] = 0
    return levels


def grid_of(kind):
    periodic = kind != "box"
    keys = {"levels": rough(periodic), "periodic": periodic}
    if kind == "sphere":
        return sphere(CELLS, (0.0, 20.0), (0.25, 0.2), THICKNESS, **keys)
    return plane(CELLS, (20e3, 25e3), THICKNESS, f=1e-4, beta=2e-11, **keys)


def stirred(kind, *, solver="chronopoulos-gear", tolerance=1e-6, surface=None, salinity=None, **physics):
    """A model of unstable and stable water on a surface that is not level, with wind: all that moves."""
    grid = grid_of(kind)
    random = np.random.default_rng(4)
    temperature = random.uniform(2.0, 20.0, grid.shape)
    if salinity is None:
        salinity = random.uniform(33.0, 36.0, grid.shape)
    x, y = np.arange(CELLS[0])[:, None] / CELLS[0], np.arange(CELLS[1]) / CELLS[1]
    height = 0.5 * np.cos(2 * np.pi * x) * np.cos(np.pi * y)
    wind = tuple(0.2 * random.standard_normal(CELLS) for _ in range(2))
    made = problem(
        grid,
        600.0,
        physics=replace(PHYSICS, **physics),
        implicitness=0.6,
        temperature=temperature,
        salinity=salinity,
        surface=surface,
        height=height,
        wind=wind,
    )
    return model(made, solver=solver, tolerance=tolerance, blocks=(8, 8))


def drift(kind, steps=STEPS, **keys):
    """The largest relative change of volume and of contents; of what came through the surface, of the latter."""
    running = stirred(kind, **keys)
    before, gained = [running.volume(), *running.contents()], np.zeros(3)
    speed, worst = 0.0, 0.0
    for number in range(steps):
        gained[1:] += running.step().gained
        if number % 10 == 9 or number == steps - 1:
            speed = max(speed, running.diagnostics()["largest_speed"])
            now = [running.volume(), *running.contents()]
            missing = np.array(now) - before - gained
            worst = max(worst, np.abs(missing / np.maximum(np.abs(before), np.abs(gained))).max())
    assert speed > 0.05
    return worst


@pytest.mark.parametrize("kind", ["sphere", "channel", "box"])
def test_volume_and_contents_stay(kind):
    """Whatever the tolerance of the barotropic solver."""
    assert drift(kind) < 1e-12


def forcing():
    """Restoring of both tracers, and a flux of the first."""
    flux = 1e-5 * np.random.default_rng(5).standard_normal(CELLS)
    return [
        Surface(rate=1 / 864000.0, target=np.full(CELLS, 15.0), flux=flux),
        Surface(rate=1 / 432000.0, target=np.full(CELLS, 34.0)),
    ]


def test_contents_balance_with_what_comes_through_the_surface():
    assert drift("sphere", surface=forcing()) < 1e-12
    running = stirred("sphere", surface=forcing())
    before = running.contents()
    for _ in range(20):
        running.step()
    changed = np.abs(np.array(running.contents()) / before - 1)
    assert (changed > 1e-6).all()  # something came


def evenness(kind, steps=STEPS, value=35.0):
    """The largest relative difference from a tracer's one value, while the other one and the surface move."""
    running = stirred(kind, salinity=value)
    heights = []
    for _ in range(steps):
        running.step()
        heights.append(np.abs(whole(running, running.state.eta)).max())
    assert max(heights[10:]) > 0.02
    wet = np.arange(len(THICKNESS)) < running.problem.grid.levels[..., None]
    salinity = whole(running, running.state.tracers[1])
    assert (salinity[~wet] == 0).all()
    return np.abs(salinity[wet] / value - 1).max()


@pytest.mark.parametrize("kind", ["sphere", "box"])
def test_a_uniform_tracer_stays_uniform(kind):
    assert evenness(kind) < 1e-12


def test_bounds_are_kept_without_forcing():
    """Of both tracers; by advection, diffusion and convection alike."""
    running = stirred("channel")
    wet = np.arange(len(THICKNESS)) < running.problem.grid.levels[..., None]
    first = [whole(running, tracer)[wet] for tracer in running.state.tracers]
    for _ in range(50):
        running.step()
    for before, tracer in zip(first, running.state.tracers, strict=True):
        now = whole(running, tracer)[wet]
        assert now.min() >= before.min() - 1e-12 * abs(before.min())
        assert now.max() <= before.max() * (1 + 1e-12)
        assert math.isfinite(now.sum())
