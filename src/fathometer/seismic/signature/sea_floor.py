"""Sea-floor reflections of near offsets, aligned and stacked.

A trace at offset x has the reflection at t(x) = sqrt(t0^2 + x^2 / c^2), with c t0 = 2 h - zs - zr for a sea floor at a
depth h, a source at zs and a receiver at zr. t0 is looked for where the traces, moved out by it, become loud behind the
direct wave; each trace is then shifted, without stretch, to where it fits the stack best, which also takes up a sea
floor that is not flat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.storage.traces.notches import spread

Doubles = npt.NDArray[np.float64]

MOST_TRACES, MOST_SHOTS = 240, 60  # that are read
DIRECT = 0.1  # s: how long the direct wave may take
LOUD = 0.25  # of the largest amplitude behind the direct wave: where the sea floor begins
STEEPEST = 0.55  # largest offset over c t0: some 30 degrees from the vertical
SEARCH = 0.03  # s, by which a trace may lie beside the hyperbola
FITS = 0.6  # least correlation of a trace with the stack
FEWEST = 6  # traces
BEFORE = 0.1  # s of noise before the reflection


@dataclass(frozen=True)
class Near:
    """Traces (n, ns) of near offsets (n,), m, from `start` on every `interval` s; depths (n,) of their sources and
    receivers, m."""

    traces: Doubles
    offset: Doubles
    source: Doubles
    receiver: Doubles
    start: float
    interval: float


@dataclass(frozen=True)
class Aligned:
    """Reflections (n, m) of the n traces that fit, each with RMS amplitude 1, cut out from BEFORE s before `times` (n,)
    of theirs, s; `kept` says which; their mean without the extremes is `stack` (m,). correlation: median with it."""

    pieces: Doubles
    stack: Doubles
    times: Doubles
    kept: npt.NDArray[np.int64]
    correlation: float


def near_traces(acquisition: Acquisition, largest: float | None) -> Near:
    """Traces as recorded of offsets up to `largest` (m; None: the nearest quarter), of shots spread over the survey."""
    recording = acquisition.recording
    assert recording is not None
    shots = [acquisition.shots[n] for n in spread(len(acquisition.shots), MOST_SHOTS)]
    limit = float(np.quantile(np.concatenate([shot.offsets for shot in shots]), 0.25)) if largest is None else largest
    per_shot = max(FEWEST, MOST_TRACES // len(shots))
    parts, offsets, sources, receivers = [], [], [], []
    for shot in shots:
        order = np.argsort(shot.offsets, kind="stable")
        near = order[shot.offsets[order] <= limit]
        some = np.sort(near[spread(len(near), per_shot)]) if len(near) else near
        if len(some):
            parts.append(recording.read(shot.index, some))
            offsets.append(shot.offsets[some])
            sources.append(np.full(len(some), shot.source[2]))
            receivers.append(shot.receivers[some, 2])
    if not parts:
        raise InputError(f"{acquisition.name}: no trace has an offset up to {limit:.6g} m; allowed: a larger --offset")
    traces = np.concatenate(parts).astype(np.float64)
    live = np.asarray(traces.any(axis=1))
    if np.count_nonzero(live) < FEWEST:
        raise InputError(
            f"{acquisition.name}: {np.count_nonzero(live)} of {len(live)} traces up to {limit:.6g} m are not zero; "
            f"needed: {FEWEST} or more"
        )
    offset, source, receiver = (np.concatenate(values)[live] for values in (offsets, sources, receivers))
    return Near(traces[live], offset, source, receiver, recording.delay, recording.interval)


def reflection_time(near: Near, velocity: float, name: str) -> float:
    """t0 of the sea floor, s, where the traces become loud behind the direct wave; velocity: of the water, m/s.
    InputError where they do nowhere."""
    count = near.traces.shape[1]
    end = near.start + (count - 1) * near.interval
    t0 = np.arange(near.interval, end, near.interval)
    loud = np.abs(near.traces) / np.abs(near.traces).max(axis=1, keepdims=True)
    moved = np.full((len(loud), len(t0)), np.nan)
    for row, (trace, offset) in enumerate(zip(loud, near.offset, strict=True)):
        time = np.hypot(t0, offset / velocity)
        sample = np.round((time - near.start) / near.interval).astype(np.int64)
        # As far out as reflections are near the vertical; before, the direct wave is all there is.
        fit = (sample >= 0) & (sample < count) & (offset <= STEEPEST * velocity * t0)
        fit &= time >= offset / velocity + DIRECT
        moved[row, fit] = trace[sample[fit]]
    enough = np.count_nonzero(np.isfinite(moved), axis=0) >= min(FEWEST, len(moved))
    if not enough.any():
        raise InputError(
            f"{name}: the nearest traces, at {near.offset.min():.6g} m, have no reflection near the vertical within "
            f"their {end:.4g} s; needed: nearer offsets, or --sea-floor TIME"
        )
    level = np.zeros(len(t0))
    level[enough] = np.nanmedian(moved[:, enough], axis=0)
    width = max(1, round(0.012 / near.interval))
    smooth = np.convolve(level, np.ones(width) / width, mode="same")
    first = int(np.argmax(smooth >= LOUD * smooth.max()))
    return float(t0[first])


def aligned(near: Near, t0: float, velocity: float, length: float, name: str) -> Aligned:
    """The reflections near t0 (s), cut out over BEFORE + length s, aligned and stacked. InputError for too few."""
    chosen = np.flatnonzero(near.offset <= STEEPEST * velocity * t0)
    times = np.hypot(t0, near.offset[chosen] / velocity)
    last = near.start + (near.traces.shape[1] - 1) * near.interval
    inside = (times - BEFORE - SEARCH >= near.start) & (times + length + SEARCH <= last)
    chosen, times = chosen[inside], times[inside]
    if len(chosen) < FEWEST:
        raise InputError(
            f"{name}: {len(chosen)} traces have the reflection of {t0:.4g} s within 30 degrees of the vertical and "
            f"{length:.4g} s behind it; needed: {FEWEST} or more"
        )
    # The reflection itself counts, not what follows it.
    core = slice(round((BEFORE - SEARCH) / near.interval), round((BEFORE + 0.5 * length) / near.interval))
    pieces = _cut(near, chosen, times, length)
    for _ in range(4):
        pilot = _robust(pieces)
        times = times + _lags(pieces[:, core], pilot[core], near.interval)
        pieces = _cut(near, chosen, times, length)
    pilot = _robust(pieces)
    fit = np.array([_correlation(piece[core], pilot[core]) for piece in pieces])
    good = np.flatnonzero(fit >= FITS)
    if len(good) < FEWEST:
        raise InputError(
            f"{name}: {len(good)} of {len(fit)} traces resemble each other around {t0:.4g} s (correlation {FITS:g} or "
            f"more); needed: {FEWEST}: see --sea-floor, --offset and --velocity"
        )
    return Aligned(pieces[good], _robust(pieces[good]), times[good], chosen[good], float(np.median(fit[good])))


def _cut(near: Near, rows: npt.NDArray[np.int64], times: Doubles, length: float) -> Doubles:
    """Pieces of traces from BEFORE s before their times (n,) on, by a phase shift, each with RMS amplitude 1."""
    ns = near.traces.shape[1]
    count = round((BEFORE + length) / near.interval) + 1
    frequency = np.fft.rfftfreq(2 * ns, near.interval)
    pieces = np.empty((len(rows), count))
    for n, (row, time) in enumerate(zip(rows, times, strict=True)):
        shift = time - BEFORE - near.start
        whole = int(np.floor(shift / near.interval))
        part = np.exp(2j * np.pi * frequency * (shift - whole * near.interval))
        moved = np.fft.irfft(np.fft.rfft(near.traces[row], 2 * ns) * part, 2 * ns)
        piece = moved[whole : whole + count]
        pieces[n] = piece / max(float(np.sqrt(np.mean(piece**2))), np.finfo(np.float64).tiny)
    return pieces


def _robust(pieces: Doubles) -> Doubles:
    """The mean (m,) of pieces (n, m) without the tenth of largest and of smallest samples."""
    ordered = np.sort(pieces, axis=0)
    cut = len(pieces) // 10
    return np.asarray(ordered[cut : len(pieces) - cut].mean(axis=0))


def _lags(pieces: Doubles, pilot: Doubles, interval: float) -> Doubles:
    """By how much later than the pilot (m,) each piece (n, m) is, s, at most SEARCH; a parabola between samples."""
    reach = max(1, round(SEARCH / interval))
    middle = len(pilot) - 1
    lags = np.empty(len(pieces))
    for n, piece in enumerate(pieces):
        fit = np.correlate(piece, pilot, mode="full")[middle - reach - 1 : middle + reach + 2]
        k = 1 + int(np.argmax(fit[1:-1]))
        lags[n] = interval * (k - reach - 1 + parabola(fit, k))
    return np.asarray(lags - np.median(lags))


def parabola(values: Doubles, k: int) -> float:
    """Where the vertex of a parabola through three values around a maximum k lies, in samples from k."""
    a, b, c = values[k - 1 : k + 2]
    bend = a - 2.0 * b + c
    return 0.0 if bend >= 0.0 else float(np.clip(0.5 * (a - c) / bend, -0.5, 0.5))


def _correlation(a: Doubles, b: Doubles) -> float:
    size = float(np.sqrt(np.sum(a**2) * np.sum(b**2)))
    return float(np.sum(a * b)) / size if size > 0.0 else 0.0
