"""Ranks that stand still: noticed after the time of patience, not before, and never for holding Python's lock."""

import os
import re
import signal
import socket
import sys
import time
from functools import partial

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
    wait_until,
)


def stand(pids, meanwhile=None):
    """Stop processes, until something has been done meanwhile, or for good."""
    for pid in pids:
        kill(pid, signal.SIGSTOP)
    if meanwhile is not None:
        meanwhile()
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
    stand(ranks[1:], partial(time.sleep, 1.0))
    wait_for_shots(output, shots_told(output) + 2, process)  # it goes on
    stand(ranks[1:])
    ends_for(process, path, 1, 3.0)
    assert list(output.glob(".heartbeats-*")) == []


@pytest.mark.trials
@pytest.mark.parametrize("own", [False, True])
def test_any_rank_that_stands_still_ends_the_run_which_is_resumed(tmp_path, own):
    recorded = record(tmp_path)
    for rank in (0, 1):
        # New results for each: until patience ends, the other rank may do all shots but that of the one that stands.
        output = tmp_path / f"out{rank}"
        path = survey_into(recorded, output, MIGRATE | {"parallel.patience": 2.0})
        process = begun(path, output, own)
        stand([ranks_of(path)[rank]])
        ends_for(process, path, rank, 2.0)
        assert resumed(path).code == 0
        assert same_image(recorded, output)
    again = tmp_path / "again"
    path = survey_into(recorded, again, MIGRATE | {"parallel.patience": 2.0})
    process = begun(path, again, own)
    stand(
        ranks_of(path), partial(time.sleep, 5.0)
    )  # all of them, as a batch system suspends a job: nobody was there to wait
    assert finish(process).code in (0, 75)
    assert resumed(path).code == 0
    assert same_image(recorded, again)


@pytest.mark.trials
def test_a_minute_is_survived(tmp_path):
    recorded, output = record(tmp_path), tmp_path / "out"
    path = survey_into(recorded, output)
    process = begun(path, output, own=False)
    [_, rank] = ranks_of(path)
    stand([rank], partial(time.sleep, 60.0))
    done = finish(process)
    assert done.code == 0
    assert same_image(recorded, output)
    for what in ("has given no sign of life for 30 s", "goes on after"):
        assert f"rank 1 on {socket.gethostname()} (process {rank}) {what}" in done.err


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


SEEN = """
import ctypes, os, sys, time
from pathlib import Path
from mpi4py import MPI
from fathometer.base import ledger
from fathometer.parallel import heartbeat
from fathometer.parallel.collectives import barrier
heartbeat.NOTE_SECONDS, heartbeat.LONGEST_PAUSE = 1.0, 0.1
comm, folder = MPI.COMM_WORLD, Path(sys.argv[1])

def hang():  # as in a file system without an answer: until another process opens the file for writing
    libc, actions, none = ctypes.CDLL(None), ctypes.create_string_buffer(1024), (ctypes.c_char_p * 1)(None)
    libc.posix_spawn_file_actions_init(actions)
    libc.posix_spawn_file_actions_addopen(actions, 0, os.fsencode(folder / "pipe"), os.O_RDONLY, 0)
    libc.posix_spawn(ctypes.byref(ctypes.c_int()), b"/bin/true", actions, None, none, none)

with ledger.Ledger(), heartbeat.watched(folder, 600.0, comm, print), ledger.phase("waves"):
    (folder / f"process-{comm.rank}").write_text(str(os.getpid()))
    if comm.rank == 1:
        hang()
    while not (folder / "end").exists():
        time.sleep(0.05)
    barrier(comm)
"""


def test_ranks_that_stand_still_for_a_while_are_named(tmp_path):
    """One that hangs in a call of the system, and two that follow each other; then they go on, and so does the run."""
    os.mkfifo(tmp_path / "pipe")
    words = ("sh", "-c", 'exec "$@" 2>"$0"', tmp_path / "errors", *mpirun(3), sys.executable, "-c", SEEN, tmp_path)
    process = start(*words)

    def said(*expected):
        return all(text in (tmp_path / "errors").read_text() for text in expected)

    wait_until(lambda: all((tmp_path / f"process-{rank}").exists() for rank in range(3)), process)
    wait_until(lambda: said("call of the system"), process)
    os.close(os.open(tmp_path / "pipe", os.O_WRONLY))
    wait_until(lambda: said("goes on"), process)
    pids = [int((tmp_path / f"process-{rank}").read_text()) for rank in range(3)]
    stand(pids[1:], lambda: wait_until(lambda: said("rank 2"), process))
    wait_until(lambda: (tmp_path / "errors").read_text().count("goes on") >= 3, process)
    (tmp_path / "end").touch()
    assert finish(process).code == 0
    lines = (tmp_path / "errors").read_text().splitlines()
    names = [f"fathometer: note: rank {rank} on {socket.gethostname()} (process {pids[rank]}) " for rank in range(3)]
    waiting = r"for [\d.]+ s, in the phase \"waves\"; the others wait for it"
    expected = [
        f"{re.escape(names[1])}has hung in a call of the system {waiting}",
        *(f"{re.escape(names[rank])}has given no sign of life {waiting}" for rank in (1, 2)),
        *(rf"{re.escape(names[rank])}goes on after [\d.]+ s" for rank in (1, 2)),
    ]
    assert all(any(re.fullmatch(one, line) for line in lines) for one in expected), lines


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
