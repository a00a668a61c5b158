"""Whole steps on several ranks: with exact sums the same bits on any of them, with MPI's sums the same to rounding."""

import json
from pathlib import Path

import ocean_steps_program
import pytest
from cli_support import under_mpirun
from support import FULL


@pytest.fixture(scope="module")
def found():
    """What each number of ranks found."""
    out = {}
    for ranks in (1, 2, 3, 4) if FULL else (1, 2, 3):
        done = under_mpirun(ranks, Path(ocean_steps_program.__file__))
        assert done.returncode == 0, done.stderr
        out[ranks] = json.loads(done.stdout)
    return out


@pytest.mark.verify
def test_exact_sums_make_the_state_the_same_to_the_bit(found):
    """Whatever ranks, blocks, process grid, order and threads; also what the next steps go on from."""
    digests = {solver: set() for solver in ocean_steps_program.SOLVERS}
    for ranks, one in found.items():
        assert len(one["digests"]) == len(ocean_steps_program.CUTTINGS[ranks]) * len(digests)
        for case, digest in one["digests"].items():
            digests[case.rpartition(" ")[0]].add(digest)
    assert {solver: len(some) for solver, some in digests.items()} == dict.fromkeys(digests, 1)
    assert len(set.union(*digests.values())) == len(digests)  # the solvers round differently: the digests tell


def test_sums_of_mpi_agree_with_exact_ones(found):
    worst = max(value for one in found.values() for some in one["differences"].values() for value in some.values())
    assert 0 < worst < 1e-10


def test_reductions_are_counted(found):
    """Two an iteration of plain conjugate gradients, one of the others; two before the first. The pipelined solver may
    begin anew when rounding errors are all that is left."""
    for one in found.values():
        for solver, (iterations, reductions, halos) in one["counts"].items():
            assert iterations >= 20
            assert halos >= iterations
            more = reductions - 2 - (2 if solver == "pcg" else 1) * iterations
            assert more == 0 or (solver == "pipelined" and 0 < more <= 3)
