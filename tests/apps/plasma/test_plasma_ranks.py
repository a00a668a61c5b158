"""A plasma has the same bits on any ranks, however they share it, by every protocol, with transposes that overlap."""

import pytest
from paths import SUPPORT
from restartable_runs import PROTOCOLS, found_on

PROGRAM = SUPPORT / "plasma_program.py"


@pytest.fixture(scope="module")
def one():
    lines = found_on(1, PROGRAM, "alltoallv")
    assert len(lines) == 3
    return lines


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_same_bits(ranks, one):
    assert found_on(ranks, PROGRAM, *PROTOCOLS) == one


@pytest.mark.parametrize("ranks", [3, 6, 8])
def test_the_same_bits_on_more_ranks(ranks, one):
    assert found_on(ranks, PROGRAM, PROTOCOLS[ranks % 3]) == one
