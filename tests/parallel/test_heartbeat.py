"""Ranks that stand still: noticed after the time of patience, not before, and never for holding Python's lock."""

import signal
import socket
import sys
import time

import pytest
from cli_support import MIGRATE, finish, mpirun, program, start
from kill_support import (
    SLOW,
    gone,
    kill,
    ranks_of,
    record,
    resumed,
    same_image,
    shots_into,
    shots_told,
    survey_into,
    wait_for_shots,
)


def stand(pids, seconds=None):
    """Stop processes, for some seconds or for good."""
    for pid in pids:
        kill(pid, signal.SIGSTOP)
    if seconds is not None:
        time.sleep(seconds)
        for pid in pids:
            kill(pid, signal.SIGCONT)


def begun(path, output, own):
    """A migration on two ranks in the midst of its shots; own: under a user's own mpirun."""
    words = (*mpirun(2), *program()) if own else program()
    after = () if own else ("--ranks", 2)
    process = start(*words, "migrate", path, "--quiet", "--resume", "--threads", 1, *after, environment=SLOW)
    wait_for_shots(output, shots_told(output) + 1, process)
    return process


def ends_for(process, path, rank, patience):
    """The run ends since a rank stands still, and says so."""
    done = finish(process)
    assert done.code == 75, done.err
    said = [line for line in done.err.splitlines() if line.startswith("fathometer: error:")]
    begin = (
        f"fathometer: error: rank {rank} on {socket.gethostname()} has stood still for {patience:g} s, the [parallel]"
    )
    assert [line.startswith(begin) for line in said] == [True], done.err
    assert 'in the phase "' in said[0]
    assert gone(path)


def test_a_rank_that_stands_still_ends_the_run_after_the_time_of_patience(tmp_path):
    output = tmp_path / "out"
    path = survey_into(shots_into(tmp_path), output, MIGRATE | {"parallel.patience": 3.0})
    process = begun(path, output, own=True)
    ranks = ranks_of(path)
    stand(ranks[1:], 1.0)
    wait_for_shots(output, shots_told(output) + 2, process)  # it goes on
    stand(ranks[1:])
    ends_for(process, path, 1, 3.0)
    assert list(output.glob(".heartbeats-*")) == []


@pytest.mark.trials
@pytest.mark.parametrize("own", [False, True])
def test_any_rank_that_stands_still_ends_the_run_which_is_resumed(tmp_path, own):
    recorded, output = record(tmp_path), tmp_path / "out"
    path = survey_into(recorded, output, MIGRATE | {"parallel.patience": 2.0})
    for rank in (0, 1):
        process = begun(path, output, own)
        stand([ranks_of(path)[rank]])
        ends_for(process, path, rank, 2.0)
    assert resumed(path).code == 0
    assert same_image(recorded, output)
    again = tmp_path / "again"
    path = survey_into(recorded, again, MIGRATE | {"parallel.patience": 2.0})
    process = begun(path, again, own)
    stand(ranks_of(path), 5.0)  # all of them, as a batch system suspends a job: nobody was there to wait
    assert finish(process).code in (0, 75)
    assert resumed(path).code == 0
    assert same_image(recorded, again)


@pytest.mark.trials
def test_half_a_minute_is_survived(tmp_path):
    recorded, output = record(tmp_path), tmp_path / "out"
    path = survey_into(recorded, output)
    process = begun(path, output, own=False)
    stand(ranks_of(path)[1:], 30.0)
    assert finish(process).code == 0
    assert same_image(recorded, output)


HOLDING = """
import ctypes, sys
from pathlib import Path
from mpi4py import MPI
from fathometer.parallel.collectives import barrier
from fathometer.parallel.heartbeat import watched
comm = MPI.COMM_WORLD
with watched(Path(sys.argv[1]), 1.0, comm, print):
    if comm.rank == 1:
        ctypes.PyDLL(None).sleep(2)  # as a long call that holds Python's lock
    barrier(comm)
Path(sys.argv[1], f"{comm.rank}.ended").touch()
"""


def test_a_rank_in_a_long_call_is_alive(tmp_path):
    done = finish(start(*mpirun(2), sys.executable, "-c", HOLDING, tmp_path))
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.ended", "1.ended"]


IGNORING = """
import os, signal, sys
from pathlib import Path
from mpi4py import MPI
from fathometer.parallel import heartbeat
from fathometer.parallel.collectives import barrier
heartbeat.GRACE_SECONDS = 0.1
signal.signal(signal.SIGTERM, signal.SIG_IGN)
comm = MPI.COMM_WORLD
with heartbeat.watched(Path(sys.argv[1]), 1.0, comm, print):
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    barrier(comm)
"""


def test_a_run_that_ignores_sigterm_ends_too(tmp_path):
    """As one whose parent ignored it: the rank that noticed once waited for ever."""
    done = finish(start(*mpirun(2), sys.executable, "-c", IGNORING, tmp_path))
    assert done.code == 75, done.err
    assert "rank 1 on " in done.err
