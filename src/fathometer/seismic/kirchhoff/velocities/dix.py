"""Interval velocities of RMS velocities, and where there are none.

With S(t) = t v_rms(t)^2 the interval velocity between two times is v_int^2 = (S2 - S1) / (t2 - t1) (Dix 1955,
Geophysics 20(1)); in VTI media it is that of NMO, vp sqrt(1 + 2 delta).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError

Floats = NDArray[np.float64]


def interval_squares(times: Floats, rms: Floats) -> Floats:
    """v_int^2, (…, n - 1), m^2/s^2, between times (n,), s, that ascend, of RMS velocities (…, n), m/s."""
    return np.asarray(np.diff(times * rms**2, axis=-1) / np.diff(times))


def smoothing_time(times: Floats, rms: Floats) -> float:
    """The shortest time (s) from before to behind every interval whose v_int^2 is not positive, across which it is:
    over that much one column, times and velocities (n,), has to be smoothed. At most the whole length."""
    moment = times * rms**2
    longest = 0.0
    for bad in np.flatnonzero(np.diff(moment) <= 0):
        # From any time up to the interval's begin to any from its end on.
        risen = moment[None, bad + 1 :] > moment[: bad + 1, None]
        spans = np.where(risen, times[None, bad + 1 :] - times[: bad + 1, None], np.inf)
        longest = max(longest, float(spans.min(initial=np.inf)))
    return min(longest, float(times[-1] - times[0]))


def require_interval_velocities(
    name: str, place: str, times: Floats, rms: Floats, lines: Sequence[int] | None = None
) -> None:
    """InputError where an interval velocity of one column, times (s) and RMS velocities (m/s), (n,), does not exist.

    name: of the file. place: of the column, for the message. lines: of the file, one a time.
    """
    bad = np.flatnonzero(~(interval_squares(times, rms) > 0))
    if not len(bad):
        return
    i = int(bad[0])
    (t1, t2), (v1, v2) = times[i : i + 2], rms[i : i + 2]
    where = name if lines is None else f"{name}: lines {lines[i]} and {lines[i + 1]}"
    # Rounded away from the limit, so that what is proposed is enough.
    lower = 0.1 * math.floor(10 * float(v2) * math.sqrt(t2 / t1) * (1 - 1e-6))
    higher = 0.1 * math.ceil(10 * float(v1) * math.sqrt(t1 / t2) * (1 + 1e-6))
    squared = float(interval_squares(times[i : i + 2], rms[i : i + 2])[0])
    raise InputError(
        f"{where}: at {place} RMS velocities fall from {v1:.6g} m/s at {t1:.6g} s to {v2:.6g} m/s at {t2:.6g} s, which "
        f"no layer between can make (Dix: its velocity squared would be {squared:.4g} m2/s2); allowed: at most "
        f"{lower:.1f} m/s at the first or at least {higher:.1f} m/s at the second, or velocities smoothed over "
        f"{_rounded_up(smoothing_time(times, rms)):g} s of time"
    )


def _rounded_up(seconds: float) -> float:
    """A time rounded up to two digits."""
    if not seconds > 0:
        return seconds
    step = 10.0 ** (math.floor(math.log10(seconds)) - 1)
    return math.ceil(seconds / step - 1e-9) * step
