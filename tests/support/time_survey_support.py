"""Surveys of recorded traces whose image in time is known, in a folder, for the command `migrate-time`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mpi4py import MPI
from segy_support import spoil
from support import ricker

from fathometer.parallel.threads import bind, unbind
from fathometer.runs.context import Context, Outcome
from fathometer.runs.options import RunOptions
from fathometer.seismic.kirchhoff.driver import run_migrate_time
from fathometer.seismic.survey import load_survey
from fathometer.storage.traces.segy import GatherWriter

VELOCITY, INTERVAL, T0, REFLECTION = 2000.0, 0.004, 0.6, 0.3
SEED_SAMPLES = 120

LINE = {
    "acquisition.gathers": "recorded.segy",
    "time_migration.velocity": VELOCITY,
    "time_migration.x": [-50.0, 50.0, 25.0],
    "time_migration.start": 0.4,
    "time_migration.end": 0.8,
    "time_migration.aperture": 1200.0,
    "time_migration.dip": 80.0,
    "output.directory": "out",
}
PATCH = {
    "acquisition.gathers": "recorded.segy",
    "time_migration.velocity": VELOCITY,
    "time_migration.eta": 0.05,
    "time_migration.x": [0.0, 300.0, 25.0],
    "time_migration.y": [0.0, 200.0, 25.0],
    "time_migration.aperture": 120.0,
    "time_migration.block_traces": 40,
    "imaging.gathers": "offset",
    "imaging.offset_bins": [0.0, 100.0, 1000.0],
    "output.directory": "out",
}
PATCH_SHOTS, PATCH_TRACES = 8, 30  # blocks of two shots


def record_reflector(folder: Path, depth: float = 0.0, replacement: float = 1.0) -> Path:
    """A plane at T0 on a line of shots 25 m apart, R w(t - τ) / r; midpoints of all offsets, multiples of 50 m up to
    600, end at the same places. depth: of sources and receivers, whose traces are early by the time in that layer."""
    samples, early = 300, 2 * depth / replacement
    shots = []
    for x in np.arange(-1800.0, 1801.0, 25.0):
        receivers = x + np.arange(-600.0, 601.0, 50.0)
        receivers = receivers[np.abs(receivers + x) <= 3000]
        if len(receivers):
            shots.append((x, receivers))
    path = folder / "recorded.segy"
    times, first = INTERVAL * np.arange(samples), 0
    with GatherWriter(path, samples, INTERVAL, sum(len(receivers) for _, receivers in shots)) as writer:
        for number, (x, receivers) in enumerate(shots):
            way = np.hypot(VELOCITY * T0, receivers - x)[:, None]
            traces = REFLECTION * ricker(times - way / VELOCITY + early, 20.0) / way
            places = np.column_stack([receivers, np.zeros(len(receivers)), np.full(len(receivers), depth)])
            writer.write(first, number + 1, (x, 0.0, depth), places, traces)
            first += len(receivers)
    return path


def record_noise(folder: Path, bad: tuple[int, ...] = ()) -> Path:
    """Shots of noise on a patch, in an order of their own; of those in `bad` one trace is not finite."""
    source, path = np.random.default_rng(8), folder / "recorded.segy"
    with GatherWriter(path, SEED_SAMPLES, INTERVAL, PATCH_SHOTS * PATCH_TRACES) as writer:
        for shot in range(PATCH_SHOTS):
            place = np.array([*np.round(source.uniform([0, 0], [300, 200])), 0.0])
            spread = np.round(source.uniform(-150, 150, (PATCH_TRACES, 2)))
            receivers = place + np.column_stack([spread, np.zeros(PATCH_TRACES)])
            traces = source.standard_normal((PATCH_TRACES, SEED_SAMPLES)).astype(np.float32)
            writer.write(shot * PATCH_TRACES, shot + 1, place, receivers, traces)
    for shot in bad:
        spoil_shot(path, shot)
    return path


def spoil_shot(path: Path, shot: int, value: float = np.nan) -> None:
    """Put a number into a trace of the noise."""
    spoil(path, shot * PATCH_TRACES + 3, SEED_SAMPLES, value)


def images(folder: Path) -> dict[str, bytes]:
    """The bytes of all volumes of a time migration, by their files' names."""
    return {path.name: path.read_bytes() for path in sorted((folder / "time").glob("*.rsf@"))}


def run(
    path: Path, *, threads: int = 1, options: RunOptions | None = None, comm: MPI.Intracomm = MPI.COMM_SELF
) -> tuple[Outcome, list[str]]:
    """Collective. Migrate a survey without the page that the command makes; the outcome, and the lines for people."""
    said: list[str] = []
    binding = bind(comm, threads)
    options = RunOptions(overwrite=True) if options is None else options
    try:
        context = Context(("test",), True, binding, said.append, options=options)
        return run_migrate_time(load_survey(path), comm, context), said
    finally:
        unbind(binding)
