"""The commands `model` and `migrate` from the survey file to the files in the output directory."""

from __future__ import annotations

import json
import math
import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError, naming
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.grid.tuning import Tuned
from fathometer.parallel.collectives import gathered, together
from fathometer.record.envelope import PAGE, RECORD, write_record
from fathometer.runs.claims import Claims, SharedLock
from fathometer.runs.journal import FOLDER, Journal, Lock, check_wish, erase, open_journal, read_journal, results_of
from fathometer.runs.outcome import Done, Outcome, Settings, accounted, finished_record
from fathometer.seismic.model.earth import NAMES
from fathometer.seismic.modelling import model_shots, modelling_steps
from fathometer.seismic.panels import Panel, Subject, panels
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.fingerprint import identity
from fathometer.seismic.rtm.migration import migrate_shots, rehearse, summed
from fathometer.seismic.rtm.products import draw, products_of, write, write_laplacian
from fathometer.seismic.rtm.worker import tuned_for
from fathometer.seismic.setup.experiment import Experiment, prepare
from fathometer.seismic.setup.rank_groups import Group
from fathometer.seismic.shots.offsets import ALL, OFFSET
from fathometer.seismic.survey import SampledWavelet, Survey
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage import atomic
from fathometer.storage.fingerprint import parts_of
from fathometer.storage.folder import results_folder
from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import split_reference
from fathometer.storage.volumes.writer import check_writable


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
    experiment = _prepared(survey, comm, settings, imaging=False)
    with accounted(experiment, settings):
        with ledger.phase("set up"):
            wavefield = experiment.propagator()
        shots = len(experiment.acquisition.shots)
        tuned = tuned_for(experiment, wavefield, settings, modelling_steps(experiment.time), shots)
        _model_shots(experiment, wavefield, path, settings)
        with ledger.phase("finish"):
            wavefield.close()
        updates = math.prod(experiment.grid.full_shape) * float(experiment.time.steps) * shots
        outcome, shown = _finish(experiment, settings, {"shots": path}, tuned, Done(shots, updates))
    _publish(experiment, settings, outcome, shown)
    return outcome


def _model_shots(experiment: Experiment, wavefield: Propagator, path: Path, settings: Settings) -> None:
    """Collective. All shots into the file `path`."""
    acquisition, comm = experiment.acquisition, experiment.comm
    traces = sum(len(shot.receivers) for shot in acquisition.shots)
    first = 0
    with ExitStack() as stack:
        writer = None
        with ledger.phase("write traces"), ledger.file("traces", "write"), together(comm):
            if comm.rank == 0:
                writer = stack.enter_context(
                    GatherWriter(path, acquisition.samples, acquisition.sample_interval, traces)
                )
        with _progress(experiment, settings, "model") as progress:
            for shot, gathered in model_shots(experiment, wavefield, progress):
                with ledger.phase("write traces"), ledger.file("traces", "write"), together(comm):
                    if writer is not None and gathered is not None:
                        writer.write(first, shot.ffid, shot.source, shot.receivers, gathered, shot.channel)
                first += len(shot.receivers)
        with ledger.phase("write traces"), ledger.file("traces", "write"), together(comm):
            _outdate_record(experiment.survey, comm)
            stack.close()  # the file appears


def run_migrate(survey: Survey, comm: MPI.Intracomm, settings: Settings) -> Outcome:
    """Collective. Migrate the survey's gathers; write the image, what derives from it, a picture and the record."""
    if survey.acquisition.gathers is None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: missing; `migrate` needs recorded shots (SEG-Y); "
            "`fathometer model` makes them from a geometry"
        )
    image = survey.output_directory / survey.output.image
    _, *names = products_of(survey.imaging)
    files = {ALL: image} | {name: image.with_name(f"{image.stem}-{name}{image.suffix}") for name in names}
    files["picture"] = survey.output_directory / "image.png"
    spare_inputs(survey, files.values())
    with naming(f"{survey.path}: [storage] write"):
        check_writable(image, Strategy.of(survey.storage.write), comm.size)
    with results_folder(survey.output_directory, comm), _locked(survey, comm, settings) as lock:
        return _migrate(survey, files, comm, settings, lock)


