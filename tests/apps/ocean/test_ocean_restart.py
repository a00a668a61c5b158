"""Restart files of an ocean: the bits that were written, refused where they are of something else. On several ranks:
fields_program.py."""

from __future__ import annotations

import errno
from dataclasses import replace

import numpy as np
import pytest
from mpi4py import MPI
from sea import blocked, layouts, sea, whole_state

from fathometer.apps.ocean.restart import Progress, RestartFiles
from fathometer.base.errors import FathometerError, InputError
from fathometer.runs.restart_hint import FOLDER
from fathometer.storage import atomic
from fathometer.storage.volumes.formats.netcdf_header import header_of

PROGRESS = Progress(0.1 + 0.2, 120, [{"step": 60, "speed": 1 / 3}], [1 / 7], [0.0], 1e18, 0.25, [0, 60])
GRID = sea()
LAYOUT = layouts(GRID, 1)[0]


def files(folder, input=None, layout=LAYOUT):
    return RestartFiles(folder, {"x": 0.1} if input is None else input, layout, MPI.COMM_SELF)


def state(seed=1):
    """Random bits, among them zeros with a sign and the smallest numbers."""
    rng = np.random.default_rng(seed)
    found = {name: rng.standard_normal(values.shape) for name, values in whole_state(GRID).items()}
    for values in found.values():
        values[10, 5:9] = np.array([-0.0, 5e-324, -1e-310, 1.7e308]).reshape(-1, *(1,) * (values.ndim - 2))
    return blocked(LAYOUT, found, 0.0)


def empty(layout=LAYOUT):
    return {name: np.full(layout.shaped(*values.shape[2:]), np.nan) for name, values in whole_state(GRID).items()}


def equal(found, expected):
    return found.keys() == expected.keys() and all(found[name].tobytes() == expected[name].tobytes() for name in found)


def test_the_same_bits_come_back(tmp_path):
    restart = files(tmp_path)
    assert restart.read(empty()) is None
    restart.write(replace(PROGRESS, steps=60), state(2))
    restart.write(PROGRESS, state())
    for steps, progress, seed in ((None, PROGRESS, 1), (60, replace(PROGRESS, steps=60), 2)):
        found = empty()
        assert files(tmp_path).read(found, steps=steps) == progress
        assert equal(found, state(seed))


def test_halos_do_not_count(tmp_path):
    files(tmp_path).write(PROGRESS, blocked(LAYOUT, whole_state(GRID), np.nan))
    found = empty()
    files(tmp_path).read(found)
    assert equal(found, blocked(LAYOUT, whole_state(GRID), 0.0))


def test_a_state_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    restart = files(tmp_path)
    restart.write(PROGRESS, state())

    def full(handle, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "reserve", full)
    with pytest.raises(FathometerError, match=r"mark\.json: cannot be written: No space left"):
        restart.write(replace(PROGRESS, steps=240), state(2))
    found = empty()
    assert files(tmp_path).read(found) == PROGRESS
    assert equal(found, state())


def test_another_input_is_refused(tmp_path):
    files(tmp_path).write(PROGRESS, state())
    with pytest.raises(InputError, match=r"is of another input: x: 0.1 then, 0.2 now; --overwrite"):
        files(tmp_path, {"x": 0.2}).read(empty())


def test_arrays_that_are_missing_truncated_or_of_another_grid(tmp_path):
    files(tmp_path).write(PROGRESS, state())
    other = layouts(sea(nx=28), 1)[0]
    with pytest.raises(FathometerError, match=r"state\.nc:temperature: is not of this ocean; .*--overwrite"):
        files(tmp_path, layout=other).read(empty(other))
    with pytest.raises(FathometerError, match=r"state\.nc: has no variable iron"):
        files(tmp_path).read({"iron": empty()["u"]})
    path = tmp_path / FOLDER / "00000120" / "state.nc"
    data = path.read_bytes()
    path.write_bytes(data[:-1000])
    with pytest.raises(FathometerError, match=r"state\.nc: is truncated"):
        files(tmp_path).read(empty())
    path.unlink()
    with pytest.raises(FathometerError, match=r"state\.nc: no such file"):
        files(tmp_path).read(empty())


def test_any_bit_of_its_file_that_changes_is_found(tmp_path):
    """Of values, of land that nobody has, of the header, of the bytes between variables; and another state's file."""
    restart = files(tmp_path)
    restart.write(replace(PROGRESS, steps=60), state(2))
    restart.write(PROGRESS, state())
    path = tmp_path / FOLDER / "00000120" / "state.nc"
    whole, chance = path.read_bytes(), np.random.default_rng(3)
    head = min(one.start for one in header_of(path).variables.values())
    assert LAYOUT.left_out
    bits = [*chance.choice(8 * head, 60, replace=False), *chance.choice(8 * len(whole), 60, replace=False)]
    for bit in bits:
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(
            FathometerError, match=r"state\.nc.*; the state of step 60 before it is whole: --resume-from"
        ):
            files(tmp_path).read(empty())
    path.write_bytes((tmp_path / FOLDER / "00000060" / "state.nc").read_bytes())
    with pytest.raises(FathometerError, match=r"state\.nc.*: is damaged: its checksum is wrong; the state of step 60"):
        files(tmp_path).read(empty())
    path.write_bytes(whole)
    assert files(tmp_path).read(empty()) == PROGRESS


def test_removing_states(tmp_path):
    restart = files(tmp_path)
    restart.write(PROGRESS, state())
    restart.remove()
    assert restart.read(empty()) is None
