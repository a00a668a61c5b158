"""`fathometer model` of acoustic waves goes on where it was interrupted, to the same bytes."""

import signal
import time

import numpy as np
import pytest
from cli_support import INTERVAL, MODEL, NX, RECEIVERS, SAMPLES, finish, here, inputs, program, start, survey

from fathometer.base.errors import FathometerError
from fathometer.runs.context import Outcome
from fathometer.runs.journal import FOLDER, read_journal
from fathometer.seismic import demo
from fathometer.seismic.modelling import driver, trace_files
from fathometer.seismic.modelling.modelling import TRACES
from fathometer.seismic.setup.cone import Saved
from fathometer.storage.traces.segy import GatherWriter

SHOTS = 9
LONG = {"acquisition.sources": {"x": [100.0, 340.0, 30.0], "z": 30.0}, "propagation.dt": 1e-4}


def long_survey(folder):
    """Shots of half a second or so."""
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
    assert "nothing to resume: begins anew" in here("model", path, "--resume").err


def test_what_was_kept_is_looked_at(tmp_path, whole):
    """A damaged shot is computed again; a changed model is not gone on with; a migration keeps away."""
    path = interrupted(tmp_path, signal.SIGKILL)
    kept = tmp_path / "out" / FOLDER / "000000-traces.npy"
    kept.write_bytes(kept.read_bytes()[:-4] + b"\0\0\0?")
    vp = np.load(tmp_path / "vp.npy")
    np.save(tmp_path / "vp.npy", vp + 1)
    other = here("model", path, "--quiet", "--resume")
    assert other.code == 2
    assert "holds the journal of another modelling: model.vp.vp.npy" in other.err
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


@pytest.fixture
def modelled(monkeypatch):
    """Shots take no time: numbers of those that are modelled; `then` is called with each number before it is."""
    numbers, actions = [], {}

    def model(self, wavefield, shot, progress):
        actions.get("then", lambda number: None)(shot.index)
        numbers.append(shot.index)
        self._saved[shot.index] = Saved()
        return {TRACES: np.full((1, len(shot.receivers), self.run.acquisition.samples), shot.index, np.float32)}

    monkeypatch.setattr(driver.AcousticModelling, "model", model)
    return numbers, actions


def recorded(folder):
    """A survey of gathers in two files, a shot in each."""
    inputs(folder)
    for number, name in enumerate(("a.segy", "b.segy")):
        with GatherWriter(folder / name, SAMPLES, INTERVAL, NX) as writer:
            writer.write(0, number, (100.0 + 50 * number, 0.0, 30.0), RECEIVERS, np.ones((NX, SAMPLES)))
    keys = {key: value for key, value in MODEL.items() if not key.startswith(("acquisition", "propagation.duration"))}
    return survey(folder, keys | {"acquisition.gathers": "[ab].segy"})


def test_gathers_that_change_meanwhile_are_told(tmp_path, modelled):
    path, (_, actions) = recorded(tmp_path), modelled
    raw = (tmp_path / "a.segy").read_bytes()

    def replace(number):
        if number == 1:
            (tmp_path / "new").write_bytes(raw[:3600] + raw[3600:][::-1])
            (tmp_path / "new").replace(tmp_path / "a.segy")

    actions["then"] = replace
    done = here("model", path, "--quiet")
    assert done.code == 1
    assert "a.segy: has changed while it was read" in done.err
    assert not (tmp_path / "out" / "shots").exists()


def test_what_cannot_be_written_is_told_before_the_first_shot(tmp_path, modelled):
    path, (numbers, _) = recorded(tmp_path), modelled
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "shots").write_text("mine")
    done = here("model", path, "--quiet")
    assert done.code != 0
    assert f"{tmp_path / 'out' / 'shots'}" in done.err
    assert numbers == []
    assert (tmp_path / "out" / "shots").read_text() == "mine"


def test_a_record_stays_until_its_traces_are_replaced(tmp_path, modelled, monkeypatch):
    path = long_survey(tmp_path)
    assert here("model", path, "--quiet").code == 0
    kept = {name: (tmp_path / "out" / name).read_bytes() for name in ("shots.segy", "run.json", "report.html")}

    def refuse(*_):
        raise FathometerError("no")

    monkeypatch.setattr(trace_files.TraceFiles, "write", refuse)
    assert here("model", path, "--quiet").code == 1
    assert {name: (tmp_path / "out" / name).read_bytes() for name in kept} == kept
    monkeypatch.undo()
    assert sorted(read_journal(tmp_path / "out" / FOLDER).done) == list(range(SHOTS))


def test_an_interrupted_demo_is_run_again(tmp_path, modelled, monkeypatch):
    numbers, actions = modelled

    def interrupt(number):
        if number == 2:
            raise KeyboardInterrupt

    actions["then"] = interrupt
    assert here("demo", "--quick", "--output", tmp_path, "--quiet").code == 130
    assert read_journal(tmp_path / "shots" / FOLDER).done
    del actions["then"], numbers[:]
    monkeypatch.setattr(demo, "run_migrate", lambda *_: Outcome({}, {}))
    assert here("demo", "--quick", "--output", tmp_path, "--quiet").code == 0
    assert numbers == list(range(6))


def test_a_journal_that_cannot_be_read_is_no_migration(tmp_path, modelled):
    path, (_, actions) = long_survey(tmp_path), modelled

    def interrupt(number):
        if number == 2:
            raise KeyboardInterrupt

    actions["then"] = interrupt
    assert here("model", path, "--quiet").code == 75
    del actions["then"]
    file = tmp_path / "out" / FOLDER / "survey.json"
    file.write_text(file.read_text().replace('"modelling"', '"Modelling"'))
    for options in ((), ("--resume",)):
        done = here("model", path, "--quiet", *options)
        assert done.code == 1
        assert f"{file}: is damaged: its checksum is wrong; --overwrite begins anew" in done.err
    assert here("model", path, "--quiet", "--overwrite").code == 0
