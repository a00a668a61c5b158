"""Studies whose runs are jobs of a real Slurm, where there is one."""

import os
import signal
import subprocess
import sys
import time

import pytest
from cli_support import heed_signals, program
from patience import PATIENCE
from slurm_support import Unavailable, cluster

from fathometer.lab.studies.store import read_results

# Says a value that follows from the case, and notes in a log where it runs; sleeps as long as it is told.
PROGRAM = """
import os, pathlib, sys, time
log, a, seconds = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
with log.open("a") as file:
    file.write(f"{a} {os.environ.get('SLURM_JOB_ID')} {os.environ.get('SLURM_STEP_ID', 'batch')}\\n")
time.sleep(float(seconds))
print(f"value {10 * int(a)}.5")
"""
STUDY = """
title = "a test"
[application]
command = ["{python}", "{program}", "{log}", "{{a}}", "{seconds}"]
launch = "{launch}"
figure = [{{name = "said", unit = "seconds", direction = "lower", pattern = 'value ([0-9.]+)'}}]
[factors]
a = {a}
[launch]
how = "{how}"
{more}
[runs]
repetitions = {rounds}
warm_up = 0
"""


@pytest.fixture(scope="module")
def slurm():
    """A Slurm of this machine; the tests are skipped where there is none."""
    try:
        with cluster() as found:
            yield found
    except Unavailable as reason:
        pytest.skip(str(reason))


