"""What the discrete equations keep: free energy, sums of the bracket, density and energy by collisions."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI
from plasma_support import box, linear, model_of, noise, real_noise
from scipy.integrate import quad
from scipy.special import eval_legendre

from benchmarks.plasma_numpy import numpy_rates
from fathometer import _native
from fathometer.apps.plasma.solver.bracket import Bracket, grid_of
from fathometer.apps.plasma.solver.geometry import Modes
from fathometer.apps.plasma.solver.model import Plasma
from fathometer.apps.plasma.solver.velocity import Species, VelocityGrid, energy_rule


def h_of(model, plasma):
    """h of g, [ky, velocity, theta, kx], and chi."""
    model._solve(model.g)
    phi = model.fields[0][:, None].reshape(model.g.shape[0], 1, *model.g.shape[2:])
    chi = phi + 0 * model.g
    if plasma.beta:
        a = model.fields[1].reshape(phi.shape)
        chi = chi - plasma.grid.parallel[None, :, None, None] * a
    chi = model._j0 * chi
    factor = (plasma.grid.charge / plasma.grid.temperature)[None, :, None, None]
    return model.g + factor * chi, chi


@pytest.mark.parametrize("which", ["adiabatic", "kinetic", "chain"])
def test_linear_terms_keep_the_free_energy(which):
    """Re sum T h* dg/dt over velocities, waves and 1/B is what drives give: 1e-12 of the sum of absolute values."""
    if which == "chain":
        plasma = linear([0.3], energies=6, cosines=6, upwind=0.0)
    else:
        plasma = box(electrons=which == "kinetic", upwind=0.0)
        if which == "kinetic":
            species = [plasma.grid.species[0], Species("electrons", -1.0, 0.01, density_gradient=2.22, upwind=0.0)]
            plasma = Plasma(plasma.tube, VelocityGrid(species, 3, 4, 8.0), 0.0, 0.01)
    model = model_of(plasma)
    model.g[:] = noise(model.g.shape)
    if which == "chain":  # nothing leaves at its ends
        model.g[..., 0] = model.g[..., -1] = 0
    h, chi = h_of(model, plasma)
    if which == "chain":
        model.g[..., 0] -= h[..., 0]
        model.g[..., -1] -= h[..., -1]
        h, chi = h_of(model, plasma)
    rate = np.empty_like(model.g)
    model.rates(model.g, rate, bracket=False)
    weight = (plasma.grid.weight * plasma.grid.temperature)[None, :, None, None] / plasma.tube.field[:, None]
    drive = -1j * plasma.drives()[:, :, None, None] * chi
    kept = np.sum((np.conj(h) * (rate - drive)).real * weight)
    assert abs(kept) < 1e-12 * np.sum(np.abs(h) * np.abs(rate) * weight)


def test_upwinding_only_takes_free_energy():
    plasma = box(upwind=1.0)
    model = model_of(plasma)
    model.g[:] = real_noise(plasma)
    sums = model.sums()
    assert sums.upwind < 0
    assert sums.damping == 0
    assert sums.collisions == 0


def bracket_of(modes, chi, g):
    """By the program, of [ky, kx] each."""
    bracket = Bracket(modes, 1, np.zeros(1), 0, 1)
    result = np.empty((len(modes.ky), 1, modes.waves), np.complex128)
    one = np.ones((len(modes.ky), 1, modes.waves))
    bracket.apply(g[:, None].copy(), one, chi[None, :, None].copy(), result, lambda: None)
    return result[:, 0]


def dot(a, b):
    """Over all modes, those with negative ky too."""
    both = np.where(np.arange(len(a)) > 0, 2.0, 1.0)[:, None]
    return float(np.sum(both * (np.conj(a) * b).real))


@pytest.mark.parametrize(("ky", "kx"), [(4, 9), (22, 85), (2, 3), (7, 16 + 1)])
def test_sums_of_the_bracket_vanish(ky, kx):
    modes = Modes.in_box(ky, kx, 0.1, 0.07, 1)
    chi, g = (real_noise_plane(ky, kx, seed) for seed in (1, 2))
    found = bracket_of(modes, chi, g)
    size = np.sqrt(dot(found, found))
    assert abs(dot(g, found)) < 1e-14 * size * np.sqrt(dot(g, g))
    assert abs(dot(chi, found)) < 1e-14 * size * np.sqrt(dot(chi, chi))
    assert abs(found[0, (kx - 1) // 2]) < 1e-14 * size


def real_noise_plane(ky, kx, seed):
    found = noise((ky, kx), seed)
    last = (kx - 1) // 2
    found[0, last] = found[0, last].real
    found[0, :last] = np.conj(found[0, :last:-1])
    return found


def test_the_bracket_is_the_convolution():
    """Of all pairs of modes, one by one."""
    modes = Modes.in_box(3, 5, 0.3, 0.2, 1)
    chi, g = (real_noise_plane(3, 5, seed) for seed in (3, 4))

    def whole(a):
        both = np.zeros((5, 5), complex)
        both[2:] = a
        both[:2] = np.conj(a[:0:-1, ::-1])
        return both

    a, b = whole(chi), whole(g)
    kx, ky = 0.2 * np.arange(-2, 3), 0.3 * np.arange(-2, 3)
    expected = np.zeros((5, 5), complex)
    for i, j, m, n in np.ndindex(5, 5, 5, 5):
        y, x = i + m - 2, j + n - 2
        if 0 <= y < 5 and 0 <= x < 5:
            expected[y, x] += -(kx[j] * ky[m] - ky[i] * kx[n]) * a[i, j] * b[m, n]
    assert np.allclose(bracket_of(modes, chi, g), expected[2:], rtol=0, atol=1e-14)
    assert grid_of(modes)[0] > 3 * 2
    assert grid_of(modes)[1] > 3 * 2


def test_the_bracket_keeps_the_free_energy_of_all():
    plasma = box(electrons=True)
    model = model_of(plasma)
    model.g[:] = real_noise(plasma)
    with_bracket, without = np.empty_like(model.g), np.empty_like(model.g)
    model.rates(model.g, with_bracket)
    model.rates(model.g, without, bracket=False)
    h, _ = h_of(model, plasma)
    both = np.where(plasma.tube.modes.ky > 0, 2.0, 1.0)[:, None, None, None]
    weight = both * (plasma.grid.weight * plasma.grid.temperature)[None, :, None, None] / plasma.tube.field[:, None]
    change = with_bracket - without
    gained = np.sum((np.conj(h) * change).real * weight)
    assert abs(gained) < 1e-13 * np.sum(np.abs(h) * np.abs(change) * weight)
    assert np.abs(change).max() > 0.1


def test_collisions_keep_density_and_energy_and_isotropy():
    grid = VelocityGrid([Species("ions", collisions=0.3)], 5, 9, 8.0)
    matrix = grid.scattering
    weights = np.polynomial.legendre.leggauss(9)[1]
    nodes = np.polynomial.legendre.leggauss(9)[0]
    assert np.abs(weights @ matrix).max() < 1e-13
    for degree in range(9):
        shape = eval_legendre(degree, nodes)
        assert np.allclose(matrix @ shape, -0.5 * degree * (degree + 1) * shape, atol=1e-11)
    assert np.all(grid.frequencies > 0)
    assert np.all(np.diff(grid.frequencies[0]) < 0)


def test_collisions_only_take_free_energy():
    plasma = box(collisions=0.2, upwind=0.0)
    model = model_of(plasma)
    model.g[:] = real_noise(plasma)
    sums = model.sums()
    h, _ = h_of(model, plasma)
    grid = plasma.grid
    scattered = np.einsum("xy,msytk->msxtk", grid.scattering, h.reshape(h.shape[0], 3, 4, *h.shape[2:]))
    scattered = (scattered * grid.frequencies[0][None, :, None, None, None]).reshape(h.shape)
    both = np.where(plasma.tube.modes.ky > 0, 2.0, 1.0)[:, None, None, None]
    weight = both * (grid.weight * grid.temperature)[None, :, None, None] * plasma.tube.weight[:, None]
    assert sums.collisions == pytest.approx(np.sum((np.conj(h) * scattered).real * weight), rel=1e-12)
    assert sums.collisions < 0


def test_moments_of_the_maxwellian():
    v, w = energy_rule(8, 8.0)
    density = quad(lambda x: x**2 * np.exp(-(x**2) / 2), 0, 4)[0]
    for power in range(16):
        moment = quad(lambda x, p=power: x ** (p + 2) * np.exp(-(x**2) / 2), 0, 4)[0]
        assert np.sum(w * v**power) == pytest.approx(moment / density, rel=1e-10)


@pytest.mark.parametrize("plasma", [linear([0.2, 0.4], 4, 6), box(), box(electrons=True)], ids=["chain", "box", "em"])
def test_linear_terms_are_those_of_numpy(plasma):
    model = model_of(plasma)
    model.g[:] = noise(model.g.shape)
    rate = np.empty_like(model.g)
    model.rates(model.g, rate, bracket=False)
    expected = numpy_rates(plasma, model.g, *h_of(model, plasma))
    assert np.abs(rate - expected).max() < 1e-12 * np.abs(expected).max()


def test_threads_change_no_bits():
    plasma = box(electrons=True)
    own, found = _native.threads(), []
    try:
        for threads in (1, 2):
            _native.set_threads(threads)
            model = model_of(plasma, workers=threads)
            model.g[:] = real_noise(plasma)
            rate = np.empty_like(model.g)
            model.rates(model.g, rate)
            found.append(rate)
    finally:
        _native.set_threads(own)
    assert np.array_equal(*found)
    assert MPI.COMM_SELF.size == 1
