"""Waves with known periods, and gyres with known transports and widths."""

import math

import numpy as np
import pytest
from ocean_support import model, of_array, plane, problem, whole
from scipy.integrate import solve_bvp
from scipy.optimize import brentq
from support import FULL

from fathometer.apps.ocean.solver.physics import Drag, Physics

G = 9.81
LINEAR = {"advect_momentum": False}


def seiche_period(cells=64, steps=400):
    """Period of the first standing wave along y, over the exact one."""
    length, depth = 100e3, 50.0
    grid = plane((8, cells), (length / cells, length / cells), [depth], periodic=True)
    exact = 2 * length / math.sqrt(G * depth)
    step = exact / 80
    height = np.tile(0.01 * np.cos(np.pi * grid.y / length), (8, 1))
    running = model(problem(grid, step, physics=Physics(gravity=G, **LINEAR), height=height))
    shape = np.cos(np.pi * grid.y / length)
    signal = [height[0] @ shape]
    for _ in range(steps):
        running.step()
        signal.append(whole(running, running.state.eta)[0] @ shape)
    return _period(np.array(signal), step) / exact


def _period(signal, step):
    """Of a sine wave, from its first and last upward zero crossings."""
    ups = np.flatnonzero((signal[:-1] < 0) & (signal[1:] >= 0))
    times = ups + signal[ups] / (signal[ups] - signal[ups + 1])
    return step * (times[-1] - times[0]) / (len(times) - 1)


def test_a_seiche_has_its_period():
    assert seiche_period() == pytest.approx(1.0, abs=0.005)


def rossby_speed(cells=(48, 48), days=6.0, step=1200.0):
    """Phase speed of a barotropic planetary wave in a channel, over the exact one; (f step)²/4 less is the scheme's."""
    length, width, depth = 1.2e6, 4.8e6, 4000.0
    f, beta = 1e-4, 2e-11
    grid = plane(cells, (length / cells[0], width / cells[1]), [depth], periodic=True, f=f, beta=beta)
    # Corners on the walls have no flow along them: the wall is felt half a cell away from it.
    k, m = 2 * np.pi / length, np.pi / (width - grid.dy)
    exact = -beta / (k**2 + m**2 + f**2 / (G * depth))
    x, y = np.meshgrid(grid.x, grid.y - 0.5 * grid.dy, indexing="ij")
    xu, yu = x + 0.5 * grid.dx[0], y + 0.5 * grid.dy
    stream = 1e3
    u = -stream * m * np.cos(m * yu) * np.cos(k * xu)
    v = -stream * k * np.sin(m * yu) * np.sin(k * xu)
    wet = grid.levels_u > 0
    velocity = tuple(of_array((w * wet)[..., None]) for w in (u, v))
    height = f * stream / G * np.sin(m * y) * np.cos(k * x)
    running = model(problem(grid, step, physics=Physics(gravity=G, **LINEAR), height=height, velocity=velocity))
    phases = []
    weight = np.sin(m * yu) * np.exp(-1j * k * xu)
    for _ in range(round(days * 86400 / step)):
        running.step()
        phases.append(np.angle((whole(running, running.state.v)[..., 0] * weight).sum()))
    phases = np.unwrap(phases)
    slope = np.polyfit(step * np.arange(len(phases)), phases, 1)[0]
    return -slope / k / exact


def test_a_rossby_wave_has_its_phase_speed():
    assert rossby_speed() == pytest.approx(1.0, abs=0.01)


def gyre(cells, size, physics, step, steps, beta=2e-11, depth=1000.0, tau=0.1):
    """The grid, and depth-integrated transports along x and y at the corners (m²/s), of a wind-driven gyre.

    The steady state depends neither on the step nor on the solver's tolerance.
    """
    grid = plane((cells, cells), (size / cells, size / cells), [depth], f=1e-4, beta=beta)
    yu = grid.dy * np.arange(1, cells + 1)
    wind = np.tile(-tau * np.cos(np.pi * yu / size), (cells, 1)), np.zeros((cells, cells))
    running = model(problem(grid, step, physics=physics, implicitness=1.0, wind=wind), tolerance=1e-7)
    for _ in range(steps):
        running.step()
    u, v = (whole(running, w)[..., 0] for w in (running.state.u, running.state.v))
    return grid, u * depth, v * depth


def stommel_transport(cells=128 if FULL else 64):
    """Largest transport of a gyre with linear drag, over Stommel's (1948).

    Corners on the walls have no flow along them: the basin is a cell narrower than its walls, an error of first order.
    """
    size, depth, tau, beta, rate = 2e6, 1000.0, 0.1, 2e-11, 2e-6
    physics = Physics(gravity=G, drag=Drag.LINEAR, drag_coefficient=rate * depth, **LINEAR)
    grid, _, v = gyre(cells, size, physics, 14400.0, 450, beta, depth, tau)
    # Transport through north faces, from the west coast on: the stream function at corners.
    faces = 0.5 * (v + np.vstack([np.zeros((1, cells)), v[:-1]]))
    found = np.abs(np.cumsum(faces, 0) * grid.dx[0]).max()
    root = math.sqrt((beta / (2 * rate)) ** 2 + (np.pi / size) ** 2)
    a, b = -beta / (2 * rate) + root, -beta / (2 * rate) - root
    p = (1 - math.exp(b * size)) / (math.exp(a * size) - math.exp(b * size))
    x = np.linspace(0, size, 20001)
    shape = 1 - p * np.exp(a * x) - (1 - p) * np.exp(b * x)
    exact = tau * size / (physics.density * rate * np.pi) * shape.max()
    return found / exact


@pytest.mark.verify
def test_a_gyre_with_drag_has_stommels_transport():
    assert stommel_transport() == pytest.approx(1.0, abs=0.02)


def munk_width(cells=80 if FULL else 40):
    """Width (A / beta)^(1/3) of the western boundary layer, from where its current turns, over the exact one."""
    size, beta = 2e6, 2e-11
    width = 80e3
    physics = Physics(gravity=G, viscosity=beta * width**3, **LINEAR)
    grid, _, v = gyre(cells, size, physics, 14400.0, 700, beta)
    middle = v[:, cells // 2 - 1]
    x = grid.x + 0.5 * grid.dx[0]
    turn = next(i for i in range(1, cells) if middle[i] * middle[i + 1] < 0)
    place = x[turn] + grid.dx[0] * middle[turn] / (middle[turn] - middle[turn + 1])
    return brentq(lambda w: _turn(w, size) - place, 0.8 * width, 1.25 * width) / width


def _turn(width, size):
    """Where the current of Munk's (1950) solution turns, m from the coast: A psi'''' - beta psi' = const, no slip; in
    the middle of the gyre, whose shape is sin(pi y / size)."""
    m = np.pi / size

    def right(x, s):
        return np.stack([s[1], s[2], s[3], (s[1] - 1) / width**3 + 2 * m**2 * s[2] - m**4 * s[0]])

    def ends(a, b):
        return np.array([a[0], a[1], b[0], b[1]])

    x = np.linspace(0, size, 400)
    guess = np.zeros((4, 400))
    found = solve_bvp(right, ends, x, guess, max_nodes=20000)
    assert found.success
    places = np.linspace(1e3, 0.4 * size, 4000)
    slope = found.sol(places)[1]
    cross = np.flatnonzero(slope[:-1] * slope[1:] < 0)[0]
    return places[cross]


@pytest.mark.verify
def test_a_gyre_with_friction_has_munks_boundary_layer():
    assert munk_width() == pytest.approx(1.0, abs=0.05)
