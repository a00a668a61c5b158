"""States of named arrays: the bits that were written, whatever the boxes; refused where they are of something else.

On several ranks, and on other boxes than they were written by: tests/apps/ocean/fields_program.py.
"""

from __future__ import annotations

import errno

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError
from fathometer.runs.restart_folder import RestartFolder
from fathometer.runs.restart_hint import FOLDER
from fathometer.runs.state_arrays import StateArray, load, save
from fathometer.storage import atomic
from fathometer.storage.volumes.formats.netcdf_header import header_of

SHAPES = {"eta": (12, 9), "u": (12, 9, 4), "odd": (12, 9, 4)}
LAND = ((4, 0), (8, 9))  # of all arrays: nobody has it
VALUES = {"time": 0.1 + 0.2, "written": [0, 60], "rows": [{"step": 60, "speed": 1 / 3}], "tiny": 1e-300}
COMM = MPI.COMM_SELF


def folder_of(path, input=None):
    return RestartFolder(path, {"x": 0.1} if input is None else input, ("steps", *VALUES), COMM)


def arrays(seed=None, columns=((0, 4), (8, 12)), shapes=SHAPES):
    """Whole arrays of random bits, among them zeros with a sign and the smallest numbers, or of NaN; and what of them
    is a state's: boxes of some columns, which are no contiguous views."""
    chance, whole, state = np.random.default_rng(seed), {}, {}
    for name, shape in shapes.items():
        values = np.full((*shape, 2), np.nan)
        if seed is not None:
            values[..., 0] = chance.standard_normal(shape)
            values[8, 2:6, ..., 0] = np.array([-0.0, 5e-324, -1e-310, 1.7e308]).reshape(-1, *(1,) * (len(shape) - 2))
            values[LAND[0][0] : LAND[1][0]] = 0.0
        whole[name] = values[..., 0]
        rest = (0,) * (len(shape) - 1)
        boxes = [((a, *rest), whole[name][a:b]) for a, b in columns]
        empty = [((*LAND[0], *shape[2:2], *(0,) * (len(shape) - 2)), (*LAND[1], *shape[2:]))]
        state[name] = StateArray(("x", "y", "level")[: len(shape)], shape, boxes, empty)
    return whole, state


def write(states, steps, state):
    states.write(VALUES | {"steps": steps}, lambda folder: save(folder, state, {"title": "a state"}, COMM))


def read(states, state, steps=None):
    return states.read(lambda folder: load(folder, state, COMM), steps=steps)


def owned_bits(whole):
    """Of what somebody has: all but land."""
    return {name: np.delete(values, np.s_[LAND[0][0] : LAND[1][0]], 0).tobytes() for name, values in whole.items()}


def test_the_same_bits_come_back(tmp_path):
    states = folder_of(tmp_path)
    assert read(states, arrays()[1]) is None
    write(states, 60, arrays(2)[1])
    write(states, 120, arrays(1)[1])
    for steps, seed, columns in ((120, 1, ((0, 4), (8, 12))), (60, 2, ((0, 1), (1, 4), (8, 12)))):
        whole, state = arrays(columns=columns)
        assert read(folder_of(tmp_path), state, None if steps == 120 else steps) == VALUES | {"steps": steps}
        assert owned_bits(whole) == owned_bits(arrays(seed)[0])
        assert np.isnan(whole["u"][LAND[0][0] : LAND[1][0]]).all()  # is nobody's


def test_a_state_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    states = folder_of(tmp_path)
    write(states, 120, arrays(1)[1])

    def full(handle, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "reserve", full)
    with pytest.raises(FathometerError, match=r"mark\.json: cannot be written: No space left"):
        write(states, 240, arrays(2)[1])
    whole, state = arrays()
    assert read(folder_of(tmp_path), state) == VALUES | {"steps": 120}
    assert owned_bits(whole) == owned_bits(arrays(1)[0])


def test_another_input_is_refused(tmp_path):
    write(folder_of(tmp_path), 120, arrays(1)[1])
    with pytest.raises(InputError, match=r"is of another input: x: 0.1 then, 0.2 now; --overwrite"):
        read(folder_of(tmp_path, {"x": 0.2}), arrays()[1])


def test_arrays_that_are_missing_truncated_or_of_another_shape(tmp_path):
    write(folder_of(tmp_path), 120, arrays(1)[1])
    other = arrays(shapes={"eta": (12, 9), "u": (12, 9, 5)})[1]
    with pytest.raises(FathometerError, match=r"nc:u: found 12 × 9 × 4 .*; needed: 12 × 9 × 5 of .*--overwrite"):
        read(folder_of(tmp_path), other)
    with pytest.raises(FathometerError, match=r"state\.nc: has no variable iron"):
        read(folder_of(tmp_path), {"iron": other["u"]})
    path = tmp_path / FOLDER / "00000120" / "state.nc"
    data = path.read_bytes()
    path.write_bytes(data[:-1000])
    with pytest.raises(FathometerError, match=r"state\.nc: is truncated"):
        read(folder_of(tmp_path), arrays()[1])
    path.unlink()
    with pytest.raises(FathometerError, match=r"state\.nc: no such file"):
        read(folder_of(tmp_path), arrays()[1])


def test_any_bit_of_its_file_that_changes_is_found(tmp_path):
    """Of values, of land that nobody has, of the header, of the bytes between variables; and another state's file."""
    states = folder_of(tmp_path)
    write(states, 60, arrays(2)[1])
    write(states, 120, arrays(1)[1])
    path = tmp_path / FOLDER / "00000120" / "state.nc"
    whole, chance = path.read_bytes(), np.random.default_rng(3)
    head = min(one.start for one in header_of(path).variables.values())
    bits = [*chance.choice(8 * head, 60, replace=False), *chance.choice(8 * len(whole), 60, replace=False)]
    for bit in bits:
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(
            FathometerError, match=r"state\.nc.*; the state of step 60 before it is whole: --resume-from"
        ):
            read(folder_of(tmp_path), arrays()[1])
    path.write_bytes((tmp_path / FOLDER / "00000060" / "state.nc").read_bytes())
    with pytest.raises(FathometerError, match=r"state\.nc.*: is damaged: its checksum is wrong; the state of step 60"):
        read(folder_of(tmp_path), arrays()[1])
    path.write_bytes(whole)
    assert read(folder_of(tmp_path), arrays()[1]) == VALUES | {"steps": 120}


def test_a_state_that_is_not_complete_leaves_the_one_before(tmp_path):
    write(folder_of(tmp_path), 120, arrays(1)[1])
    half = tmp_path / FOLDER / "00000200"
    half.mkdir()
    (half / "state.nc").write_text("half")
    whole, state = arrays()
    assert read(folder_of(tmp_path), state)["steps"] == 120
    assert owned_bits(whole) == owned_bits(arrays(1)[0])


def test_removing_states(tmp_path):
    states = folder_of(tmp_path)
    write(states, 120, arrays(1)[1])
    states.remove()
    assert read(states, arrays()[1]) is None