@contextmanager
def _locked(survey: Survey, comm: MPI.Intracomm, settings: Settings) -> Iterator[Lock | SharedLock | None]:
    """Collective. That no other run works in the folder, but those that share it, and none has whose results are not to
    be touched. The lock, on rank 0."""
    lock: Lock | SharedLock | None = None
    share = settings.wish.share
    try:
        with ledger.phase("set up"), together(comm):
            if comm.rank == 0:
                folder = survey.output_directory / FOLDER
                lock = SharedLock(folder, share) if share else Lock(folder)
                check_wish(survey.output_directory, settings.wish)
        yield lock
    finally:
        if lock is not None:
            lock.close()


def _migrate(
    survey: Survey, files: dict[str, Path], comm: MPI.Intracomm, settings: Settings, lock: Lock | SharedLock | None
) -> Outcome:
    experiment = _prepared(survey, comm, settings, imaging=True)
    something = comm.rank == 0 and (survey.output_directory / FOLDER / "survey.json").exists()
    if settings.wish.overwrite and any(gathered(comm, something)):
        with ledger.phase("set up"), ledger.Ledger():  # none of its work is the run's
            rehearse(experiment, settings)
    journal = _journal(experiment, settings, lock)
    if journal.finished:
        with together(comm):
            missing = [one for path in files.values() for one in parts_of(path) if not one.exists()]
            if missing:
                raise InputError(f"{missing[0]}: is missing, but the migration is finished; --overwrite makes it anew")
        settings.say(f"{survey.output_directory}: this migration is finished; --overwrite makes it anew")
        return Outcome(files | {"record": survey.output_directory / RECORD}, _record_of(survey, comm))
    with accounted(experiment, settings):
        told = gathered(comm, migrate_shots(experiment, journal, settings))
        while settings.wish.share:
            if not _last(lock, comm):
                settings.say(f"{survey.output_directory}: others are at work on its last shots, and make the image")
                return Outcome({}, {})
            settings = replace(settings, wish=replace(settings.wish, retry_failed=False))
            journal = _journal(experiment, settings, lock)
            if not _left(experiment, journal):
                break
            told += gathered(comm, migrate_shots(experiment, journal, settings))
        with ledger.phase("sum images"):
            errors = {shot: error for one in told for shot, error in one.errors.items()}
            with together(comm):
                if comm.rank == 0:
                    journal = _come_to(journal.folder, errors)
            journal = comm.bcast(journal)
            sums = summed(experiment, journal)
        with ledger.phase("write image"):
            outdated = results_of(survey.output_directory)
            _outdate_record(survey, comm)
            for name, values in sums.items():
                if name == "illumination":
                    write(experiment, files[name], values)
                else:
                    _write_image(experiment, journal, files[name], values)
        shape = sums["image"].shape
        del sums, values  # before there is another of this size
        if "laplacian" in files:
            write_laplacian(experiment, files["image"], files["laplacian"], shape)
        with ledger.phase("draw"), together(comm):
            if comm.rank == 0:
                _draw(experiment, files)
        first = next((one for one in told if one.kept is not None), None)
        facts = {
            "migrated_shots": sorted(shot for one in told for shot in one.led),
            "earlier_shots": len(journal.done) - sum(len(one.led) for one in told),
            "failed_shots": [{"shot": shot, "reason": reason} for shot, reason in sorted(journal.failed.items())],
            "replaced_traces": journal.repaired,
            "groups": Group.of(0, comm.size, experiment.ranks_per_shot).groups,
        }
        if first is not None and first.kept is not None:
            facts["history"] = first.kept.as_dict() | {"ranks": [one.told for one in told if one.told]}
        done = Done(sum(len(one.led) for one in told), sum(one.updates for one in told))
        names = {shot.index: shot.name for shot in experiment.acquisition.shots}
        failed = {shot: f"{names[shot]}: {reason}" for shot, reason in sorted(journal.failed.items())}
        reasons = [f"{len(failed)} of {len(names)} shots are not in the image"] if failed else []
        outcome, shown = _finish(experiment, settings, files, first.tuned if first else None, done, facts, reasons)
    _publish(experiment, settings, outcome, shown)
    with together(comm):
        if comm.rank == 0:
            journal.conclude()
            _remove(survey, outdated, outcome.files.values())
    return replace(outcome, failed=failed)


