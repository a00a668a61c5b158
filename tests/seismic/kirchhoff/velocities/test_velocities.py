"""What [time_migration] names as velocities."""

import numpy as np
import pytest
from velocity_support import CUBE, LINE, velocities, whole

from fathometer.base.errors import InputError
from fathometer.seismic.kirchhoff.velocities.velocities import Extremes, VelocityBlock, extremes_of


def test_a_number(tmp_path):
    found = velocities(tmp_path, CUBE, velocity=2500.0)
    block = whole(found)
    assert block.rms.shape == CUBE.shape
    assert block.rms.dtype == np.float32
    assert (block.rms == 2500).all()
    assert block.eta is None
    assert (found.files(), found.notes) == ({}, ())
    assert found.record()["velocity"] == {"source": "number", "value": 2500.0}
    assert found.record()["slowest_metres_per_second"] == 2500.0


def test_a_number_of_eta(tmp_path):
    assert (whole(velocities(tmp_path, LINE, velocity=2500.0, eta=0.1)).eta == np.float32(0.1)).all()
    assert whole(velocities(tmp_path, LINE, velocity=2500.0, eta=0.0)).eta is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (2.5, r"found 2.5; allowed: a file or a number from 100 to 20000 \(m/s\)"),
        (3e4, "found 30000.0; allowed: a file"),
    ],
)
def test_numbers_out_of_range(tmp_path, value, words):
    with pytest.raises(InputError, match=r"\[time_migration\] velocity: " + words):
        velocities(tmp_path, LINE, velocity=value)


def test_neither_velocities_nor_a_model(tmp_path):
    with pytest.raises(InputError, match=r"\[time_migration\] velocity: missing; needed where there is no \[model\]"):
        velocities(tmp_path, LINE)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"\[time_migration\] velocity.*v.rsf: no such file"):
        velocities(tmp_path, LINE, velocity="v.rsf")


def test_an_empty_box(tmp_path):
    found = velocities(tmp_path, CUBE, velocity=2500.0)
    assert found.read((2, 1), (2, 4)).rms.shape == (0, 3, 51)
    assert found.record()["slowest_metres_per_second"] is None


def test_extremes_join():
    rms = np.array([[[2000, 3000]]], np.float32)
    one = extremes_of(VelocityBlock(rms, None))
    other = extremes_of(VelocityBlock(rms + 500, np.array([[[-0.1, 0.2]]], np.float32)))
    assert one.joined(other) == Extremes(2000.0, 3500.0, np.float32(-0.1), np.float32(0.2))
    assert one.joined(Extremes()) == one
    assert extremes_of(VelocityBlock(rms[:0], None)) == Extremes()
