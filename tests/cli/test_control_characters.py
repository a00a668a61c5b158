"""Control characters in names: given ones are refused in one line, those in files come to no terminal and no header."""

import numpy as np
import pytest
from cli_support import MODEL, has_control, inputs, run, survey
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.writer import write_volume

NAMES = ["x\x1b[2J", "x\ny", "x\ry", "x\u2028y", "x\x85y"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("words", [("info",), ("migrate",), ("report", "-o"), ("submit", "--time", "8h")])
def test_arguments(words, name, capsys):
    done = run(capsys, *words, name)
    assert (done.code, done.out) == (2, "")
    [line] = done.err.splitlines()
    assert line.startswith('fathometer: error: command line: found "x\\')
    assert not has_control(line)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["[output] directory", "[output] image", "[model] vp"])
def test_keys_of_the_survey_file(tmp_path, key, name, capsys):
    inputs(tmp_path)
    section, word = key[1:].split("] ")
    path = survey(tmp_path, MODEL | {f"{section}.{word}": f"{name}.rsf"})
    done = run(capsys, "model", path)
    assert (done.code, done.out) == (2, "")
    [line] = done.err.splitlines()
    assert f'{key}: found "x\\' in line
    assert "allowed: a name without control characters" in line
    assert not has_control(line)


@pytest.mark.parametrize("suffix", [".rsf", ".segy", ".npy", ".zarr", ".nc", ".h5"])
@pytest.mark.parametrize("names", [(("x", "y\x1b[2J", "z"), "m/s"), (None, "m\ns")])
def test_names_in_the_header_of_a_volume(tmp_path, suffix, names):
    labels, unit = names
    info = VolumeInfo((2, 3, 4), np.dtype(np.float32), (1.0,) * 3, (0.0,) * 3, labels, unit)
    with pytest.raises(InputError, match=r"(label of axis 1|unit): found .*control character U\+00"):
        write_volume(tmp_path / f"v{suffix}", info, np.zeros((2, 3, 4), np.float32), (0, 0, 0), MPI.COMM_SELF)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_names_that_a_file_holds(tmp_path, options, capsys):
    path = tmp_path / "v.rsf"
    path.write_text('in="v.rsf@"\nn1=2\nn2=2\nlabel1="depth\x1b]0;owned\x07"\nunit="\x9b2J"\n')
    (tmp_path / "v.rsf@").write_bytes(np.zeros(4, np.float32).tobytes())
    done = run(capsys, "info", path, *options)
    assert done.code == 0
    assert not any(has_control(line) for line in done.out.splitlines())
    assert "depth\\u001b]0;owned\\u0007" in done.out
