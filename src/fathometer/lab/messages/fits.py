"""What series of lengths say of a way to send: fits of cost models, with intervals.

Hockney (1994, Parallel Computing 20, 389):     t(n) = latency + n / rate;     half-performance length: latency × rate
Segments: one to three such lines, each over its own lengths, where the Bayesian information criterion (Schwarz 1978,
Annals of Statistics 6, 461) pays for another one. Where one ends, the library sends in another way, or a cache ends.

All residuals are relative: a microsecond counts as much as a millisecond. Intervals of 95 % are those of a bootstrap of
whole rounds (Efron 1979, Annals of Statistics 7, 1): they hold what repeating would change, not what the model is wrong
by, which `misfit` tells. Of fewer than FEWEST_ROUNDS rounds there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fathometer.lab.statistics.differences import rounds_needed
from fathometer.lab.statistics.interval import interval
from fathometer.lab.statistics.told import ends

Numbers = NDArray[np.float64]

RESAMPLES = 400
FEWEST_ROUNDS = rounds_needed(1)  # with which a median has an interval
FEWEST_LENGTHS = 3  # of a segment
MOST_SEGMENTS = 3
FINEST = 2e-3  # relative: residuals below are no reason for another segment


@dataclass(frozen=True)
class Value:
    """A fitted value and its interval, None of too few rounds."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Parameter:
    """A value that cannot be below zero, with its interval, None of too few rounds.

    value: None where it cannot be told from zero; then `high` is below which it is, if that is known.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Line:
    """t(n) = latency + n / rate over lengths from `first` to `last`.

    Attributes:
        latency_seconds: where the line meets n = 0: may be negative for a segment, not for all lengths.
        bytes_per_second: infinite where longer messages take no longer.
        misfit: the root mean square of the relative residuals.
    """

    first: int
    last: int
    latency_seconds: Value
    bytes_per_second: Value
    misfit: float


@dataclass(frozen=True)
class Fit:
    """Of the medians over the lengths.

    Attributes:
        line: over all lengths. half_length: bytes at which half the line's rate is reached (n1/2). segments: one or
            more. breaks: pairs of the lengths between which one segment ends and the next begins.
    """

    line: Line
    half_length: Value
    segments: tuple[Line, ...]
    breaks: tuple[tuple[int, int], ...]


def fit(lengths: Sequence[int], seconds: Numbers, seed: int) -> Fit | None:
    """The fits of seconds[round, length], NaN where a round has none; None for fewer than three lengths.

    lengths: bytes, rising. seed: of the bootstrap.
    """
    x = np.asarray(lengths, float)
    if len(x) < FEWEST_LENGTHS:
        return None
    medians = np.nanmedian(seconds, axis=0)
    told = int(np.isfinite(seconds).sum(axis=0).min()) >= FEWEST_ROUNDS
    seconds = np.where(np.isnan(seconds), medians, seconds)
    source = np.random.default_rng(seed)
    drawn = source.integers(len(seconds), size=(RESAMPLES, len(seconds)))
    resampled = np.median(seconds[drawn], axis=1)
    parts = _segments(x, medians)
    latency, slope = not_negative(x, np.concatenate([medians[None], resampled]))
    line = _line_of(x, medians, latency, slope, told)
    half = latency / np.maximum(slope, 1e-18)
    return Fit(
        line,
        _value(half, told),
        tuple(_line(x, medians, resampled, begin, end, told) for begin, end in parts),
        tuple((int(x[end - 1]), int(x[end])) for _, end in parts[:-1]),
    )


def least_squares(x: Numbers, t: Numbers, scale: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """Latency and slope of each row of t by least squares of residuals relative to t, or to `scale`."""
    w = 1.0 / (t if scale is None else scale) ** 2
    sw, sx, sxx = w.sum(-1), (w * x).sum(-1), (w * x * x).sum(-1)
    st, sxt = (w * t).sum(-1), (w * x * t).sum(-1)
    determinant = sw * sxx - sx * sx
    slope = (sw * sxt - sx * st) / determinant
    return (st - slope * sx) / sw, slope


def not_negative(x: Numbers, t: Numbers, scale: Numbers | None = None) -> tuple[Numbers, Numbers]:
    """The same with neither below zero: where one would be, it is zero, and the other is the best one then."""
    latency, slope = least_squares(x, t, scale)
    w = 1.0 / (t if scale is None else scale) ** 2
    through_zero = (w * x * t).sum(-1) / (w * x * x).sum(-1)
    level = (w * t).sum(-1) / w.sum(-1)
    slope = np.where(latency < 0, through_zero, slope)
    latency = np.maximum(np.where(slope < 0, level, latency), 0.0)
    return latency, np.maximum(slope, 0.0)


def _line(x: Numbers, medians: Numbers, resampled: Numbers, begin: int, end: int, told: bool) -> Line:
    part = x[begin:end]
    rows = np.concatenate([medians[None, begin:end], resampled[:, begin:end]])
    return _line_of(part, rows[0], *least_squares(part, rows), told)


def _line_of(x: Numbers, t: Numbers, latency: Numbers, slope: Numbers, told: bool) -> Line:
    """The line through t; of latency and slope the first is that of t, the others are those of its resamples."""
    with np.errstate(divide="ignore"):
        rate = np.where(slope > 0, 1.0 / slope, np.inf)
    misfit = float(np.sqrt((((latency[0] + slope[0] * x) / t - 1.0) ** 2).mean()))
    return Line(int(x[0]), int(x[-1]), _value(latency, told), _value(rate, told), misfit)


def _value(values: Numbers, told: bool) -> Value:
    """The first of the values, and an interval of the others, which are its resamples, where it may be told."""
    if not told:
        return Value(float(values[0]), None, None)
    low, high = np.quantile(values[1:], [0.025, 0.975], method="nearest")
    return Value(float(values[0]), float(min(low, values[0])), float(max(high, values[0])))


def _error(x: Numbers, t: Numbers) -> float:
    """The sum of squares of the relative residuals of the best line."""
    latency, slope = least_squares(x, t[None])
    return float((((latency + slope * x) / t - 1.0) ** 2).sum())


def _segments(x: Numbers, t: Numbers) -> list[tuple[int, int]]:
    """Begin and end of each segment."""
    n = len(x)
    best = [(0, n)]
    least = _criterion(_error(x, t), n, 1)
    candidates: list[tuple[tuple[int, int], ...]] = [((0, n),)]
    for _ in range(1, min(MOST_SEGMENTS, n // FEWEST_LENGTHS)):
        # The best with one more: exhaustive, since there are a few dozen lengths at most.
        candidates = [
            (*parts[:-1], (parts[-1][0], cut), (cut, n))
            for parts in candidates
            for cut in range(parts[-1][0] + FEWEST_LENGTHS, n - FEWEST_LENGTHS + 1)
        ]
        for parts in candidates:
            value = _criterion(sum(_error(x[a:b], t[a:b]) for a, b in parts), n, len(parts))
            if value < least:
                best, least = list(parts), value
    return best


def _criterion(error: float, n: int, segments: int) -> float:
    """Schwarz's, of n residuals, two numbers for each segment and three for each break, the best of many places."""
    return float(n * np.log(error / n + FINEST**2) + (5 * segments - 3) * np.log(n))


