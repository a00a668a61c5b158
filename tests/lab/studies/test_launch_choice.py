"""What [launch] allows, as `study plan` tells it."""

import os
import sys

import pytest
from cli_support import call

from fathometer.lab.studies.launch_choice import partition_of

STUDY = """
title = "a test"
[application]
command = ["{python}", "-c", "print(1)", "{{a}}"]
[factors]
a = [1, 2]
{more}
"""


def plan(folder, more, **variables):
    """Standard error of `study plan`, on a host with these variables."""
    (folder / "study.toml").write_text(STUDY.format(python=sys.executable, more=more))
    for name in ("sbatch", "squeue", "scancel", "sinfo", "srun"):
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", **variables}
    done = call("study", "plan", folder / "study.toml", environment=environment)
    assert done.code == (2 if done.err else 0)
    return done.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            "[launch]\nat_once = 2",
            "at_once: found 2, and a = 1 runs on no cpus of its own; allowed: cpus for each",
        ),
        ("[launch]\nat_once = 2\n[placement]\ncpus = [0]", "found 2, and a = 1 and a = 2 share cpus"),
        ("[launch]\nat_once = 2\ndisturb = true", ""),
        ('[launch]\nhow = "sbatch"\nat_once = 2', ""),
        ('[launch]\nhow = "sbatch"\nat_once = 2\njob = "round"', 'found 2 with job = "round"'),
        ('[launch]\noptions = ["--x"]', 'options: found without how = "sbatch"'),
        ('[launch]\nhow = "sbatch"\n[placement]\nranks = 2', "ranks: found 2 for a program of one process"),
    ],
)
def test_launch(tmp_path, more, words):
    found = plan(tmp_path, more)
    assert words in found
    assert found.count("\n") == bool(words)


def test_cases_of_their_own_cpus_run_at_once(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one cpu")
    first, second, *_ = sorted(os.sched_getaffinity(0))
    more = '[constraints]\nkeep = "a == 1"\n[launch]\nat_once = 2\n[placement]\ncpus = "{c}"'
    assert plan(tmp_path, f'c = ["{first}", "{second}"]\n{more}') == ""
    assert "share cpus" in plan(tmp_path, f'c = ["{first}", "{first},{second}"]\n{more}')


def test_steps_of_an_allocation_are_not_run_at_once(tmp_path):
    found = plan(tmp_path, '[launch]\nhow = "srun"\nat_once = 2', SLURM_JOB_ID="7")
    assert 'found 2 with "srun", whose steps share the nodes' in found


def test_partitions():
    assert partition_of([]) is None
    assert partition_of(["--account=x", "--partition=long"]) == "long"
    assert partition_of(["-p", "short", "--x"]) == "short"
    assert partition_of(["-pshort"]) == "short"
