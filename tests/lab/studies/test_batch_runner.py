"""Jobs of a study with a queue of the test's own: what a real one does only by accident."""

import json

import pytest

from fathometer.base.errors import FathometerError
from fathometer.lab.studies import batch_runner
from fathometer.lab.studies.batch_runner import BatchRunner, cancel_jobs
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.processes import Ended
from fathometer.lab.studies.runner import RunToBegin
from fathometer.lab.studies.single_run import Outcome, SingleRun, outcome_in, write_outcome
from fathometer.launch.slurm_queue import JobState, cpus_of_allocation

DONE = Outcome([Ended(1.0, 2.0, 0, False, 0.5)])


class Queue:
    """A Slurm in which jobs are in the states that a test says, one after another; the last one stays."""

    def __init__(self, *states):
        self.states, self.scripts, self.cancelled, self.fails = list(states), [], [], None

    def submit_script(self, script):
        if self.fails is not None:
            raise self.fails
        self.scripts.append(script)
        return str(len(self.scripts))

    def state_of(self, job):
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def job_named(self, name):
        return next((str(n) for n, script in enumerate(self.scripts, 1) if f"--job-name={name}\n" in script), None)

    def cancel(self, jobs):
        self.cancelled += jobs


@pytest.fixture
def queue(monkeypatch):
    monkeypatch.setattr(batch_runner, "QUEUE_SECONDS", (0.01, 0.02))
    monkeypatch.setattr(batch_runner, "LATE_SECONDS", 0.05)
    found = Queue(JobState("PENDING", "Resources"))
    monkeypatch.setattr(batch_runner, "slurm_queue", found)
    return found


def runner(tmp_path, deadline=60.0, together=False):
    return BatchRunner(tmp_path, (), deadline, together)


def placed(tmp_path, *names):
    for name in names:
        (tmp_path / name).mkdir()
    return [RunToBegin(SingleRun(tmp_path / name, ()), Placement()) for name in names]


def test_a_session_killed_before_it_had_noted_the_number_finds_its_job(queue, tmp_path):
    runner(tmp_path).begin(placed(tmp_path, "a"))
    [path] = (tmp_path / "jobs").glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"number": ""}))
    assert runner(tmp_path).begun(tmp_path / "a")
    assert json.loads(path.read_text())["number"] == "1"


def test_a_job_that_was_never_submitted_is_not_begun(queue, tmp_path):
    runner(tmp_path).begin(placed(tmp_path, "a"))
    queue.scripts.clear()
    [path] = (tmp_path / "jobs").glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"number": ""}))
    assert not runner(tmp_path).begun(tmp_path / "a")


def test_a_job_that_ended_without_a_result_while_nobody_looked_is_made_anew(queue, tmp_path):
    runner(tmp_path).begin(placed(tmp_path, "a"))
    queue.states = [JobState("")]
    assert not runner(tmp_path).begun(tmp_path / "a")
    queue.states = [JobState("COMPLETED")]
    write_outcome(tmp_path / "a", DONE)
    assert runner(tmp_path).begun(tmp_path / "a"), "its result became visible a moment later"
    (tmp_path / "a" / "result.json").unlink()
    queue.states = [None]  # Slurm does not answer: the job may be there
    assert runner(tmp_path).begun(tmp_path / "a")


def test_what_a_cancelled_job_still_writes_is_no_result(queue, tmp_path):
    session = runner(tmp_path, together=True)
    session.begin(placed(tmp_path, "a", "b"))
    write_outcome(tmp_path / "a", DONE)
    session.stop()
    assert queue.cancelled == ["1"]
    write_outcome(tmp_path / "b", DONE)
    again = runner(tmp_path)
    assert not again.discarded(tmp_path / "a"), "it had ended before"
    assert again.discarded(tmp_path / "b")
    assert not again.begun(tmp_path / "b")


def test_stopping_ends_what_waits_in_other_threads(queue, tmp_path):
    session = runner(tmp_path)
    session.begin(placed(tmp_path, "a"))

    def stop(words):
        session.stop()

    with pytest.raises(FathometerError, match="cancelled with the study"):
        session.wait(tmp_path / "a", stop)


