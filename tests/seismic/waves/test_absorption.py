"""Verification 5: what the absorbing boundaries send back, and energy that keeps falling."""

import numpy as np
import pytest
from support import FULL, Medium, heterogeneous, ricker, second_derivative, times

from benchmarks.reflection import Reflection
from fathometer.seismic.waves.boundary import Pml, Sponge
from fathometer.seismic.waves.homogeneous import Material

pytestmark = pytest.mark.verify

SPACING, FREQUENCY = 12.5, 15.0


@pytest.mark.parametrize("axis", [0, 2], ids=["x", "z"])
@pytest.mark.parametrize(("epsilon", "delta"), [(None, None), (0.25, 0.1), (0.2, 0.2)])
def test_default_sides_reflect_less_than_40_dB_up_to_60_degrees(epsilon, delta, axis):
    assert Reflection(Material("", epsilon, delta), axis).decibels(Pml()).max() <= -40.0


def test_default_sides_reflect_as_little_with_optimised_weights():
    """Although the layers' first derivatives keep Taylor's."""
    assert Reflection(Material("", 0.25, 0.1), 0, "optimised").decibels(Pml()).max() <= -40.0


@pytest.mark.parametrize(("epsilon", "delta"), [(None, None), (0.25, 0.1)])
def test_a_sponge_of_40_cells_reflects_less_than_30_dB(epsilon, delta):
    assert Reflection(Material("", epsilon, delta), 0).decibels(Sponge(40)).max() <= -30.0


def energy(medium: Medium) -> float:
    """Discrete energy between two steps, in units of dt^2: (w+ - w)^T (dt^2 M)^-1 (w+ - w) - w+^T D w.

    M is singular where epsilon = delta: its pseudo-inverse is taken, cell by cell.
    """
    p = medium.propagator
    now, before = p.fields()
    nz = now[0].shape[2]
    m11, m12, m22 = (m[:, :, :nz] for m in medium.model)
    matrix = np.stack([np.stack([m11, m12], -1), np.stack([m12, m22], -1)], -2)
    change = np.stack([a - b for a, b in zip(now, before, strict=True)], -1)
    inverse = np.linalg.pinv(matrix, rcond=1e-9, hermitian=True)
    kinetic = np.sum(np.einsum("...i,...ij,...j", change, inverse, change))
    radius, spacing, kind = p.scheme.radius, medium.grid.spacing, p.scheme.space_weights
    horizontal = sum(second_derivative(before[0], a, spacing[a], radius, kind) for a in medium.grid.axes if a < 2)
    vertical = second_derivative(before[1], 2, spacing[2], radius, kind)
    return float(kinetic - np.sum(now[0] * horizontal) - np.sum(now[1] * vertical))


@pytest.mark.parametrize(
    ("shape", "boundary", "space_weights"),
    [
        ((60, 1, 50), Pml(), "taylor"),
        ((60, 1, 50), Pml(), "optimised"),
        ((60, 1, 50), Sponge(40), "taylor"),
        ((24, 20, 22), Pml(), "taylor"),
        ((24, 20, 22), Sponge(40), "taylor"),
    ],
)
def test_energy_falls_at_every_checkpoint_over_20000_steps(shape, boundary, space_weights):
    if not FULL and shape[1] > 1 and isinstance(boundary, Sponge):
        pytest.skip("full size only (make verify)")
    full = [n if n == 1 else n + 2 * boundary.width for n in shape]
    vp, epsilon, delta = heterogeneous(full)
    assert np.mean(epsilon == delta) > 0.2
    medium = Medium(shape, SPACING, vp, epsilon, delta, boundary=boundary, space_weights=space_weights)
    t = times(-1.5 / FREQUENCY, 1.5 / FREQUENCY, medium.dt)
    centre = (np.array(shape) // 2 + np.array([0.3, 0.0, 0.4])) * SPACING
    medium.run(centre, centre, ricker(t, FREQUENCY))
    energies = [energy(medium)]
    for _ in range(20):
        medium.propagator.advance(1000)
        energies.append(energy(medium))
    assert np.all(np.diff(energies) < 0), energies
    assert energies[-1] > 0


@pytest.mark.parametrize("boundary", [Pml(), Sponge(40)])
def test_single_precision_stays_quiet_where_epsilon_equals_delta(boundary):
    """After the waves have left, rounding noise grows ever more slowly: at most twofold from step 10,000 to 20,000."""
    shape = (60, 1, 50)
    vp, _, delta = heterogeneous([n if n == 1 else n + 2 * boundary.width for n in shape])
    medium = Medium(shape, SPACING, vp, delta, delta, boundary=boundary, dtype=np.float32)
    t = times(-1.5 / FREQUENCY, 1.5 / FREQUENCY, medium.dt)
    centre = np.array([30.3, 0.0, 25.4]) * SPACING
    medium.run(centre, centre, ricker(t, FREQUENCY))
    loudest = max(np.abs(f).max() for f in medium.propagator.fields()[0])
    peaks = []
    for _ in range(10):
        medium.propagator.advance(2000)
        peaks.append(max(np.abs(f).max() for f in medium.propagator.fields()[0]))
    assert peaks[-1] <= 2 * peaks[4], peaks
    assert max(peaks) <= 0.01 * loudest


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.1), (0.1, 0.1)])
def test_rounding_grows_where_epsilon_equals_delta_and_only_there(epsilon, delta):
    """Fields of float32 less those of float64 after some thousand steps, over the loudest that has been."""
    shape = (60, 1, 50)
    rounding = []
    media = [Medium(shape, SPACING, 2000.0, epsilon, delta, dtype=dtype) for dtype in (np.float32, np.float64)]
    t = times(-1.5 / FREQUENCY, 1.5 / FREQUENCY, media[0].dt)
    for medium in media:
        medium.run(np.array([30.3, 0.0, 25.4]) * SPACING, np.array([40.0, 0.0, 25.0]) * SPACING, ricker(t, FREQUENCY))
    loudest = max(np.abs(field).max() for field in media[1].propagator.fields()[0])
    for _ in range(2):
        for medium in media:
            medium.propagator.advance(2000)
        pairs = zip(*(medium.propagator.fields()[0] for medium in media), strict=True)
        rounding.append(max(np.abs(a - b).max() for a, b in pairs) / loudest)
    if epsilon > delta:
        assert max(rounding) < 1e-5, rounding
    else:
        assert rounding[1] > 1.2 * rounding[0] > 1e-5, rounding
        assert rounding[1] < 1e-2, rounding
