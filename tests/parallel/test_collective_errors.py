"""What the system refuses, without anybody having named it: one line on all ranks."""

import errno
import os

import pytest
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
