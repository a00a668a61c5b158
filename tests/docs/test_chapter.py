"""The pages on a first survey and on field data work when they are followed word for word."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from cli_support import clean_environment
from paths import ROOT
from patience import PATIENCE

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
