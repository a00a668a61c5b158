"""The operator of the surface's change, its preconditioners and solvers, on one rank."""

import math

import numpy as np
import pytest
from barotropic_support import GRAVITY, IMPLICITNESS, STEP, layout_of, operator, true_residual, whole, world
from mpi4py import MPI

from fathometer.apps.ocean.barotropic.solver import BarotropicSolver
from fathometer.apps.ocean.barotropic.system import BB

SOLVERS = ("pcg", "chronopoulos-gear", "pipelined")


def solver_of(grid, layout, eta=None, **keys):
    solver = BarotropicSolver(layout, MPI.COMM_SELF, grid, **keys)
    eta = layout.blocked(np.zeros(grid.shape[:2]) if eta is None else eta)
    solver.coefficients(eta, STEP, IMPLICITNESS, GRAVITY)
    return solver


def on_water(grid, seed=0):
    return np.random.default_rng(seed).standard_normal(grid.shape[:2]) * (grid.levels > 0)


def through(method, layout, values):
    return whole(layout, MPI.COMM_SELF, method(layout.blocked(values)))


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("cutting", [{}, {"blocks": (16, 24)}, {"blocks": (8, 8)}])
def test_operator_is_divergence_of_depth_times_gradient(periodic, cutting):
    grid = world(75, 61, periodic=periodic)
    layout = layout_of(grid, **cutting)
    eta = on_water(grid, 1)
    solver = solver_of(grid, layout, eta)
    d = on_water(grid)
    expected = operator(grid, eta, d)
    found = through(solver.apply, layout, d)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    other = on_water(grid, 2)
    mixed = (other * found).sum(), (d * through(solver.apply, layout, other)).sum()
    assert mixed[0] == pytest.approx(mixed[1], rel=1e-11)
    assert (d * found).sum() > 0


@pytest.mark.parametrize("tile", [3, 4, 8, 16])
def test_blocks_are_inverses_of_the_operator_on_each_tile(tile):
    """Also where tiles lie over the border, and whatever the surface: the depth is that at rest."""
    grid = world(45, 38)
    layout = layout_of(grid, tile=tile, blocks=(2 * tile, tile))
    solver = solver_of(grid, layout, on_water(grid, 3), preconditioner="block")
    r = on_water(grid)
    found = through(solver.precondition, layout, r)
    wet = grid.levels > 0
    for x in range(0, 45, tile):
        for y in range(0, 38, tile):
            cells = np.argwhere(wet[x : x + tile, y : y + tile]) + np.array([x, y])
            if not len(cells):
                continue
            places = tuple(cells.T)
            matrix = np.empty((len(cells), len(cells)))
            for n, place in enumerate(cells):
                unit = np.zeros(grid.shape[:2])
                unit[tuple(place)] = 1
                matrix[:, n] = local_operator(grid, unit, place)[places]
            np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
            assert np.linalg.eigvalsh(matrix).min() > 0
            np.testing.assert_allclose(found[places], np.linalg.solve(matrix, r[places]), rtol=1e-10, atol=1e-24)
    assert (found[~wet] == 0).all()


def local_operator(grid, unit, place):
    """The operator on a vector that is zero far from a place: computed in a window around it (the grid is periodic)."""
    import dataclasses

    shift = 3 - place[0]
    columns = slice(0, 7)
    window = dataclasses.replace(
        grid, x=grid.x[columns], levels=np.roll(grid.levels, shift, 0)[columns], periodic=False
    )
    inside = np.roll(unit, shift, 0)[columns]
    product = np.zeros_like(unit)
    product[columns] = operator(window, np.zeros_like(inside), inside)
    return np.roll(product, -shift, 0)


def test_diagonal_is_the_operators():
    grid = world(30, 20)
    layout = layout_of(grid)
    solver = solver_of(grid, layout, preconditioner="diagonal")
    found = through(solver.precondition, layout, np.ones(grid.shape[:2]))
    for place in np.argwhere(grid.levels > 0)[::7]:
        unit = np.zeros(grid.shape[:2])
        unit[tuple(place)] = 1
        assert found[tuple(place)] == pytest.approx(1 / local_operator(grid, unit, place)[tuple(place)], rel=1e-13)


