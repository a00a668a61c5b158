"""What the headers of a SEG-Y volume say of its samples and places: obeyed, told, or refused in one line."""

from __future__ import annotations

import re

import numpy as np
import pytest
from mpi4py import MPI
from segy_support import Bytes

from fathometer.base.errors import InputError
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.model.prepare.driver import prepare_volume
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.survey import survey_of
from fathometer.storage.describe import describe
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, write_volume

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


def prepared(folder, result="o.rsf"):
    """The notes of `fathometer prepare` of that line."""
    said: list[str] = []
    request = PreparationRequest(str(folder / "v.segy"), folder / result, input_spacing=(10.0, 10.0))
    prepare_volume(request, said.append)
    return said


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


@pytest.mark.parametrize("unit", ["%", "m/s", "kg/m3", None])
@pytest.mark.parametrize("labels", [("x", "z"), ("x", "t")])
def test_the_unit_of_values_is_read_back(tmp_path, unit, labels):
    info = VolumeInfo(VALUES.shape, np.dtype("f4"), (10.0, 0.004), (0.0, 0.0), labels, unit)
    write_volume(tmp_path / "v.segy", info, VALUES.astype("f4"), [0, 0], MPI.COMM_SELF)
    with open_volume("v.segy", tmp_path) as volume:
        assert volume.info.unit == unit
    data = (tmp_path / "v.segy").read_bytes()
    theirs = data[:3200].decode("cp037").replace("Written by Fathometer", "Written by somebody  ").encode("cp037")
    (tmp_path / "v.segy").write_bytes(theirs + data[3200:])
    with open_volume("v.segy", tmp_path) as volume:
        assert volume.info.unit is None


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ({3: {181: 34}}, "form no regular grid in the order of its traces"),
        ({n: {181: 10 * (n // 2)} for n in range(TRACES)}, "form no regular grid in the order of its traces"),
        ({n: {89: 2} for n in range(TRACES)}, r"are angles by their unit \(bytes 89 and 90\), 2"),
        ({n: {181: 0, 73: 10 * n, 81: 10 * n} for n in range(TRACES)}, "has no CDP coordinates .* sources"),
    ],
)
def test_places_that_are_dropped_are_told(tmp_path, trace, words):
    line(tmp_path, trace)
    told = (model(tmp_path).notes, prepared(tmp_path), describe("v.segy", tmp_path).notes)
    for notes in told:
        assert len([note for note in notes if re.search(words, note)]) == 1


def test_places_that_are_not_there_or_a_grid_are_no_matter(tmp_path):
    for trace in ({}, {n: {181: 0} for n in range(TRACES)}, {n: {181: 10 * (TRACES - n)} for n in range(TRACES)}):
        line(tmp_path, trace)
        assert describe("v.segy", tmp_path).notes == ("all values are 2000",)


def test_a_line_in_another_order_than_its_places_is_refused(tmp_path):
    line(tmp_path, {2: {181: 50}, 5: {181: 20}})
    with pytest.raises(InputError, match="its traces are not in the order of their CDP coordinates"):
        model(tmp_path)


def test_weights_of_traces_are_told(tmp_path):
    line(tmp_path, {3: {169: 2 << 16}})  # a word of two bytes, and the next one
    words = "the headers hold trace weighting factors 2^-N, N from 0 to 2: they are not applied"
    for notes in (model(tmp_path).notes, prepared(tmp_path), describe("v.segy", tmp_path).notes):
        assert any(words in note for note in notes)


@pytest.mark.parametrize("suffix", [".segy", ".rsf", ".h5"])
def test_the_vertical_datum_is_carried(tmp_path, suffix):
    path = line(tmp_path)
    data = path.read_bytes()
    text = data[:3200].decode("cp037")
    path.write_bytes(f"{text[:80]}C 2 VERTICAL DATUM: LAT 1987{text[108:]}".encode("cp037") + data[3200:])
    assert model(tmp_path).place.datum == "LAT 1987"
    prepared(tmp_path, f"o{suffix}")
    with open_volume(f"o{suffix}", tmp_path) as volume:
        assert volume.info.place.datum == "LAT 1987"
