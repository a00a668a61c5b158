"""Verification 1: traces in a homogeneous isotropic medium against the analytic solution."""

import math

import numpy as np
import pytest
from analytic import FREQUENCY, START, VELOCITY, WAVELENGTH, exact_2d, exact_3d
from support import FULL, Medium, ricker, times
from survey_support import model

from fathometer.grid.stencil import weight_sum
from fathometer.seismic.traces.dispersion import forward_transform, inverse_transform
from fathometer.storage.traces.segy import read_traces

pytestmark = pytest.mark.verify


def trace_error(dimensions, vti, dtype):
    """Relative L2 error after 5 wavelengths: 10 points per dominant wavelength, order 8, dt a tenth of the limit, so
    that space alone is tested; wide enough across that the sides, which the path grazes, do not answer."""
    flat = dimensions == 2
    spacing = WAVELENGTH / 10
    medium = Medium(
        (66, 1 if flat else 40, 40), spacing, VELOCITY, *((0.0, 0.0) if vti else ()), dtype=dtype, share=0.1
    )
    source = np.array([6.0, 0.0 if flat else 19.4, 19.3]) * spacing
    receiver = source + np.array([50.3, 0.0 if flat else 1.2, 0.9]) * spacing
    distance = np.linalg.norm(receiver - source)
    assert distance >= 5 * WAVELENGTH
    t = times(START, distance / VELOCITY + 1.6 / FREQUENCY, medium.dt)
    trace = medium.run(source, receiver, ricker(t, FREQUENCY))[:, 0]
    wanted = (exact_2d if flat else exact_3d)(t, distance)
    return np.linalg.norm(trace - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti-kernel"])
def test_five_wavelengths_within_one_percent(dimensions, vti, dtype):
    if dimensions == 3 and not FULL and (vti or dtype == np.float64):
        pytest.skip("full size only (make verify)")
    assert trace_error(dimensions, vti, dtype) <= 0.01


def large_step_error(dimensions, corrected, order=8, vti=False, points=10, space_weights="taylor"):
    """Relative L2 error after 10 wavelengths: 10 points per dominant wavelength, dt at 0.95 of the limit; with the
    error in time corrected, or left in."""
    flat = dimensions == 2
    spacing = WAVELENGTH / points
    across = (8 if FULL else 4) * points
    anisotropy = (0.0, 0.0) if vti else ()
    shape = (10 * points + 16, 1 if flat else across, across)
    medium = Medium(shape, spacing, VELOCITY, *anisotropy, dtype=np.float32, order=order, space_weights=space_weights)
    source = np.array([6.0, 0.0 if flat else across / 2 - 0.6, across / 2 - 0.7]) * spacing
    receiver = source + np.array([10 * points + 0.3, 0.0 if flat else 1.2, 0.9]) * spacing
    distance = np.linalg.norm(receiver - source)
    assert distance >= 10 * WAVELENGTH
    before = math.ceil(-START / medium.dt)
    t = times(-before * medium.dt, distance / VELOCITY + 1.6 / FREQUENCY, medium.dt)
    series = ricker(t, FREQUENCY)[None]
    trace = medium.run(source, receiver, (forward_transform(series, before) if corrected else series)[0]).T
    trace = (inverse_transform(trace, before) if corrected else trace)[0]
    wanted = (exact_2d if flat else exact_3d)(t, distance)
    return np.linalg.norm(trace - wanted) / np.linalg.norm(wanted)


@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti-kernel"])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_ten_wavelengths_in_steps_near_the_limit(dimensions, vti):
    if dimensions == 3 and vti and not FULL:
        pytest.skip("full size only (make verify)")
    assert large_step_error(dimensions, True, vti=vti) <= 0.03
    assert large_step_error(dimensions, False, vti=vti) >= 0.3


def modelled_error(folder, time_dispersion, space_weights="taylor"):
    """The same in 2D by the command: from a survey to a SEG-Y file. The wavelet comes late, so that the error in time
    counts in what is injected as well as in what is recorded."""
    spacing, interval, samples, delay, fmax = WAVELENGTH / 10, 0.002, 700, 0.5, 4 * FREQUENCY
    np.save(folder / "vp.npy", np.full((116, 80), VELOCITY, np.float32))
    np.save(folder / "wavelet.npy", ricker(interval * np.arange(400) - delay, FREQUENCY))
    source, receiver = np.array([6.0, 39.3]) * spacing, np.array([106.3, 40.2]) * spacing
    values = {
        "model": {"vp": "vp.npy", "spacing": [spacing, spacing]},
        "acquisition": {
            "sources": {"x": source[0], "z": source[1]},
            "receivers": {"x": receiver[0], "z": receiver[1]},
            "sample_interval": interval,
        },
        "wavelet": {"kind": "file", "path": "wavelet.npy", "sample_interval": interval, "maximum_frequency": fmax},
        "propagation": {
            "duration": (samples - 1) * interval,
            "time_dispersion": time_dispersion,
            "space_weights": space_weights,
        },
    }
    outcome = model(folder, values)
    results = outcome.record["results"]
    assert (results["time_dispersion"], results["space_weights"]) == (time_dispersion, space_weights)
    limit = 2 * spacing / VELOCITY / math.sqrt(2 * weight_sum(4, space_weights))
    assert results["time_step_limit_seconds"] == pytest.approx(limit)
    assert results["time_step_seconds"] == pytest.approx(0.95 * limit)
    (trace,) = read_traces(outcome.files["shots"], np.array([0]))
    wanted = exact_2d(interval * np.arange(samples) - delay, np.linalg.norm(receiver - source))
    return np.linalg.norm(trace - wanted) / np.linalg.norm(wanted)


def test_ten_wavelengths_by_the_command(tmp_path):
    assert modelled_error(tmp_path, "corrected") <= 0.03
    assert modelled_error(tmp_path, "none") >= 0.3
    assert modelled_error(tmp_path, "corrected", "optimised") <= 0.01


def test_optimised_weights_do_with_fewer_points():
    """What is left of the error after ten wavelengths of 8 points: a third of that of Taylor's weights, or less."""
    optimised, taylor = (large_step_error(2, True, points=8, space_weights=w) for w in ("optimised", "taylor"))
    assert optimised <= 0.015
    assert optimised <= taylor / 3


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["x", "y", "z"])
@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti-kernel"])
def test_every_axis_has_its_own_spacing(vti, axis):
    """Three wavelengths along each axis of a grid whose cells are no cubes, in 3D."""
    spacing = WAVELENGTH / np.array([10.0, 12.0, 11.0])
    shape = [18, 18, 18]
    shape[axis] = 48
    medium = Medium(shape, spacing, VELOCITY, *((0.0, 0.0) if vti else ()), dtype=np.float32, share=0.2)
    source, receiver = np.array([8.2, 8.3, 8.4]) * spacing, np.array([9.1, 8.6, 8.9]) * spacing
    source[axis], receiver[axis] = 6 * spacing[axis], 6 * spacing[axis] + 3 * WAVELENGTH
    distance = np.linalg.norm(receiver - source)
    t = times(START, distance / VELOCITY + 1.6 / FREQUENCY, medium.dt)
    trace = medium.run(source, receiver, ricker(t, FREQUENCY))[:, 0]
    wanted = exact_3d(t, distance)
    assert np.linalg.norm(trace - wanted) <= 0.01 * np.linalg.norm(wanted)