def test_states_are_told_once_and_a_silent_slurm_is_waited_for(queue, tmp_path):
    session = runner(tmp_path)
    session.begin(placed(tmp_path, "a"))
    pending = JobState("PENDING", "Priority")
    queue.states = [pending, pending, None, JobState("RUNNING", "None", "n[1-2]"), JobState("COMPLETED")]
    told = []

    def tell(words):
        told.append(words)
        if "running" in words:
            write_outcome(tmp_path / "a", DONE)

    assert session.wait(tmp_path / "a", tell) == DONE
    assert told == [
        "job 1: pending (Priority)",
        "job 1: Slurm does not answer",
        "job 1: running on n[1-2]",
    ]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            JobState("NODE_FAIL", "NodeDown"),
            "node fail (NodeDown)",
        ),
        (JobState("TIMEOUT"), "timeout"),
        (JobState(""), "no longer known to Slurm"),
    ],
)
def test_a_job_without_a_result_is_a_run_that_failed(queue, tmp_path, state, words):
    session = runner(tmp_path)
    session.begin(placed(tmp_path, "a"))
    [path] = (tmp_path / "jobs").glob("*.json")
    path.with_suffix(".out").write_text("x\n")
    queue.states = [state]
    found = session.wait(tmp_path / "a", lambda words: None).problem
    assert found == f"its job 1 ended without a result: {words}; its last words: x"


def test_a_result_that_becomes_visible_after_its_job_has_ended_counts(queue, tmp_path, monkeypatch):
    session, looks = runner(tmp_path), iter([None] * 3)
    session.begin(placed(tmp_path, "a"))
    queue.states = [JobState("COMPLETED")]
    monkeypatch.setattr(batch_runner, "LATE_SECONDS", 5.0)
    monkeypatch.setattr(batch_runner, "outcome_in", lambda folder: next(looks, DONE))
    assert session.wait(tmp_path / "a", lambda words: None) == DONE


def test_slurm_is_not_asked_at_every_look_for_a_result(queue, tmp_path, monkeypatch):
    session, looks = runner(tmp_path), iter([None] * 3)
    session.begin(placed(tmp_path, "a"))
    monkeypatch.setattr(batch_runner, "QUEUE_SECONDS", (60.0, 60.0))
    monkeypatch.setattr(batch_runner, "FILE_SECONDS", (0.01, 0.01))
    monkeypatch.setattr(batch_runner, "outcome_in", lambda folder: next(looks, DONE))
    told = []
    assert session.wait(tmp_path / "a", told.append) == DONE
    assert told == []


@pytest.mark.parametrize("state", [JobState("PENDING", "Resources"), None])
def test_the_deadline(queue, tmp_path, state):
    session = runner(tmp_path, deadline=0.05)
    session.begin(placed(tmp_path, "a"))
    queue.states = [state]
    with pytest.raises(FathometerError, match=r"has not started within 0.05 s \(\[launch\] deadline\)"):
        session.wait(tmp_path / "a", lambda words: None)
    assert queue.cancelled == ["1"]


def test_a_refused_job_leaves_no_trace(queue, tmp_path):
    queue.fails = FathometerError("sbatch: no")
    session = runner(tmp_path)
    with pytest.raises(FathometerError, match=r"sbatch: no; found: --job-name=.* --exclusive; allowed: "):
        session.begin(placed(tmp_path, "a"))
    assert list((tmp_path / "jobs").iterdir()) == []
    assert not session.begun(tmp_path / "a")


def test_all_jobs_of_a_folder_are_cancelled(queue, tmp_path):
    runner(tmp_path).begin(placed(tmp_path, "a"))
    runner(tmp_path).begin(placed(tmp_path, "b"))
    cancel_jobs(tmp_path)
    assert sorted(queue.cancelled) == ["1", "2"]


def test_outcomes_are_read_as_they_were_written(tmp_path):
    assert outcome_in(tmp_path) is None
    write_outcome(tmp_path, DONE)
    assert outcome_in(tmp_path, 1) == DONE
    assert outcome_in(tmp_path, 2) is None
    write_outcome(tmp_path, Outcome((), problem="lost"))
    assert outcome_in(tmp_path, 2).problem == "lost"


def test_cpus_of_an_allocation():
    assert cpus_of_allocation({"SLURM_JOB_CPUS_PER_NODE": "16(x3),8"}) == 8
    assert cpus_of_allocation({"SLURM_JOB_CPUS_PER_NODE": "16(x8)"}) == 16
    assert cpus_of_allocation({}) is None
