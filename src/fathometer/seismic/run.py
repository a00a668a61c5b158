"""The commands `model` and `migrate` from the survey file to the files in the output directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.errors import InputError, naming
from fathometer.ledger import Ledger, now
from fathometer.machine import machine, peak_memory
from fathometer.parallel.agreement import together
from fathometer.parallel.threads import Binding, tasks_of
from fathometer.progress import Progress
from fathometer.record import Figure, record, write_record
from fathometer.seismic.earth import NAMES
from fathometer.seismic.experiment import Experiment, prepare
from fathometer.seismic.history import MemoryHistory
from fathometer.seismic.imaging import condition_of
from fathometer.seismic.modelling import model_shots, modelling_steps
from fathometer.seismic.products import draw, write, write_laplacian
from fathometer.seismic.propagator import Propagator
from fathometer.seismic.rtm import migrate
from fathometer.seismic.survey import SampledWavelet, Survey
from fathometer.seismic.tuning import Tuned, tune
from fathometer.storage import whole
from fathometer.storage.folder import results_folder
from fathometer.storage.segy import GatherWriter
from fathometer.storage.volume import split_reference

RECORD = "run.json"


@dataclass(frozen=True)
class Settings:
    """How a command runs, beside its survey: its words for the record, how much it says, where its threads are."""

    command: tuple[str, ...]
    quiet: bool
    binding: Binding
    say: Any  # prints a line for people; a no-op when quiet and on ranks above 0


@dataclass(frozen=True)
class Outcome:
    """What a command leaves: its files by kind, and its record (complete on rank 0 only)."""

    files: dict[str, Path]
    record: dict[str, Any]


def run_model(survey: Survey, comm: MPI.Intracomm, settings: Settings) -> Outcome:
    """Collective. Model the survey's geometry and write its gathers to shots.segy."""
    if survey.acquisition.gathers is not None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: found; `model` needs a geometry (sources and receivers)"
        )
    path = survey.output_directory / "shots.segy"
    spare_inputs(survey, [path])
    with results_folder(survey.output_directory, comm):
        return _model(survey, path, comm, settings)


def _model(survey: Survey, path: Path, comm: MPI.Intracomm, settings: Settings) -> Outcome:
    ledger = Ledger()
    experiment = _prepared(survey, comm, settings, ledger, imaging=False)
    acquisition = experiment.acquisition
    wavefield = experiment.propagator()
    tuned = _tuned(experiment, wavefield, settings, ledger, modelling_steps(experiment), propagations=1)
    traces = sum(len(shot.receivers) for shot in acquisition.shots)
    first = 0
    with ExitStack() as stack:
        writer = None
        with together(comm):
            if comm.rank == 0:
                writer = stack.enter_context(
                    GatherWriter(path, acquisition.samples, acquisition.sample_interval, traces)
                )
        with _progress(experiment, settings, "model") as progress:
            for shot, gathered in model_shots(experiment, wavefield, ledger, progress):
                with ledger.phase("write traces"), together(comm):
                    if writer is not None and gathered is not None:
                        writer.write(first, shot.ffid, shot.source, shot.receivers, gathered, shot.channel)
                first += len(shot.receivers)
        with ledger.phase("write traces"), together(comm):
            _outdate_record(survey, comm)
            stack.close()  # the file appears
    wavefield.close()
    files = {"shots": path}
    return _finish(experiment, files, _record(experiment, settings, ledger, files, tuned, propagations=1))


def run_migrate(survey: Survey, comm: MPI.Intracomm, settings: Settings) -> Outcome:
    """Collective. Migrate the survey's gathers; write the image, what derives from it, a picture and the record."""
    if survey.acquisition.gathers is None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: missing; `migrate` needs recorded shots (SEG-Y); "
            "`fathometer model` makes them from a geometry"
        )
    image = survey.output_directory / survey.output.image
    files = {"image": image, "illumination": image.with_name(f"{image.stem}-illumination{image.suffix}")}
    if survey.imaging.laplacian:
        files["laplacian"] = image.with_name(f"{image.stem}-laplacian{image.suffix}")
    files["picture"] = survey.output_directory / "image.png"
    spare_inputs(survey, files.values())
    with results_folder(survey.output_directory, comm):
        return _migrate(survey, files, comm, settings)


