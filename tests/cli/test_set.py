"""--set: keys of the survey file for one run."""

import json

import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey
from machine_support import MACHINE

from fathometer.plan.machine_file import save_machine


@pytest.fixture
def folder(tmp_path):
    inputs(tmp_path)
    return tmp_path


def test_a_run_is_that_of_a_file_with_these_keys_and_its_record_says_so(folder, capsys):
    path = survey(folder, MODEL)
    words = ("--set", "output.directory=other", "--set", "propagation.order=4", "--set", "wavelet.peak_frequency=12.5")
    assert run(capsys, "model", path, "--quiet", *words).code == 0
    assert not (folder / "out").exists()
    record = json.loads((folder / "other" / "run.json").read_text())
    assert record["input"]["propagation"]["order"] == 4
    assert record["input"]["wavelet"]["peak_frequency"] == 12.5
    changes = {"output.directory": "same", "propagation.order": 4, "wavelet.peak_frequency": 12.5}
    assert run(capsys, "model", survey(folder, MODEL | changes, "same.toml"), "--quiet").code == 0
    assert (folder / "other" / "shots.segy").read_bytes() == (folder / "same" / "shots.segy").read_bytes()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("history.stor=disk", "[history] stor: unknown key; did you mean store?"),
        ("propagation.order=3", "[propagation] order: found 3; allowed: an even integer from 2 to 16"),
        ("propagation.order=four", '[propagation] order: found "four"; allowed: an even integer from 2 to 16'),
        ("order", "--set: found order; allowed: KEY=VALUE, such as history.store=disk"),
    ],
)
@pytest.mark.parametrize("command", ["model", "plan"])
def test_a_wrong_setting_is_the_line_of_a_wrong_file(folder, capsys, command, setting, told):
    done = run(capsys, command, survey(folder, MODEL), "--set", setting)
    assert done.code == 2
    assert told in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_plan_is_for_the_keys_that_are_set(folder, capsys):
    machine = folder / "machine.json"
    save_machine(machine, MACHINE)
    words = ("plan", survey(folder, MODEL), "--on", machine, "--json", "-")
    plain = json.loads(run(capsys, *words).out)
    longer = json.loads(run(capsys, *words, "--set", "propagation.duration=0.4").out)
    assert longer["steps"] > 1.5 * plain["steps"]


def test_resume_refuses_other_settings_and_takes_those_that_change_no_image(folder, capsys):
    path = survey(folder, MIGRATE)
    assert run(capsys, "migrate", path, "--quiet").code == 0
    done = run(capsys, "migrate", path, "--quiet", "--resume", "--set", "propagation.order=4")
    assert done.code == 2
    assert "order" in done.err
    assert run(capsys, "migrate", path, "--quiet", "--resume", "--set", "history.store=disk").code == 0
