"""Ranks with a card, or what stands for one, each: the bits of the processors on one rank, however the grid is cut."""

import pytest
from card_ranks_program import CASES
from card_support import on_card
from cli_support import under_mpirun
from paths import SUPPORT
from support import FULL


@pytest.mark.parametrize(
    ("ranks", "cuts"),
    [
        (2, {"(2, 1, 1)", "(1, 2, 1)", "(1, 1, 2)"}),
        (3, {"(3, 1, 1)", "(1, 3, 1)"}),
        (4, {"(2, 2, 1)", "(1, 2, 2)", "(2, 1, 2)", "(4, 1, 1)"}),
        pytest.param(8, {"(2, 2, 2)"}, marks=pytest.mark.skipif(not (FULL or on_card()), reason="full size only")),
    ],
)
def test_the_same_bits_on_ranks(card, ranks, cuts):
    done = under_mpirun(ranks, SUPPORT / "card_ranks_program.py")
    assert done.returncode == 0, done.stderr
    tried = done.stdout.splitlines()
    cases = {"3D"} if ranks == 8 else {"2D", "3D"} if ranks == 4 else set(CASES)
    assert {line.partition("|")[0] for line in tried} == cases
    assert {line.partition("|")[2] for line in tried} >= cuts
