"""Random origins, azimuths, spacings, formats and ranks: results lie where they have to, and come back as models.

New seeds each time, printed.
"""

import random
import subprocess
import sys

import pytest
from cli_support import clean_environment
from paths import ROOT

pytestmark = pytest.mark.trials
COUNT = 12  # surveys


def test_random_places(tmp_path):
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    program = ROOT / "tests" / "support" / "places_program.py"
    words = [sys.executable, program, tmp_path / "runs", str(seed), str(COUNT)]
    done = subprocess.run(words, env=clean_environment(), capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1:] == ["done"]
    wrong = [line for line in done.stdout.splitlines() if line.startswith("! ")]
    assert not wrong, (seed, wrong)
