"""Constant Q by three relaxation mechanisms, of which each cell has one (coarse-grained memory variables).

A cell with mechanism l has, relative to rho c^2 of the model, the modulus

    M_l(w) = s_l (1 - d_l / (1 + i w tau_l))

(Emmerich & Korn 1987, Geophysics 52(9); Day & Bradley 2001, Bull. Seism. Soc. Am. 91(3)). What waves much longer than
a cell see of the three lies between their harmonic mean h (Graves & Day 2003, Bull. Seism. Soc. Am. 93(1)) and
h + 0.8 (a - h) with the arithmetic mean a, by direction, kind of wave and vp / vs: neighbours share strains in some
directions, stresses in others. With equal unrelaxed moduli s_l, S waves were 0.2 % faster along the axes at Q = 20
than along diagonals, and their Q differed by 5 %. But to second order a - h is the mean square of the complex
deviations of M_l from a, and the real and the imaginary part of a deviation count against each other. The unrelaxed
moduli are therefore such that a slow mechanism's cells are softer and a fast one's stiffer, so that the mean square
nearly vanishes; defects d_l and moduli are fitted together by least squares, so that low Q is right too. Their scale is
such that c is the model's velocity at the reference frequency.

The fit holds over the source's band: from a twentieth of its highest frequency up to it where the source has next to
nothing below, as a Ricker wavelet, else from a fiftieth. Its largest error there, of all waves, is 1 % at Q from 20 to
100, 1.1 % at 1000, 2.3 % at 11 and 12 % at 5 (narrow band), or 2.4 % from 50 on, 2.8 % at 20, 4.5 % at 11 and 22 % at 5
(wide band). At lower Q a defect comes near 1, where the relaxed modulus would vanish.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fathometer.seismic.traces.wavelet import Wavelet

LEAST_QUALITY = 5.0  # that is computed
GOOD_QUALITY = 11.0  # from which on the error stays below 5 %
MECHANISMS = 3
NARROW, WIDE = 20.0, 50.0  # highest over lowest frequency of the fit
QUIET = 0.1  # of the source's largest amplitude: what it may have below a narrow band
MIXED = 0.8  # largest share of the arithmetic mean in what waves see, from plane waves in the periodic medium
# Frequencies of the mechanisms as powers of the band below its upper end: least error for Q from 20 to 1000.
_PLACES = {NARROW: (1.05, 0.461, -0.149), WIDE: (0.982, 0.462, -0.063)}
_SPREAD = 0.003  # weight of the mean square of the deviations beside the error of Q
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
        return np.stack([self._defect(np.asarray(quality, np.float64), n) for n in range(MECHANISMS)])

    def stiffening(self, quality: np.ndarray) -> np.ndarray:
        """s_l, c the velocity at the reference frequency: (3, ...) float64, as `defects`."""
        return np.stack([self._stiffening(np.asarray(quality, np.float64), n) for n in range(MECHANISMS)])

    def of_cells(self, quality: np.ndarray, mechanism: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s_l and d_l of cells of some quality and mechanism, arrays of one shape."""
        stiffening, defect = np.empty(quality.shape), np.empty(quality.shape)
        for n in range(MECHANISMS):
            some = mechanism == n
            values = quality[some].astype(np.float64)
            stiffening[some], defect[some] = self._stiffening(values, n), self._defect(values, n)
        return stiffening, defect

    def modulus(self, quality: float, frequencies: np.ndarray, share: float = MIXED / 2) -> np.ndarray:
        """M of waves, complex128 (n,), relative to rho c^2, at frequencies (n,), Hz.

        share: of the arithmetic mean in it; left out: that in the middle."""
        stiffening, defect = self.stiffening(np.array(quality)), self.defects(np.array(quality))
        return _mean(stiffening, stiffening * defect, self.times, frequencies, share)

    def quality(self, quality: float, frequencies: np.ndarray, share: float = MIXED / 2) -> np.ndarray:
        """Q that waves have where `quality` is asked for, (n,), at frequencies (n,), Hz; share: as of `modulus`."""
        m = self.modulus(quality, frequencies, share)
        return np.asarray(m.real / m.imag)

    def largest_error(self, quality: float) -> float:
        """Of Q in the band, relative, of all waves, where `quality` is asked for; 0 for infinity."""
        if np.isinf(quality):
            return 0.0
        frequencies = np.geomspace(*self.band, 200)
        found = [self.quality(quality, frequencies, share) for share in (0.0, MIXED)]
        return float(np.abs(np.array(found) / quality - 1).max())

    def velocity(self, quality: float, frequencies: np.ndarray) -> np.ndarray:
        """Phase velocity over that at the reference frequency, (n,), at frequencies (n,), Hz."""
        return np.asarray(1 / (self.modulus(quality, frequencies) ** -0.5).real)

    def _defect(self, quality: np.ndarray, mechanism: int) -> np.ndarray:
        inverse, defect, _ = self._table
        x = 1 / quality
        return np.asarray(np.interp(x, inverse, defect[:, mechanism]) * x)

    def _stiffening(self, quality: np.ndarray, mechanism: int) -> np.ndarray:
        inverse, _, stiffening = self._table
        return np.asarray(np.interp(1 / quality, inverse, stiffening[:, mechanism]))

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """1 / Q (n,), Q d_l (n, 3), and s_l (n, 3): all smooth in 1 / Q."""
        inverse = np.linspace(0, 1 / LEAST_QUALITY, _QUALITIES)
        inverse[0] = 1e-3 * inverse[1]  # the limit of Q d_l
        frequencies = np.geomspace(*self.band, _FREQUENCIES)
        reference = np.array([self.reference])
        scaled, stiffening = np.empty((_QUALITIES, MECHANISMS)), np.empty((_QUALITIES, MECHANISMS))
        found = _FIRST
        for n, x in enumerate(inverse):
            found = _fitted(1 / x, self.times, frequencies, found)
            unrelaxed, lost = _moduli(found, 1 / x)
            slowness = (_mean(unrelaxed, lost, self.times, reference, MIXED / 2)[0] ** -0.5).real
            scaled[n], stiffening[n] = lost / unrelaxed / x, unrelaxed * slowness**2
        inverse[0], stiffening[0] = 0.0, 1.0
        return inverse, scaled, stiffening


