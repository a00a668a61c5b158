"""Reverse time migration of the shots of a survey (Baysal, Kosloff & Sherwood 1983, Geophysics 48(11)).

for each shot
    source loop:    snapshots of the source wavefield, forwards in time
    receiver loop:  traces injected backwards in time, correlated with the snapshots in reverse order
"""

from __future__ import annotations

import numpy as np

from fathometer import ledger
from fathometer.parallel.agreement import together
from fathometer.progress import Progress
from fathometer.seismic.acquisition import Shot
from fathometer.seismic.dispersion import adjoint_of_inverse, forward_transform
from fathometer.seismic.experiment import Experiment
from fathometer.seismic.history import History
from fathometer.seismic.imaging import ImagingCondition
from fathometer.seismic.propagator import PointSet, Propagator
from fathometer.seismic.resampling import resample

STEPS_BETWEEN_CHECKS = 200  # that all fields are finite


def migrate(
    experiment: Experiment,
    wavefield: Propagator,
    history: History,
    condition: ImagingCondition,
    progress: Progress,
) -> None:
    """Collective. Accumulate all shots of the survey in the imaging condition, in the survey's order.

    Raises FathometerError on all ranks where a wavefield ceases to be finite, and InputError for unreadable traces.
    """
    for shot in experiment.acquisition.shots:
        progress.start_shot(shot.index, 2 * experiment.time.steps)
        with ledger.timeline(shot.name), ledger.phase("between time steps"):
            with ledger.phase("set up"), together(experiment.comm):
                receivers, traces = reversed_traces(experiment, wavefield, shot)
            source_loop(experiment, wavefield, shot, history, progress)
            receiver_loop(experiment, wavefield, shot, receivers, traces, history, condition, progress)
            progress.finish_shot()


def source_loop(
    experiment: Experiment, wavefield: Propagator, shot: Shot, history: History, progress: Progress
) -> None:
    """Propagate the source's series and push a snapshot every imaging step, the first and last state included."""
    time = experiment.time
    where = f"{shot.name}, source loop"
    with ledger.phase("set up"):
        source = wavefield.injectors(experiment.points(shot.source))
        series = source_series(experiment, source)
        wavefield.reset()
    with ledger.phase("history push", bytes=history.snapshot_bytes):
        wavefield.pressure(history.room())
        history.push()
    for start in range(0, time.steps, time.every):
        with ledger.phase("source propagation"):
            wavefield.advance(time.every, source, series[start : start + time.every], snapshot=history.room())
        with ledger.phase("history push", bytes=history.snapshot_bytes):
            history.push()
        finish_steps(wavefield, time.every, progress, where)
    wavefield.check(where)


def receiver_loop(
    experiment: Experiment,
    wavefield: Propagator,
    shot: Shot,
    receivers: PointSet,
    traces: np.ndarray,
    history: History,
    condition: ImagingCondition,
    progress: Progress,
) -> None:
    """Propagate the reversed traces (steps, receivers) and form the image with the snapshots, latest first."""
    time, where = experiment.time, f"{shot.name}, receiver loop"
    with ledger.phase("set up"):
        wavefield.reset()
    with ledger.phase("history pop", bytes=history.snapshot_bytes):
        snapshot = history.pop()
    with ledger.phase("imaging"):
        wavefield.correlate(condition.correlation(snapshot))
    for start in range(0, time.steps, time.every):
        with ledger.phase("history pop", bytes=history.snapshot_bytes):
            correlation = condition.correlation(history.pop())
        with ledger.phase("receiver propagation"):
            wavefield.advance(time.every, receivers, traces[start : start + time.every], correlation=correlation)
        finish_steps(wavefield, time.every, progress, where)
    wavefield.check(where)


def finish_steps(wavefield: Propagator, steps: int, progress: Progress, where: str) -> None:
    """After every few steps: show progress, and now and then look for numbers that are not finite."""
    with ledger.phase("progress"):
        progress.advance(steps)
    if wavefield.step // STEPS_BETWEEN_CHECKS > (wavefield.step - steps) // STEPS_BETWEEN_CHECKS:
        wavefield.check(where)


def source_series(experiment: Experiment, source: PointSet) -> np.ndarray:
    """The wavelet at the times of all steps: (steps, sources that touch this rank), in the propagation's dtype.

    Where the error in time is corrected it is added beforehand (dispersion.py).
    """
    values = experiment.wavelet(experiment.time.times()[:-1])
    if experiment.corrected:
        (values,) = forward_transform(values[None], experiment.time.before)
    return np.ascontiguousarray(np.repeat(values[:, None], len(source.indices), axis=1), experiment.scheme.dtype)


def reversed_traces(experiment: Experiment, wavefield: Propagator, shot: Shot) -> tuple[PointSet, np.ndarray]:
    """The receivers that touch this rank's cells and what they inject: -d/dt of their traces, last step first.

    Recorded pressure is what a layer of dipoles must radiate backwards (Rayleigh's second integral; Berkhout 1982,
    Seismic Migration); a layer of pressure sources radiates its time integral instead. With the derivative the image of
    a reflector is zero phase: its peak lies at the reflector, positive where velocity increases downwards.

    Row j is injected in step j of the receiver loop: time index steps - j, so that after j steps the field has the time
    of snapshot steps - j and holds all later samples.

    Where the error in time is corrected it is added to the series, so that both wavefields have it alike and the image
    needs nothing more (dispersion.py).

    Returns: the receivers, and their series (steps, receivers) in the propagation's dtype.
    """
    time, acquisition = experiment.time, experiment.acquisition
    points = experiment.points(shot.receivers)
    receivers = wavefield.injectors(points)
    own = len(points.owned(experiment.block)) / max(1, len(receivers.indices))
    with ledger.phase("read traces"), ledger.file("traces", "read", own=own):
        recorded = acquisition.traces(shot, receivers.indices).astype(experiment.scheme.dtype)

    def series(traces: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # the check of the wavefield finds what is not finite
            sampled = resample(
                traces,
                acquisition.start,
                acquisition.sample_interval,
                time.first,
                time.dt,
                time.steps + 1,
                experiment.wavelet.fmax,
            )
            rate = np.zeros_like(sampled)
            rate[:, 1:-1] = (sampled[:, :-2] - sampled[:, 2:]) / sampled.dtype.type(2 * time.dt)
            return adjoint_of_inverse(rate, time.before) if experiment.corrected else rate

    with ledger.phase("resample traces"):
        rate = wavefield.threads.on_traces(series, recorded)
        return receivers, np.ascontiguousarray(rate[:, :0:-1].T)
