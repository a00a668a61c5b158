"""The chapter on field data works when it is followed word for word."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cli_support import clean_environment
from paths import ROOT

CHAPTER = ROOT / "docs" / "surveys.md"


def test_every_command_of_the_chapter(shared_data, tmp_path):
    shutil.copy(shared_data / "viking_graben" / "viking_small.segy", tmp_path)
    commands = re.findall(r"^```sh\n(.*?)^```", CHAPTER.read_text(), re.DOTALL | re.MULTILINE)
    assert len(commands) >= 7
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = "set -e\n" + "\n".join(commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=clean_environment() | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "4 shots, 480 traces, of which 480 can be used" in done.stdout
    assert "4 of 4 shots done" in done.stderr
    assert "this migration is finished" in done.stderr
    for name in ("line.png", "line-vp-epsilon.rsf", "image/image.rsf", "image/image.png", "image/report.html"):
        assert (tmp_path / name).stat().st_size > 0