def half_of_best(lengths: Sequence[int], seconds: Sequence[float]) -> float:
    """Bytes at which half of the best rate that was measured is reached, between lengths by interpolation of the rate
    in the logarithm of the length."""
    x, rate = np.log(np.asarray(lengths, float)), np.asarray(lengths, float) / np.asarray(seconds)
    half = rate.max() / 2
    after = int(np.argmax(rate >= half))
    if after == 0:
        return float(lengths[0])
    share = (half - rate[after - 1]) / (rate[after] - rate[after - 1])
    return float(np.exp(x[after - 1] + share * (x[after] - x[after - 1])))


def loggp(
    sizes: Sequence[int], one: Numbers, many: Numbers, delayed: Numbers, delay: Numbers, count: int
) -> dict[str, Parameter]:
    """LogGP's parameters (Alexandrov et al. 1997, JPDC 44, 71) from parametrised round trips (Hoefler, Lichei & Rehm
    2007, IPDPS), in seconds, G in seconds per byte; none is below zero. Medians over the rounds, with the intervals of
    these.

    g and G are the line of the gaps (t(count) - t(1)) / (count - 1) over the sizes, whose residuals are relative to
    t(count), of which the gap is a difference; o of the smallest size is what a call takes beside the delay; L is half
    of a round trip less two o.

    Args:
        sizes: bytes, rising. one, many, delayed: seconds [round, size] of round trips with one message there, with
            `count` without a delay, and with `count` that are `delay` apart, s.
    """
    gap, per_byte = not_negative(np.asarray(sizes, float) - 1.0, (many - one) / (count - 1), many)
    overhead = np.maximum((delayed - one)[:, 0] / (count - 1) - delay[:, 0], 0.0)
    return {
        "latency_seconds": _parameter(np.maximum(one[:, 0] / 2 - 2 * overhead, 0.0)),
        "overhead_seconds": _parameter(overhead),
        "gap_seconds": _parameter(gap),
        "gap_seconds_per_byte": _parameter(per_byte),
    }


def _parameter(values: Numbers) -> Parameter:
    """Of one value a round, none below zero."""
    found = interval([float(value) for value in values])
    low, high = ends(found)
    least = found.median if low is None else low
    return Parameter(found.median if least > 0 else None, low, high)