def test_manufactured_solution_with_each_solver():
    """b = A x of a given x at the size of a one-degree ocean, solved to 1e-13."""
    grid = world(320, 384)
    layout = layout_of(grid, blocks=(80, 96))
    expected = on_water(grid)
    counts = {}
    for preconditioner in ("diagonal", "block"):
        for name in SOLVERS:
            solver = solver_of(grid, layout, solver=name, preconditioner=preconditioner, tolerance=1e-13, check_every=1)
            rhs = layout.blocked(operator(grid, np.zeros(grid.shape[:2]), expected))
            x = np.zeros(layout.shaped())
            done = solver.solve(rhs, x)
            assert done.converged
            assert done.residual <= 1e-13
            assert true_residual(solver, layout, grid, rhs, x) < 2e-13
            error = whole(layout, MPI.COMM_SELF, x) - expected
            assert np.linalg.norm(error) < 1e-9 * np.linalg.norm(expected)
            counts[name, preconditioner] = done
            sums = 2 * done.iterations if name == "pcg" else done.iterations
            assert sums < done.reductions <= sums + 4
            solver.close()
        plain, *others = (counts[name, preconditioner].iterations for name in SOLVERS)
        assert all(abs(other - plain) <= 0.02 * plain + 1 for other in others)
    assert counts["pcg", "block"].iterations < 0.5 * counts["pcg", "diagonal"].iterations


@pytest.mark.parametrize("sums", ["mpi", "exact"])
@pytest.mark.parametrize("name", SOLVERS)
def test_ends_of_a_solve(name, sums):
    grid = world(48, 32)
    layout = layout_of(grid)
    rhs = layout.blocked(on_water(grid))
    fixed = solver_of(grid, layout, solver=name, sums=sums, iterations=7)
    x = np.zeros(layout.shaped())
    done = fixed.solve(rhs, x)
    assert done.iterations == 7
    assert done.converged
    assert done.residual == pytest.approx(true_residual(fixed, layout, grid, rhs, x), rel=1e-9)
    few = solver_of(grid, layout, solver=name, sums=sums, most_iterations=3, tolerance=1e-12)
    assert not few.solve(rhs, np.zeros_like(x)).converged
    tens = solver_of(grid, layout, solver=name, sums=sums, check_every=10)
    done = tens.solve(rhs, x)
    assert done.converged
    assert done.iterations % 10 == 0
    again = tens.solve(rhs, x)  # from the solution
    assert again.converged
    assert again.iterations <= 10
    nothing = tens.solve(np.zeros_like(rhs), x)
    assert (nothing.iterations, nothing.residual, nothing.converged) == (0, 0.0, True)
    assert not layout.owned(x, 0).any()
    for bad in (np.nan, np.inf):
        broken = rhs.copy()
        place = tuple(np.argwhere(layout.owned(layout.blocked(grid.levels), 0) > 0)[40])
        layout.owned(broken, 0)[place] = bad
        done = tens.solve(broken, np.zeros_like(x))
        assert not done.converged
        assert done.iterations <= 1
        assert np.isnan(done.residual)
    assert tens.solve(rhs, np.zeros_like(x)).converged  # nothing is left of it


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_exact_sums_find_their_limits(size):
    """Sums go through 26 orders of magnitude, from anywhere; plain sums find the same solution."""
    grid = world(48, 32)
    layout = layout_of(grid)
    rhs = size * layout.blocked(on_water(grid))
    found = []
    for sums in ("mpi", "exact"):
        solver = solver_of(grid, layout, sums=sums, check_every=1)
        x = np.zeros(layout.shaped())
        done = solver.solve(rhs, x)
        assert done.converged
        assert done.reductions < done.iterations + 12
        found.append((done.iterations, x))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-11 * np.abs(found[0][1]).max())


