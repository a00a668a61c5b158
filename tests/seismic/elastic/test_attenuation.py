"""Attenuation: the fit of constant Q, and what a single cell's memory variable makes of it in time."""

import numpy as np
import pytest

from fathometer.seismic.elastic.attenuation import (
    GOOD_QUALITY,
    LEAST_QUALITY,
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
        assert fit.largest_error(quality) == pytest.approx(error, rel=0.02)
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
    assert fit.stiffening(np.array([np.inf]))[0] == 1
    assert (fit.stiffening(quality[:-1]) > 1).all()
    for n in (0, 17, 300):
        assert np.array_equal(fit.defects(quality[n : n + 1])[:, 0], defects[:, n])


def test_interpolation_between_the_fitted_qualities():
    """Between the table's entries the fit is as good as on them."""
    fit = Attenuation(10.0, 4.0)
    frequencies = np.geomspace(*fit.band, 100)
    for quality in (5.3, 8.7, 61.0, 777.0, 3333.0):
        error = np.abs(fit.quality(quality, frequencies) / quality - 1).max()
        assert error < 0.13 if quality < GOOD_QUALITY else error < 0.03
