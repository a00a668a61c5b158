"""What the headers of a SEG-Y volume say of its samples and places: obeyed, told, or refused in one line."""

from __future__ import annotations

import numpy as np
import pytest
from segy_support import Bytes

from fathometer.base.errors import InputError
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.survey import survey_of
from fathometer.storage.describe import describe
from fathometer.storage.volumes.volume import open_volume

TRACES, SAMPLES = 8, 5
VALUES = np.full((TRACES, SAMPLES), 2000.0)


def line(folder, trace=None, values=VALUES, **keys):
    """A line of traces every 10 m along x, with words of all headers and of each."""
    words = [{181: 10 * n, 71: 1} | (trace or {}).get(n, {}) for n in range(len(values))]
    return Bytes(values, trace=words, **keys).write(folder / "v.segy")


def model(folder, **keys):
    """The files of a model of that line."""
    position = {"x": 20.0, "z": 10.0}
    values = {
        "model": {"vp": "v.segy", "spacing": [10.0, 10.0]} | keys,
        "acquisition": {"sources": position, "receivers": position},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
        "propagation": {"duration": 0.1},
    }
    return EarthFiles(survey_of(values, folder / "survey.toml"))


def test_delays_that_differ_are_refused(tmp_path):
    line(tmp_path, {n: {109: 100} for n in (3, 4)})
    words = r"differ in their delay \(bytes 109 and 110\): 0 in trace 1, 100 in trace 4, and 2 of 8 traces differ"
    with pytest.raises(InputError, match=words):
        model(tmp_path)
    assert any(
        "a model or velocities from this file are refused" in note for note in describe("v.segy", tmp_path).notes
    )
    with open_volume("v.segy", tmp_path) as volume:
        assert "trace 4" in volume.info.uneven
    line(tmp_path, {n: {109: 100} for n in range(TRACES)})
    assert model(tmp_path).grid.shape == (TRACES, 1, SAMPLES)