def test_exact_sums_are_those_of_infinite_precision():
    """Of terms over ten orders of magnitude: all bits of the largest, and of the sum, are there."""
    grid = world(48, 32)
    layout = layout_of(grid, blocks=(16, 8))
    b = on_water(grid) * 10.0 ** np.random.default_rng(1).uniform(-5, 0, grid.shape[:2])
    solver = solver_of(grid, layout, sums="exact")
    solver.system.kernels.load(layout.blocked(b), layout.blocked(b))
    for _ in range(2):  # within limits from the largest term, then from the last sum
        (found,) = solver.system.fresh(BB)
        assert found == pytest.approx(math.fsum((b * b).ravel()), rel=4e-16)
        solver.system.kernels.dot(BB)
        (found,) = solver.system.reduce(BB)
        assert found == pytest.approx(math.fsum((b * b).ravel()), rel=4e-16)


@pytest.mark.parametrize("name", SOLVERS)
def test_solves_do_not_depend_on_earlier_ones(name):
    """As a run must go on to the bit that was ended and resumed."""
    grid = world(48, 32)
    layout = layout_of(grid)
    rhs = layout.blocked(on_water(grid))
    used, new = (solver_of(grid, layout, solver=name, sums="exact") for _ in range(2))
    used.solve(1e30 * layout.blocked(on_water(grid, 1)), layout.blocked(on_water(grid, 2)))
    found = []
    for solver in (used, new):
        x = np.zeros(layout.shaped())
        found.append((solver.solve(rhs, x), x.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", SOLVERS)
def test_threads_do_not_change_a_bit(name):
    """Neither exact sums nor those of a rank, which add rows in their order."""
    from fathometer import _native

    grid = world(64, 48)
    layout = layout_of(grid, blocks=(16, 16))
    rhs = layout.blocked(on_water(grid))
    before = _native.threads()
    for preconditioner in ("diagonal", "block"):
        for sums in ("mpi", "exact"):
            found = set()
            for threads in (1, 2):
                _native.set_threads(threads)
                try:
                    solver = solver_of(grid, layout, solver=name, preconditioner=preconditioner, sums=sums)
                    x = np.zeros(layout.shaped())
                    solver.solve(rhs, x)
                finally:
                    _native.set_threads(before)
                found.add(x.tobytes())
            assert len(found) == 1


def test_residual_replacement_keeps_the_pipelined_residual_true():
    """Without it the recursion's residual is 100 times too small at the least, and does not fall so far."""
    grid = world(160, 192)
    layout = layout_of(grid)
    rhs = layout.blocked(on_water(grid))
    found = {}
    for every in (50, 10**9):
        solver = BarotropicSolver(
            layout,
            MPI.COMM_SELF,
            grid,
            solver="pipelined",
            preconditioner="diagonal",
            iterations=1000,
            replace_every=every,
        )
        solver.coefficients(layout.blocked(np.zeros(grid.shape[:2])), 16 * STEP, IMPLICITNESS, GRAVITY)
        x = np.zeros(layout.shaped())
        residual = solver.solve(rhs, x).residual
        found[every] = residual, true_residual(solver, layout, grid, rhs, x)
    assert found[50][1] == pytest.approx(found[50][0], rel=0.05)
    assert found[50][1] < 2e-13
    assert found[10**9][1] > 1e3 * found[50][1]


def test_wrong_arrays_are_refused():
    grid = world(48, 32)
    layout = layout_of(grid)
    solver = solver_of(grid, layout)
    with pytest.raises(ValueError, match=r"b has the shape \(1, 5, 5\), not \("):
        solver.solve(np.zeros((1, 5, 5)), np.zeros(layout.shaped()))
    with pytest.raises(ValueError, match="eta has the shape"):
        solver.coefficients(np.zeros((2, *layout.padded)), STEP, IMPLICITNESS, GRAVITY)
    with pytest.raises(ValueError, match="tiles of 4"):
        BarotropicSolver(layout, MPI.COMM_SELF, grid, tile=4)
