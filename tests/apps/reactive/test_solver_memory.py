"""The solver's memory as predicted, and as taken."""

import json
from pathlib import Path

import pytest
from cli_support import under_mpirun
from mpi4py import MPI
from solver_support import flow_of

from fathometer.apps.reactive.solver import problem
from fathometer.apps.reactive.solver.memory import solver_bytes
from fathometer.apps.reactive.solver.problem import ReactiveSolver
from fathometer.base.errors import InputError

pytest.importorskip("petsc4py", reason="PETSc is not installed (tools/petsc.sh)")


def test_the_prediction_is_what_is_taken_within_ten_percent():
    done = under_mpirun(1, Path(__file__).with_name("solver_memory_program.py"), "limited")
    assert done.returncode == 0, done.stderr
    bytes_ = json.loads(done.stdout)
    assert bytes_["predicted"] == pytest.approx(bytes_["measured"], rel=0.1)


def test_ranks_share_it():
    whole, half = (sum(solver_bytes((64, 64, 64), ranks, 4, 1, "central").values()) for ranks in ((1, 1, 1), (2, 1, 1)))
    assert 0.5 * whole < half < 0.55 * whole


def test_one_dimension_has_fewer_neighbours():
    line, cube = (solver_bytes(shape, (1, 1, 1), 4, 1, "central")["Jacobian"] for shape in ((1000, 1, 1), (10, 10, 10)))
    assert line / cube == pytest.approx(3 / 7)


def test_a_grid_that_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(problem, "usable_memory", lambda comm: 1000)
    with pytest.raises(InputError, match=r"not enough memory: .* \(.*linear solver's vectors"):
        ReactiveSolver(flow_of((10, 1, 1)), MPI.COMM_SELF)
