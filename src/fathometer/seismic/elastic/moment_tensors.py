"""Moment tensors of double couples.

With strike s (from x towards y), dip d and rake r, x north, y east, z down (Aki & Richards 2002, Quantitative
Seismology, box 4.4):

    mxx = -M (sin d cos r sin 2s + sin 2d sin r sin^2 s)     mxy =  M (sin d cos r cos 2s + 1/2 sin 2d sin r sin 2s)
    myy =  M (sin d cos r sin 2s - sin 2d sin r cos^2 s)     mxz = -M (cos d cos r cos s + cos 2d sin r sin s)
    mzz =  M sin 2d sin r                                    myz = -M (cos d cos r sin s - cos 2d sin r cos s)
"""

from __future__ import annotations

import numpy as np


def double_couple(
    strike: float | np.ndarray, dip: float | np.ndarray, rake: float | np.ndarray, moment: float | np.ndarray
) -> np.ndarray:
    """mxx, myy, mzz, mxy, mxz, myz along the last axis, (..., 6) float64, in the moment's unit; angles in degrees."""
    s, d, r = (np.radians(np.asarray(angle, np.float64)) for angle in (strike, dip, rake))
    along, up = np.cos(r), np.sin(r)
    tensor = np.stack(
        np.broadcast_arrays(
            -(np.sin(d) * along * np.sin(2 * s) + np.sin(2 * d) * up * np.sin(s) ** 2),
            np.sin(d) * along * np.sin(2 * s) - np.sin(2 * d) * up * np.cos(s) ** 2,
            np.sin(2 * d) * up,
            np.sin(d) * along * np.cos(2 * s) + 0.5 * np.sin(2 * d) * up * np.sin(2 * s),
            -(np.cos(d) * along * np.cos(s) + np.cos(2 * d) * up * np.sin(s)),
            -(np.cos(d) * along * np.sin(s) - np.cos(2 * d) * up * np.cos(s)),
        ),
        axis=-1,
    )
    return np.asarray(tensor * np.asarray(moment, np.float64)[..., None])