def _record_of(survey: Survey, comm: MPI.Intracomm) -> dict[str, Any]:
    """The record of the finished run, on rank 0."""
    path, found = survey.output_directory / RECORD, {}
    with together(comm):
        if comm.rank == 0:
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise FathometerError(f"{path}: cannot be read; --overwrite migrates anew") from None
    return found


def _left(experiment: Experiment, journal: Journal) -> bool:
    """Whether there are shots of which the journal tells nothing."""
    return any(
        shot.index not in journal.done and shot.index not in journal.failed for shot in experiment.acquisition.shots
    )


def _last(lock: Lock | SharedLock | None, comm: MPI.Intracomm) -> bool:
    """Collective. Whether no other run that shares the shots is at work any more."""
    last = True
    with together(comm):
        if isinstance(lock, SharedLock):
            last = lock.last()
    return all(gathered(comm, last))


def _journal(experiment: Experiment, settings: Settings, lock: Lock | SharedLock | None) -> Journal:
    """Collective. The journal as the folder of the results has it."""
    found: Journal | None = None
    comm, output = experiment.comm, experiment.survey.output_directory
    with ledger.phase("set up"):
        with together(comm):
            if comm.rank == 0:
                run = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
                if isinstance(lock, SharedLock):
                    run += f"-{socket.gethostname()}"  # processes of several hosts may have the same number
                found = open_journal(
                    output, identity(experiment), run, settings.wish, not isinstance(lock, SharedLock) or lock.alone
                )
                if isinstance(lock, SharedLock) and not found.finished and _left(experiment, found):
                    lock.share()
        found = comm.bcast(found)
    assert found is not None
    if settings.wish.share:
        found.claims = Claims(found.folder)
    if found.done or found.failed:
        settings.say(
            f"resumed: {len(found.done)} of {len(experiment.acquisition.shots)} shots are done"
            + f", {len(found.failed)} set aside" * bool(found.failed)
        )
    if found.repaired:
        settings.say("note: the traces have changed since; shots that are done stay as they were")
    return found


def _write_image(experiment: Experiment, journal: Journal, path: Path, values: np.ndarray) -> None:
    """Collective. The image of the condition that the survey names, from what that makes of the sums."""
    factor = condition_of(experiment.survey.imaging).laplacian
    if not factor:
        write(experiment, path, values)
        return
    plain = journal.folder / "image.npy"
    write(experiment, plain, values)
    write_laplacian(experiment, plain, path, values.shape, factor)


def _come_to(folder: Path, errors: Mapping[int, FathometerError]) -> Journal:
    """What the journal holds when all groups are ready. Where all shots have failed, the first one's error is raised,
    and nothing stays behind."""
    found = read_journal(folder)
    if found.done:
        return found
    if errors:
        erase(folder)
        raise errors[min(errors)]
    raise FathometerError(f"{folder.parent}: all shots were set aside; --retry-failed tries again")


def _draw(experiment: Experiment, files: dict[str, Path]) -> None:
    shown = "laplacian" if "laplacian" in files else "image"
    filtered = ", Laplacian-filtered" if shown == "laplacian" else ""
    title = f"{experiment.survey.path.stem}: reverse time migration{filtered}"
    draw(experiment, files[shown], title, files["picture"])


