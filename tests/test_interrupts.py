"""How a migration ends that is told to, by whatever started it; exit codes; nothing is lost."""

import os
import signal
import subprocess
import sys
import time

import pytest
from cli_support import finish, run
from kill_support import gone, kill, migration, ranks_of, record, resumed, same_image, survey_into, wait_for_shots

LONGEST_SECONDS = 10


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("interrupts"))


def told_to_end(recorded, output, number, words=(), launcher=0, group=False):
    """A migration that is told to end; what it left, after how many seconds."""
    path = survey_into(recorded, output)
    process = migration(path, *words, launcher=launcher)
    wait_for_shots(output, 3, process)
    began = time.monotonic()
    (os.killpg if group else os.kill)(process.pid, number)
    done = finish(process)
    assert gone(path)
    return path, done, time.monotonic() - began


@pytest.mark.parametrize(
    ("words", "launcher", "number", "group"),
    [
        ((), 0, signal.SIGTERM, False),
        ((), 0, signal.SIGINT, True),
        (("--ranks", 2), 0, signal.SIGTERM, False),
        (("--ranks", 2), 0, signal.SIGINT, True),
        ((), 2, signal.SIGUSR1, False),
    ],
)
def test_a_migration_that_is_told_to_end_says_that_it_can_be_resumed(
    recorded, tmp_path, words, launcher, number, group
):
    path, done, seconds = told_to_end(recorded, tmp_path / "out", number, words, launcher, group)
    assert done.code == 75, done.err
    assert seconds < LONGEST_SECONDS
    told = [line for line in done.err.splitlines() if "fathometer" in line]
    assert told == ["fathometer: interrupted; --resume goes on with the shots that are not done"]
    assert "Traceback" not in done.err
    assert resumed(path).code == 0
    assert same_image(recorded, tmp_path / "out")


def test_mpirun_alone_ends_its_ranks_and_returns_a_code_of_its_own(recorded, tmp_path):
    """Open MPI 4 returns 1 then, whatever its ranks return; the journal is as good as ever."""
    path, done, seconds = told_to_end(recorded, tmp_path / "out", signal.SIGTERM, launcher=2)
    assert done.code != 0
    assert seconds < LONGEST_SECONDS
    assert resumed(path).code == 0
    assert same_image(recorded, tmp_path / "out")


def test_ranks_end_with_the_process_that_started_them(recorded, tmp_path):
    path, done, _ = told_to_end(recorded, tmp_path / "out", signal.SIGKILL, ("--ranks", 2))
    assert done.code == -signal.SIGKILL
    assert resumed(path).code == 0
    assert same_image(recorded, tmp_path / "out")


@pytest.mark.parametrize(("restarts", "code"), [(0, 137), (1, 0)])
def test_ranks_are_started_again_after_one_was_killed(recorded, tmp_path, restarts, code):
    path = survey_into(recorded, tmp_path / "out")
    process = migration(path, "--ranks", 2, *(("--restarts", restarts) if restarts else ()))
    wait_for_shots(tmp_path / "out", 3, process)
    kill(ranks_of(path)[-1])
    done = finish(process)
    assert done.code == code, done.err
    told = "fathometer: the ranks were killed (exit code 137); restart 1 of 1"
    assert (told in done.err) == (restarts > 0)
    if code:
        assert resumed(path).code == 0
    assert same_image(recorded, tmp_path / "out")


def test_restarts_are_of_ranks_that_the_program_starts(recorded, tmp_path, capsys):
    done = run(capsys, "migrate", survey_into(recorded, tmp_path / "out"), "--restarts", 2)
    assert done.code == 2
    assert "--restarts 2: found without --ranks" in done.err


STUCK = """
import os, signal, sys, threading, time
from fathometer.interrupt import interruptible, prompt
with interruptible(), prompt(lambda: os._exit(75), 0.5):
    print("ready", flush=True)
    lock = threading.Lock()
    lock.acquire()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [])
    while True:
        try:
            lock.acquire()
        except KeyboardInterrupt:  # as if it had never come: a kernel, or MPI
            pass
"""


def test_a_process_that_does_not_come_back_is_ended():
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 75
    process.stdout.close()
