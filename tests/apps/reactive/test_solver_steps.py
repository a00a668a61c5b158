"""Steps of a column of calcite: what is conserved, how Newton's method converges, symmetry, failures, restarts."""

import math

import numpy as np
import pytest
from mpi4py import MPI
from scipy.optimize import brentq
from solver_support import ACID, RESTING, calcite_system, flow_of, start, uniform

from fathometer.apps.reactive.solver.flow import FIXED, INFLOW, OPEN, SIDES
from fathometer.apps.reactive.solver.kernel import kernel_of
from fathometer.apps.reactive.solver.petsc import options_of
from fathometer.apps.reactive.solver.problem import ReactiveSolver
from fathometer.base.errors import InputError

pytest.importorskip("petsc4py", reason="PETSc is not installed (tools/petsc.sh)")
pytestmark = pytest.mark.usefixtures("one_thread")

FLUX = 2.5e-7  # m/s
CALCITE = 100.0  # mol/m³
SYSTEM = calcite_system()


def totals(ln_c):
    out = np.empty((1, 4))
    kernel_of(SYSTEM).totals(np.array([ln_c]), out)
    return out[0]


def neutral(ln_c):
    """The water with as much Ca+2 as makes its charge zero."""

    def charge(ln_calcium):
        return totals([ln_calcium, *ln_c[1:]]) @ SYSTEM.charge[:4]

    return np.array([brentq(charge, math.log(1e-9), math.log(0.1), xtol=1e-15), *ln_c[1:]])


def column(cells=60, scheme="limited", options="", **changes):
    """Acid that flows into a column with calcite."""
    values = {
        "shape": (cells, 1, 1),
        "spacing": (0.6 / cells, 0.1, 0.1),
        "sides": {"x-": {"kind": FIXED, "water": 1}, "x+": {"kind": OPEN}},
        "flux": (FLUX, 0, 0),
        "system": SYSTEM,
        "waters": np.array([RESTING, ACID]),
        "scheme": scheme,
    } | changes
    solver = ReactiveSolver(flow_of(**values), MPI.COMM_SELF, options_of(options))
    start(solver, solver.flow.waters[0], [CALCITE])
    return solver


def steps(solver, *seconds):
    for dt in seconds:
        step = solver.step(dt)
        assert step.converged, step.reason
    return step


@pytest.mark.parametrize("scheme", ["upwind", "central", "limited"])
def test_moles_of_each_component_are_conserved(scheme):
    """Those at the beginning are those at the end and those that left, minerals included, to 1e-10."""
    solver = column(scheme=scheme)
    before, left = solver.moles(), np.zeros(4)
    for dt in (1e3, 3e3, 1e4, 1e4, 3e4):
        steps(solver, dt)
        left += solver.outflow()
    after = solver.moles()
    largest = np.max(np.abs([before, after, left]), axis=0)
    np.testing.assert_array_less(np.abs(before - after - left), 1e-10 * largest)
    assert solver.minerals[0] < 0.99 * CALCITE
    assert (np.abs(left) > 1e-3 * np.abs(before))[3]  # of the tracer much has come in


def test_a_closed_box_keeps_its_moles():
    solver = column(sides={}, flux=(0, 0, 0))
    solver.ln_c[:20] = ACID
    before = solver.moles()
    steps(solver, 1e5, 1e6, 1e7)
    np.testing.assert_allclose(solver.moles(), before, rtol=1e-10)
    assert not solver.outflow().any()


@pytest.mark.parametrize("scheme", ["upwind", "central", "limited"])
def test_waters_without_charge_stay_so(scheme):
    """Fluxes are linear in the totals of ions, or limit them alike."""
    waters = np.array([neutral(RESTING), neutral(ACID)])
    solver = column(waters=waters, scheme=scheme)
    steps(solver, 1e3, 1e4, 1e4)
    charge = solver.totals() @ SYSTEM.charge[:4]
    assert np.abs(charge).max() < 1e-10 * np.exp(waters).max()
    ln_activity, strength = solver.species()
    assert ln_activity.shape == (60, 1, 1, 9)
    assert (strength > 1e-4).all()


def test_the_columns_end_is_at_equilibrium_with_calcite():
    solver = column()
    steps(solver, 1e4, 1e5, 1e6)
    ln_activity, _ = solver.species()
    saturation = ln_activity[..., :4] @ SYSTEM.mineral_stoichiometry[0] / math.log(10) - SYSTEM.mineral_log_k[0]
    assert np.abs(saturation[-5:]).max() < 1e-3
    assert saturation[0] < -1e-3


def test_newtons_method_converges_quadratically():
    """The exponent of the last two iterations above rounding, with a linear solver that is all but exact."""
    solver = column(scheme="central", options="-ksp_rtol 1e-13 -sub_pc_type lu")
    solver.step(2e3)
    norms = [norm for norm in steps(solver, 2e3).norms if norm > 1e-13]
    exponents = [
        math.log(norms[n + 1] / norms[n]) / math.log(norms[n] / norms[n - 1]) for n in range(1, len(norms) - 1)
    ]
    assert len(norms) >= 4
    assert exponents[-1] > 1.8, norms


def test_the_step_tells_its_iterations_and_norms():
    step = steps(column(), 1e3)
    assert step.seconds == 1e3
    assert len(step.norms) == step.newton + 1
    assert step.linear >= step.newton
    assert step.norms[-1] <= step.tolerance == 1e-11
    assert step.reason == "converged"


