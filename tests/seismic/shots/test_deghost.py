"""Ghosts of the sea surface: removed from traces where they are known exactly, and from modelled ones before images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from survey_support import load, migrate, model

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import acquisition_of
from fathometer.seismic.survey import survey_of
from fathometer.seismic.traces.deghost import Deghost, ghost, inverse_of, notches_below
from fathometer.seismic.traces.wavelet import OrmsbyWavelet
from fathometer.storage.traces.segy import GatherWriter

C, INTERVAL = 1500.0, 0.002
T = INTERVAL * np.arange(500)
BAND = OrmsbyWavelet((6.0, 12.0, 45.0, 60.0))  # all of it where the inverses at 6 and 10 m are exact


def ghosted(depths: tuple[float, ...], reflection: float = 1.0, wavelet=BAND) -> np.ndarray:
    """A pulse at 0.4 s with the ghosts of these depths, evaluated in the time domain."""
    pulses = [(0.4, 1.0)]
    for depth in depths:
        pulses += [(time + 2 * depth / C, -reflection * weight) for time, weight in pulses]
    return np.sum([weight * wavelet(T - time) for time, weight in pulses], axis=0)


@pytest.mark.parametrize("reflection", [1.0, 0.8])
@pytest.mark.parametrize("from_headers", [True, False])
def test_known_ghosts_are_removed_exactly_between_their_notches(reflection: float, from_headers: bool) -> None:
    """What is left are the wavelet's own sidelobes outside its band, where the inverse is stabilised."""
    depths = (None, None) if from_headers else (6.0, 10.0)
    step = Deghost(INTERVAL, *depths, C, reflection, 4.0)
    headers = (6.0, np.array([10.0, 10.0])) if from_headers else (99.0, np.array([99.0, 99.0]))
    traces = np.stack([ghosted((6.0, 10.0), reflection), -2 * ghosted((6.0, 10.0), reflection)])
    got, wanted = step(traces, *headers), BAND(T - 0.4)
    assert np.abs(got[0] - wanted).max() < 2e-3
    np.testing.assert_allclose(got[1], -2 * got[0], atol=1e-12)
    assert np.abs(traces[0] - wanted).max() > 0.5  # there was something to remove


def test_each_trace_has_the_depth_of_its_own_header() -> None:
    depths = np.array([5.0, 8.0, 12.0])
    traces = np.stack([ghosted((depth,)) for depth in depths])
    got = Deghost(INTERVAL, 0.0, None, C, 1.0, 4.0)(traces, 6.0, depths)
    np.testing.assert_allclose(got, np.tile(BAND(T - 0.4), (3, 1)), atol=2e-3)


@pytest.mark.parametrize("gain", [2.0, 4.0, 20.0])
def test_nothing_is_amplified_beyond_the_gain_and_the_inverse_is_exact_where_it_need_not_be(gain: float) -> None:
    frequency = np.linspace(0.0, 250.0, 5001)
    response = ghost(frequency, 10.0, C, 1.0)
    inverse = inverse_of(response, gain)
    assert np.abs(inverse).max() == pytest.approx(gain, rel=0.02)
    exact = np.abs(response) >= 1 / gain
    np.testing.assert_allclose((inverse * response)[exact], 1.0, rtol=1e-12)
    assert np.abs(response[np.searchsorted(frequency, 75.0)]) < 1e-9  # the notch c / (2 d)


@pytest.mark.parametrize(("depth", "notches"), [(6.0, 0), (10.0, 0), (25.0, 1), (50.0, 3), (0.0, 0)])
def test_notches_below_the_highest_frequency_are_counted(depth: float, notches: int) -> None:
    assert notches_below(60.0 if depth != 50.0 else 50.0, depth, C) == notches


def survey_at(folder: Path, depths: tuple[float, float], deghost: dict) -> object:
    """The survey of one gather whose headers have these depths of source and receivers."""
    receivers = np.stack((10.0 * np.arange(4), np.zeros(4), np.full(4, depths[1])), axis=1)
    with GatherWriter(folder / "shots.segy", 50, 0.004, 4) as writer:
        writer.write(0, 1, [0.0, 0.0, depths[0]], receivers, np.random.default_rng(1).standard_normal((4, 50)))
    values = {
        "model": {"vp": "vp.npy", "spacing": [10.0, 10.0]},
        "acquisition": {"gathers": "shots.segy", "conditioning": {"deghost": deghost}},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
    }
    return survey_of(values, folder / "survey.toml")


