"""Fields, traces and largest velocities are the same, bit for bit, on any number of ranks."""

import pytest
from cli_support import under_mpirun
from paths import SUPPORT

PROGRAM = SUPPORT / "elastic_ranks_program.py"


@pytest.mark.parametrize(("ranks", "fewest"), [(2, 12), (3, 12), (4, 24)])
def test_bits_do_not_depend_on_ranks(ranks, fewest):
    done = under_mpirun(ranks, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= fewest