def _migrate(survey: Survey, files: dict[str, Path], comm: MPI.Intracomm, settings: Settings) -> Outcome:
    ledger = Ledger()
    experiment = _prepared(survey, comm, settings, ledger, imaging=True)
    wavefield = experiment.propagator()
    tuned = _tuned(experiment, wavefield, settings, ledger, experiment.time.every, propagations=2)
    shape, dtype = wavefield.image_shape, experiment.scheme.dtype
    condition = condition_of(survey.imaging, shape, dtype)
    history = MemoryHistory(experiment.time.snapshots, shape, dtype)
    with _progress(experiment, settings, "migrate") as progress:
        migrate(experiment, wavefield, history, condition, ledger, progress)
    wavefield.close()
    del history
    with ledger.phase("write image"):
        _outdate_record(survey, comm)
        write(experiment, files["image"], condition.image(comm))
        write(experiment, files["illumination"], condition.illumination)
        if "laplacian" in files:
            write_laplacian(experiment, files["image"], files["laplacian"], shape)
    with ledger.phase("draw"), together(comm):
        if comm.rank == 0:
            shown = "laplacian" if "laplacian" in files else "image"
            title = f"{survey.path.stem}: reverse time migration" + (
                ", Laplacian-filtered" if shown == "laplacian" else ""
            )
            draw(experiment, files[shown], title, files["picture"])
    return _finish(experiment, files, _record(experiment, settings, ledger, files, tuned, propagations=2))


def _prepared(survey: Survey, comm: MPI.Intracomm, settings: Settings, ledger: Ledger, imaging: bool) -> Experiment:
    """Everything before the first step."""
    with ledger.phase("read model"):
        experiment = prepare(survey, comm, imaging)
    for warning in experiment.warnings:
        settings.say(f"note: {warning}")
    for line in experiment.summary():
        settings.say(line)
    return experiment


def _tuned(
    experiment: Experiment, wavefield: Propagator, settings: Settings, ledger: Ledger, steps: int, propagations: int
) -> Tuned:
    """Threads and tiling of a run whose wavefield takes `steps` time steps at a time."""
    survey = experiment.survey
    with naming(str(survey.path)):
        with together(experiment.comm):
            wavefield.threads = tasks_of(survey.threads.model_dump(), settings.binding)
        total = experiment.time.steps * len(experiment.acquisition.shots) * propagations
        with ledger.phase("tuning"):
            tuned = tune(wavefield, survey.tuning, steps, total, wavefield.threads.propagate, settings.say)
    settings.say(str(tuned))
    return tuned


def spare_inputs(survey: Survey, results: Iterable[Path]) -> None:
    """Raises InputError where a result would replace one of the survey's input files."""
    inputs: dict[str, Path] = {}
    for name in NAMES:
        reference = getattr(survey.model, name)
        if isinstance(reference, str):
            with naming(f"{survey.path}: [model] {name}"):
                inputs[f"[model] {name}"], _ = split_reference(reference, survey.directory)
    if isinstance(survey.wavelet, SampledWavelet):
        inputs["[wavelet] path"] = survey.directory / survey.wavelet.path
    for result in results:
        for key, path in inputs.items():
            if _place(result) in (_place(path), Path(os.path.realpath(path))):
                raise InputError(
                    f"{survey.path}: [output]: {result} would replace {key}; allowed: another directory or name"
                )


def _place(path: Path) -> Path:
    """The path of a file itself, be it a link or not."""
    return Path(os.path.realpath(path.parent)) / path.name


def _outdate_record(survey: Survey, comm: MPI.Intracomm) -> None:
    """Remove the record of an earlier run, whose results are about to be replaced."""
    if comm.rank == 0:
        whole.remove(survey.output_directory / RECORD)


def _progress(experiment: Experiment, settings: Settings, label: str) -> Progress:
    return Progress(
        len(experiment.acquisition.shots),
        now=now,
        rank=experiment.comm.rank,
        quiet=settings.quiet,
        label=label,
    )


