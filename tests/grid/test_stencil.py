"""The weights of the differences in space: their error at every wavenumber, and the time step that they allow."""

import numpy as np
import pytest
from support import Medium

from fathometer.grid.stencil import OPTIMISED_BAND, second_derivative_weights, weight_sum

KINDS = ("taylor", "optimised")
RADII = range(1, 9)
K = np.linspace(0, np.pi, 5001)[1:]


def seen(radius, kind, k=K):
    """What a wave of wavenumber k (radians a cell) sees in place of k^2."""
    weights = second_derivative_weights(radius, kind)
    return -weights[0] - 2 * np.cos(np.outer(k, np.arange(1, radius + 1))) @ weights[1:]


def velocity_error(radius, kind, k=K):
    """Relative error of the phase velocity."""
    return np.sqrt(seen(radius, kind, k)) / k - 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", RADII)
def test_constants_and_parabolas_are_exact(radius, kind):
    weights, r = second_derivative_weights(radius, kind), np.arange(radius + 1)
    assert weights[0] + 2 * weights[1:].sum() == pytest.approx(0, abs=1e-14)
    assert np.sum(r**2 * weights) == pytest.approx(1, abs=1e-14)


def test_optimised_weights_of_radius_1_are_taylors():
    assert second_derivative_weights(1, "optimised").tolist() == pytest.approx([-2.0, 1.0], abs=1e-15)


@pytest.mark.parametrize("radius", RADII[1:])
def test_optimised_weights_keep_the_velocity_over_their_band(radius):
    """To 1e-4 up to its end and no further; Taylor's weights keep to that over two thirds of it at most."""
    band = OPTIMISED_BAND[radius - 1] * np.pi
    inside = np.linspace(0, band, 1000)[1:]
    assert np.abs(velocity_error(radius, "optimised", inside)).max() <= 1e-4
    assert abs(velocity_error(radius, "optimised", 1.02 * inside[-1:]))[0] > 1e-4
    assert abs(velocity_error(radius, "taylor", inside[-1:] / 1.5))[0] > 1e-4
    taylors = abs(velocity_error(radius, "taylor", inside[-1:]))[0]
    assert np.abs(velocity_error(radius, "optimised", inside)).max() <= 0.2 * taylors


def test_order_8_has_the_advised_4_cells_a_wavelength_within_its_band():
    """Below 4 cells a run warns."""
    assert 2 / OPTIMISED_BAND[3] <= 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", RADII)
def test_the_sum_is_the_largest_that_any_wave_sees(radius, kind):
    assert weight_sum(radius, kind) == pytest.approx(seen(radius, kind).max(), rel=1e-12)


def growth(radius, kind, share):
    """Largest amplitude after 1500 steps from noise, over that of the noise, at a share of the stability limit."""
    medium = Medium((60, 1, 40), 10.0, 2000.0, 0.2, 0.1, order=2 * radius, share=share, space_weights=kind)
    now, before = medium.propagator.fields()
    noise = np.random.default_rng(6).standard_normal(now[0].shape)
    for field in (*now, *before):
        field[...] = noise
    medium.propagator.advance(1500)
    loudest = max(np.abs(field).max() for field in medium.propagator.fields()[0])
    return np.nan_to_num(loudest / np.abs(noise).max(), nan=np.inf)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", [2, 4, 8])
def test_the_limit_of_dt_is_where_steps_become_unstable(radius, kind):
    assert growth(radius, kind, 0.99) <= 10
    assert growth(radius, kind, 1.02) >= 1e10


def test_optimised_weights_are_unstable_at_the_limit_of_taylors():
    taylors = np.sqrt(weight_sum(4, "optimised") / weight_sum(4, "taylor"))
    assert taylors > 1.03
    assert growth(4, "optimised", taylors) >= 1e10
