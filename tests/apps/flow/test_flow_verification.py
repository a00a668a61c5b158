"""Flows that others have computed: cavities with a lid that moves or with warm walls, vortices that break up."""

import numpy as np
import pytest
from flow_boxes import box, model_of, set_velocity
from scipy.interpolate import CubicSpline
from support import FULL

from fathometer.apps.flow.solver.model import Fluid
from fathometer.apps.flow.solver.sides import Side

PI = np.pi
FULL_SIZE = pytest.mark.skipif(not FULL, reason="full size only (make verify)")


def cavity(n, reynolds, end):
    """The least velocity along the lid on the line across it, and across the lid on the line along it."""
    model = model_of(box((n, n), (1.0, 1.0), Fluid(1 / reynolds), "wall", ("wall", Side("wall", {0: 1.0}))))
    model.begin()
    step, before = min(0.5 / n, 0.9 * model.problem.diffusive_step()), np.inf
    for number in range(int(end / step)):
        model.step(step)
        if number % 400 == 0:
            now = model.arrays[0].copy()
            if np.abs(now - before).max() < 1e-9:
                break
            before = now
    places = np.r_[0, (np.arange(n) + 0.5) / n, 1]
    fine = np.linspace(0, 1, 20001)
    across, along = model.arrays[0][0, :, n // 2], model.arrays[1][0, n // 2]
    return np.array([CubicSpline(places, np.r_[0, values])(fine).min() for values in ([*across, 1.0], [*along, 0.0])])


@FULL_SIZE
@pytest.mark.verify
def test_cavity():
    """Botella & Peyret 1998 (Comput. Fluids 27, 421) and their spectral values at Re 100, by Richardson."""
    slow = [cavity(n, 100, 40) for n in (32, 64, 128)]
    assert slow[0] == pytest.approx([-0.20903, -0.25040], abs=2e-5)  # of an independent program of the same scheme
    assert slow[2] + (slow[2] - slow[1]) / 3 == pytest.approx([-0.21404, -0.25380], abs=3e-4)
    fast = [cavity(n, 1000, 60) for n in (64, 128)]
    assert (fast[1] + (fast[1] - fast[0]) / 3)[0] == pytest.approx(-0.38857, abs=2e-3)


def nusselt(n, rayleigh):
    """The mean Nusselt number of the hot wall, of steady convection at the Prandtl number 0.71."""
    hot, cold = Side("wall", temperature=1.0), Side("wall", temperature=0.0)
    fluid = Fluid(0.71, diffusivity=1.0, lift=(0.0, 0.71 * rayleigh, 0.0), reference=0.5)
    model = model_of(box((n, n), (1.0, 1.0), fluid, (hot, cold), "wall"))
    model.arrays[2] = 0.5
    model.begin()
    before, number = np.inf, 0
    while True:
        if number % 20 == 0:
            rate = model.diagnostics()["courant_rate"]
        model.step(min(0.9 * model.problem.diffusive_step(), 0.8 / rate if rate else 1.0))
        number += 1
        if number % 200 == 0:
            now = model.means()["heat_x-"]
            if abs(now - before) < 1e-6:
                return now
            before = now


@pytest.mark.parametrize(
    ("rayleigh", "expected", "cells"),
    [
        (1e3, 1.118, (12, 24)),
        pytest.param(1e3, 1.118, (64, 128), marks=[pytest.mark.verify, FULL_SIZE]),
        pytest.param(1e4, 2.243, (64, 128), marks=[pytest.mark.verify, FULL_SIZE]),
        pytest.param(1e5, 4.519, (64, 128), marks=[pytest.mark.verify, FULL_SIZE]),
    ],
)
def test_a_warm_wall(rayleigh, expected, cells):
    """De Vahl Davis 1983 (Int. J. Numer. Meth. Fluids 3, 249), by Richardson."""
    coarse, fine = (nusselt(n, rayleigh) for n in cells)
    assert fine + (fine - coarse) / 3 == pytest.approx(expected, rel=0.01)


def set_vortices(model):
    set_velocity(
        model,
        lambda x, y, z: np.sin(x) * np.cos(y) * np.cos(z),
        lambda x, y, z: -np.cos(x) * np.sin(y) * np.cos(z),
        lambda x, y, z: 0 * x * y * z,
    )


def peak(n, courant=1.0):
    """The largest loss of energy of Taylor & Green's vortices at the Reynolds number 1600, and its time."""
    model = model_of(box((n, n, n), (2 * PI,) * 3, Fluid(1 / 1600), *("periodic",) * 3))
    set_vortices(model)
    seen, rows = model.diagnostics(), []
    while not rows or rows[-1][0] < 9.8:
        step = courant / seen["courant_rate"]
        model.step(step)
        seen = model.diagnostics()
        rows.append(((rows[-1][0] if rows else 0.0) + step, seen["energy"]))
        assert seen["divergence"] < 1e-12
    return largest_loss(rows)


def largest_loss(rows):
    """Of rows of times and energies: the largest one, and its time."""
    time, energy = np.array(rows).T
    loss = -np.gradient(energy, time)
    return loss.max(), time[loss.argmax()]


@FULL_SIZE
@pytest.mark.verify
def test_vortices_that_break_up():
    """A spectral computation with 512³ waves has 0.01286 at 8.97 s (Workshop on High-Order CFD Methods, case C3.5).

    Cells of second order go past it and back: 0.0119 at 64³, 0.0137 at 96³, 0.0136 at 128³, 0.0120 at 192³.
    """
    coarse, fine = peak(64), peak(128)
    assert coarse[0] == pytest.approx(0.0118, rel=0.02)
    assert coarse[1] == pytest.approx(8.44, abs=0.15)
    assert fine[0] == pytest.approx(0.01361, rel=0.01)  # of a program of NumPy, benchmarks/flow_numpy.py
    assert abs(fine[0] - 0.01286) < abs(coarse[0] - 0.01286)
