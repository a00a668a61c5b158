"""OPM Flow, a program of others with much MPI in it, profiled as Debian has it."""

import json
import shutil
import subprocess
import sys

import pytest
from paths import ROOT
from profile_support import cli, launcher, require
from support import FULL

WATERFLOOD = ROOT / "examples" / "studies" / "inputs" / "waterflood.py"


@pytest.mark.verify
def test_flow_is_profiled_and_its_messages_are_those_of_the_monitoring(tmp_path):
    require("openmpi")
    if not FULL:
        pytest.skip("with make verify")
    if shutil.which("flow") is None:
        pytest.skip("no flow here (packages-test.txt)")
    subprocess.run([sys.executable, WATERFLOOD, tmp_path / "W.DATA", "--cells", "10", "--months", "4"], check=True)
    found = {}
    for profiler in ("fathometer", "ompi"):
        words = [*launcher("openmpi", 2), "flow", "W.DATA", "--output-dir=out", "--threads-per-process=1"]
        done = cli(tmp_path, "--quiet", "--profiler", profiler, "-o", profiler, "--", *words)
        assert done.returncode == 0, done.stderr
        found[profiler] = json.loads((tmp_path / profiler / "profile.json").read_text())["results"]
    rows = {row["name"]: row for row in found["fathometer"]["functions"]}
    assert rows["MPI_Allreduce"]["calls"] > 1000
    ours, theirs = (_bytes(results["matrix"]["messages"]) for results in found.values())
    assert ours.keys() == theirs.keys()
    # Requests that are started again are not in the monitoring of Open MPI 4.
    started = sum(rows[name]["bytes_out"] for name in ("MPI_Start", "MPI_Startall") if name in rows)
    assert sum(ours.values()) - started == pytest.approx(sum(theirs.values()), rel=0.01)


def _bytes(matrix):
    return dict(zip(zip(matrix["rank"], matrix["peer"], strict=True), matrix["bytes"], strict=True))
