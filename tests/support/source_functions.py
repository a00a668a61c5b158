"""Time functions of sources in closed form: values, derivatives, integrals and spectra.

A function f is called f(t, order): its derivative of that order, or for a negative order its integral from -inf.
f.spectrum(w) = int f(t) exp(-i w t) dt, also for complex w with Im w < 0; of a step it is the generalised one.
"""

from dataclasses import dataclass, replace
from math import factorial

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from scipy.interpolate import make_interp_spline
from scipy.special import ndtr


@dataclass(frozen=True)
class Bell:
    """Derivative `kind` (-1: smooth step from 0 to 1) of the normalised Gaussian around `centre` (s), times `scale`.

    Attributes:
        width: standard deviation of the Gaussian, s.
    """

    centre: float
    width: float
    kind: int = 0
    scale: float = 1.0

    def __call__(self, t, order=0):
        """The derivative of that order (kind + order >= -3) at times t in s."""
        n, x = self.kind + order, (np.asarray(t, float) - self.centre) / self.width
        bell = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
        if n >= 0:
            value = (-1) ** n * hermeval(x, [0] * n + [1]) * bell
        elif n == -1:
            value = ndtr(x)
        elif n == -2:
            value = x * ndtr(x) + bell
        elif n == -3:
            value = ((x * x + 1) * ndtr(x) + x * bell) / 2
        else:
            raise ValueError(f"integral {-n} of a Gaussian")
        return self.scale * self.width ** (-1 - n) * value

    def spectrum(self, w):
        """At angular frequencies w in 1/s."""
        return self.scale * (1j * w) ** self.kind * np.exp(-1j * w * self.centre - (w * self.width) ** 2 / 2)

    def rate(self):
        """The derivative as a function of its own."""
        return replace(self, kind=self.kind + 1)


def smooth_step(centre, width):
    """From 0 to 1 around a time in s; its rate is a Gaussian of that standard deviation in s."""
    return Bell(centre, width, -1)


def ricker(frequency, centre):
    """Ricker wavelet of amplitude 1: peak frequency in Hz, time of the peak in s."""
    width = 1 / (np.sqrt(2) * np.pi * frequency)
    return Bell(centre, width, 2, -np.sqrt(2 * np.pi) * width**3)


@dataclass(frozen=True)
class Brune:
    """Derivative `kind` of the step 1 - (1 + t/T) exp(-t/T), t > 0; kind 1 is the rate t/T^2 exp(-t/T).

    Attributes:
        rise: T, s.
    """

    rise: float
    kind: int = 0

    def __call__(self, t, order=0):
        """The derivative of that order (kind + order <= 2: what lies above has impulses at t = 0) at times t in s."""
        m, x = -self.kind - order, np.maximum(np.asarray(t, float) / self.rise, 0)
        if m < -2:
            raise ValueError(f"derivative {-m} of a Brune step")
        # Partial fractions of the Laplace transform 1 / (s^(m + 1) (1 + s)^2).
        value = (-1) ** (m + 1) * (x + m + 1) * np.exp(-x)
        value += sum((-1) ** j * (j + 1) * x ** (m - j) / factorial(m - j) for j in range(m + 1))
        return np.where(np.asarray(t) > 0, value * self.rise**m, 0.0)

    def spectrum(self, w):
        """At angular frequencies w in 1/s."""
        return (1j * w) ** (self.kind - 1) / (1 + 1j * w * self.rise) ** 2

    def rate(self):
        """The derivative as a function of its own."""
        return replace(self, kind=self.kind + 1)


class Sampled:
    """A series of samples dt seconds apart from t = 0, between them a spline of degree 5; 0 before.

    After the last sample it keeps its value: let it end at rest.
    """

    def __init__(self, series, dt):
        self.end = dt * (len(series) - 1)
        self.spline = make_interp_spline(dt * np.arange(len(series)), series, 5)

    def __call__(self, t, order=0):
        """The derivative of that order (at most 4) at times t in s."""
        t = np.asarray(t, float)
        curve = self.spline.derivative(order) if order >= 0 else self.spline.antiderivative(-order)
        last = [self.spline.antiderivative(n)(self.end) if n else self.spline(self.end) for n in range(-order, -1, -1)]
        after = sum(value * np.maximum(t - self.end, 0) ** n / factorial(n) for n, value in enumerate(last))
        inside = np.where(t > 0, curve(np.clip(t, 0, self.end)), 0.0)
        return inside if order > 0 else np.where(t > self.end, after, inside)
