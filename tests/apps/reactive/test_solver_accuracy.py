"""Steps of a reactive flow against an analytic solution, and their orders of convergence."""

from itertools import pairwise

import numpy as np
import pytest
from mpi4py import MPI
from scipy.special import erfc
from solver_support import flow_of, start

from fathometer.apps.reactive.solver.flow import FIXED, INFLOW, OPEN
from fathometer.apps.reactive.solver.problem import ReactiveSolver

pytest.importorskip("petsc4py", reason="PETSc is not installed (tools/petsc.sh)")
pytestmark = pytest.mark.usefixtures("one_thread")

VELOCITY = 1e-6  # m/s, of the water in the pores of a column of 1 m
FLUX = 0.25 * VELOCITY


def ogata_banks(x, t, diffusivity):
    """c / c0 in a half space with c0 held at x = 0 (Ogata & Banks 1961, US Geol. Surv. Prof. Paper 411-A)."""
    width = 2 * np.sqrt(diffusivity * t)
    ahead = np.exp(VELOCITY * x / diffusivity) * erfc((x + VELOCITY * t) / width)
    return 0.5 * (erfc((x - VELOCITY * t) / width) + ahead)


def column(cells, steps, scheme, peclet=50.0, end=4e5):
    """(x, c) of a tracer that flows into a column, and the solution of Ogata and Banks; c0 = 1."""
    diffusivity = VELOCITY / peclet
    sides = {"x-": {"kind": FIXED, "water": 1}, "x+": {"kind": OPEN}}
    flow = flow_of((cells, 1, 1), (1 / cells, 1, 1), sides, flux=(FLUX, 0, 0), diffusivity=diffusivity, scheme=scheme)
    solver = ReactiveSolver(flow, MPI.COMM_SELF)
    start(solver, flow.waters[0])
    for _ in range(steps):
        assert solver.step(end / steps).converged
    x = (np.arange(cells) + 0.5) / cells
    return solver.totals().ravel(), ogata_banks(x, end, diffusivity)


def difference(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


@pytest.mark.parametrize("scheme", ["central", "limited"])
def test_a_tracers_front_is_that_of_ogata_and_banks(scheme):
    """200 cells, Pe 50, 400 steps of 1000 s: a fifth of a cell each."""
    assert difference(*column(200, 400, scheme)) < 0.01


def test_upwind_smears_the_front():
    """By a diffusion of v dx / 2, an eighth of what is there."""
    assert 0.01 < difference(*column(200, 400, "upwind")) < 0.1


def pulse(cells, steps, scheme, end):
    """c after a smooth pulse has moved through a column and spread."""
    sides = {"x-": {"kind": INFLOW, "water": 0}, "x+": {"kind": OPEN}}
    flow = flow_of((cells, 1, 1), (1 / cells, 1, 1), sides, flux=(FLUX, 0, 0), diffusivity=2e-8, scheme=scheme)
    solver = ReactiveSolver(flow, MPI.COMM_SELF)
    x = (np.arange(cells) + 0.5) / cells
    ln_c = np.log(1e-3 + np.exp(-(((x - 0.3) / 0.08) ** 2))).reshape(-1, 1, 1, 1)
    solver.set_state(ln_c, np.zeros((cells, 1, 1, 0)))
    for _ in range(steps):
        assert solver.step(end / steps).converged
    return solver.totals().ravel()


def orders(solutions):
    """Of convergence, from solutions on ever finer grids or steps, brought to the same cells."""
    changes = [np.linalg.norm(a - b) for a, b in pairwise(solutions)]
    return np.log2(np.divide(changes[:-1], changes[1:]))


def coarse(values, cells):
    """Means over equal cells."""
    return values.reshape(cells, -1).mean(axis=1)


@pytest.mark.parametrize(("scheme", "order"), [("central", 2.0), ("upwind", 1.0)])
def test_order_in_space(scheme, order):
    """The same steps on every grid, so that only the grid's error differs."""
    found = orders([coarse(pulse(cells, 4, scheme, 8e4), 64) for cells in (64, 128, 256, 512)])
    assert found[-1] == pytest.approx(order, abs=0.1)


def test_order_in_space_of_the_limited_scheme():
    """In the mean: at extrema it is of order 1."""
    found = orders([coarse(pulse(cells, 4, "limited", 8e4), 64) for cells in (64, 128, 256, 512)])
    assert 1.5 < found[-1] < 2.5


def test_order_in_time():
    found = orders([pulse(100, steps, "central", 2e5) for steps in (20, 40, 80, 160)])
    assert found[-1] == pytest.approx(1.0, abs=0.1)