def _finish(experiment: Experiment, files: dict[str, Path], envelope: dict[str, Any]) -> Outcome:
    """Collective. Write run.json on rank 0 and tell the outcome."""
    path = experiment.survey.output_directory / RECORD
    with together(experiment.comm):
        if experiment.comm.rank == 0:
            write_record(path, envelope)
    return Outcome({**files, "record": path}, envelope)


def _record(
    experiment: Experiment,
    settings: Settings,
    ledger: Ledger,
    files: dict[str, Path],
    tuned: Tuned,
    propagations: int,
) -> dict[str, Any]:
    """Collective. The run's envelope; on ranks above 0 it holds that rank's ledger only."""
    comm, survey, grid, time = experiment.comm, experiment.survey, experiment.grid, experiment.time
    seconds = ledger.total
    ranks = comm.gather(
        {
            "wall_seconds": seconds,
            "phase_seconds": ledger.as_dict(),
            "peak_memory_bytes": peak_memory(),
            **settings.binding.as_dict(),
        }
    )
    if ranks is None:
        return {}
    loops = ledger.seconds("source propagation") + ledger.seconds("receiver propagation")
    shots = len(experiment.acquisition.shots)
    updates = float(np.prod(grid.full_shape)) * time.steps * shots * propagations
    reasons = [
        f"ranks share cores on {host}"
        for host in sorted({str(rank["host"]) for rank in ranks if rank["oversubscribed"]})
    ]
    return record(
        application="seismic",
        command=settings.command,
        input=survey.resolved() | {"survey": str(survey.path)},
        machine=machine() | {"ranks": comm.size, "binding": [_binding(rank) for rank in ranks]},
        ledger={
            "ranks": [{key: rank[key] for key in ("rank", "host", "wall_seconds", "phase_seconds")} for rank in ranks]
        },
        figures=[
            Figure("wall time", seconds, "seconds", "lower"),
            Figure("propagation", loops, "seconds", "lower", "context"),
            Figure("grid point updates", updates / loops if loops else 0.0, "points_per_second", "higher"),
            Figure("shots", 3600 * shots / seconds, "shots_per_hour", "higher"),
            Figure("peak memory", max(rank["peak_memory_bytes"] for rank in ranks), "bytes", "lower"),
        ],
        results={
            "files": files,
            "grid": {
                "shape": grid.shape,
                "padded_shape": grid.full_shape,
                "spacing_metres": grid.spacing,
                "origin_metres": grid.origin,
                "padding_cells": grid.pad,
                "decomposition": experiment.block.ranks,
            },
            "physics": "isotropic" if len(experiment.model) == 1 else "vti",
            "slowest_metres_per_second": experiment.slowest,
            "fastest_metres_per_second": experiment.fastest,
            "boundary": {"kind": type(experiment.scheme.boundary).__name__.lower()} | vars(experiment.scheme.boundary),
            "space_weights": survey.propagation.space_weights,
            "time_step_seconds": time.dt,
            "time_step_limit_seconds": experiment.time_step_limit,
            "time_dispersion": survey.propagation.time_dispersion,
            "first_time_seconds": time.first,
            "steps": time.steps,
            "imaging_step": time.every,
            "maximum_frequency_hertz": experiment.wavelet.fmax,
            "points_per_shortest_wavelength": experiment.points_per_wavelength,
            "shots": shots,
            "traces": sum(len(shot.receivers) for shot in experiment.acquisition.shots),
            "sample_interval_seconds": experiment.acquisition.sample_interval,
            "samples": experiment.acquisition.samples,
            "tuning": tuned.as_dict(),
            "peak_memory_bytes": [rank["peak_memory_bytes"] for rank in ranks],
            "notes": experiment.warnings,
            "image_unit": "arbitrary: the product of the scales of source and data",
        },
        reasons=reasons,
    )


def _binding(rank: dict[str, Any]) -> dict[str, Any]:
    dropped = ("wall_seconds", "phase_seconds", "peak_memory_bytes")
    return {key: value for key, value in rank.items() if key not in dropped}