def band_ratio(wavelet: Wavelet) -> float:
    """NARROW where the wavelet has next to nothing below such a band, else WIDE."""
    step, count = 1 / (8 * wavelet.fmax), 4096
    times = step * np.arange(count, dtype=np.float64) - wavelet.lead
    spectrum = np.abs(np.fft.rfft(wavelet(np.asarray(times, np.float64))))
    below = np.fft.rfftfreq(count, step) <= wavelet.fmax / NARROW
    return NARROW if spectrum[below].max() <= QUIET * spectrum.max() else WIDE


# Unknowns of the fit: Q times what each mechanism relaxes, and Q times the deviations from 1 of the unrelaxed moduli of
# the first and the last; the mean of the three is 1.
_FIRST = np.array([4.0, 3.0, 4.0, -1.5, 2.0])


def _moduli(unknowns: np.ndarray, quality: float) -> tuple[np.ndarray, np.ndarray]:
    """Unrelaxed moduli (3,), and how much their mechanisms relax of them (3,)."""
    *lost, first, last = unknowns / quality
    return 1 + np.array([first, -first - last, last]), np.array(lost)


def _of_mechanisms(unrelaxed: np.ndarray, lost: np.ndarray, times: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Moduli of the mechanisms' cells, complex128 (3, n); unrelaxed, lost, times: (3,)."""
    return np.asarray(unrelaxed[:, None] - lost[:, None] / (1 + 2j * np.pi * frequencies * times[:, None]))


def _mean(
    unrelaxed: np.ndarray, lost: np.ndarray, times: np.ndarray, frequencies: np.ndarray, share: float
) -> np.ndarray:
    """A mean of the mechanisms' moduli, complex128 (n,), with some share of the arithmetic one in the harmonic one."""
    moduli = _of_mechanisms(unrelaxed, lost, times, frequencies)
    return np.asarray((1 - share) * MECHANISMS / np.sum(1 / moduli, axis=0) + share * np.mean(moduli, axis=0))


def _fitted(quality: float, times: np.ndarray, frequencies: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The unknowns for which waves of all kinds have Q nearest to `quality`, in its relative errors, and nearly one
    velocity (Gauss-Newton). first: of a quality nearby."""

    def error(unknowns: np.ndarray) -> np.ndarray:
        unrelaxed, lost = _moduli(unknowns, quality)
        means = [_mean(unrelaxed, lost, times, frequencies, share) for share in (0.0, MIXED)]
        moduli = _of_mechanisms(unrelaxed, lost, times, frequencies)
        spread = np.mean((moduli - np.mean(moduli, axis=0)) ** 2, axis=0)
        return np.concatenate([quality * m.imag / m.real - 1 for m in means] + [_SPREAD * quality**2 * spread.real])

    unknowns = first
    for _ in range(8):
        step = 1e-5
        slopes = [(error(unknowns + step * unit) - error(unknowns - step * unit)) / (2 * step) for unit in np.eye(5)]
        unknowns = unknowns - np.linalg.lstsq(np.stack(slopes, 1), error(unknowns), rcond=None)[0]
    return unknowns
