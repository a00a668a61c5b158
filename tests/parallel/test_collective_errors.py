"""What the system refuses, without anybody having named it: one line on all ranks."""

import errno
import os

import pytest
from cli_support import under_mpirun
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.runs.journal import Journal


def test_a_system_error_becomes_one_line():
    with pytest.raises(FathometerError, match=r"^out/journal: Input/output error$"), collective_errors(MPI.COMM_SELF):
        raise OSError(errno.EIO, os.strerror(errno.EIO), "out/journal")
    full = pytest.raises(FathometerError, match=r"^input or output: No space left on device$")
    with full, collective_errors(MPI.COMM_SELF):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_has_a_name_keeps_it():
    with pytest.raises(InputError, match=r"^vp\.npy: no such file$"), collective_errors(MPI.COMM_SELF):
        raise InputError("vp.npy: no such file")


def test_a_folder_that_cannot_be_listed_ends_no_display(tmp_path, monkeypatch):
    """The number of tasks begun is for the display of progress: no reason to lose a run."""

    def refuse(path):
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    (tmp_path / "000000.claim").touch()
    (tmp_path / "000001.claim").touch()
    journal = Journal(tmp_path)
    assert journal.begun() == 2
    monkeypatch.setattr(os, "scandir", refuse)
    assert journal.begun() == 1


INTERRUPTED = """
import os, signal, sys, time
from mpi4py import MPI
from fathometer.base.signals import interruptible
from fathometer.parallel import collectives

comm = MPI.COMM_WORLD
collectives.SPREAD_SECONDS = 10.0  # a busy machine
signal.alarm(30)
comm.Barrier()
with interruptible():
    try:
        if comm.rank:
            def wait(seconds):
                collectives.sleep = time.sleep
                os.kill(os.getpid(), signal.SIGINT)

            collectives.sleep = wait
        else:
            time.sleep(0.05)  # its signal comes later
        with collectives.synchronised(comm):
            comm.allgather(None)  # would wait for a rank that has left
            print(f"{comm.rank} met\\n", end="", flush=True)
        if comm.rank == 0:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        print(f"{comm.rank} goes on\\n", end="", flush=True)
    except KeyboardInterrupt:
        print(f"{comm.rank} interrupted\\n", end="", flush=True)
"""


def test_a_rank_that_is_interrupted_while_it_waits_leaves_no_other_in_a_call_of_mpi():
    """The signal reaches the last rank, which clears up, a little later: when it is in the call."""
    done = under_mpirun(2, "-c", INTERRUPTED)
    assert sorted(done.stdout.splitlines()) == ["0 interrupted", "0 met", "1 interrupted", "1 met"]
