"""Constant Q by three relaxation mechanisms, of which each cell has one (coarse-grained memory variables).

A cell with mechanism l has, relative to its unrelaxed modulus, the modulus

    m_l(w) = 1 - d_l / (1 + i w tau_l)

(Emmerich & Korn 1987, Geophysics 52(9); Day & Bradley 2001, Bull. Seism. Soc. Am. 91(3)). Waves much longer than a cell
see the harmonic mean m of the three, Q = Re m / Im m and c = sqrt(M / rho) / Re(m^-1/2) (Graves & Day 2003, Bull.
Seism. Soc. Am. 93(1)); the defects d_l, with the mechanisms' coarse grain in them, are fitted to that by least squares,
so that low Q is right too. M is such that c is the model's velocity at the reference frequency.

The fit holds over the source's band: from a twentieth of its highest frequency up to it where the source has next to
nothing below, as a Ricker wavelet, else from a fiftieth. Its largest error there is 0.8 % at Q from 20 to 100, 1.2 % at
1000, 2.6 % at 10 and 7 % at 5 (narrow band), or 3, 5 and 14 % at 20, 10 and 5 (wide band). At lower Q a defect comes
near 1, where the relaxed modulus would vanish.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fathometer.seismic.traces.wavelet import Wavelet

LEAST_QUALITY = 5.0  # that is computed
GOOD_QUALITY = 11.0  # from which on the error stays below 5 %
NARROW, WIDE = 20.0, 50.0  # highest over lowest frequency of the fit
QUIET = 0.1  # of the source's largest amplitude: what it may have below a narrow band
# Frequencies of the mechanisms as powers of the band below its upper end: least error for Q from 20 to 100, to 1000.
_PLACES = {NARROW: (1.055, 0.48, -0.12), WIDE: (1.0, 0.48, -0.04)}
_FREQUENCIES = 50  # of the fit
_QUALITIES = 81  # 1 / Q of the table that is interpolated, from 0 to the least quality


@dataclass(frozen=True)
class Attenuation:
    """The fit for a source.

    Attributes:
        highest: frequency of the source, Hz. reference: frequency at which the model's velocities hold, Hz.
        ratio: highest over lowest frequency of the band, NARROW or WIDE.
    """

    highest: float
    reference: float
    ratio: float = WIDE

    @property
    def band(self) -> tuple[float, float]:
        """Frequencies between which Q is constant, Hz."""
        return self.highest / self.ratio, self.highest

    @cached_property
    def times(self) -> np.ndarray:
        """Relaxation times of the three mechanisms, (3,) float64, s."""
        return np.asarray(self.ratio ** np.array(_PLACES[self.ratio]) / (2 * np.pi * self.highest))

    def decay(self, dt: float) -> tuple[float, float, float]:
        """exp(-dt / relaxation time) of the three mechanisms; dt in s."""
        a, b, c = np.exp(-dt / self.times).tolist()
        return a, b, c

    def defects(self, quality: np.ndarray) -> np.ndarray:
        """d_l for qualities of any shape: (3, ...) float64. Element by element, so that cells do not depend on others.

        quality: LEAST_QUALITY or more; infinity: no attenuation."""
        inverse, defect, _ = self._table
        x = 1 / np.asarray(quality, np.float64)
        return np.stack([np.interp(x, inverse, defect[:, n]) * x for n in range(3)])

    def stiffening(self, quality: np.ndarray) -> np.ndarray:
        """Unrelaxed modulus over rho c^2, c the velocity at the reference frequency; the shape of quality, float64."""
        inverse, _, stiffening = self._table
        return np.asarray(np.interp(1 / np.asarray(quality, np.float64), inverse, stiffening))

    def modulus(self, quality: float, frequencies: np.ndarray) -> np.ndarray:
        """m of waves, complex128 (n,), relative to the unrelaxed modulus, at frequencies (n,), Hz."""
        return _mean(self.defects(np.array(quality)), self.times, frequencies)

    def quality(self, quality: float, frequencies: np.ndarray) -> np.ndarray:
        """Q that waves have where `quality` is asked for, (n,), at frequencies (n,), Hz."""
        m = self.modulus(quality, frequencies)
        return np.asarray(m.real / m.imag)

    def largest_error(self, quality: float) -> float:
        """Of Q in the band, relative, where `quality` is asked for; 0 for infinity."""
        if np.isinf(quality):
            return 0.0
        return float(np.abs(self.quality(quality, np.geomspace(*self.band, 200)) / quality - 1).max())

    def velocity(self, quality: float, frequencies: np.ndarray) -> np.ndarray:
        """Phase velocity over that at the reference frequency, (n,), at frequencies (n,), Hz."""
        slowness = (self.modulus(quality, frequencies) ** -0.5).real
        return np.asarray(np.sqrt(self.stiffening(np.array(quality))) / slowness)

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """1 / Q (n,), Q d_l (n, 3), and stiffening (n,): all smooth in 1 / Q."""
        inverse = np.linspace(0, 1 / LEAST_QUALITY, _QUALITIES)
        inverse[0] = 1e-6 * inverse[1]  # the limit of Q d_l
        frequencies = np.geomspace(*self.band, _FREQUENCIES)
        defect = np.array([_fitted(1 / x, self.times, frequencies) for x in inverse])
        reference = np.array([self.reference])
        slowness = np.array([(_mean(d, self.times, reference)[0] ** -0.5).real for d in defect])
        scaled, stiffening = defect / inverse[:, None], slowness**2
        inverse[0], stiffening[0] = 0.0, 1.0
        return inverse, scaled, stiffening


def band_ratio(wavelet: Wavelet) -> float:
    """NARROW where the wavelet has next to nothing below such a band, else WIDE."""
    step, count = 1 / (8 * wavelet.fmax), 4096
    times = step * np.arange(count, dtype=np.float64) - wavelet.lead
    spectrum = np.abs(np.fft.rfft(wavelet(np.asarray(times, np.float64))))
    below = np.fft.rfftfreq(count, step) <= wavelet.fmax / NARROW
    return NARROW if spectrum[below].max() <= QUIET * spectrum.max() else WIDE


def _mean(defects: np.ndarray, times: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Harmonic mean of the mechanisms' moduli, complex128 (n,); defects, times: (3,)."""
    moduli = 1 - defects[:, None] / (1 + 2j * np.pi * frequencies * times[:, None])
    return np.asarray(3 / np.sum(1 / moduli, axis=0))


def _fitted(quality: float, times: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Defects (3,) whose Q is nearest to `quality`, in its relative errors (Gauss-Newton)."""

    def error(defects: np.ndarray) -> np.ndarray:
        m = _mean(defects, times, frequencies)
        return np.asarray(quality * m.imag / m.real - 1)

    defects = np.full(3, min(4 / quality, 0.5))
    for _ in range(12):
        step = 1e-6 * defects.max()
        slopes = [(error(defects + step * unit) - error(defects - step * unit)) / (2 * step) for unit in np.eye(3)]
        defects = defects - np.linalg.lstsq(np.stack(slopes, 1), error(defects), rcond=None)[0]
    return defects
