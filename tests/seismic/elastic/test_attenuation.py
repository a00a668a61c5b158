"""Attenuation: the fit of constant Q, and plane waves in a medium of which each cell has one of three mechanisms."""

import numpy as np
import pytest
from periodic_medium import wavenumber

from fathometer.seismic.elastic.attenuation import (
    GOOD_QUALITY,
    LEAST_QUALITY,
    MIXED,
    NARROW,
    WIDE,
    Attenuation,
    band_ratio,
)
from fathometer.seismic.traces.wavelet import OrmsbyWavelet, RickerWavelet

WITHIN = {  # largest error by quality
    WIDE: {1000.0: 0.025, 50.0: 0.025, 20.0: 0.03, GOOD_QUALITY: 0.05, LEAST_QUALITY: 0.14},
    NARROW: {1000.0: 0.013, 100.0: 0.01, 50.0: 0.01, 20.0: 0.01, GOOD_QUALITY: 0.025, LEAST_QUALITY: 0.075},
}


@pytest.mark.parametrize("ratio", WITHIN)
def test_quality_is_constant_over_the_band(ratio):
    fit = Attenuation(25.0, 10.0, ratio)
    low, high = fit.band
    assert (low, high) == (25.0 / ratio, 25.0)
    frequencies = np.geomspace(low, high, 400)
    for quality, largest in WITHIN[ratio].items():
        error = np.abs(fit.quality(quality, frequencies) / quality - 1).max()
        assert error < largest
        of_all = [np.abs(fit.quality(quality, frequencies, share) / quality - 1).max() for share in (0.0, MIXED)]
        assert fit.largest_error(quality) == pytest.approx(max(of_all), rel=0.02)
        if quality >= GOOD_QUALITY:
            assert max(of_all) < largest
    assert fit.largest_error(np.inf) == 0


def test_the_band_is_as_wide_as_the_source_needs():
    assert band_ratio(RickerWavelet(12.0)) == NARROW
    assert band_ratio(OrmsbyWavelet((5.0, 8.0, 30.0, 40.0))) == NARROW
    assert band_ratio(OrmsbyWavelet((0.2, 0.4, 30.0, 40.0))) == WIDE


def test_velocity_holds_at_the_reference_frequency_and_grows_as_constant_quality_has_it():
    fit = Attenuation(25.0, 5.0)
    for quality in (7.0, 20.0, 33.3, 100.0):
        assert fit.velocity(quality, np.array([5.0]))[0] == pytest.approx(1, abs=2e-4)
        # Kjartansson 1979: c / c0 = (f / f0)^gamma, gamma = atan(1 / Q) / pi
        frequencies = np.geomspace(1.0, 20.0, 30)
        wanted = (frequencies / 5.0) ** (np.arctan(1 / quality) / np.pi)
        assert np.abs(fit.velocity(quality, frequencies) / wanted - 1).max() < 0.012 * 10 / quality


def test_moduli_stay_positive_and_defects_do_not_depend_on_other_cells():
    fit = Attenuation(30.0, 12.0)
    quality = np.concatenate([np.linspace(LEAST_QUALITY, 300, 500), [1e5, np.inf]])
    defects = fit.defects(quality)
    assert defects.shape == (3, 502)
    assert (defects >= 0).all()
    assert (defects < 0.9).all()
    assert not defects[:, -1].any()
    stiffening = fit.stiffening(quality)
    assert (stiffening[:, -1] == 1).all()
    assert (stiffening[:, :-1].mean(axis=0) > 1).all()  # before anything relaxes, waves are faster than in the model
    assert ((stiffening * (1 - defects))[:, :-1].mean(axis=0) < 1).all()
    mechanism = np.arange(len(quality)) % 3
    of_cells = fit.of_cells(quality, mechanism)
    for n in (0, 17, 300):
        assert np.array_equal(fit.defects(quality[n : n + 1])[:, 0], defects[:, n])
        assert (of_cells[0][n], of_cells[1][n]) == (stiffening[n % 3, n], defects[n % 3, n])


def test_interpolation_between_the_fitted_qualities():
    """Between the table's entries the fit is as good as on them."""
    fit = Attenuation(10.0, 4.0)
    frequencies = np.geomspace(*fit.band, 100)
    for quality in (5.3, 8.7, 61.0, 777.0, 3333.0):
        error = np.abs(fit.quality(quality, frequencies) / quality - 1).max()
        assert error < 0.13 if quality < GOOD_QUALITY else error < 0.03


DIRECTIONS = {
    2: [(1, 0), (1, 1), (1, -1), (2, 1), (-1, 3)],
    3: [(1, 0, 0), (1, 1, 0), (1, -1, 0), (1, 1, 1), (1, 2, -3)],
}


@pytest.mark.parametrize(("qp", "qs"), [(20.0, 20.0), (50.0, 20.0), (100.0, 100.0)])
@pytest.mark.parametrize("axes", DIRECTIONS)
def test_waves_of_all_directions_have_one_velocity_and_quality(axes, qp, qs):
    """Beside those on the same grid in a medium with all three mechanisms in each cell; from 40 to 12 cells a
    wavelength of S waves, in the middle of the source's band."""
    fit, vp, vs = Attenuation(2.5, 1.0, NARROW), 1.74, 1.0
    for frequency in (0.5, 1.0, 1.6):
        omega = 2 * np.pi * frequency / 20
        here = np.array([frequency])
        turns, whole = [], []
        for velocity, quality in ((vp, qp), (vs, qs)):
            lost = fit.defects(np.array(quality)) / (1 + 2j * np.pi * frequency * fit.times)
            turns.append(velocity**2 * fit.stiffening(np.array(quality)) * (1 - lost))
            whole.append(np.full(3, velocity**2 * fit.modulus(quality, here)[0]))
        for direction in DIRECTIONS[axes]:
            along = np.array(direction) / np.linalg.norm(direction)
            across = np.append(-along[1], along[0]) if axes == 2 else np.cross(along, (0.3, -1.0, 0.5))
            for velocity, polarisation in ((vp, along), (vs, across / np.linalg.norm(across))):
                found, wanted = (
                    wavenumber(along, polarisation, omega, *moduli, omega / velocity) for moduli in (turns, whole)
                )
                assert abs(found.real / wanted.real - 1) < 2e-4
                assert abs(found.imag / wanted.imag - 1) < 4e-3