@pytest.mark.parametrize(
    ("depths", "deghost", "words"),
    [
        ((6.0, 10.0), {"source": -6.0}, "deghost.source: found -6.0; allowed"),
        ((6.0, 10.0), {"reflection": 1.5}, "deghost.reflection: found 1.5"),
        ((6.0, 10.0), {"gain": 0.5}, "deghost.gain: found 0.5"),
        ((-3.0, 10.0), {}, "deghost.source: missing, and shot 1 (FFID 1) has a source at a depth of -3 m"),
        ((6.0, 0.0), {}, "deghost.receiver: missing, and shot 1 (FFID 1) has a receiver at a depth of 0 m"),
    ],
)
def test_depths_that_are_none_get_one_line(
    tmp_path: Path, depths: tuple[float, float], deghost: dict, words: str
) -> None:
    with pytest.raises(InputError) as error:
        acquisition_of(survey_at(tmp_path, depths, deghost), 2)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_traces_of_a_survey_are_deghosted_by_their_headers_and_the_record_says_so(tmp_path: Path) -> None:
    survey = survey_at(tmp_path, (6.0, 10.0), {})
    acquisition = acquisition_of(survey, 2)
    [shot] = acquisition.shots
    raw = acquisition.recording.read(0, np.arange(4))
    wanted = Deghost(0.004, None, None, C, 1.0, 4.0)(raw.astype(float), 6.0, np.full(4, 10.0))
    np.testing.assert_allclose(acquisition.traces(shot, np.arange(4)), wanted, rtol=1e-6, atol=1e-6)
    [record] = acquisition.conditioning.record(acquisition.shots, ())
    assert record["step"] == "deghost"
    assert record["largest_gain"] == 4.0
    assert acquisition.conditioning.summary == "conditioned"


DX, DEPTH = 5.0, 495.0  # cells, and the reflector, m


def modelled(folder: Path, top: str) -> tuple[dict, str]:
    """Shots over one reflector, source 6 m and receivers 10 m deep, less those without it; and what a migration of them
    has in common."""
    cells = 161, 141
    vp = np.full(cells, 1500.0, np.float32)
    np.save(folder / "smooth.npy", vp)
    vp[:, int(DEPTH / DX) :] = 1700.0
    np.save(folder / "vp.npy", vp)
    common = {"wavelet": {"kind": "ricker", "peak_frequency": 25.0}}
    geometry = {
        "sources": {"x": [200.0, 600.0, 100.0], "z": 6.0},
        "receivers": {"x": [100.0, 700.0, 10.0], "z": 10.0},
        "sample_interval": 0.002,
    }
    propagation = {"duration": 0.9, "top": top}
    spacing = [DX, DX]
    out = model(
        folder,
        common | {"model": {"vp": "vp.npy", "spacing": spacing}, "acquisition": geometry, "propagation": propagation},
    )
    return common | {"model": {"vp": "smooth.npy", "spacing": spacing}}, str(out.files["shots"])


def reflector_of(image: np.ndarray) -> tuple[float, float]:
    """Depth in m of the largest magnitude of the middle columns of an image (x, z), by a parabola, and its sign."""
    trace = image[70:91].astype(float).mean(axis=0)
    window = slice(60, 130)
    k = window.start + int(np.argmax(np.abs(trace[window])))
    a, b, c = trace[k - 1 : k + 2]
    return DX * (k + 0.5 * (a - c) / (a - 2 * b + c)), float(np.sign(b))


@pytest.fixture(scope="module")
def ghosted_shots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict, str]:
    folder = tmp_path_factory.mktemp("ghosts")
    return folder, *modelled(folder, "free-surface")


def image_of(shots: tuple[Path, dict, str], top: str, deghost: dict | None) -> tuple[np.ndarray, list[str]]:
    folder, common, gathers = shots
    conditioning = {} if deghost is None else {"conditioning": {"deghost": deghost}}
    acquisition = {"gathers": gathers, "mute": {"velocity": 1480.0, "taper": 0.1}} | conditioning
    outcome = migrate(folder, common | {"acquisition": acquisition, "propagation": {"top": top}})
    return load(outcome.files["laplacian"]), outcome.record["results"]["notes"]


def test_a_reflector_under_a_free_surface_lies_where_it_is_once_traces_are_deghosted(ghosted_shots) -> None:
    """Absorbing top: without the step its polarity is wrong; with it the reflector is within a quarter of a cell, as
    with the free surface in the migration."""
    interface = DEPTH - DX / 2  # half a cell above the first cell of the lower layer
    depth, sign = reflector_of(image_of(ghosted_shots, "absorbing", {})[0])
    assert sign == 1.0
    assert abs(depth - interface) <= DX / 4
    raw, wrong = reflector_of(image_of(ghosted_shots, "absorbing", None)[0])
    assert wrong == -1.0
    assert abs(raw - interface) > DX / 4
    surface, right = reflector_of(image_of(ghosted_shots, "free-surface", None)[0])
    assert right == 1.0
    assert abs(surface - interface) <= DX / 4
    print(
        f"deghosted {depth - interface:+.2f} m, not {raw - interface:+.2f} m, free surface {surface - interface:+.2f} m"
    )
