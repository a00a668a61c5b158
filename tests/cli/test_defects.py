"""What nothing has foreseen is one line, once, that says where its traceback is."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_support import MIGRATE, finish, inputs, mpirun, run, start, survey

from fathometer import __version__
from fathometer.base.errors import naming
from fathometer.cli.commands import info

DEFECT = """
import sys
from mpi4py import MPI
from fathometer.__main__ import main
from fathometer.seismic.rtm import worker
def migrate(self, *words, whole=worker.Worker.migrate):
    if MPI.COMM_WORLD.rank in {ranks}:
        raise ZeroDivisionError("no such\\nnumber " + 300 * "x")
    return whole(self, *words)
worker.Worker.migrate = migrate
sys.exit(main())
"""


def broken(*_):
    with naming("survey.toml: [model] vp"):
        raise KeyError("no such key")


def told(err):
    return [line for line in err.splitlines() if line.startswith("fathometer: error:")]


def test_an_unforeseen_exception_of_a_command_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(info, "COMMAND", replace(info.COMMAND, run=broken))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = run(capsys, "info", "vp.npy")
    assert done.code == 1
    [line] = done.err.splitlines()
    [file] = tmp_path.iterdir()
    assert line == (
        "fathometer: error: survey.toml: [model] vp: KeyError: 'no such key' (test_defects.py, line 30); this is a "
        f"defect, please report it: fathometer {__version__}, traceback in {file}"
    )
    assert file.read_text().startswith("Traceback")


def test_debug_prints_the_traceback(monkeypatch, capsys):
    monkeypatch.setattr(info, "COMMAND", replace(info.COMMAND, run=broken))
    done = run(capsys, "info", "vp.npy", "--debug")
    assert done.code == 1
    assert done.err.startswith("Traceback")
    assert "traceback above" in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    "ranks", ["(0, 1)", pytest.param("(1,)", marks=pytest.mark.trials)], ids=["all ranks", "one rank"]
)
def test_an_unforeseen_exception_of_ranks_is_one_line(ranks, tmp_path):
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE | {"parallel.ranks_per_shot": "all"})
    program = DEFECT.replace("{ranks}", ranks)
    words = (*mpirun(2), sys.executable, "-c", program, "migrate", path, "--quiet")
    done = finish(start(*words, environment={"TMPDIR": str(tmp_path)}))
    assert done.code == 1, done.err
    assert "Traceback" not in done.err
    assert "fathometer: interrupted" not in done.err  # that is not what ended the run
    [line] = told(done.err)
    rank = ranks[1]
    assert f"ZeroDivisionError: no such number {'x' * 100}" in line
    assert f"line 8, rank {rank}); this is a defect" in line
    assert len(line) < 500
    [file] = tmp_path.glob("fathometer-traceback-*.txt")
    assert Path(line.rpartition(" ")[2]) == file
