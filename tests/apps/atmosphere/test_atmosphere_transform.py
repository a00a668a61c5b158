"""Spherical harmonics: Gauss's latitudes, there and back, coefficients against ducc0, derivatives of known flows."""

import numpy as np
import pytest
from atmosphere_support import coefficients, grid_of, mean, model_of, transform_of

from fathometer import _native
from fathometer.apps.atmosphere.solver.equations import Planet, Primitive, sigma_levels
from fathometer.apps.atmosphere.solver.starts import Start
from fathometer.apps.atmosphere.solver.transform import shared_waves


@pytest.mark.parametrize("count", [2, 8, 64, 128, 320, 1024])
def test_latitudes_integrate_polynomials(count):
    """Exactly up to the degree 2 count - 1; nodes beside Newton's in more digits."""
    sines, weights = (np.array(part) for part in _native.gauss_latitudes(count=count))
    assert np.all(np.diff(sines) < 0)
    assert sines[-1] > 0
    for power in (0, 2, count, 2 * count - 2):
        assert 2 * np.sum(weights * sines**power) == pytest.approx(2 / (power + 1), rel=1e-13)
    nodes, theirs = np.polynomial.legendre.leggauss(count)
    assert np.allclose(sines, nodes[::-1][: count // 2], rtol=0, atol=1e-14)
    assert np.allclose(weights, theirs[::-1][: count // 2], rtol=1e-8, atol=0)


@pytest.mark.parametrize("truncation", [21, 42, 85])
def test_there_and_back(truncation):
    transform = transform_of(truncation)
    values = coefficients(transform, 5)
    grid = transform.to_grid(values)

    def copy(pair, result):
        result[...] = grid[pair]

    again = transform.from_grid(5, copy)
    assert np.abs(again - values)[transform.degrees <= truncation].max() < 1e-13 * np.abs(values).max()
    transform.close()


@pytest.mark.parametrize("truncation", [21, 42, 85])
def test_every_coefficient_is_that_of_ducc0(truncation):
    sht = pytest.importorskip("ducc0", reason="ducc0 is not installed").sht
    transform = transform_of(truncation)
    values = coefficients(transform, 1)
    grid = transform.to_grid(values)[..., 0]
    theirs = np.empty((transform.grid.latitudes, transform.grid.longitudes))
    theirs[: transform.grid.pairs] = grid[:, 0]
    theirs[transform.grid.pairs :] = grid[::-1, 1]
    found = sht.analysis_2d(map=theirs[None], spin=0, lmax=truncation, mmax=truncation, geometry="GL")[0]
    start, size = 0, np.sqrt(2 * np.pi)
    for number, m in enumerate(transform.waves):
        rows = values[transform.sphere.begin[number] : transform.sphere.begin[number + 1] - 1, 0]
        mine = rows * size * (-1) ** m
        count = truncation + 1 - m
        assert np.abs(found[start : start + count] - mine).max() < 3e-13 * np.abs(values).max()
        start += count
    assert start == len(found)
    transform.close()


class Turning(Start):
    """Air that turns as a body about an axis that leans by an angle, and blows away from a point."""

    equations = Primitive(Planet(), *sigma_levels(2))
    SPEED, LEAN, FLOW = 40.0, 0.6, 3.0

    def weather(self, pair):
        latitude, longitude = self._places(pair)
        u = self.SPEED * (
            np.cos(latitude) * np.cos(self.LEAN) + np.sin(latitude) * np.cos(longitude) * np.sin(self.LEAN)
        )
        v = -self.SPEED * np.sin(longitude) * np.sin(self.LEAN) + self.FLOW * np.cos(latitude)
        u, v = (np.broadcast_to(part, (2, len(longitude)))[..., None] * np.array([1.0, 2.0]) for part in (u, v))
        return u, v, 300 + 0 * u, np.full(u.shape[:2], 1e5)


def test_winds_come_back_and_vorticity_is_known():
    start = Turning(grid_of(21))
    model = model_of(start)
    weather = model.weather()
    radius, grid = start.planet.radius, start.grid
    for pair in range(grid.pairs):
        u, v, *_ = start.weather(pair)
        assert np.allclose(weather[pair, ..., :2], u, rtol=0, atol=1e-11)
        assert np.allclose(weather[pair, ..., 2:4], v, rtol=0, atol=1e-11)
        latitude, longitude = grid.latitude(pair)[:, None], grid.longitude
        about = np.sin(latitude) * np.cos(start.LEAN) - np.cos(latitude) * np.cos(longitude) * np.sin(start.LEAN)
        expected = 2 * start.SPEED / radius * about
        assert np.allclose(weather[pair, ..., 6], expected, rtol=0, atol=1e-17)
        assert np.allclose(weather[pair, ..., 7], 2 * expected, rtol=0, atol=2e-17)
    # Divergence of v = F cos(latitude): -2 F sin(latitude) / a.
    divergence = model.transform.to_grid(np.ascontiguousarray(model.now[:, 2:3]))[..., 0]
    expected = -2 * start.FLOW / radius * np.array([np.sin(grid.latitude(pair)) for pair in range(grid.pairs)])
    assert np.allclose(divergence, expected[..., None], rtol=0, atol=1e-17)
    assert abs(mean(model, divergence)) < 1e-20
    model.close()


@pytest.mark.parametrize("truncation", [5, 42, 85])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 6])
def test_wavenumbers_are_shared_alike(truncation, ranks):
    shares = shared_waves(truncation, ranks)
    assert sorted(m for own in shares for m in own) == list(range(truncation + 1))
    work = np.array([sum(truncation + 1 - m for m in own) for own in shares])
    assert truncation < 42 or work.max() / work.mean() < 1.03