def study(folder, more="", how="sbatch", rounds=1, seconds=0.0, launch="serial", a="[1, 2]"):
    (folder / "program.py").write_text(PROGRAM)
    text = STUDY.format(
        python=sys.executable, program=folder / "program.py", log=folder / "log", how=how, more=more, rounds=rounds,
        seconds=seconds, launch=launch, a=a,
    )  # fmt: skip
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def begins(folder):
    """(a, job, step) of all runs that were begun."""
    path = folder / "log"
    return [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []


def kept(folder):
    """All runs, by round and case."""
    results = read_results(folder / "study.study")
    return {(run.number, case.case.settings["a"]): run for case in results.cases.values() for run in case.runs}


def run_study(slurm, path, *words):
    done = slurm.call(*program(), "study", "run", path, *words)
    print(done.out, done.err)
    return done


def started(slurm, path):
    words = [*program(), "study", "run", str(path)]
    return subprocess.Popen(words, env=slurm.environment, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def told(process, words):
    """Wait until the study has said so."""
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"the study has ended without: {words}")


def jobs(slurm):
    """Numbers of the jobs that wait or run."""
    return slurm.call("squeue", "--noheader", "--format=%A").out.split()


def test_a_job_for_each_case(slurm, tmp_path):
    assert run_study(slurm, study(tmp_path, "at_once = 2")).code == 0
    runs = kept(tmp_path)
    assert {key: run.figures["said"] for key, run in runs.items()} == {
        (1, 1): 10.5,
        (1, 2): 20.5,
    }
    assert all(0 < run.figures["elapsed"] < 2 for run in runs.values()), "measured inside the job, without the queue"
    assert len({job for _, job, _ in begins(tmp_path)}) == 2
    assert read_results(tmp_path / "study.study").machine["host"] == os.uname().nodename
    assert not list((tmp_path / "study.study" / "jobs").glob("*.out"))


@pytest.mark.trials
def test_a_job_for_each_round_and_steps_for_ranks(slurm, tmp_path):
    assert run_study(slurm, study(tmp_path, 'job = "round"', rounds=2, launch="mpi")).code == 0
    assert len(kept(tmp_path)) == 4
    assert not any(run.failed for run in kept(tmp_path).values())
    first, second, third, fourth = begins(tmp_path)
    assert [job for _, job, _ in begins(tmp_path)] == [first[1], first[1], third[1], third[1]]
    assert first[1] != third[1]
    assert [step for *_, step in begins(tmp_path)] == ["0", "1", "0", "1"]
    assert [first[0], second[0]] == [fourth[0], third[0]], "the second round of a pair is in the reverse order"


@pytest.mark.trials
def test_steps_of_an_allocation(slurm, tmp_path):
    path = study(tmp_path, how="srun")
    words = " ".join(map(str, [*program(), "study", "run", path]))
    done = slurm.call("sbatch", "--wait", f"--output={tmp_path}/out", "--wrap", words)
    assert done.code == 0, (tmp_path / "out").read_text()
    assert {key: run.failed for key, run in kept(tmp_path).items()} == {(1, 1): "", (1, 2): ""}
    assert [step for *_, step in begins(tmp_path)] == ["0", "1"]
    assert len({job for _, job, _ in begins(tmp_path)}) == 1


def test_a_job_that_never_starts_ends_the_study(slurm, tmp_path):
    path = study(tmp_path, 'deadline = "1s"\noptions = ["--begin=now+1hour"]')
    done = run_study(slurm, path)
    assert done.code == 1
    *_, line = done.err.splitlines()
    assert "has not started within 1 s ([launch] deadline): pending (BeginTime); it is cancelled" in line
    assert "round 1, a = " in done.err
    assert "pending (BeginTime)\n" in done.err
    assert jobs(slurm) == []
    path.write_text(path.read_text().replace('"1s"', '"2s"'))
    assert "has not started within 2 s" in run_study(slurm, path).err, "the deadline may be another one"


def test_what_sbatch_refuses_ends_the_study(slurm, tmp_path):
    done = run_study(slurm, study(tmp_path, 'options = ["--partition=nonesuch"]'))
    assert done.code == 1
    [line] = done.err.splitlines()
    assert "fathometer: error: sbatch: error: " in line
    assert "--partition=nonesuch; allowed: what Slurm accepts, see [launch] options" in line
    assert begins(tmp_path) == []


@pytest.mark.trials
def test_kills_submit_nothing_twice(slurm, tmp_path):
    """Killed with its job in the queue, and again while it runs: one job, and every run once."""
    path = study(tmp_path, 'job = "round"\noptions = ["--hold"]', seconds=1.5)
    process = started(slurm, path)
    [job] = until(lambda: jobs(slurm))
    until(lambda: any(f'"{job}"' in file.read_text() for file in tmp_path.glob("study.study/jobs/*.json")))
    process.kill()
    process.communicate(timeout=PATIENCE)

    process = started(slurm, path)
    told(process, "pending")
    assert slurm.call("scontrol", "release", job).code == 0
    until(lambda: begins(tmp_path))
    process.kill()
    process.communicate(timeout=PATIENCE)

    assert run_study(slurm, path).code == 0
    assert sorted(begins(tmp_path)) == [("1", job, "batch"), ("2", job, "batch")]
    assert {key: run.failed for key, run in kept(tmp_path).items()} == {(1, 1): "", (1, 2): ""}


def test_overwriting_and_interrupts_cancel_jobs(slurm, tmp_path):
    path = study(tmp_path, 'options = ["--hold"]')
    process = started(slurm, path)
    [job] = until(lambda: jobs(slurm))
    until(lambda: any(f'"{job}"' in file.read_text() for file in tmp_path.glob("study.study/jobs/*.json")))
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert jobs(slurm) == [job]

    words = [*program(), "study", "run", str(path), "--overwrite"]
    process = subprocess.Popen(words, env=slurm.environment, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)
    told(process, "pending")
    [other] = jobs(slurm)
    assert other != job
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 75
    assert jobs(slurm) == []


@pytest.mark.trials
def test_a_cancelled_job_is_a_run_that_failed(slurm, tmp_path):
    process = started(slurm, study(tmp_path, seconds=600.0, a="[1]"))
    [[_, job, _]] = until(lambda: begins(tmp_path))
    assert slurm.call("scancel", job).code == 0
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "no run has succeeded: all 1 failed, the last: its job" in err
    [run] = kept(tmp_path).values()
    assert f"its job {job} ended without a result: cancelled" in run.failed
    assert not run.figures
    assert not list(tmp_path.rglob("spec.json")), "what only the job needs is not kept"
