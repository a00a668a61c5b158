"""Gates on real programs: identical builds beside nothing and beside other load, and one that is 5 % slower.

How much a gate decides depends on how much runs differ on their own, of which the machine may say nothing: neighbours
of a virtual machine leave no trace but the times. So as many decisions are expected as such noise allows.
FATHOMETER_COMPARISONS=200 is the long form, half an hour each.
"""

import math
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from cli_support import here

from fathometer.lab.statistics.signed_ranks import shift_of_ratios
from fathometer.lab.studies.comparison import SHOWN, compare_builds
from fathometer.lab.studies.store import read_results

pytestmark = [
    pytest.mark.trials,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on PATH: the programs are compiled here"),
]

COMPARISONS = int(os.environ.get("FATHOMETER_COMPARISONS", "40"))
MOST_WORSE, LEAST_DECIDED = 0.075, 0.8  # shares of the comparisons
SLOWER, LEAST_FOUND = COMPARISONS // 2, 0.9
FEWEST_EXPECTED = 0.5  # with less noise leaves too little to decide
DRAWS = 100
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
  volatile double sum = 0;
  for (long n = atol(words[1]); n > 0; n--) sum += 1.0 / n;
  printf("%g\n", sum);
  return count != 2;
}
"""
STUDY = """
title = "Two builds"

[application]
command = ["{own}", "{steps}"]

[runs]
repetitions = {rounds}

[gate]
figures = ["elapsed"]
baseline = ["{base}", "{base_steps}"]
"""
TOLERANCE = 0.03  # the default
STEPS = 20_000_000  # a tenth of a second or less
LONGER = 5  # times as many, where a difference of 5 % is to be seen: runs of 0.1 s differ by as much on their own


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """One program twice, as two builds are: files of their own."""
    folder = tmp_path_factory.mktemp("builds")
    (folder / "program.c").write_text(PROGRAM)
    for name in ("old", "new"):
        subprocess.run(["gcc", "-O1", "-o", folder / name, folder / "program.c"], check=True)
    return folder / "old", folder / "new"


def gates(folder, programs, count, rounds, steps=STEPS, base_steps=STEPS):
    """So many comparisons, each a study of its own as a user runs it: the cell of each."""
    base, own = programs
    path = folder / "gate.toml"
    path.write_text(STUDY.format(own=own, base=base, steps=steps, base_steps=base_steps, rounds=rounds))
    found = []
    for _ in range(count):
        done = here("study", "run", path, "--quiet", "--overwrite")
        [cell] = compare_builds(read_results(folder / "gate.study")).cells
        found.append(cell)
        assert done.code == {"worse": 3, "undecided": 4, "not worse": 0}[cell.verdict], done.err
    verdicts = [cell.verdict for cell in found]
    print({verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)})
    print("noise of pairs:", *(f"{own_noise(cell).std():.3f}" for cell in found if not cell.why))
    return found


def logarithms(cell):
    return np.log(np.divide(cell.second, cell.first))


def own_noise(cell):
    """What pairs differ by on their own: logarithms of ratios, less the ratio as told, which was fitted to them."""
    apart = logarithms(cell) - math.log(cell.ratio.median)
    return apart * math.sqrt(apart.size / (apart.size - 1))


def chance(cell, truth, rng):
    """Of a decision with the cell's noise around the true ratio; either sign is as likely, the order being drawn."""
    if cell.why:  # too few undisturbed pairs
        return 0.0
    noise = own_noise(cell)
    drawn = np.exp(math.log(truth) + rng.choice(noise, (DRAWS, noise.size)) * rng.choice([-1, 1], (DRAWS, noise.size)))
    ends = [shift_of_ratios(ratios.tolist(), SHOWN) for ratios in drawn]
    return np.mean([one.low > 1 + TOLERANCE or one.high <= 1 + TOLERANCE for one in ends])


def are_decided(cells, truth, least):
    """Whether the share of the cells with a decision is the least one, or within three deviations of what their noise
    allows. Skips where that is too little to tell anything."""
    rng = np.random.default_rng(1)  # one for all, so that the errors of the draws even out over the cells
    chances = np.array([chance(cell, truth, rng) for cell in cells])
    if chances.mean() < FEWEST_EXPECTED:
        pytest.skip(f"runs differ on their own, or are disturbed: {chances.mean():.0%} of the gates can decide")
    allowed = chances.sum() - 3 * math.sqrt((chances * (1 - chances)).sum())
    decided = sum(cell.verdict != "undecided" for cell in cells)
    print(f"{decided} of {len(cells)} decided; expected {chances.sum():.1f}, at least {allowed:.1f}")
    return decided >= min(least * len(cells), allowed)


def worse(cells):
    return sum(cell.verdict == "worse" for cell in cells) / len(cells)


def test_identical_builds(tmp_path, programs):
    cells = gates(tmp_path, programs, COMPARISONS, 10)
    assert worse(cells) <= MOST_WORSE
    assert are_decided(cells, 1.0, LEAST_DECIDED)


def test_identical_builds_beside_other_load(tmp_path, programs):
    """A neighbour that comes and goes on one cpu and on two."""
    work = "import time\nwhile True:\n end = time.monotonic() + {on}\n while time.monotonic() < end: pass\n"
    work += " time.sleep({off})"
    loads = [
        subprocess.Popen([sys.executable, "-c", work.format(on=on, off=off)]) for on, off in ((1.3, 0.9), (0.2, 2.1))
    ]
    try:
        cells = gates(tmp_path, programs, COMPARISONS, 10)
    finally:
        for load in loads:
            load.kill()
            load.wait()
    assert worse(cells) <= MOST_WORSE


def test_a_build_that_is_5_percent_slower(tmp_path, programs):
    cells = gates(tmp_path, programs, SLOWER, 20, round(1.05 * LONGER * STEPS), LONGER * STEPS)
    assert not [cell for cell in cells if cell.verdict == "not worse"]
    sound = [cell for cell in cells if not cell.why]
    if not sound:
        pytest.skip("others used the machine: no gate had pairs enough")
    truth = math.exp(np.median(np.concatenate([logarithms(cell) for cell in sound])))
    assert 1.04 < truth < 1.06  # the start of a program is in its time too
    assert are_decided(cells, truth, LEAST_FOUND)
