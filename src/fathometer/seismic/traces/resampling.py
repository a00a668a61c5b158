"""Low-pass filter and resampling of time series in one step, with a Kaiser-windowed sinc.

Kaiser & Schafer 1980, IEEE Trans. ASSP 28(1):

    y(t) = dt_in * sum_k x_k h(t - t_k),
    h(t) = 2 fc sinc(2 fc t) I0(beta sqrt(1 - (t/T)^2)) / I0(beta) for |t| <= T, else 0

The pass band ends at fmax, the stop band begins at min(1.5 fmax, Nyquist frequency of the coarser side); fc
lies midway between them and T follows from their distance. The stop band, spectral images and aliases are
100 dB down. Series are taken to be zero outside their samples: where a series is cut off at a non-zero sample,
the result differs from that of the uncut series within T of the cut.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError

_ATTENUATION = 100.0  # dB; it implies a pass-band ripple of 1e-5

Real = TypeVar("Real", np.float32, np.float64)


@dataclass(frozen=True)
class LowPass:
    """The low-pass kernel h(t), zero beyond `half_width`."""

    passes: float  # Hz, end of the pass band
    stops: float  # Hz, begin of the stop band

    @property
    def half_width(self) -> float:
        """T, s: Kaiser's estimate for the attenuation and the width of the transition band."""
        return (_ATTENUATION - 7.95) / (2.0 * 2.285 * 2.0 * math.pi * (self.stops - self.passes))

    def __call__(self, t: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """h(t), 1/s, float64, at the times t (s), in their shape."""
        beta = 0.1102 * (_ATTENUATION - 8.7)
        twice_cutoff = self.passes + self.stops
        inside = np.clip(1.0 - (t / self.half_width) ** 2, 0.0, None)
        window = np.where(np.abs(t) <= self.half_width, np.i0(beta * np.sqrt(inside)) / np.i0(beta), 0.0)
        return np.asarray(twice_cutoff * np.sinc(twice_cutoff * t) * window)


def low_pass(fmax: float, *intervals: float) -> LowPass:
    """Kernel with the pass band up to fmax (Hz) for resampling between series of these sample intervals (s).

    Raises InputError where fmax is not below the Nyquist frequency of each of them.
    """
    coarsest = max(intervals)
    nyquist = 0.5 / coarsest
    if not fmax < nyquist:
        raise InputError(
            f"highest frequency of the wavelet: found {fmax:g} Hz; allowed: below {nyquist:g} Hz, "
            f"the Nyquist frequency of the sample interval {coarsest:g} s"
        )
    return LowPass(passes=fmax, stops=min(1.5 * fmax, nyquist))


def resample(
    traces: npt.NDArray[Real],
    first_in: float,
    dt_in: float,
    first_out: float,
    dt_out: float,
    n_out: int,
    fmax: float,
) -> npt.NDArray[Real]:
    """Traces low-passed to fmax (Hz) and resampled.

    Summed in float64, tap by tap in a fixed order, so that the result of a trace is bitwise the same whatever the other
    traces and the number of threads.

    Args:
        traces: (n, ns), float32 or float64, sample k at first_in + k dt_in (s), zero outside.
        n_out: samples of the result; sample j is at first_out + j dt_out (s).
    Returns:
        (n, n_out), in the dtype of `traces`.

    Raises InputError where fmax is not below the Nyquist frequency of both sides, TypeError for another array.
    """
    if traces.dtype not in (np.float32, np.float64) or traces.ndim != 2:
        raise TypeError(f"traces: found {traces.ndim} axes of {traces.dtype}; allowed: 2 axes of float32 or float64")
    from fathometer import _native

    result = np.empty((len(traces), n_out), traces.dtype)
    band = _band(low_pass(fmax, dt_in, dt_out), first_in, dt_in, first_out, dt_out, n_out)
    _native.banded(*band, np.ascontiguousarray(traces), result)
    return result


@lru_cache(maxsize=2)  # the same for all shots, but where they are recorded otherwise
def _band(
    kernel: LowPass, first_in: float, dt_in: float, first_out: float, dt_out: float, n_out: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """For each sample of the result the first one that it is made of, (n_out,), and weights, (n_out, taps)."""
    times = first_out + dt_out * np.arange(n_out, dtype=np.float64)
    reach = math.ceil(kernel.half_width / dt_in)
    first = np.floor((times - first_in) / dt_in).astype(np.int64) - reach
    weights = np.empty((n_out, 2 * reach + 2))
    for tap, weight in enumerate(weights.T):
        weight[:] = dt_in * kernel(times - (first_in + dt_in * (first + tap)))
    return first, weights


def band_bytes(fmax: float, dt_in: float, dt_out: float, n_out: int) -> int:
    """Bytes of the weights of `resample`, which are kept; arguments as there."""
    return 8 * n_out * (2 * math.ceil(low_pass(fmax, dt_in, dt_out).half_width / dt_in) + 2)


def interpolate(
    series: npt.NDArray[np.float64], first: float, dt: float, times: npt.NDArray[np.float64], fmax: float
) -> npt.NDArray[np.float64]:
    """One series low-passed to fmax (Hz), at any times.

    Args:
        series: (ns,), float64, sample k at first + k dt (s), zero outside. times: s, any shape.
    Returns:
        Values, float64, in the shape of `times`.
    """
    kernel = low_pass(fmax, dt)
    flat = np.asarray(times, dtype=np.float64).ravel()
    nearest = np.floor((flat - first) / dt).astype(np.int64)
    total = np.zeros_like(flat)
    reach = math.ceil(kernel.half_width / dt)
    for offset in range(-reach, reach + 2):
        index = nearest + offset
        inside = (index >= 0) & (index < len(series))
        k = index[inside]
        total[inside] += dt * kernel(flat[inside] - (first + dt * k)) * series[k]
    return total.reshape(np.shape(times))