@pytest.mark.parametrize("scheme", ["upwind", "central", "limited"])
def test_a_mirrored_problem_has_the_mirrored_answer(scheme):
    one = column(30, scheme, shape=(30, 4, 1))
    other = column(
        30,
        scheme,
        shape=(30, 4, 1),
        sides={"x+": {"kind": FIXED, "water": 1}, "x-": {"kind": OPEN}},
        flux=(-FLUX, 0, 0),
    )
    for solver in (one, other):
        steps(solver, 1e4, 1e4)
    np.testing.assert_allclose(other.ln_c[::-1], one.ln_c, rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.minerals[::-1], one.minerals, rtol=1e-10)


def test_axes_are_alike():
    """The same flow along x, y and z."""
    answers = []
    for axis in range(3):
        shape, flux, spacing = [1, 1, 1], [0.0, 0.0, 0.0], [0.1, 0.1, 0.1]
        shape[axis], flux[axis], spacing[axis] = 30, FLUX, 0.01
        sides = {SIDES[2 * axis]: {"kind": INFLOW, "water": 1}, SIDES[2 * axis + 1]: {"kind": OPEN}}
        solver = column(shape=tuple(shape), flux=tuple(flux), spacing=tuple(spacing), sides=sides)
        steps(solver, 1e4, 1e4)
        answers.append(solver.ln_c.reshape(30, 4))
    np.testing.assert_allclose(answers[1], answers[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(answers[2], answers[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("options", ["-ksp_type bcgs -pc_type asm", "-sub_pc_type lu", "-snes_linesearch_type bt"])
def test_other_solvers_find_the_same(options):
    one, other = column(), column(options=options)
    for solver in (one, other):
        steps(solver, 1e3, 1e3)
    assert other.unused_options() == []
    np.testing.assert_allclose(other.ln_c, one.ln_c, rtol=0, atol=1e-7)


def test_a_step_that_fails_leaves_the_state_and_tells_where():
    solver = ReactiveSolver(column().flow, MPI.COMM_SELF, most_iterations=2)
    start(solver, solver.flow.waters[0], [CALCITE])
    ln_c, minerals = solver.ln_c.copy(), solver.minerals.copy()
    step = solver.step(1e4)
    assert not step.converged
    assert step.reason == "no convergence in 2 iterations"
    assert step.newton == 2
    np.testing.assert_array_equal(solver.ln_c, ln_c)
    np.testing.assert_array_equal(solver.minerals, minerals)
    worst = solver.worst()
    assert worst.component in SYSTEM.primary
    assert 0 <= worst.cell[0] < 5  # where the acid enters
    assert worst.value > step.tolerance


def test_a_state_that_is_no_number_is_refused():
    solver = column()
    solver.ln_c[17, 0, 0, 2] = np.nan
    step = solver.step(1e3)
    assert (step.converged, step.reason) == (False, "the residual is not a number")
    assert solver.worst().cell[0] in (15, 16, 17, 18, 19)
    assert solver.worst().value == math.inf


def test_a_state_that_is_read_goes_on_with_the_same_bits():
    whole = column()
    steps(whole, 1e3, 3e3)
    ln_c, minerals = whole.ln_c.copy(), whole.minerals.copy()
    steps(whole, 1e4, 1e4)
    other = column()
    other.set_state(ln_c, minerals)
    steps(other, 1e4, 1e4)
    assert other.ln_c.tobytes() == whole.ln_c.tobytes()
    assert other.minerals.tobytes() == whole.minerals.tobytes()
    np.testing.assert_array_equal(other.outflow(), whole.outflow())


def test_minerals_are_used_up_but_never_below_nothing():
    solver = column()
    start(solver, RESTING, [1e-3])
    steps(solver, *[1e8] * 5)
    assert (solver.minerals >= 0).all()
    assert solver.minerals[0] < 1e-6


def test_flow_from_heads_moves_the_same_as_the_flux_that_it_makes():
    head = 0.6 * FLUX / 1e-5
    sides = {"x-": {"kind": FIXED, "water": 1, "head": head}, "x+": {"kind": OPEN, "head": 0.0}}
    one, other = column(), column(sides=sides, flux=None, conductivity=uniform(1e-5))
    for solver in (one, other):
        steps(solver, 1e4)
    np.testing.assert_allclose(other.ln_c, one.ln_c, rtol=0, atol=1e-9)


def test_rounding_of_long_steps_on_fine_grids_is_no_failure():
    """A tenth of a millimetre a cell: diffusion alone multiplies rounding by 1e6."""
    solver = column(sides={"x-": {"kind": FIXED, "water": 1}}, flux=(0, 0, 0), spacing=(1e-4, 1, 1), diffusivity=1e-6)
    step = steps(solver, 1e4)
    assert 1e-11 < step.tolerance < 1e-8


def test_a_water_is_needed_where_water_flows_in():
    with pytest.raises(InputError, match="through an open side without a water"):
        column(sides={"x-": {"kind": OPEN}, "x+": {"kind": OPEN}})


def test_a_step_whose_residual_is_below_the_tolerance_from_the_start_moves_water_and_mineral_alike():
    solver = column(1, sides={}, flux=(0, 0, 0), waters=np.array([ACID, RESTING]))
    before = solver.moles()
    calcium, calcite = solver.totals().item(0), solver.minerals.item(0)
    step = solver.step(1e-8)
    assert step.converged
    assert step.norms[0] < step.tolerance
    dissolved = calcite - solver.minerals.item(0)
    assert dissolved > 0
    assert solver.totals().item(0) > calcium
    assert np.abs(solver.moles() - before).max() < 1e-3 * dissolved
