"""NetCDF files of several variables on several ranks."""

from pathlib import Path

import pytest
from cli_support import under_mpirun

PROGRAM = Path(__file__).parents[2] / "support" / "dataset_program.py"


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_strategy(tmp_path, ranks):
    done = under_mpirun(ranks, PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