@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti-kernel"])
def test_a_free_surface_adds_the_mirror_image_with_changed_sign(vti):
    """Direct wave less the wave of the source's mirror image; both points lie between cells near the surface."""
    spacing = WAVELENGTH / 10
    medium = Medium((46, 1, 30), spacing, VELOCITY, *((0.0, 0.0) if vti else ()), share=0.1, free_surface=True)
    source, receiver = np.array([6.0, 0.0, 2.3]) * spacing, np.array([38.3, 0.0, 12.6]) * spacing
    mirrored = source * (1, 1, -1)
    far = np.linalg.norm(receiver - mirrored)
    t = times(START, far / VELOCITY + 1.6 / FREQUENCY, medium.dt)
    trace = medium.run(source, receiver, ricker(t, FREQUENCY))[:, 0]
    direct = exact_2d(t, np.linalg.norm(receiver - source))
    wanted = direct - exact_2d(t, far)
    assert np.linalg.norm(trace - wanted) <= 0.01 * np.linalg.norm(direct)


def test_amplitude_is_independent_of_place_between_the_cells():
    """Injection and sampling anywhere in a cell give the same trace to a percent."""
    spacing = WAVELENGTH / 8
    medium = Medium((60, 1, 30), spacing, VELOCITY)
    t = times(START, 0.45, medium.dt)
    offset = np.array([30.0, 0.0, 8.0]) * spacing
    traces = [
        medium.run(place, place + offset, ricker(t, FREQUENCY))[:, 0]
        for place in (np.array([12 + a, 0, 10 + b]) * spacing for a, b in [(0, 0), (0.5, 0.5), (0.2, 0.7)])
    ]
    for trace in traces[1:]:
        assert np.linalg.norm(trace - traces[0]) <= 0.01 * np.linalg.norm(traces[0])
