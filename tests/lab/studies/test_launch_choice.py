"""What [launch] allows, as `study plan` tells it."""

import os
import sys

import pytest
from cli_support import call

from fathometer.base.errors import InputError
from fathometer.lab.studies.launch_choice import cores_of, how_of, launcher_of, partition_of
from fathometer.lab.studies.launching import LocalLauncher, SrunLauncher
from fathometer.lab.studies.study import ready
from fathometer.lab.studies.study_file import load_study

STUDY = """
title = "a test"
[application]
command = ["{python}", "-c", "print(1)", "{{a}}"]
[factors]
a = [1, 2]
{more}
"""


def with_slurm(folder):
    """PATH with programs named as those of Slurm."""
    for name in ("sbatch", "squeue", "scancel", "sinfo", "srun"):
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def plan(folder, more, **variables):
    """Standard error of `study plan`, on a host with these variables."""
    (folder / "study.toml").write_text(STUDY.format(python=sys.executable, more=more))
    environment = {"PATH": with_slurm(folder), **variables}
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


def test_what_starts_programs(tmp_path, monkeypatch):
    def loaded(how):
        more = f'[launch]\nhow = "{how}"'
        (tmp_path / "study.toml").write_text(STUDY.format(python=sys.executable, more=more))
        return load_study(tmp_path / "study.toml")

    monkeypatch.setenv("PATH", str(tmp_path))  # nothing is there
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert [how_of(loaded(how)) for how in ("auto", "local")] == ["local", "local"]
    assert isinstance(launcher_of(loaded("local")), LocalLauncher)
    with pytest.raises(InputError, match='found "sbatch" and no sbatch on PATH'):
        how_of(loaded("sbatch"))
    with pytest.raises(InputError, match='found "srun" outside an allocation'):
        how_of(loaded("srun"))
    monkeypatch.setattr(os, "sched_getaffinity", {0: {0, 1, 2}}.__getitem__)
    assert cores_of(loaded("local")) == 3
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert isinstance(launcher_of(loaded("srun")), SrunLauncher)


def test_a_study_warms_up_once_unless_it_says_otherwise(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.format(python=sys.executable, more=""))
    assert load_study(tmp_path / "study.toml").runs.warm_up == 1


@pytest.mark.parametrize(("job", "together"), [("round", True), ("case", False)])
def test_runs_of_a_round_begin_together_where_they_are_one_job(tmp_path, monkeypatch, job, together):
    monkeypatch.setenv("PATH", with_slurm(tmp_path))
    more = f'[launch]\nhow = "sbatch"\njob = "{job}"'
    (tmp_path / "study.toml").write_text(STUDY.format(python=sys.executable, more=more))
    assert ready(load_study(tmp_path / "study.toml")).runs.together is together
