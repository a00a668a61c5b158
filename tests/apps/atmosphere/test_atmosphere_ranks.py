"""An atmosphere has the same bits on any ranks and threads, by every protocol."""

import pytest
from paths import SUPPORT
from restartable_runs import PROTOCOLS, found_on

PROGRAM = SUPPORT / "atmosphere_program.py"


@pytest.fixture(scope="module")
def one():
    lines = found_on(1, PROGRAM, "alltoallv")
    assert len(lines) == 2
    return lines


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits(ranks, one):
    assert found_on(ranks, PROGRAM, *PROTOCOLS) == one


@pytest.mark.parametrize("ranks", [4, 5, 6])
def test_the_same_bits_on_more_ranks(ranks, one):
    assert found_on(ranks, PROGRAM, PROTOCOLS[ranks % 3]) == one
