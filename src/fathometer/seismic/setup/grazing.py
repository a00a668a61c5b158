"""Waves that run along an absorbing top: how much of them its layer takes, before a run.

A perfectly matched layer meets a wave at an angle as the power cos(angle) of its reflection at normal incidence; along
it nothing is left of that. Measured (docs/theory.md, "Waves along a layer"): of a direct wave over N wavelengths, at
the velocity c next to the layer, between points near it,

    relative L2 error = 2 % (N / N2)^2,    N2 = 0.27 n^2 (vmax / c)^1.5

for a layer of n cells made for the velocity vmax; within a third from 2 to 20 %.
"""

from __future__ import annotations

import math

from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.traces.wavelet import Wavelet
from fathometer.seismic.waves.boundary import Pml

ERROR = 0.02  # of a direct wave; above it there is a note
SHOTS_LOOKED_AT = 200  # of a survey, spread evenly


def peak_frequency(wavelet: Wavelet) -> float:
    """Hz: of a Ricker wavelet with the largest frequency of this one; the layers' filters are made for it."""
    return wavelet.fmax / 2.5


def largest_error(width: int, wavelengths: float, contrast: float) -> float:
    """Relative L2 error of a direct wave along a layer of `width` cells; contrast: vmax / c."""
    return ERROR * (wavelengths / (width**2 * _of_one_cell(contrast))) ** 2


def _of_one_cell(contrast: float) -> float:
    """N2 of a layer of one cell."""
    return 0.27 * math.pow(contrast, 1.5)


def grazing_notes(layout: SurveyLayout, slowest: float, fastest: float, frequency: float) -> tuple[str, ...]:
    """A note where sources and receivers within a wavelength of an absorbing top lie so far apart that the layer will
    change the direct wave by more than ERROR: by how much, and the layer that does not.

    Args:
        slowest, fastest: velocities, m/s; the slowest is taken for that at the top. frequency: peak of the wavelet, Hz.
    """
    if layout.free_surface or not isinstance(layout.boundary, Pml):
        return ()
    length = slowest / frequency
    deepest = layout.files.grid.origin[2] + length
    shots = layout.acquisition.shots
    farthest = 0.0
    for shot in shots[:: -(-len(shots) // SHOTS_LOOKED_AT)]:
        near = shot.receivers[:, 2] <= deepest
        if shot.source[2] <= deepest and near.any():
            farthest = max(farthest, float(shot.offsets[near].max()))
    wavelengths, contrast = farthest / length, fastest / slowest
    error = largest_error(layout.boundary.width, wavelengths, contrast)
    if not error > ERROR:
        return ()
    enough = math.ceil(math.sqrt(wavelengths / _of_one_cell(contrast)))
    return (
        f"waves along the absorbing top over {farthest:.0f} m, {wavelengths:.0f} wavelengths of {length:.3g} m, will "
        f"be off by some {100 * min(error, 1.0):.0f} %; [propagation] boundary = "
        f'{{kind = "pml", width = {enough}}} keeps them to {100 * ERROR:g} %',
    )
