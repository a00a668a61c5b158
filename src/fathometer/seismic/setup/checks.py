"""Checks of a survey once velocities and time step are known: sampling, numbers of steps, amplitudes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fathometer.base.errors import InputError, naming
from fathometer.base.formatting import beside
from fathometer.grid.grid import Grid
from fathometer.grid.stencil import LARGEST_SHARE_OF_LIMIT
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.survey import CosineTable, SampledWaveletTable, Survey
from fathometer.seismic.traces.resampling import low_pass
from fathometer.seismic.traces.time_axis import TimeAxis, time_axis
from fathometer.seismic.traces.wavelet import MOST_TAPS, RickerWavelet, Wavelet

MOST_STEPS = 1e9  # in time; beyond, a unit is wrong
MANY_STEPS = 1e6  # in time; beyond, they are told, and refused where it is the wavelet that asks for them
LONG_LEAD, STEPS_OF_LEAD = 10.0, 1e4  # a wavelet before t = 0: lengths of the traces, and time steps, told beyond both
LEADS = ("peak_frequency", "corners", "maximum_frequency")  # of wavelets, as far as they have them
FEWEST_POINTS, FEW_POINTS = 2.5, 4.0  # grid cells per shortest wavelength: an error below, a warning below


def time_step(survey: Survey, limit: float) -> float:
    """dt of the survey, or 0.95 of the stability limit. Raises InputError for a dt above the limit."""
    dt = survey.propagation.dt
    if dt == "auto":
        return LARGEST_SHARE_OF_LIMIT * limit
    if not dt <= limit:
        raise InputError(
            f"{survey.path}: [propagation] dt: found {dt:g} s; allowed: up to {_round_down(limit):g} s, the stability "
            f'limit of this model and grid at order {survey.propagation.order}, or "auto"'
        )
    return dt


def _round_down(value: float) -> float:
    """To four digits, towards zero."""
    unit: float = 10.0 ** (math.floor(math.log10(value)) - 3)
    return math.floor(value / unit) * unit


def points_per_wavelength(slowest: float, fmax: float, grid: Grid) -> float:
    """Grid cells in the shortest wavelength, along the axis with the largest cells."""
    return slowest / (fmax * max(grid.spacing[axis] for axis in grid.axes))


def check_sampling(
    survey: Survey,
    slowest: float,
    grid: Grid,
    wavelet: Wavelet,
    acquisition: Acquisition,
    dt: float,
    few: float = FEW_POINTS,
) -> tuple[str, ...]:
    """Raises InputError where waves or traces are sampled too coarsely; returns warnings where only just: on less than
    `few` grid cells per shortest wavelength."""
    points = points_per_wavelength(slowest, wavelet.fmax, grid)
    size = max(grid.spacing[axis] for axis in grid.axes)
    least = few if points >= FEWEST_POINTS else FEWEST_POINTS
    found = f"{beside(points, least)} cells per shortest wavelength"
    where = f"{found} ({slowest:.0f} m/s at {wavelet.fmax:g} Hz on {size:g} m)"
    if not points >= FEWEST_POINTS:
        highest = slowest / (FEWEST_POINTS * size)
        # What the user gives of a Ricker wavelet is another frequency.
        peak = wavelet.peak_frequency / wavelet.fmax if isinstance(wavelet, RickerWavelet) else None
        given = f" (a peak_frequency of {peak * highest:.3g} Hz)" if peak is not None else ""
        raise InputError(
            f"{survey.path}: [wavelet]: {where}; allowed: at least {FEWEST_POINTS:g}, that is frequencies up to "
            f"{highest:.3g} Hz{given} or cells up to {slowest / (FEWEST_POINTS * wavelet.fmax):.3g} m"
        )
    with naming(f"{survey.path}: [wavelet]"):
        # Raises where traces cannot hold fmax.
        taps = low_pass(wavelet.fmax, dt, acquisition.sample_interval).half_width / acquisition.sample_interval
    if acquisition.recorded and taps > MOST_TAPS:
        coarse, interval = taps / MOST_TAPS, acquisition.sample_interval
        raise InputError(
            f"{survey.path}: [acquisition] sample_interval: traces every {interval:g} s are {beside(taps, MOST_TAPS)} "
            f"samples in half the low-pass of a wavelet of up to {wavelet.fmax:g} Hz; allowed: at most {MOST_TAPS:g}, "
            f"an interval from {coarse * interval:.3g} s or frequencies from {coarse * wavelet.fmax:.3g} Hz on; are "
            "they in s and Hz?"
        )
    if not points >= few:
        cells = f"cells of up to {slowest / (few * wavelet.fmax):.3g} m"
        return (f"{where}: waves will be dispersed; {few:g} or more are advised, {cells}",)
    return ()


def long_lead(lead: float, acquisition: Acquisition) -> bool:
    """Whether a wavelet begins `lead` (s) before t = 0 and the traces are far shorter than that."""
    return lead > LONG_LEAD * max(acquisition.end, 0.0)


def key_of_lead(survey: Survey) -> str:
    """Which key says most of how long before t = 0 the wavelet begins."""
    keys = survey.needed_wavelet
    if isinstance(keys, SampledWaveletTable):
        return f"[wavelet] {'zero' if (keys.zero or 0.0) * keys.maximum_frequency > 10 else 'maximum_frequency'}"
    if isinstance(keys, CosineTable) and keys.maximum_frequency is None:
        return "[wavelet] rise_time"
    return f"[wavelet] {next(name for name in LEADS if hasattr(keys, name))}"


def check_steps(survey: Survey, lead: float, acquisition: Acquisition, dt: float) -> tuple[str, ...]:
    """Raises InputError for more time steps than any run can have meant, and for many that only the wavelet asks for; a
    note where there are many all the same. lead: of them before t = 0, s."""
    steps = (lead + max(acquisition.end, 0.0)) / dt
    if not steps <= MOST_STEPS:
        raise InputError(
            f"{survey.path}: [propagation]: {steps:.3g} time steps of {dt:g} s, from {-lead:g} s (the "
            f"wavelet's beginning) to {acquisition.end:g} s; allowed: at most {MOST_STEPS:g}"
        )
    if long_lead(lead, acquisition) and lead / dt > STEPS_OF_LEAD:
        words = (
            f"{key_of_lead(survey)}: the wavelet begins {lead:.4g} s before t = 0, and the traces end at "
            f"{acquisition.end:g} s: {steps:.3g} time steps"
        )
        if steps > MANY_STEPS:
            raise InputError(f"{survey.path}: {words}; allowed: at most {MANY_STEPS:g}; is it in Hz or s?")
        return (f"{words}; is it in Hz or s?",)
    if steps > MANY_STEPS:
        key = "duration" if survey.propagation.dt == "auto" else "dt"
        return (f"[propagation] {key}: {steps:.3g} time steps of {dt:.3g} s to {acquisition.end:g} s are many",)
    return ()


def check_every(survey: Survey, wavelet: Wavelet, acquisition: Acquisition, dt: float) -> tuple[str, ...]:
    """Raises InputError where not even two images of a shot would be taken; warns where the image will be aliased."""
    every = survey.imaging.every
    assert every != "auto"
    steps = time_axis(dt, wavelet.lead, acquisition.end, 1).steps
    if every > steps:
        raise InputError(
            f"{survey.path}: [imaging] every: found {every}; allowed: up to {steps}, the time steps of a shot, "
            'or "auto"'
        )
    if 2 * wavelet.fmax * every * dt > 1:
        return (
            f"an image every {every} steps ({every * dt:.3g} s) is too few for {wavelet.fmax:g} Hz: it will be "
            f"aliased; {max(1, math.floor(1 / (2 * wavelet.fmax * dt)))} or fewer are advised",
        )
    return ()


def check_amplitude(survey: Survey, wavelet: Wavelet, time: TimeAxis, dtype: np.dtype[Any]) -> None:
    """Raises InputError for a wavelet that the propagation's numbers cannot hold."""
    peak, most = float(np.abs(wavelet(time.times())).max()), float(np.finfo(dtype).max)
    if not peak <= most:
        raise InputError(
            f"{survey.path}: [wavelet]: found amplitudes up to {peak:.3g}; allowed: up to {most:.3g}, the largest "
            f"{dtype} number"
        )
