"""Inside a job: what it makes of the runs that it is given."""

import os
import signal
import subprocess
import sys
import time

import pytest
from patience import PATIENCE

from fathometer.base.host import cpu_model
from fathometer.lab.studies.job import main
from fathometer.lab.studies.processes import Process
from fathometer.lab.studies.single_run import SPEC, SingleRun, outcome_in


@pytest.fixture
def study(tmp_path):
    """A study's folder, whose machine is described already."""
    (tmp_path / "machine.json").write_text('{"cpu": "an abacus"}')
    before = signal.getsignal(signal.SIGTERM)
    yield tmp_path
    signal.signal(signal.SIGTERM, before)


def run(study, name, *words, **further):
    """A run's folder with its spec."""
    folder = study / name
    folder.mkdir()
    process = Process(words, folder, {"COLOUR": "red"}, folder, folder)
    (folder / SPEC).write_bytes(SingleRun(folder, [process], **further).as_json())
    return folder


def test_all_runs_are_made_in_order_and_none_twice(study):
    words = ("sh", "-c", "echo $COLOUR >> ../log; exit 3")
    first, second = run(study, "a", *words), run(study, "b", "sh", "-c", "echo blue >> ../log")
    main([str(study), str(first), str(second)])
    main([str(study), str(first), str(second)])
    assert (study / "log").read_text() == "red\nblue\n"
    assert [outcome_in(folder).ended[0].code for folder in (first, second)] == [3, 0]
    assert outcome_in(second).host == os.uname().nodename
    assert f"on another processor: {cpu_model()}, not an abacus" in outcome_in(second).marks


def test_the_time_limit_and_what_cannot_be_run(study):
    slow = run(study, "a", "sleep", "600", time_limit=0.1)
    missing = run(study, "b", "/nonesuch")
    damaged = run(study, "c", "true")
    (damaged / SPEC).write_text("{")
    main([str(study), str(slow), str(missing), str(damaged)])
    assert outcome_in(slow).ended[0].timed_out
    assert "/nonesuch: cannot be started" in outcome_in(missing).problem
    assert "spec.json: cannot be read" in outcome_in(damaged).problem


def test_a_job_that_is_told_to_end_leaves_no_result(study):
    """Slurm's signal reaches the command first: that it ended by a signal is no result of its own."""
    folder = run(study, "a", "sh", "-c", "touch ended; kill -TERM $$")
    words = [sys.executable, "-m", "fathometer.lab.studies.job", str(study), str(folder)]
    job = subprocess.Popen(words)
    deadline = time.monotonic() + PATIENCE
    while not (folder / "ended").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.2)
    job.terminate()
    assert job.wait(PATIENCE) == 128 + signal.SIGTERM
    assert outcome_in(folder) is None
