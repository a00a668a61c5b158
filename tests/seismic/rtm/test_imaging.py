"""Verification 7: diffractors and reflectors image where they are, and only in the right medium."""

import numpy as np
import pytest
from scipy.signal import hilbert
from support import ricker
from survey_support import load, migrate, model, write_difference

from fathometer.seismic.rtm.conditions import laplacian
from fathometer.storage.traces.segy import GatherWriter

pytestmark = pytest.mark.verify

SPACING = 10.0
NX, NZ = 161, 101


EVERYWHERE = {
    "sources": {"x": [200.0, 1400.0, 300.0], "z": 20.0},
    "receivers": {"x": [0.0, 1600.0, 20.0], "z": 20.0},
    "sample_interval": 0.002,
}
FAR = {
    "sources": {"x": [100.0, 500.0, 100.0], "z": 20.0},
    "receivers": {"x": [700.0, 1100.0, 20.0], "z": 20.0, "relative": True},
    "sample_interval": 0.002,
}


def survey(vp, anisotropy=(0.0, 0.0), acquisition=EVERYWHERE, **sections):
    return {
        "model": {"vp": vp, "epsilon": anisotropy[0], "delta": anisotropy[1], "spacing": [SPACING, SPACING]},
        "acquisition": acquisition,
        "wavelet": {"kind": "ricker", "peak_frequency": 20.0},
        # One dt for all models, so that direct waves cancel when traces are subtracted.
        "propagation": {"duration": 1.2, "dt": 0.001},
        **sections,
    }


def shots(folder, name, vp, anisotropy=(0.0, 0.0), **keys):
    np.save(folder / f"{name}.npy", vp.astype(np.float32))
    files = model(folder, survey(f"{name}.npy", anisotropy, output={"directory": name}, **keys)).files
    return files["shots"]


def image_of(folder, name, vp, anisotropy, gathers):
    """The Laplacian-filtered image (x, z)."""
    np.save(folder / f"{name}.npy", vp.astype(np.float32))
    values = survey(f"{name}.npy", anisotropy, {"gathers": str(gathers)}, output={"directory": name})
    return load(migrate(folder, values).files["laplacian"])


@pytest.mark.parametrize("anisotropy", [(0.0, 0.0), (0.2, 0.1)], ids=["isotropic", "vti"])
def test_a_point_diffractor_images_within_one_cell(tmp_path, anisotropy):
    background = np.full((NX, NZ), 2000.0)
    place = (87, 62)
    with_point = background.copy()
    with_point[place] = 2600.0
    traces = [shots(tmp_path, name, vp, anisotropy) for name, vp in (("point", with_point), ("none", background))]
    write_difference(*traces, tmp_path / "scattered.segy")
    image = image_of(tmp_path, "smooth", background, anisotropy, tmp_path / "scattered.segy")
    # A point's reflectivity is a pair of opposite signs above and below it: its place is the envelope's maximum.
    envelope = np.abs(hilbert(image, axis=1))[:, 25:90]
    found = np.array(np.unravel_index(np.argmax(envelope), envelope.shape)) + np.array([0, 25])
    assert np.abs(found - place).max() <= 1, found


def reflector_depth(image):
    """Depth in cells of the strongest positive event in the stack over the middle of the image."""
    trace = image[65:100, 30:].mean(axis=0)
    k = int(np.argmax(trace))
    a, b, c = trace[k - 1 : k + 2]
    return 30 + k + 0.5 * (a - c) / (a - 2 * b + c)


def test_a_flat_reflector_under_vti_needs_the_anisotropy(tmp_path):
    """Between cells 64 and 65, velocity increasing: a positive peak there; with epsilon = delta = 0 it moves up."""
    overburden = np.full((NX, NZ), 2000.0)
    true = overburden.copy()
    true[:, 65:] = 2600.0
    vti = (0.2, 0.1)
    models = (("layers", true), ("none", overburden))
    traces = [shots(tmp_path, name, vp, vti, acquisition=FAR) for name, vp in models]
    write_difference(*traces, tmp_path / "reflected.segy")
    right = reflector_depth(image_of(tmp_path, "vti", overburden, vti, tmp_path / "reflected.segy"))
    wrong = reflector_depth(image_of(tmp_path, "isotropic", overburden, (0.0, 0.0), tmp_path / "reflected.segy"))
    assert right == pytest.approx(64.5, abs=0.5)
    assert abs(wrong - 64.5) >= 1.5


