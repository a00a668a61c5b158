"""Halos of blocks and the barotropic solver on several ranks and cuttings of the grid."""

import json
from pathlib import Path

import barotropic_program
import pytest
from cli_support import under_mpirun


@pytest.fixture(scope="module")
def found():
    """What each number of ranks found."""
    out = {}
    for ranks in (1, 2, 3, 4):
        done = under_mpirun(ranks, Path(barotropic_program.__file__))
        assert done.returncode == 0, done.stderr
        out[ranks] = json.loads(done.stdout)
    return out


def test_halos_are_the_neighbours_cells(found):
    """Of arrays with and without further axes, any width, over several small blocks, around the border, and not those
    of blocks of land."""
    assert {ranks: one["wrong halos"] for ranks, one in found.items()} == {ranks: [] for ranks in found}


def test_exact_sums_make_the_solve_the_same_to_the_bit(found):
    """With every solver and preconditioner: solution, iterations, residual, reductions."""
    digests: dict[str, set[str]] = {}
    count = 0
    for one in found.values():
        for key, digest in one["digests"].items():
            digests.setdefault(key.rpartition(" ")[0], set()).add(digest)
            count += 1
    assert count == 6 * 12 + 4
    assert [one["idle"] for one in found.values()] == [0, 1, 2, 2]
    assert {key: len(some) for key, some in digests.items()} == dict.fromkeys(digests, 1)


def test_sums_of_mpi_agree_with_exact_ones(found):
    assert all(0 <= error < 1e-11 for one in found.values() for error in one["errors"].values())
