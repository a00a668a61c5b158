"""Restart files: the bits that were written, refused where they are of something else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.apps.reactive.restart import Progress, RestartFiles
from fathometer.base.errors import FathometerError, InputError
from fathometer.runs.restart_hint import FOLDER

SHAPE = (3, 4, 5)
PROGRESS = Progress(0.1 + 0.2, 120, {"step": 1 / 3}, [0.0, 0.1], {"newton": 7.0}, [1e-300, 0.0], [1 / 7, 2.0])


def files(folder, input=None):
    return RestartFiles(
        folder, {"grid": [3, 4, 5], "x": 0.1} if input is None else input, SHAPE, (0, 0, 0), MPI.COMM_SELF
    )


def arrays(seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((*SHAPE, 2)), rng.random((*SHAPE, 1))


def empty():
    return np.full((*SHAPE, 2), np.nan), np.full((*SHAPE, 1), np.nan)


def test_the_same_bits_come_back(tmp_path):
    restart = files(tmp_path)
    assert restart.read(*empty()) is None
    restart.write(replace(PROGRESS, steps=60), *arrays(2))
    restart.write(PROGRESS, *arrays())
    for steps, progress, seed in ((None, PROGRESS, 1), (60, replace(PROGRESS, steps=60), 2)):
        found = empty()
        assert files(tmp_path).read(*found, steps=steps) == progress
        for one, other in zip(found, arrays(seed), strict=True):
            assert np.array_equal(one, other)


def test_any_bit_of_its_files_that_changes_is_found(tmp_path):
    """Of headers and values; and another state's file."""
    restart = files(tmp_path)
    restart.write(replace(PROGRESS, steps=60), *arrays(2))
    restart.write(PROGRESS, *arrays())
    chance, offered = np.random.default_rng(3), "; the state of step 60 before it is whole: --resume-from 60"
    paths = sorted((tmp_path / FOLDER / "00000120").glob("*.rsf*"))
    assert [path.name for path in paths] == [f"{one}.rsf{part}" for one in ("m-0", "u-0", "u-1") for part in ("", "@")]
    for path in paths:
        whole = path.read_bytes()
        for bit in chance.choice(8 * len(whole), 15, replace=False):
            changed = bytearray(whole)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            with pytest.raises(FathometerError, match=rf"00000120/.*{offered}"):
                files(tmp_path).read(*empty())
        if path.name.endswith("@"):
            path.write_bytes((tmp_path / FOLDER / "00000060" / path.name).read_bytes())
            with pytest.raises(FathometerError, match=rf"{path.name}: is damaged: its checksum is wrong{offered}"):
                files(tmp_path).read(*empty())
        path.write_bytes(whole)
    assert files(tmp_path).read(*empty()) == PROGRESS


def test_a_state_that_is_not_complete_leaves_the_one_before(tmp_path):
    restart = files(tmp_path)
    restart.write(PROGRESS, *arrays())
    half = tmp_path / FOLDER / "00000200"
    half.mkdir()
    (half / "u-0.rsf").write_text("half")
    found = empty()
    assert files(tmp_path).read(*found) == PROGRESS
    assert np.array_equal(found[0], arrays()[0])


def test_another_input_is_refused(tmp_path):
    files(tmp_path).write(PROGRESS, *arrays())
    with pytest.raises(InputError, match=r"is of another input: x: 0.1 then, 0.2 now; --overwrite"):
        files(tmp_path, {"grid": [3, 4, 5], "x": 0.2}).read(*empty())


def test_arrays_that_are_missing_or_of_another_shape(tmp_path):
    restart = files(tmp_path)
    restart.write(PROGRESS, *arrays())
    folder = tmp_path / FOLDER / "00000120"
    text = (folder / "m-0.rsf").read_text()
    (folder / "m-0.rsf").unlink()
    with pytest.raises(FathometerError, match=r"m-0\.rsf"):
        files(tmp_path).read(*empty())
    (folder / "m-0.rsf").write_text(text.replace("n1=5", "n1=4"))
    with pytest.raises(FathometerError, match=r"m-0\.rsf"):
        files(tmp_path).read(*empty())
