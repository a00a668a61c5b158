"""`fathometer model` of acoustic waves goes on where it was interrupted, to the same bytes."""

import signal
import time

import numpy as np
import pytest
from cli_support import MODEL, finish, here, inputs, program, start, survey

from fathometer.runs.journal import FOLDER, read_journal

SHOTS = 5
LONG = {"acquisition.sources": {"x": [100.0, 300.0, 50.0], "z": 30.0}, "propagation.dt": 8e-6}


def long_survey(folder):
    """Shots of a second or so."""
    inputs(folder)
    return survey(folder, MODEL | LONG)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The traces of a run that nobody interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    assert here("model", long_survey(folder), "--quiet").code == 0
    assert not (folder / "out" / FOLDER).exists()
    return (folder / "out" / "shots.segy").read_bytes()


def interrupted(folder, number):
    """Start a run and end it when a shot is finished and another goes on; its survey."""
    path, journal = long_survey(folder), folder / "out" / FOLDER
    process = start(*program(), "model", path, "--quiet", "--threads", 1)
    while process.poll() is None and not read_journal(journal).done:
        time.sleep(0.01)
    process.send_signal(number)
    done = finish(process)
    if number != signal.SIGKILL:
        assert done.code == 75
        assert done.err == "fathometer: interrupted; --resume goes on with the shots that are not done\n"
    assert 0 < len(read_journal(journal).done) < SHOTS
    assert not (folder / "out" / "shots.segy").exists()
    return path


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_was_ended_goes_on_to_the_same_bytes(tmp_path, whole, number):
    path = interrupted(tmp_path, number)
    refused = here("model", path, "--quiet")
    assert refused.code == 2
    assert " shots done); --resume goes on with it, --overwrite begins anew" in refused.err
    resumed = here("model", path, "--resume")
    assert resumed.code == 0
    assert f"of {SHOTS} shots are done" in resumed.err
    assert (tmp_path / "out" / "shots.segy").read_bytes() == whole
    assert not (tmp_path / "out" / FOLDER).exists()


def test_what_was_kept_is_looked_at(tmp_path, whole):
    """A damaged shot is computed again; a changed model is not gone on with; a migration keeps away."""
    path = interrupted(tmp_path, signal.SIGKILL)
    kept = tmp_path / "out" / FOLDER / "000000-traces.npy"
    kept.write_bytes(kept.read_bytes()[:-4] + b"\0\0\0?")
    vp = np.load(tmp_path / "vp.npy")
    np.save(tmp_path / "vp.npy", vp + 1)
    other = here("model", path, "--quiet", "--resume")
    assert other.code == 2
    assert "holds the journal of another modelling: inputs.vp.npy" in other.err
    np.save(tmp_path / "vp.npy", vp)
    keys = {key: value for key, value in MODEL.items() if not key.startswith("acquisition")}
    migration = survey(tmp_path, keys | {"acquisition.gathers": "recorded.segy"}, "migrate.toml")
    for options in ((), ("--resume",)):
        done = here("migrate", migration, "--quiet", *options)
        assert done.code == 2
        assert "holds an unfinished modelling; allowed: another [output] directory" in done.err
    resumed = here("model", path, "--resume")
    assert resumed.code == 0
    assert "note: results of finished shots are damaged or missing; computed again: 1\n" in resumed.err
    assert (tmp_path / "out" / "shots.segy").read_bytes() == whole
