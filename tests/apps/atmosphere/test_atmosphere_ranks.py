"""An atmosphere has the same bits on any ranks and threads, by every protocol."""

import pytest
from cli_support import under_mpirun
from paths import SUPPORT

PROGRAM = SUPPORT / "atmosphere_program.py"
PROTOCOLS = ("alltoallw", "alltoallv", "pairwise")


@pytest.fixture(scope="module")
def one():
    lines = found(1, "alltoallv")
    assert len(lines) == 2
    return lines


def found(ranks, *protocols):
    done = under_mpirun(ranks, PROGRAM, *protocols)
    assert done.returncode == 0, done.stderr
    return sorted(set(done.stdout.splitlines()))


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits(ranks, one):
    assert found(ranks, *PROTOCOLS) == one


@pytest.mark.parametrize("ranks", [4, 5, 6])
def test_the_same_bits_on_more_ranks(ranks, one):
    assert found(ranks, PROTOCOLS[ranks % 3]) == one
