"""Extreme values of the numbers in the inputs of all applications: each run ends with something in its results, or says
that there is nothing, or with one line of error.

New seeds each time, printed.
"""

import random
import subprocess
import sys

import pytest
from cli_support import clean_environment, heed_signals
from extreme_program import APPLICATIONS
from paths import ROOT

pytestmark = pytest.mark.trials
COUNT = 40  # of values that are tried for each application, accepted by its tables


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_number_at_its_extremes(tmp_path, application):
    seed = random.SystemRandom().randrange(10**6)
    print(f"{application}: seed {seed}")
    program = ROOT / "tests" / "support" / "extreme_program.py"
    words = [sys.executable, program, tmp_path / "runs", application, str(seed), str(COUNT)]
    done = subprocess.run(
        words,
        env=clean_environment(),
        preexec_fn=heed_signals,  # runs that the numbers make long are asked to end
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    wrong = [line for line in done.stdout.splitlines() if line.startswith("! ")]
    assert not wrong, (seed, wrong)
