"""The inverse-scattering condition as it is computed, against its definition."""

import numpy as np
import pytest
from support import Medium, ricker
from survey_support import load, migrate, model

from fathometer.seismic.rtm.conditions import InverseScattering, laplacian

pytestmark = pytest.mark.verify

SPACING = 10.0


def fields(medium, place, series) -> np.ndarray:
    """The pressure of all cells after each step, (steps, nx, nz), float64."""
    p = medium.propagator
    points = p.injectors(medium.points([place]))
    p.reset()
    found = np.empty((len(series), *p.image_shape))
    for n in range(len(series)):
        p.advance(1, points, np.ascontiguousarray(series[n : n + 1, None]), snapshots=[found[n]])
    return found[:, :, 0]


def difference(refined: int) -> float:
    """Between v^-2 ∂t p_s ∂t p_r - ∇p_s·∇p_r by central differences and -1/2 ∇² of the sum of products, relative L2,
    for the wavefields of a source and of a receiver, which runs backwards, in a smooth isotropic medium, on a grid that
    is so many times finer."""
    n, spacing = refined, SPACING / refined
    shape = (60 * n + 1, 1, 50 * n + 1)
    x, z = (spacing * (np.arange(m + 16) - 8.0) for m in (shape[0], shape[2]))
    velocity = 2000 + 0.6 * z[None, :] + 150 * np.sin(x / 90)[:, None] * np.cos(z / 110)[None, :]
    medium = Medium(shape, spacing, velocity[:, None], order=8, dtype=np.float64)
    time = medium.dt * np.arange(int(0.45 / medium.dt))
    source = fields(medium, (150.0, 0.0, 120.0), ricker(time - 0.12, 12.0))
    receiver = fields(medium, (450.0, 0.0, 100.0), ricker(time - 0.12, 12.0))[::-1]
    slopes = [(one[2:] - one[:-2]) / (2 * medium.dt) for one in (source, receiver)]
    defined = (slopes[0] * slopes[1]).sum(axis=0) / velocity[8:-8, 8:-8] ** 2
    for axis in (1, 2):
        gradients = [np.gradient(one[1:-1], spacing, axis=axis) for one in (source, receiver)]
        defined -= (gradients[0] * gradients[1]).sum(axis=0)
    product = np.pad((source[1:-1] * receiver[1:-1]).sum(axis=0), 1)
    computed = InverseScattering.laplacian * laplacian(product[:, None], (spacing,) * 3)[:, 0]
    inside = (slice(5 * n, -5 * n), slice(28 * n, -6 * n))  # away from source, receiver and sides
    return float(np.linalg.norm((defined - computed)[inside]) / np.linalg.norm(defined[inside]))


def test_the_sum_of_derivatives_is_half_the_laplacian():
    """All differences in it are of second order: a fourth of the difference on half the spacing."""
    coarse, fine = difference(1), difference(2)
    assert coarse < 0.1
    assert coarse / fine == pytest.approx(4, rel=0.2)


def test_it_is_what_migrate_writes(tmp_path):
    vp = np.full((81, 61), 2000.0, np.float32)
    vp[:, 35:] = 3000.0
    np.save(tmp_path / "vp.npy", vp)
    common = {
        "model": {"vp": "vp.npy", "spacing": [SPACING, SPACING]},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
    }
    geometry = {
        "sources": {"x": [200.0, 600.0, 200.0], "z": 20.0},
        "receivers": {"x": [0.0, 800.0, 10.0], "z": 20.0},
    }
    shots = model(tmp_path, common | {"acquisition": geometry, "propagation": {"duration": 0.7}}).files["shots"]
    images = {}
    for condition in ("cross-correlation", "inverse-scattering"):
        keys = {"acquisition": {"gathers": str(shots)}, "imaging": {"condition": condition}}
        outcome = migrate(tmp_path, common | keys | {"output": {"directory": condition}})
        images[condition] = load(outcome.files["image"])
        assert ("laplacian" in outcome.files) == (condition == "cross-correlation")
    plain, filtered = images.values()
    wide = np.pad(plain, 1, mode="edge")[:, None]
    assert (filtered == laplacian(wide, (SPACING,) * 3)[:, 0] * np.float32(0.5)).all()
