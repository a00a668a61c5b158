"""A file system without flock: one line with the reason, of each application; and errors that ranks send each other."""

import errno
import fcntl
import os
import pickle
from pathlib import Path

import pytest
from cli_support import MIGRATE, here, inputs, survey
from elastic_surveys import IN_2D, elastic_survey
from input_values import text_of
from mpi4py import MPI
from ocean_inputs import ocean_values
from reactive_flows import values
from time_survey_support import PATCH, record_noise

from fathometer.base.errors import FathometerError
from fathometer.lab.studies import comparison  # noqa: F401 - a class of errors of its own
from fathometer.runs.results_lock import results_lock
from fathometer.runs.sum_file import DamagedSumError  # noqa: F401 - and another
from fathometer.storage.lock import LockError


def toml(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def migration(folder: Path) -> Path:
    inputs(folder)
    return survey(folder, MIGRATE)


def time_migration(folder: Path) -> Path:
    record_noise(folder)
    return survey(folder, PATCH)


COMMANDS = {
    "ocean": lambda folder: toml(folder, "ocean.toml", text_of(ocean_values())),
    "reactive": lambda folder: toml(folder, "flow.toml", text_of(values())),
    "model": lambda folder: elastic_survey(folder, **IN_2D),
    "migrate": migration,
    "migrate-time": time_migration,
}


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_says_so_in_one_line(tmp_path, monkeypatch, command, number):
    if command == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    path = COMMANDS[command](tmp_path)

    def refuse(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    done = here(command, path, "--quiet", "--threads", 1)
    assert done.code == 1
    [line] = done.err.splitlines()
    assert line.startswith("fathometer: error: ")
    assert line.endswith(f"lock: cannot be locked: {os.strerror(number)}; needed: a file system with flock")


def kinds(base: type[FathometerError]) -> list[type[FathometerError]]:
    return [base, *(one for child in base.__subclasses__() for one in kinds(child))]


@pytest.mark.parametrize("kind", kinds(FathometerError), ids=lambda kind: kind.__name__)
def test_errors_reach_other_ranks_as_they_are(kind):
    error = LockError(Path("out/lock"), "no locks") if kind is LockError else kind("out/lock: a reason")
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent), vars(sent)) == (type(error), str(error), vars(error))


def test_a_lock_that_was_refused_leaves_no_file(tmp_path, monkeypatch):
    def refuse(file, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    for before in ([], ["lock"]):
        if before:
            (tmp_path / "lock").write_text("process 7 on a host")
        with pytest.raises(LockError), results_lock(tmp_path, MPI.COMM_SELF):
            pytest.fail("the run begins")
        assert [path.name for path in tmp_path.iterdir()] == before
