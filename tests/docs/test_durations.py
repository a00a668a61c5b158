"""Durations beside README.md's commands are found, measured and put in place; the demo's closing words run."""

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_support import clean_environment, here
from paths import ROOT
from patience import PATIENCE

from fathometer.cli.parser import parser
from fathometer.seismic import demo

sys.path.insert(0, str(ROOT / "tools"))

import durations


def test_commands_with_a_duration_are_commands_of_the_program():
    found = list(durations.commands(durations.README.read_text()))
    assert len(found) > 12
    for one in found:
        program, *words = shlex.split(one.command)
        assert program == "fathometer"
        parser().parse_args(words)
        assert one.said >= 1
    assert "measured by `tools/durations.py`" in durations.README.read_text()


def test_a_duration_is_put_beside_its_command():
    page = "```sh\nenv/bin/fathometer demo   # a first image, 3 s\nfathometer info a   # 2 s\n```\n"
    assert [(one.command, one.said) for one in durations.commands(page)] == [
        ("fathometer demo", 3.0),
        ("fathometer info a", 2.0),
    ]
    assert durations.with_duration(page, "fathometer demo", 12.4) == page.replace("image, 3 s", "image, 12 s")
    assert durations.with_duration(page, "fathometer demo", 340) == page.replace("image, 3 s", "image, 6 min")
    assert durations.with_duration(page, "fathometer demo --quick", 12.4) == page


def test_the_script_runs_commands_in_their_order():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "durations.py", "new survey", "study forms"],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    lines = [line.split(maxsplit=2)[2] for line in done.stdout.splitlines()[2:]]
    assert lines == ["fathometer new survey vp.npy -o new.toml", "fathometer study forms"]


def test_the_first_survey_is_there_for_it(tmp_path):
    before = durations.first_survey(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.py", "shots.toml", "image.toml"}
    assert before["migrate image.toml"][0].startswith("fathometer prepare vp.npy")


@pytest.mark.parametrize("folder", [Path("demo"), Path("my runs/it's")])
def test_closing_words_are_commands_with_the_paths_of_the_demo(folder):
    lines = demo.closing_words(folder)
    assert str(folder / "image" / "report.html") in shlex.split(
        lines[1].replace("html':", "html' :").replace("html:", "html :")
    )
    commands = [shlex.split(line.split("    ")[0]) for line in lines if line.startswith("  ")]
    assert [words[1] for words in commands] == ["migrate-time", "info", "calibrate", "plan", "model", "new"]
    for words in commands:
        parser().parse_args(words[1:])
    assert commands[0][2] == str(folder / "demo.toml")


def test_closing_words_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "QUICK", replace(demo.QUICK, shape=(31, 25, 31), duration=0.6, shots=(2, 2), end=0.5))
    done = here("demo", "--quick", "--output", "demo")
    assert done.code == 0, done.err
    said = done.err[done.err.index("\nopen ") :].splitlines()
    assert Path(said[1].removeprefix("open ").partition(":")[0]).exists()
    commands = [shlex.split(line.split("    ")[0])[1:] for line in said if line.startswith("  ")]
    for words in commands[:-1]:
        if words[0] in ("calibrate", "plan"):  # the first takes a minute, and the second needs it
            continue
        ended = here(*words)
        assert ended.code == 0, ended.err
