"""The pages on a first survey, on field data and on studies work when they are followed word for word."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
from cli_support import clean_environment
from paths import ROOT
from patience import PATIENCE

from fathometer.lab.studies.asked import Answer, check
from fathometer.lab.studies.store import read_results
from fathometer.lab.studies.study import cases_and_designs, parts_of
from fathometer.lab.studies.study_file import load_study
from fathometer.storage.traces.segy import read_traces, scan

GUIDE = ROOT / "docs" / "guide"


def blocks(page, language):
    """The fenced blocks of a page that are in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (GUIDE / page).read_text(), re.DOTALL | re.MULTILINE)


def follow(commands, folder):
    """Run a page's commands one after the other in a folder."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", "set -e\n" + "\n".join(commands)],
        cwd=folder,
        env=clean_environment() | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_five_steps_of_a_first_survey(tmp_path):
    (model,) = blocks("first-survey.md", "python")
    shots, image = blocks("first-survey.md", "toml")
    for name, text in (("model.py", model), ("shots.toml", shots), ("image.toml", image)):
        (tmp_path / name).write_text(text)
    follow(["python model.py", *blocks("first-survey.md", "sh")], tmp_path)
    for name in ("shots/shots.segy", "shot.png", "image/image.png", "image/report.html", "image/run.json"):
        assert (tmp_path / name).stat().st_size > 0


def test_every_command_of_the_page_on_field_data(shared_data, tmp_path):
    shutil.copy(shared_data / "viking_graben" / "viking_small.segy", tmp_path)
    commands = blocks("field-data.md", "sh")
    assert len(commands) >= 7
    done = follow(commands, tmp_path)
    assert "4 shots, 480 traces, of which 480 can be used" in done.stdout
    assert "4 of 4 shots done" in done.stderr
    assert "this migration is finished" in done.stderr
    recorded, modelled = (scan(tmp_path / name) for name in ("viking_small.segy", "modelled/shots.segy"))
    for name in ("ffid", "channel", "source", "receiver"):
        np.testing.assert_array_equal(getattr(modelled, name), getattr(recorded, name))
    assert read_traces(tmp_path / "modelled/shots.segy", range(480)).any(axis=1).all()
    for name in ("line.png", "line-vp-epsilon.rsf", "image/image.rsf", "image/image.png", "image/report.html"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_first_study(tmp_path):
    (tmp_path / "gzip.toml").write_text(blocks("studies.md", "toml")[0])
    *commands, gate = blocks("studies.md", "sh")
    assert len(commands) == 2
    done = follow(commands, tmp_path)
    assert "2 cases of level; 1 warm-up, 8 rounds" in done.stdout
    for name in ("gzip.study/study.html", "gzip.study/study.md", "page.html", "runs.csv"):
        assert (tmp_path / name).stat().st_size > 0
    results = read_results(tmp_path / "gzip.study")
    sizes = [set(case.values("size").values()) for case in results.cases.values()]
    assert [len(one) for one in sizes] == [1, 1]
    assert max(sizes[1]) < min(sizes[0])  # level 9 saves something
    assert results.rounds() == 8
    # Its exit code depends on the machine: run by test_example_studies.py.
    assert (ROOT / gate.split()[3]).is_file()


def test_every_excerpt_of_a_study_is_one(tmp_path):
    """Each block is a study file, but for the title, factors and program that it takes from the text around it."""
    (tmp_path / "WATERFLOOD.DATA").touch()
    (tmp_path / "survey.toml").touch()
    names = {"ranks": [1, 2], "threads": [1, 2], "history": ["memory", "disk"]}
    excerpts = blocks("studies.md", "toml")[1:]
    assert len(excerpts) >= 6
    for excerpt in excerpts:
        text = 'title = "an excerpt"\n' + excerpt
        if "[factors]" not in text:
            text += "[factors]\n" + "".join(f"{name} = {values}\n" for name, values in names.items())
        if "[application]" not in text and "[[job]]" not in text:
            words = ["echo", *(f"{{{name}}}" for name in tomllib.loads(text)["factors"])]
            text += f"[application]\ncommand = {words}\n"
        (tmp_path / "study.toml").write_text(text)
        study = load_study(tmp_path / "study.toml")
        answer = Answer(study.table, study.plot, study.gate, study.landscape, study.nested)
        figures = {info.name: info for info in parts_of(study).infos()}
        check(answer, study.factors, list(cases_and_designs(study)), figures)