DEEP = 85.5  # cells


def deep_reflector_depth(folder, time_dispersion):
    """Depth in cells of a reflector at DEEP, from one shot of analytic traces (a source mirrored in it, so free of any
    step's error), migrated in the largest steps."""
    source, surface = 80 * SPACING, 2 * SPACING
    x = SPACING * np.arange(10.0, 151.0, 2.0)
    receivers = np.stack([x, 0 * x, 0 * x + surface], axis=1)
    t = 0.002 * np.arange(601)
    traces = [line_source(t, np.hypot(one - source, 2 * (DEEP * SPACING - surface))) for one in x]
    with GatherWriter(folder / "deep.segy", len(t), 0.002, len(x)) as writer:
        writer.write(0, 1, (source, 0.0, surface), receivers, np.array(traces))
    np.save(folder / "vp.npy", np.full((NX, NX), 2000.0, np.float32))
    values = survey("vp.npy", acquisition={"gathers": "deep.segy"})
    values["propagation"] = {"time_dispersion": time_dispersion}
    outcome = migrate(folder, values)
    assert outcome.record["results"]["time_dispersion"] == time_dispersion
    return reflector_depth(load(outcome.files["laplacian"]))


def line_source(t, distance):
    """1/(2 pi) int f(t - s) / sqrt(s^2 - (r/c)^2) ds with s = (r/c) cosh q, f the Ricker wavelet of the surveys."""
    q = np.linspace(0.0, 2.0, 2001)
    return np.trapezoid(ricker(t[:, None] - distance / 2000.0 * np.cosh(q), 20.0), q, axis=1) / (2 * np.pi)


def test_a_deep_reflector_keeps_its_depth_in_large_steps(tmp_path):
    """17 wavelengths there and back in steps of 0.95 of the limit: right to a tenth of a cell, and too deep without."""
    assert deep_reflector_depth(tmp_path, "corrected") == pytest.approx(DEEP, abs=0.1)
    assert deep_reflector_depth(tmp_path, "none") >= DEEP + 0.4


def test_source_normalisation_balances_without_moving(tmp_path):
    """Divided by illumination, the image keeps the reflector's place; it is image / (energy + lambda) exactly, times
    what the time steps take from that."""
    true = np.full((NX, NZ), 2000.0)
    true[:, 65:] = 2600.0
    overburden = np.full((NX, NZ), 2000.0)
    traces = [shots(tmp_path, name, vp) for name, vp in (("layers", true), ("none", overburden))]
    write_difference(*traces, tmp_path / "reflected.segy")
    np.save(tmp_path / "smooth.npy", overburden.astype(np.float32))
    values = survey("smooth.npy", acquisition={"gathers": str(tmp_path / "reflected.segy")})
    values["imaging"] = {"condition": "source-normalised"}
    outcome = migrate(tmp_path, values)
    assert reflector_depth(load(outcome.files["laplacian"])) == pytest.approx(64.5, abs=0.5)
    normalised, level = load(outcome.files["image"]), outcome.record["results"]["illumination"]
    values["imaging"] = {"condition": "cross-correlation"}
    plain = migrate(tmp_path, values).files  # in the place of the first
    image, energy = load(plain["image"]), load(plain["illumination"])
    assert level["stabilisation"] == pytest.approx(1e-3 * np.median(energy), rel=0.01)  # all cells are lit
    quotient = image / (energy + np.float32(level["stabilisation"]))
    np.testing.assert_allclose(normalised, level["time_step_gain"] * quotient, rtol=1e-5, atol=0)
    assert 1.0 < level["time_step_gain"] < 1.01


def test_laplacian_of_a_paraboloid():
    x, y, z = np.meshgrid(*[np.arange(6.0)] * 3, indexing="ij")
    values = 3 * (2 * x) ** 2 + (3 * y) ** 2 - 2 * (4 * z) ** 2
    np.testing.assert_allclose(laplacian(values, (2.0, 3.0, 4.0)), np.full((4, 4, 4), -(6 + 2 - 4)))
