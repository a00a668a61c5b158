"""Moduli of the elastic model from velocities, densities and quality factors."""

from __future__ import annotations

import numpy as np

from fathometer.seismic.elastic.attenuation import Attenuation


def p_modulus(vp: np.ndarray, density: np.ndarray, qp: np.ndarray | None, fit: Attenuation | None) -> np.ndarray:
    """lambda + 2 mu, or its unrelaxed value, of the stiffest mechanism, Pa, float64; the same from vs and qs is mu.
    Fluids' qs does not count."""
    velocity = vp.astype(np.float64)
    modulus = density * velocity**2
    if qp is None or fit is None:
        return np.asarray(modulus)
    return np.asarray(modulus * fit.stiffening(np.where(velocity > 0, qp, np.inf)).max(axis=0))