def _prepared(survey: Survey, comm: MPI.Intracomm, settings: Settings, imaging: bool) -> Experiment:
    """Everything before the first step."""
    with ledger.phase("set up"):
        experiment = prepare(survey, comm, imaging)
    for warning in experiment.warnings:
        settings.say(f"note: {warning}")
    for line in experiment.summary():
        settings.say(line)
    return experiment


def spare_inputs(survey: Survey, results: Iterable[Path]) -> None:
    """Raises InputError where a result would replace one of the survey's input files."""
    inputs: dict[str, Path] = {"the survey": survey.path}
    for name in NAMES:
        reference = getattr(survey.model, name)
        if isinstance(reference, str):
            with naming(f"{survey.path}: [model] {name}"):
                inputs[f"[model] {name}"], _ = split_reference(reference, survey.directory)
    if isinstance(survey.wavelet, SampledWavelet):
        inputs["[wavelet] path"] = survey.directory / survey.wavelet.path
    for result in results:
        for key, path in inputs.items():
            if atomic.replaces(result, path):
                raise InputError(
                    f"{survey.path}: [output]: {result} would replace {key}; allowed: another directory or name"
                )


def _outdate_record(survey: Survey, comm: MPI.Intracomm) -> None:
    """Remove record and page of an earlier run, whose results are about to be replaced."""
    if comm.rank == 0:
        for name in (RECORD, PAGE):
            atomic.remove(survey.output_directory / name)


def _remove(survey: Survey, outdated: Mapping[str, Path], results: Iterable[Path]) -> None:
    """Volumes of an earlier migration in this folder that the new one has not replaced; what the survey reads stays."""
    kept = {path.resolve() for path in results}
    for kind, path in outdated.items() if ALL in outdated else ():
        volume = kind in (ALL, "illumination", "laplacian") or kind.startswith(OFFSET)
        if volume and path.resolve() not in kept and path.resolve().parent == survey.output_directory.resolve():
            with suppress(InputError):
                spare_inputs(survey, [path])
                for one in parts_of(path):
                    atomic.remove(one)


def _progress(experiment: Experiment, settings: Settings, label: str) -> Progress:
    return Progress(
        len(experiment.acquisition.shots),
        now=now,
        rank=experiment.comm.rank,
        quiet=settings.quiet,
        label=label,
    )


def _finish(
    experiment: Experiment,
    settings: Settings,
    files: dict[str, Path],
    tuned: Tuned | None,
    done: Done,
    facts: Mapping[str, Any] = MappingProxyType({}),
    reasons: Sequence[str] = (),
) -> tuple[Outcome, list[Panel]]:
    """Collective. Write run.json on rank 0; the outcome, and what its page will show.

    What the page shows of the files is read before the record is made, which so accounts for it.
    """
    comm, folder = experiment.comm, experiment.survey.output_directory
    written, files = files, {**files, "record": folder / RECORD}
    if settings.publish is not None:
        files["report"] = folder / PAGE
    shown: list[Panel] = []
    with ledger.phase("report"), together(comm):
        if comm.rank == 0 and settings.publish is not None:
            shown = panels(
                Subject(experiment.survey, lambda: experiment.files, lambda: experiment.acquisition, written)
            )
    with ledger.phase("finish"):
        envelope = finished_record(experiment, settings, files, tuned, done, facts, reasons)
        with together(comm):
            if comm.rank == 0:
                write_record(files["record"], envelope)
    return Outcome(files, envelope), shown


def _publish(experiment: Experiment, settings: Settings, outcome: Outcome, shown: list[Panel]) -> None:
    """Collective. Write the page of a finished run on rank 0."""
    with ledger.phase("report"), together(experiment.comm):
        if experiment.comm.rank == 0 and settings.publish is not None:
            settings.publish(outcome.files["report"], outcome.record, shown)
