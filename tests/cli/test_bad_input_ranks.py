"""What goes wrong on several ranks ends all of them, once, with the right exit code; and a disk that fills up."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cli_support import (
    MIGRATE,
    MODEL,
    NX,
    NZ,
    SAMPLES,
    call,
    finish,
    inputs,
    mpirun,
    nothing_left,
    patch_traces,
    start,
    survey,
    velocity,
)

# Starts MPI, whose own files must not be limited, and only then lets no file grow beyond some bytes.
FULL_DISK = """\
import resource, signal, sys
from mpi4py import MPI
from fathometer.cli.main import main
if MPI.COMM_WORLD.rank == int(sys.argv[2]):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[3:]))
"""


def check(done, code, *says):
    """One line of error; beside it at most what the launcher itself adds."""
    assert done.code == code, done.err
    assert done.out == ""
    [line] = [line for line in done.err.splitlines() if line.startswith("fathometer:")]
    assert line.startswith("fathometer: error: ")
    assert "Traceback" not in done.err
    for words in says:
        assert words in line


def nan_in_model(folder: Path) -> None:
    """In the last rank's part only."""
    vp = velocity()
    vp[NX - 1, NZ - 1] = np.nan
    np.save(folder / "vp.npy", vp)


def nan_in_a_trace(folder: Path) -> None:
    """In a trace that only the last rank reads."""
    values = np.zeros((NX, SAMPLES))
    values[NX - 1, 3] = np.nan
    patch_traces(folder / "recorded.segy", values)


@pytest.mark.parametrize(
    ("ranks", "command", "keys", "prepare", "code", "says"),
    [
        (2, "model", {"model.vp": "nope.npy"}, None, 2, ["[model] vp", "nope.npy: no such file"]),
        (3, "model", {}, nan_in_model, 2, ["NaN or infinity in 1 of 1200 cells, first at x = 390 m, z = 290 m"]),
        (2, "migrate", {}, nan_in_a_trace, 2, ["recorded.segy: trace 39", "sample 3"]),
        (
            2,
            "migrate",
            {},
            lambda folder: patch_traces(folder / "recorded.segy", np.full((NX, SAMPLES), 3e38)),
            1,
            ["no longer finite: seen at step", "first at x = "],
        ),
        (2, "model", {"output.directory": "vp.npy"}, None, 2, ["vp.npy: cannot make the output directory"]),
        # 24 x 24 cells with their sides, of which a part must have 8
        (
            5,
            "model",
            {"propagation.order": 16, "model.vp": "small.npy", "acquisition.receivers": {"x": 0.0, "z": 0.0}}
            | {"acquisition.sources": {"x": 0.0, "z": 0.0}},
            lambda folder: np.save(folder / "small.npy", velocity()[:4, :4]),
            2,
            ["5 ranks are too many for a grid of 24 x 24 cells", "at most 4 ranks can be used"],
        ),
    ],
    ids=["file", "nan", "trace", "growth", "output", "too many"],
)
def test_all_ranks_end(tmp_path, ranks, command, keys, prepare, code, says):
    inputs(tmp_path)
    path = survey(tmp_path, (MODEL if command == "model" else MIGRATE) | keys)
    if prepare:
        prepare(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = call(command, path, "--quiet", "--ranks", ranks)
    check(done, code, *says)
    assert len(done.err.splitlines()) == 1
    assert nothing_left(tmp_path, before, done.err)


def test_wrong_words_under_mpirun_are_told_once():
    done = finish(start(*mpirun(2), sys.executable, "-m", "fathometer", "model", "--rnaks"))
    check(done, 2, "SURVEY.toml")


def test_ranks_against_the_launcher_are_told_once(tmp_path):
    done = finish(start(*mpirun(2), sys.executable, "-m", "fathometer", "model", "s.toml", "--ranks", "3"))
    check(done, 2, "--ranks 3: mpirun has already started 2 ranks")


@pytest.mark.parametrize(
    ("ranks", "failing", "most", "command", "file"),
    [
        (1, 0, 8000, "model", "shots.segy"),
        (2, 0, 8000, "model", "shots.segy"),
        (2, 1, 1000, "migrate", "000000-image.npy"),
    ],
)
def test_a_full_disk(tmp_path, ranks, failing, most, command, file):
    """No file of more than so many bytes can be written."""
    inputs(tmp_path)
    (tmp_path / "full.py").write_text(FULL_DISK)
    path = survey(tmp_path, MODEL if command == "model" else MIGRATE)
    before = sorted(tmp_path.iterdir())
    words = [*(mpirun(ranks) if ranks > 1 else []), sys.executable, tmp_path / "full.py", most, failing]
    done = finish(start(*words, command, path, "--quiet"))
    check(done, 1, f"{file}: cannot be written: File too large")
    assert nothing_left(tmp_path, before, done.err)


def test_a_full_disk_behind_standard_output(tmp_path):
    inputs(tmp_path)
    with open("/dev/full", "w") as full:
        done = call("model", survey(tmp_path, MODEL), "--quiet", "--json", stdout=full)
    check(done, 1, "standard output: cannot be written: No space left on device")
    with open("/dev/full", "w") as full:
        done = call("info", tmp_path / "vp.npy", stdout=full)
    check(done, 1, "standard output: cannot be written")
