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
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.parallel.groups import Group
from fathometer.record.envelope import PAGE, RECORD, write_record
from fathometer.runs.claims import Claims, SharedLock
from fathometer.runs.journal import FOLDER, Journal, Lock, check_options, erase, open_journal, read_journal, results_of
from fathometer.runs.outcome import Context, Outcome, WorkDone, accounted, finished_record
from fathometer.seismic.model.earth import NAMES
from fathometer.seismic.modelling import model_shots, modelling_steps
from fathometer.seismic.panels import Panel, Subject, panels
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.fingerprint import migration_fingerprint
from fathometer.seismic.rtm.migration import migrate_shots, rehearse, summed
from fathometer.seismic.rtm.products import draw, products_of, write, write_laplacian
from fathometer.seismic.rtm.worker import tuned_for
from fathometer.seismic.setup.setup import Setup, prepare
from fathometer.seismic.shots.offsets import ALL, OFFSET
from fathometer.seismic.survey import SampledWaveletTable, Survey
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage import atomic
from fathometer.storage.fingerprint import parts_of
from fathometer.storage.folder import results_folder
from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import split_reference
from fathometer.storage.volumes.writer import check_writable


def run_model(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Model the survey's geometry and write its gathers to shots.segy."""
    if survey.acquisition.gathers is not None:
        raise InputError(
            f"{survey.path}: [acquisition] gathers: found; `model` needs a geometry (sources and receivers)"
        )
    path = survey.output_directory / "shots.segy"
    spare_inputs(survey, [path])
    with results_folder(survey.output_directory, comm):
        return _model(survey, path, comm, context)


def _model(survey: Survey, path: Path, comm: MPI.Intracomm, context: Context) -> Outcome:
    setup = _prepared(survey, comm, context, imaging=False)
    with accounted(setup, context):
        with ledger.phase("set up"):
            wavefield = setup.propagator()
        shots = len(setup.acquisition.shots)
        tuned = tuned_for(setup, wavefield, context, modelling_steps(setup.time), shots)
        _model_shots(setup, wavefield, path, context)
        with ledger.phase("finish"):
            wavefield.close()
        updates = math.prod(setup.grid.full_shape) * float(setup.time.steps) * shots
        outcome, shown = _finish(setup, context, {"shots": path}, tuned, WorkDone(shots, updates))
    _publish(setup, context, outcome, shown)
    return outcome


def _model_shots(setup: Setup, wavefield: Propagator, path: Path, context: Context) -> None:
    """Collective. All shots into the file `path`."""
    acquisition, comm = setup.acquisition, setup.comm
    traces = sum(len(shot.receivers) for shot in acquisition.shots)
    first = 0
    with ExitStack() as stack:
        writer = None
        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
            if comm.rank == 0:
                writer = stack.enter_context(
                    GatherWriter(path, acquisition.samples, acquisition.sample_interval, traces)
                )
        with _progress(setup, context, "model") as progress:
            for shot, all_traces in model_shots(setup, wavefield, progress):
                with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
                    if writer is not None and all_traces is not None:
                        writer.write(first, shot.ffid, shot.source, shot.receivers, all_traces, shot.channel)
                first += len(shot.receivers)
        with ledger.phase("write traces"), ledger.file("traces", "write"), collective_errors(comm):
            _outdate_record(setup.survey, comm)
            stack.close()  # the file appears


def run_migrate(survey: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
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
    with results_folder(survey.output_directory, comm), _locked(survey, comm, context) as lock:
        return _migrate(survey, files, comm, context, lock)


@contextmanager
def _locked(survey: Survey, comm: MPI.Intracomm, context: Context) -> Iterator[Lock | SharedLock | None]:
    """Collective. That no other run works in the folder, but those that share it, and none has whose results are not to
    be touched. The lock, on rank 0."""
    lock: Lock | SharedLock | None = None
    share = context.options.share
    try:
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                folder = survey.output_directory / FOLDER
                lock = SharedLock(folder, share) if share else Lock(folder)
                check_options(survey.output_directory, context.options)
        yield lock
    finally:
        if lock is not None:
            lock.close()


def _migrate(
    survey: Survey, files: dict[str, Path], comm: MPI.Intracomm, context: Context, lock: Lock | SharedLock | None
) -> Outcome:
    setup = _prepared(survey, comm, context, imaging=True)
    something = comm.rank == 0 and (survey.output_directory / FOLDER / "survey.json").exists()
    if context.options.overwrite and any(allgather(comm, something)):
        with ledger.phase("set up"), ledger.Ledger():  # none of its work is the run's
            rehearse(setup, context)
    journal = _journal(setup, context, lock)
    if journal.finished:
        with collective_errors(comm):
            missing = [one for path in files.values() for one in parts_of(path) if not one.exists()]
            if missing:
                raise InputError(f"{missing[0]}: is missing, but the migration is finished; --overwrite makes it anew")
        context.say(f"{survey.output_directory}: this migration is finished; --overwrite makes it anew")
        return Outcome(files | {"record": survey.output_directory / RECORD}, _record_of(survey, comm))
    with accounted(setup, context):
        told = allgather(comm, migrate_shots(setup, journal, context))
        while context.options.share:
            if not _last(lock, comm):
                context.say(f"{survey.output_directory}: others are at work on its last shots, and make the image")
                return Outcome({}, {})
            context = replace(context, options=replace(context.options, retry_failed=False))
            journal = _journal(setup, context, lock)
            if not _left(setup, journal):
                break
            told += allgather(comm, migrate_shots(setup, journal, context))
        with ledger.phase("sum images"):
            errors = {shot: error for one in told for shot, error in one.errors.items()}
            with collective_errors(comm):
                if comm.rank == 0:
                    journal = _come_to(journal.folder, errors)
            journal = comm.bcast(journal)
            sums = summed(setup, journal)
        with ledger.phase("write image"):
            outdated = results_of(survey.output_directory)
            _outdate_record(survey, comm)
            for name, values in sums.items():
                if name == "illumination":
                    write(setup, files[name], values)
                else:
                    _write_image(setup, journal, files[name], values)
        shape = sums["image"].shape
        del sums, values  # before there is another of this size
        if "laplacian" in files:
            write_laplacian(setup, files["image"], files["laplacian"], shape)
        with ledger.phase("draw"), collective_errors(comm):
            if comm.rank == 0:
                _draw(setup, files)
        first = next((one for one in told if one.kept is not None), None)
        facts = {
            "migrated_shots": sorted(shot for one in told for shot in one.led),
            "earlier_shots": len(journal.done) - sum(len(one.led) for one in told),
            "failed_shots": [{"shot": shot, "reason": reason} for shot, reason in sorted(journal.failed.items())],
            "replaced_traces": journal.repaired,
            "groups": Group.of(0, comm.size, setup.ranks_per_shot).groups,
        }
        if first is not None and first.kept is not None:
            facts["history"] = first.kept.as_dict() | {"ranks": [one.told for one in told if one.told]}
        done = WorkDone(sum(len(one.led) for one in told), sum(one.updates for one in told))
        names = {shot.index: shot.name for shot in setup.acquisition.shots}
        failed = {shot: f"{names[shot]}: {reason}" for shot, reason in sorted(journal.failed.items())}
        reasons = [f"{len(failed)} of {len(names)} shots are not in the image"] if failed else []
        outcome, shown = _finish(setup, context, files, first.tuned if first else None, done, facts, reasons)
    _publish(setup, context, outcome, shown)
    with collective_errors(comm):
        if comm.rank == 0:
            journal.conclude()
            _remove(survey, outdated, outcome.files.values())
    return replace(outcome, failed=failed)


def _record_of(survey: Survey, comm: MPI.Intracomm) -> dict[str, Any]:
    """The record of the finished run, on rank 0."""
    path, found = survey.output_directory / RECORD, {}
    with collective_errors(comm):
        if comm.rank == 0:
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise FathometerError(f"{path}: cannot be read; --overwrite migrates anew") from None
    return found


def _left(setup: Setup, journal: Journal) -> bool:
    """Whether there are shots of which the journal tells nothing."""
    return any(shot.index not in journal.done and shot.index not in journal.failed for shot in setup.acquisition.shots)


def _last(lock: Lock | SharedLock | None, comm: MPI.Intracomm) -> bool:
    """Collective. Whether no other run that shares the shots is at work any more."""
    last = True
    with collective_errors(comm):
        if isinstance(lock, SharedLock):
            last = lock.last()
    return all(allgather(comm, last))


def _journal(setup: Setup, context: Context, lock: Lock | SharedLock | None) -> Journal:
    """Collective. The journal as the folder of the results has it."""
    found: Journal | None = None
    comm, output = setup.comm, setup.survey.output_directory
    with ledger.phase("set up"):
        with collective_errors(comm):
            if comm.rank == 0:
                run = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}"
                if isinstance(lock, SharedLock):
                    run += f"-{socket.gethostname()}"  # processes of several hosts may have the same number
                found = open_journal(
                    output,
                    migration_fingerprint(setup),
                    run,
                    context.options,
                    not isinstance(lock, SharedLock) or lock.alone,
                )
                if isinstance(lock, SharedLock) and not found.finished and _left(setup, found):
                    lock.share()
        found = comm.bcast(found)
    assert found is not None
    if context.options.share:
        found.claims = Claims(found.folder)
    if found.done or found.failed:
        context.say(
            f"resumed: {len(found.done)} of {len(setup.acquisition.shots)} shots are done"
            + f", {len(found.failed)} set aside" * bool(found.failed)
        )
    if found.repaired:
        context.say("note: the traces have changed since; shots that are done stay as they were")
    return found


def _write_image(setup: Setup, journal: Journal, path: Path, values: np.ndarray) -> None:
    """Collective. The image of the condition that the survey names, from what that makes of the sums."""
    factor = condition_of(setup.survey.imaging).laplacian
    if not factor:
        write(setup, path, values)
        return
    plain = journal.folder / "image.npy"
    write(setup, plain, values)
    write_laplacian(setup, plain, path, values.shape, factor)


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


def _draw(setup: Setup, files: dict[str, Path]) -> None:
    shown = "laplacian" if "laplacian" in files else "image"
    filtered = ", Laplacian-filtered" if shown == "laplacian" else ""
    title = f"{setup.survey.path.stem}: reverse time migration{filtered}"
    draw(setup, files[shown], title, files["picture"])


def _prepared(survey: Survey, comm: MPI.Intracomm, context: Context, imaging: bool) -> Setup:
    """Everything before the first step."""
    with ledger.phase("set up"):
        setup = prepare(survey, comm, imaging)
    for warning in setup.warnings:
        context.say(f"note: {warning}")
    for line in setup.summary():
        context.say(line)
    return setup


def spare_inputs(survey: Survey, results: Iterable[Path]) -> None:
    """Raises InputError where a result would replace one of the survey's input files."""
    inputs: dict[str, Path] = {"the survey": survey.path}
    for name in NAMES:
        reference = getattr(survey.model, name)
        if isinstance(reference, str):
            with naming(f"{survey.path}: [model] {name}"):
                inputs[f"[model] {name}"], _ = split_reference(reference, survey.directory)
    if isinstance(survey.wavelet, SampledWaveletTable):
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


def _progress(setup: Setup, context: Context, label: str) -> Progress:
    return Progress(
        len(setup.acquisition.shots),
        now=now,
        rank=setup.comm.rank,
        quiet=context.quiet,
        label=label,
    )


def _finish(
    setup: Setup,
    context: Context,
    files: dict[str, Path],
    tuned: Tuned | None,
    done: WorkDone,
    facts: Mapping[str, Any] = MappingProxyType({}),
    reasons: Sequence[str] = (),
) -> tuple[Outcome, list[Panel]]:
    """Collective. Write run.json on rank 0; the outcome, and what its page will show.

    What the page shows of the files is read before the record is made, which so accounts for it.
    """
    comm, folder = setup.comm, setup.survey.output_directory
    written, files = files, {**files, "record": folder / RECORD}
    if context.publish is not None:
        files["report"] = folder / PAGE
    shown: list[Panel] = []
    with ledger.phase("report"), collective_errors(comm):
        if comm.rank == 0 and context.publish is not None:
            shown = panels(Subject(setup.survey, lambda: setup.files, lambda: setup.acquisition, written))
    with ledger.phase("finish"):
        envelope = finished_record(setup, context, files, tuned, done, facts, reasons)
        with collective_errors(comm):
            if comm.rank == 0:
                write_record(files["record"], envelope)
    return Outcome(files, envelope), shown


def _publish(setup: Setup, context: Context, outcome: Outcome, shown: list[Panel]) -> None:
    """Collective. Write the page of a finished run on rank 0."""
    with ledger.phase("report"), collective_errors(setup.comm):
        if setup.comm.rank == 0 and context.publish is not None:
            context.publish(outcome.files["report"], outcome.record, shown)
