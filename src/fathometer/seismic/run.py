"""The commands `model` and `migrate` from the survey file to the files in the output directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mpi4py import MPI

from fathometer import ledger
from fathometer.errors import InputError, naming
from fathometer.ledger import now
from fathometer.parallel.agreement import gathered, together
from fathometer.parallel.threads import tasks_of
from fathometer.progress import Progress
from fathometer.record import PAGE, RECORD, write_record
from fathometer.seismic.earth import NAMES
from fathometer.seismic.exhibit import Panel, Subject, panels
from fathometer.seismic.experiment import Experiment, prepare
from fathometer.seismic.histories import choose, open_history
from fathometer.seismic.history import History
from fathometer.seismic.imaging import condition_of
from fathometer.seismic.modelling import model_shots, modelling_steps
from fathometer.seismic.outcome import Outcome, Settings, accounted, finished_record
from fathometer.seismic.products import draw, write, write_laplacian
from fathometer.seismic.propagator import Propagator
from fathometer.seismic.rtm import migrate
from fathometer.seismic.survey import SampledWavelet, Survey
from fathometer.seismic.tuning import Tuned, tune
from fathometer.storage import whole
from fathometer.storage.folder import results_folder
from fathometer.storage.segy import GatherWriter
from fathometer.storage.strategy import Strategy
from fathometer.storage.volume import split_reference
from fathometer.storage.writer import check_writable


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
        tuned = _tuned(experiment, wavefield, settings, modelling_steps(experiment.time), propagations=1)
        _model_shots(experiment, wavefield, path, settings)
        with ledger.phase("finish"):
            wavefield.close()
        outcome, shown = _finish(experiment, settings, {"shots": path}, tuned, propagations=1)
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
    files = {"image": image, "illumination": image.with_name(f"{image.stem}-illumination{image.suffix}")}
    if survey.imaging.laplacian:
        files["laplacian"] = image.with_name(f"{image.stem}-laplacian{image.suffix}")
    files["picture"] = survey.output_directory / "image.png"
    spare_inputs(survey, files.values())
    with naming(f"{survey.path}: [storage] write"):
        check_writable(image, Strategy.of(survey.storage.write), comm.size)
    with results_folder(survey.output_directory, comm):
        return _migrate(survey, files, comm, settings)


def _migrate(survey: Survey, files: dict[str, Path], comm: MPI.Intracomm, settings: Settings) -> Outcome:
    experiment = _prepared(survey, comm, settings, imaging=True)
    with accounted(experiment, settings):
        with ledger.phase("set up"):
            wavefield = experiment.propagator()
        tuned = _tuned(experiment, wavefield, settings, experiment.time.every, propagations=2)
        with ledger.phase("set up"):
            shape, dtype = wavefield.image_shape, experiment.scheme.dtype
            condition = condition_of(survey.imaging, shape, dtype)
            kept = choose(experiment, wavefield, settings.binding)
            settings.say(str(kept))
            history, source_wavefield = open_history(experiment, wavefield, kept, settings.binding)
        with _closing(history):
            with _progress(experiment, settings, "migrate") as progress:
                migrate(experiment, wavefield, history, condition, progress, source_wavefield)
            told = gathered(comm, history.told())
        with ledger.phase("finish"):
            for one in (wavefield, source_wavefield):
                if one is not None:
                    one.close()
            del history, source_wavefield
        with ledger.phase("sum images"):
            image = condition.image(comm)
        with ledger.phase("write image"):
            _outdate_record(survey, comm)
            write(experiment, files["image"], image)
            write(experiment, files["illumination"], condition.illumination)
        if "laplacian" in files:
            write_laplacian(experiment, files["image"], files["laplacian"], shape)
        with ledger.phase("draw"), together(comm):
            if comm.rank == 0:
                _draw(experiment, files)
        facts = {"history": kept.as_dict() | {"ranks": told}}
        outcome, shown = _finish(experiment, settings, files, tuned, propagations=2, facts=facts)
    _publish(experiment, settings, outcome, shown)
    return outcome


@contextmanager
def _closing(history: History) -> Iterator[None]:
    """What a history holds is given back, however the block ends: large files take their time."""
    try:
        yield
    finally:
        with ledger.phase("finish"):
            history.close()


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


def _tuned(experiment: Experiment, wavefield: Propagator, settings: Settings, steps: int, propagations: int) -> Tuned:
    """Threads and tiling of a run whose wavefield takes `steps` time steps at a time."""
    survey = experiment.survey
    with naming(str(survey.path)), ledger.phase("tuning"):
        with together(experiment.comm):
            wavefield.threads = tasks_of(survey.threads.model_dump(), settings.binding)
        total = experiment.time.steps * len(experiment.acquisition.shots) * propagations
        tuned = tune(wavefield, survey.tuning, steps, total, wavefield.threads.propagate, settings.say)
    settings.say(str(tuned))
    return tuned


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
            if whole.replaces(result, path):
                raise InputError(
                    f"{survey.path}: [output]: {result} would replace {key}; allowed: another directory or name"
                )


def _outdate_record(survey: Survey, comm: MPI.Intracomm) -> None:
    """Remove record and page of an earlier run, whose results are about to be replaced."""
    if comm.rank == 0:
        for name in (RECORD, PAGE):
            whole.remove(survey.output_directory / name)


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
    tuned: Tuned,
    propagations: int,
    facts: Mapping[str, Any] = MappingProxyType({}),
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
        envelope = finished_record(experiment, settings, files, tuned, propagations, facts)
        with together(comm):
            if comm.rank == 0:
                write_record(files["record"], envelope)
    return Outcome(files, envelope), shown


def _publish(experiment: Experiment, settings: Settings, outcome: Outcome, shown: list[Panel]) -> None:
    """Collective. Write the page of a finished run on rank 0."""
    with ledger.phase("report"), together(experiment.comm):
        if experiment.comm.rank == 0 and settings.publish is not None:
            settings.publish(outcome.files["report"], outcome.record, shown)
