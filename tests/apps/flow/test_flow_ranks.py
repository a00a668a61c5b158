"""A flow has the same bits on any ranks, cut into slabs or pencils."""

import pytest
from cli_support import under_mpirun
from paths import SUPPORT

PROGRAM = SUPPORT / "flow_program.py"


@pytest.fixture(scope="module")
def one():
    return found(1)


def found(ranks):
    done = under_mpirun(ranks, PROGRAM)
    assert done.returncode == 0, done.stderr
    lines = sorted(set(done.stdout.splitlines()))
    assert len(lines) == 6
    return lines


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_same_bits(ranks, one):
    assert found(ranks) == one
