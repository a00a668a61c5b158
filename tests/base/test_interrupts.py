"""Termination of a migration by signals, under any launcher: exit codes, and nothing is lost."""

import os
import signal
import subprocess
import sys
import time

from cli_support import MIGRATE, finish, inputs, mpirun, run, start, survey
from kill_support import gone, kill, migration, ranks_of, record, same_image, shots_told, survey_into, wait_for_shots
from patience import PATIENCE

from fathometer.base.signals import between_steps, interruptible

RESUMABLE = ["fathometer: interrupted; --resume goes on with the shots that are not done"]

# How it is started, what it is sent (a group: as a terminal does, to all that it started), its exit code and words.
ENDS = [
    ((), 0, signal.SIGTERM, False, 75, RESUMABLE),
    (("--ranks", 2), 0, signal.SIGTERM, False, 75, RESUMABLE),
    (("--ranks", 2), 0, signal.SIGINT, True, 75, RESUMABLE),
    (("--ranks", 2), 0, signal.SIGKILL, False, -signal.SIGKILL, None),
    ((), 2, signal.SIGUSR1, False, 75, RESUMABLE),
]


def test_a_migration_ends_on_a_signal_and_is_resumed_later(tmp_path):
    """One survey through all signals in turn; at the end a rank is killed, and all are restarted."""
    recorded, output = record(tmp_path, 60), tmp_path / "out"
    path = survey_into(recorded, output)
    for words, launcher, number, group, code, message in ENDS:
        process = migration(path, *words, launcher=launcher)
        wait_for_shots(output, shots_told(output) + 1, process)
        (os.killpg if group else os.kill)(process.pid, number)
        done = finish(process)
        case = f"{words}, {launcher} ranks by mpirun, signal {number}: {done.err}"
        assert done.code == code, case
        assert (
            message is None or [line for line in done.err.splitlines() if line.startswith("fathometer:")] == message
        ), case
        assert "Traceback" not in done.err, case
        assert gone(path), case
    process = migration(path, "--ranks", 2, "--restarts", 1)
    wait_for_shots(output, shots_told(output) + 1, process)
    kill(ranks_of(path)[-1])
    done = finish(process)
    assert done.code == 0, done.err
    assert "the ranks were killed (exit code 137); restart 1 of 1" in done.err
    assert same_image(recorded, output)


def test_restarts_are_of_ranks_that_the_program_starts(tmp_path, capsys):
    done = run(capsys, "migrate", tmp_path / "survey.toml", "--restarts", 2)
    assert done.code == 2
    assert "--restarts 2: found without --ranks" in done.err


STUCK = """
import os, threading
from fathometer.base.signals import interruptible, watchdog
lock = threading.Lock()
lock.acquire()
with interruptible(), watchdog(lambda: os._exit(75), 0.5):
    try:
        print("ready", flush=True)
        lock.acquire()
    except KeyboardInterrupt:  # as if it had never come: a kernel, or MPI
        lock.acquire()
"""


def test_a_process_that_does_not_come_back_is_ended():
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 75
    process.stdout.close()


IN_STEPS = STUCK.replace("0.5):", "0.5), between_steps(SECONDS):").replace(
    "import inter", "import between_steps, inter"
)


def test_a_run_in_steps_has_longer_until_a_second_signal_comes():
    for seconds, signals in ((60.0, 2), (0.3, 1)):
        program = IN_STEPS.replace("SECONDS", str(seconds))
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        if signals == 2:
            time.sleep(1.2)
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 75
        process.stdout.close()


def in_steps(*numbers):
    """What a block between steps sees while this process gets these signals."""
    seen = []
    try:
        with interruptible(), between_steps(60.0) as asked:
            for number in numbers:
                seen.append(asked())
                os.kill(os.getpid(), number)
            seen.append(asked())
    except KeyboardInterrupt:
        seen.append("ended")
    return seen


def test_a_signal_between_steps_is_noted_and_a_second_one_ends_them():
    assert in_steps() == [False]
    for first in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        assert in_steps(first) == [False, True, "ended"]
        assert in_steps(first, signal.SIGUSR1) == [False, True, True, "ended"]  # launchers repeat it
        assert in_steps(first, signal.SIGTERM) == [False, True, "ended"]


STUCK_RANK = """
import sys, time
from functools import partial
from mpi4py import MPI
from fathometer.cli import main
from fathometer.seismic.rtm import worker
def migrate(self, *words):
    if MPI.COMM_WORLD.rank == 0:
        print("stuck", flush=True)
        MPI.COMM_SELF.Recv(bytearray(1), 0, 99)
    time.sleep(100)
worker.Worker.migrate = migrate
main.watchdog = partial(main.watchdog, seconds=4.0)
sys.exit(main.main(sys.argv[1:]))
"""


def test_the_others_wait_for_what_the_first_rank_has_to_say(tmp_path):
    """Rank 0 is inside an MPI call when both receive the signal, and rank 1 is not."""
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE | {"parallel.ranks_per_shot": "all"})
    process = start(*mpirun(2), sys.executable, "-c", STUCK_RANK, "migrate", path, "--quiet")
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGUSR1)
    done = finish(process)
    assert done.code == 75, done.err
    assert [line for line in done.err.splitlines() if line.startswith("fathometer:")] == RESUMABLE


LEAVING = """
import os, signal, sys
from pathlib import Path
from mpi4py import MPI
from fathometer.base.signals import interruptible
from fathometer.parallel.collectives import allgather, barrier

class Signal:
    def __reduce__(self):  # while the value is sent to the other rank
        os.kill(os.getpid(), signal.SIGTERM)
        return (int, ())

comm = MPI.COMM_WORLD
with interruptible():
    try:
        outcome = str(allgather(comm, Signal() if comm.rank else 7))
    except KeyboardInterrupt:
        outcome = "left"
    Path(sys.argv[1], str(comm.rank)).write_text(outcome)  # what ranks print, mpirun may mix
    barrier(comm)
"""


def test_no_rank_leaves_another_alone_in_mpi(tmp_path):
    done = finish(start(*mpirun(2), sys.executable, "-c", LEAVING, tmp_path))
    assert done.code == 0, done.err
    assert [(tmp_path / rank).read_text() for rank in "01"] == ["[7, 0]", "left"]


def test_what_a_library_makes_of_an_interrupt_is_an_interrupt(capsys, monkeypatch):
    """Code that is not Python turns KeyboardInterrupt into an error of its own."""

    def describe(*_, **__):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(PATIENCE)
        except KeyboardInterrupt:
            raise ValueError("a schema that cannot be built") from None

    monkeypatch.setattr("fathometer.storage.describe.describe", describe)
    done = run(capsys, "info", "nothing.rsf")
    assert (done.code, done.err) == (130, "fathometer: interrupted\n")
