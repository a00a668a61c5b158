"""Runs that share the shots of a migration: locks, claims of runs that die, one image."""

import json
import os
import signal
import subprocess
import sys

import pytest
from cli_support import finish, run
from kill_support import migration, record, runs_told, same_image, survey_into, wait_for_shots, wait_until
from mpi4py import MPI
from test_partial import NAMES, SHAPE, contributions

from fathometer.base.errors import InputError
from fathometer.runs import folder_lock
from fathometer.runs.claims import Claims
from fathometer.runs.folder_lock import FolderLock, SharedFolderLock
from fathometer.runs.journal import Contribution, Journal
from fathometer.runs.journal_folder import open_journal
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.run_input import RunInput
from fathometer.runs.summation import Terms, fold
from fathometer.storage.lock import FileLock


@pytest.fixture(autouse=True)
def short_wait(monkeypatch):
    monkeypatch.setattr(folder_lock, "NAME_SECONDS", 0.2)


def test_runs_of_one_name_share_the_lock_and_keep_others_out(tmp_path):
    folder = tmp_path / "journal"
    first = SharedFolderLock(folder, "array 7")
    assert first.alone
    for other in (lambda: SharedFolderLock(folder, "array 8"), lambda: FolderLock(folder)):
        with pytest.raises(InputError, match=r"in use by another run \(shared as array 7 by process"):
            other()
    first.share()
    second = SharedFolderLock(folder, "array 7")
    assert not second.alone
    with pytest.raises(InputError, match="in use by another run"):
        FolderLock(folder)
    assert not first.last()
    assert second.last()
    first.close()
    with pytest.raises(InputError, match="in use by another run"):
        FolderLock(folder)
    second.close()
    assert not folder.exists()  # it held nothing
    FolderLock(folder).close()


def test_a_lock_whose_folder_is_removed_while_another_run_waits_is_taken_anew(tmp_path, monkeypatch):
    """The holder ends between the look at its name and the shared lock: the other run then has a lock of its own."""
    folder = tmp_path / "journal"
    first = SharedFolderLock(folder, "array 7")
    read = FileLock.read

    def ended(lock):
        text = read(lock)
        if text.startswith("shared as array 7") and first.alone:
            first.close()
            first.alone = False
        return text

    monkeypatch.setattr(FileLock, "read", ended)
    second = SharedFolderLock(folder, "array 7")
    assert second.alone
    assert read(second._lock).startswith("shared as array 7 by process ")
    second.close()


def test_a_run_that_does_not_share_keeps_out_those_that_do(tmp_path):
    lock = FolderLock(tmp_path / "journal")
    with pytest.raises(InputError, match=rf"in use by another run \(process {os.getpid()} on "):
        SharedFolderLock(tmp_path / "journal", "array 7")
    lock.close()


HOLDER = """
import sys, time
from pathlib import Path
from fathometer.runs.claims import Claims
claims = Claims(Path(sys.argv[1]))
assert claims.take(0) and claims.take(1) and not claims.take(1)
claims.settle(0)
print("taken", flush=True)
time.sleep(60)
"""


def test_shots_of_a_run_that_dies_are_free_again(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "taken\n"
    claims = Claims(tmp_path)
    assert [claims.take(shot) for shot in (0, 1, 2)] == [False, False, True]
    process.kill()
    process.wait()
    process.stdout.close()
    assert [claims.take(shot) for shot in (0, 1)] == [False, True]  # the first is settled
    claims.settle(1)
    claims.settle(2)


def test_what_others_have_done_is_theirs_to_add_up(tmp_path):
    """A run that begins beside others takes none of their contributions; the last one, alone, takes all."""
    journal, _ = contributions(tmp_path, 10)
    options = RunOptions(resume=True, share="x")
    assert len(open_journal(tmp_path, RunInput({}), "other", options, RunKind()).loose) == 10
    beside = open_journal(tmp_path, RunInput({}), "other", options, RunKind(), alone=False)
    assert (len(beside.done), beside.loose, beside.sums) == (10, [], [])
    fold(Terms(journal, (), tuple(journal.done.values())), NAMES, SHAPE, journal.folder / "a.sum", MPI.COMM_SELF)
    beside = open_journal(tmp_path, RunInput({}), "other", options, RunKind(), alone=False)
    assert (len(beside.done), beside.loose, beside.sums) == (10, [], [])


def test_runs_share_the_shots_and_the_last_one_makes_the_image(tmp_path):
    """One of three is killed in the middle of a shot, and one begins when the others have added up some of theirs."""
    shots = 120
    recorded, output = record(tmp_path, shots), tmp_path / "out"
    path = survey_into(recorded, output)
    runs = [migration(path, "--share", "three") for _ in range(2)]
    wait_for_shots(output, 12, runs[0])
    runs.append(migration(path, "--share", "three", "--json"))
    wait_until(lambda: runs_told(output) == 3, runs[0])
    assert runs[0].poll() is None
    runs[0].send_signal(signal.SIGKILL)
    done = [finish(process) for process in runs]
    assert [result.code for result in done] == [-signal.SIGKILL, 0, 0], [result.err for result in done]
    assert same_image(recorded, output)
    results = json.loads((output / "run.json").read_text())["results"]
    assert len(results["migrated_shots"]) + results["earlier_shots"] == shots
    assert {path.name for path in (output / "journal").iterdir() if path.suffix != ".jsonl"} == {
        "finished",
        "lock",
        "survey.json",
    }


def test_sharing_resumes(tmp_path, capsys):
    done = run(capsys, "migrate", tmp_path / "survey.toml", "--share", "x", "--overwrite")
    assert done.code == 2
    assert "--overwrite: found together with --share; allowed: one of them" in done.err


def test_tasks_that_are_finished_or_set_aside_are_settled(tmp_path, monkeypatch):
    """Else the shots of a run that dies would be taken again, though they are in its journal."""
    settled = []
    monkeypatch.setattr(Claims, "settle", lambda self, task: settled.append(task))
    journal = Journal(tmp_path, run="run", claims=Claims(tmp_path))
    journal.finish_task(0, Contribution(3, (0, 0, 0), (0, 0, 0), {}, 1.0, 1))
    journal.set_aside(0, 5, "broken")
    assert settled == [3, 5]
