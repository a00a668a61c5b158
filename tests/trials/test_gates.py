"""Gates on real programs: identical builds beside nothing and beside other load, and one that is 5 % slower.

FATHOMETER_COMPARISONS=200 is the long form, half an hour each.
"""

import os
import shutil
import subprocess
import sys

import pytest
from cli_support import here

from fathometer.lab.studies.comparison import compare_builds
from fathometer.lab.studies.store import read_results

pytestmark = [
    pytest.mark.trials,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on PATH: the programs are compiled here"),
]

COMPARISONS = int(os.environ.get("FATHOMETER_COMPARISONS", "40"))
MOST_WORSE, LEAST_DECIDED = 0.075, 0.8  # shares of the comparisons
SLOWER, LEAST_FOUND = COMPARISONS // 2, 0.9
QUIET = 0.8  # of the pairs that were made first are undisturbed on a machine that is called quiet
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
    """So many comparisons, each a study of its own as a user runs it; what each says, and the share of first pairs that
    were undisturbed."""
    base, own = programs
    path = folder / "gate.toml"
    path.write_text(STUDY.format(own=own, base=base, steps=steps, base_steps=base_steps, rounds=rounds))
    verdicts, sound = [], []
    for _ in range(count):
        done = here("study", "run", path, "--quiet", "--overwrite")
        results = read_results(folder / "gate.study")
        [cell] = compare_builds(results).cells
        verdicts.append(cell.verdict)
        assert done.code == {"worse": 3, "undecided": 4, "not worse": 0}[cell.verdict], done.err
        runs = [{run.number: run for run in case.runs if run.kind == "round"} for case in results.cases.values()]
        sound += [not any(each[n].disturbed for each in runs) for n in range(1, rounds + 1)]
    share = sum(sound) / len(sound)
    print({verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}, f"{share:.2f} of the pairs sound")
    return verdicts, share


def test_identical_builds(tmp_path, programs):
    verdicts, sound = gates(tmp_path, programs, COMPARISONS, 10)
    assert verdicts.count("worse") / COMPARISONS <= MOST_WORSE
    if sound < QUIET:
        pytest.skip(f"others used the machine in {1 - sound:.0%} of the pairs, so that little can be decided")
    assert 1 - verdicts.count("undecided") / COMPARISONS >= LEAST_DECIDED


def test_identical_builds_beside_other_load(tmp_path, programs):
    """A neighbour that comes and goes on one cpu and on two."""
    work = "import time\nwhile True:\n end = time.monotonic() + {on}\n while time.monotonic() < end: pass\n"
    work += " time.sleep({off})"
    loads = [
        subprocess.Popen([sys.executable, "-c", work.format(on=on, off=off)]) for on, off in ((1.3, 0.9), (0.2, 2.1))
    ]
    try:
        verdicts, _ = gates(tmp_path, programs, COMPARISONS, 10)
    finally:
        for load in loads:
            load.kill()
            load.wait()
    assert verdicts.count("worse") / COMPARISONS <= MOST_WORSE


def test_a_build_that_is_5_percent_slower(tmp_path, programs):
    verdicts, sound = gates(tmp_path, programs, SLOWER, 20, round(1.05 * LONGER * STEPS), LONGER * STEPS)
    assert "not worse" not in verdicts
    if sound < QUIET:
        pytest.skip(f"others used the machine in {1 - sound:.0%} of the pairs, so that little can be found")
    assert verdicts.count("worse") / SLOWER >= LEAST_FOUND
