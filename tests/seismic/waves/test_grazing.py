"""Verification 5: waves that run along an absorbing top, and the note of a survey that has them."""

import numpy as np
import pytest
from cli_support import survey
from grazing_support import errors

from fathometer.seismic.setup.grazing import grazing_notes, largest_error
from fathometer.seismic.setup.survey_layout import survey_layout
from fathometer.seismic.survey import load_survey
from fathometer.seismic.waves.boundary import Pml

pytestmark = pytest.mark.verify

OFFSETS = np.array([1100.0, 2500.0, 3900.0])  # m


def test_the_default_layer_keeps_direct_waves():
    [found] = errors(OFFSETS, [Pml()])
    assert found.max() <= 0.02, found


def test_the_error_that_notes_tell_is_the_error():
    """Where it is told, and below a fifth; at a constant velocity, without waves that turn and graze the bottom."""
    layers = [Pml(7), Pml(8), Pml(12)]
    wavelengths = np.array([30.0, 40.0, 55.0])
    found = errors(1500.0 / 8.0 * wavelengths, layers, 1500.0)
    told = np.array([[largest_error(layer.width, one, 1.0) for one in wavelengths] for layer in layers])
    compared = (told >= 0.02) & (told <= 0.2)
    assert compared.sum() >= 5
    assert np.abs(np.log(found / told)[compared]).max() <= np.log(4 / 3), (found, told)


KEYS = {
    "model.vp": "vp.npy",
    "model.spacing": [10.0, 10.0],
    "acquisition.sources": {"x": 0.0, "z": 20.0},
    "acquisition.receivers": {"x": [0.0, 9000.0, 100.0], "z": 20.0},
    "wavelet.kind": "ricker",
    "wavelet.peak_frequency": 8.0,
    "propagation.duration": 1.0,
}


def notes(folder, keys):
    np.save(folder / "vp.npy", np.full((901, 60), 1500.0, np.float32))
    layout = survey_layout(load_survey(survey(folder, KEYS | keys)), False)
    return grazing_notes(layout, 1500.0, 2000.0, 8.0)


def test_a_survey_that_the_layer_spoils_is_told(tmp_path):
    [note] = notes(tmp_path, {})
    expected = 100 * largest_error(8, 48.0, 4 / 3)
    assert f"over 9000 m, 48 wavelengths of 188 m, will be off by some {expected:.0f} %" in note
    width = int(note.split("width = ")[1].split("}")[0])
    assert width == 11
    assert notes(tmp_path, {"propagation.boundary": {"kind": "pml", "width": width - 1}})
    assert not notes(tmp_path, {"propagation.boundary": {"kind": "pml", "width": width}})


@pytest.mark.parametrize(
    "keys",
    [
        {"propagation.top": "free-surface"},
        {"propagation.boundary": {"kind": "sponge", "width": 20}},
        {"acquisition.sources": {"x": 0.0, "z": 200.0}},
        {"acquisition.receivers": {"x": [0.0, 9000.0, 100.0], "z": 200.0}},
        {"acquisition.receivers": {"x": [0.0, 3900.0, 100.0], "z": 20.0}},
    ],
    ids=["free surface", "sponge", "deep source", "deep receivers", "near"],
)
def test_other_surveys_are_not(tmp_path, keys):
    assert not notes(tmp_path, keys)
