"""The command line: words in, a call to the application, an exit code out. No work of its own.

Nothing heavy is imported before it is known what is asked for: a process that has imported mpi4py can no longer start
mpirun, and `--help` should be quick.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, NoReturn

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import Ledger, current, now, phase, process_start
from fathometer.base.signals import INTERRUPTED, PATIENCE_SECONDS, RESUMABLE, interruptible, prompt
from fathometer.cli.arguments import parser
from fathometer.cli.failures import HEAD_START_SECONDS, complain, speaks

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.parallel.threads import Binding
    from fathometer.report.page import Exhibit
    from fathometer.report.records import Run
    from fathometer.runs.context import Context, Outcome
    from fathometer.runs.options import RunOptions


# What does the work of a command on ranks.
WORK = {
    "model": "fathometer.seismic.modelling.driver",
    "migrate": "fathometer.seismic.rtm.driver",
    "demo": "fathometer.seismic.demo",
    "stencil": "fathometer.lab.stencil",
    "calibrate": "fathometer.lab.calibrate",
    "io": "fathometer.lab.io.benchmark",
}

# What shows a run of an application on its page: heading(record) and panels_of_record(record, path).
EXHIBITS = {"seismic": "fathometer.seismic.panels", "io": "fathometer.lab.io.panels"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = io.StringIO()
    options = parser().parse_args(words)
    begin = process_start() if arguments is None else now()
    try:
        with interruptible(), Ledger(begin, "start-up", tracing=_trace(options) is not None):
            if options.command == "info":
                _info(options)
                return 0
            if options.command == "survey":
                _survey_build(options)
                return 0
            if options.command == "plan":
                _plan(options)
                return 0
            if options.command == "report":
                _report(options)
                return 0
            if options.command == "submit":
                _submit(options)
                return 0
            if options.command == "prepare":
                _prepare(options)
                return 0
            from fathometer.launch.mpirun import start_ranks

            if options.command == "calibrate" and options.ranks is None:
                words += ["--ranks", str(_enough_to_exchange())]
                options = parser().parse_args(words)
            code = start_ranks(
                options.ranks, options.threads, words, _interrupted(options), getattr(options, "restarts", 0)
            )
            if code is not None:
                return code
            with prompt(lambda: _end_now(options)):
                return _on_ranks(options, words)
    except FathometerError as error:  # before MPI runs, or without it
        return complain(error) if speaks() else error.exit_code
    except MemoryError:
        return complain(FathometerError("out of memory"))
    except KeyboardInterrupt:
        _say_interrupted(options)
        return _interrupted(options)


def _on_ranks(options: argparse.Namespace, words: list[str]) -> int:
    """Run a command on all ranks of this world; all ranks return the same code, or the world is ended."""
    from mpi4py import MPI

    from fathometer.launch.mpirun import check_world, is_first
    from fathometer.parallel.collectives import all_arrived

    comm = MPI.COMM_WORLD
    try:
        check_world(comm.size, os.environ, options.ranks)
        # The work has messages of its own: none of them can be taken for what all_here asks the others.
        _run(options, words, comm.Dup())
    except FathometerError as error:
        if all_arrived(comm):
            return complain(error) if comm.rank == 0 and is_first(os.environ) else error.exit_code
        return _end_all(comm, complain(error))
    except KeyboardInterrupt:
        # The first that ends, ends all: rank 0 is to have cleared up and spoken by then, however slow its disk is, and
        # the others get a moment for it. Who is still somewhere in MPI, `prompt` ends.
        if comm.rank == 0:
            _say_interrupted(options)
        all_arrived(comm, HEAD_START_SECONDS if comm.rank == 0 else 2 * PATIENCE_SECONDS)
        return _end_all(comm, _interrupted(options))
    except MemoryError:
        return _end_all(comm, complain(FathometerError(f"rank {comm.rank} ran out of memory")))
    except Exception:
        import traceback

        traceback.print_exc()
        return _end_all(comm, 1)
    return 0


def _interrupted(options: argparse.Namespace) -> int:
    """The exit code of a command that was told to end."""
    return RESUMABLE if options.command == "migrate" else INTERRUPTED


def _say_interrupted(options: argparse.Namespace) -> None:
    more = "; --resume goes on with the shots that are not done" * (options.command == "migrate")
    with suppress(OSError):
        print(f"fathometer: interrupted{more}", file=sys.stderr, flush=True)


def _end_now(options: argparse.Namespace) -> NoReturn:
    """End a process that was told to end and is still somewhere in a kernel or in MPI."""
    from fathometer.launch.mpirun import is_first

    if is_first(os.environ):
        _say_interrupted(options)
    else:
        sleep(HEAD_START_SECONDS)
    os._exit(_interrupted(options))


def _end_all(comm: MPI.Intracomm, code: int) -> int:
    """End the other ranks, which wait for this one; return the exit code where there are none."""
    if comm.size > 1:
        comm.Abort(code)
    return code


def _run(options: argparse.Namespace, words: list[str], comm: MPI.Intracomm) -> None:
    from fathometer.parallel.collectives import collective_errors
    from fathometer.parallel.threads import bind, unbind
    from fathometer.record import trace

    import_module(WORK[options.command])  # a part of the start-up

    def say(line: str) -> None:
        if comm.rank == 0 and not options.quiet:
            with suppress(OSError):  # that nobody reads is no reason to lose a run
                print(line, file=sys.stderr, flush=True)

    path = _trace(options)
    with collective_errors(comm):  # still a part of the start-up
        if comm.rank == 0:
            _require_folders(path)
    binding = bind(comm, options.threads)
    account = current()
    assert account is not None, "main has opened it"
    zero = trace.zero(comm) if path is not None else 0.0
    account.begin_ends()
    try:
        if options.command == "stencil":
            _stencil(options, words, comm, binding, say)
            return
        if options.command == "calibrate":
            _calibrate(options, comm, binding, say)
            return
        if options.command == "io":
            _io(options, words, comm, binding, say)
            return
        from fathometer.runs.context import Context

        context = Context(("fathometer", *words), options.quiet, binding, say, _publish, _run_options(options))
        if options.command == "demo":
            from fathometer.seismic.demo import run_demo

            outcome = run_demo(options.output, options.quick, comm, context)
        else:
            from fathometer.seismic.modelling.driver import run_model
            from fathometer.seismic.rtm.driver import run_migrate
            from fathometer.seismic.setup.run_files import protect_inputs
            from fathometer.seismic.survey import load_survey

            work = run_model if options.command == "model" else run_migrate
            with phase("set up"):
                survey = load_survey(options.survey)
            if path is not None:
                protect_inputs(survey, [path])
            outcome = work(survey, comm, context)
            if path is not None:
                trace.write_trace(path, account, zero, comm)
    finally:
        unbind(binding)
    with phase("finish"), collective_errors(comm):
        if comm.rank == 0:
            _tell(outcome, options, context)
    if outcome.failed:
        reasons = "; ".join(outcome.failed.values())
        raise FathometerError(
            f"{len(outcome.failed)} shots are not in the image (--resume --retry-failed migrates them again): {reasons}"
        )


def _run_options(options: argparse.Namespace) -> RunOptions:
    """What is to become of an earlier migration in the same folder."""
    from fathometer.runs.options import RunOptions

    if options.command != "migrate":
        return RunOptions()
    for name, found in (
        ("--resume", options.resume),
        ("--retry-failed", options.retry_failed),
        ("--share", options.share),
    ):
        if found and options.overwrite:
            raise InputError(f"--overwrite: found together with {name}; allowed: one of them")
    share = " ".join((options.share or "").split())
    if options.share is not None and not share:
        raise InputError("--share: found an empty name; allowed: a name that all the runs say")
    resume = options.resume or options.retry_failed or bool(share)
    return RunOptions(resume, options.overwrite, options.retry_failed, share)


def _trace(options: argparse.Namespace) -> Path | None:
    """Where a trace is wanted, of the commands that can write one."""
    path: Path | None = getattr(options, "trace", None)
    return path


def _require_folders(*paths: Path | None) -> None:
    """That files can be written there is looked for before all the work, not after it."""
    for path in paths:
        if path is not None and path.is_dir():
            raise InputError(f"{path}: cannot be written: it is a folder")
        if path is not None and not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
            raise InputError(f"{path}: cannot be written: {path.parent} is no folder that can be written to")


def _require_png(picture: Path | None) -> None:
    if picture is not None and picture.suffix.lower() != ".png":
        raise InputError(f"--picture {picture}: allowed: the name of a .png file")


def _stencil(
    options: argparse.Namespace, words: list[str], comm: MPI.Intracomm, binding: Binding, say: Callable[[str], None]
) -> None:
    from fathometer.lab.stencil import Request, lines, run_stencil

    request = Request(
        options.grid, options.order, options.physics, options.steps, options.time_depth, options.repeat, options.scaling
    )

    def draw(path: Path, envelope: dict[str, Any]) -> None:
        from fathometer.lab.roofline_picture import draw_roofline

        draw_roofline(path, envelope)

    run = partial(run_stencil, request, comm, binding, ("fathometer", *words), say)
    _measured(options, comm, run, lines, draw)


def _io(
    options: argparse.Namespace, words: list[str], comm: MPI.Intracomm, binding: Binding, say: Callable[[str], None]
) -> None:
    from fathometer.lab.io.benchmark import Request, run_io
    from fathometer.lab.io.ranking import lines, require_all
    from fathometer.parallel.collectives import collective_errors

    request = Request(
        options.folder,
        options.grid,
        options.strategy,
        options.format,
        options.operation,
        options.repeat,
        options.halo,
        options.decomposition,
        options.budget,
        options.seed,
        options.data,
    )

    def draw(path: Path, envelope: dict[str, Any]) -> None:
        from fathometer.lab.io.rates_picture import draw_rates

        draw_rates(path, envelope)

    run = partial(run_io, request, comm, binding, ("fathometer", *words), say)
    envelope = _measured(options, comm, run, lines, draw, options.output)
    with collective_errors(comm):
        if comm.rank == 0:
            if options.output is not None:
                _page(options.output, options.json or options.output, envelope)
            if options.remember:
                say(_remember(envelope))
            require_all(envelope)


def _measured(
    options: argparse.Namespace,
    comm: MPI.Intracomm,
    run: Callable[[], dict[str, Any]],
    lines: Callable[[dict[str, Any]], list[str]],
    draw: Callable[[Path, dict[str, Any]], None],
    *more: Path | None,
) -> dict[str, Any]:
    """Collective. The record of a benchmark, which is told, written and drawn as wished; more: files to be written."""
    from fathometer.parallel.collectives import collective_errors
    from fathometer.record.envelope import write_record

    _require_png(options.picture)
    paths = [path for path in (options.json, options.picture, *more) if path is not None]
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError(f"{options.command}: found {', '.join(map(str, paths))}; allowed: a file of its own for each")
    with collective_errors(comm):
        if comm.rank == 0:
            _require_folders(*paths)
    envelope = run()
    with collective_errors(comm):
        if comm.rank == 0:
            if not options.quiet:
                _write("\n".join(lines(envelope)))
            if options.json is not None:
                write_record(options.json, envelope)
            if options.picture is not None:
                draw(options.picture, envelope)
    return envelope


def _page(path: Path, record: Path, envelope: dict[str, Any]) -> None:
    """Write the page of a record just made."""
    from fathometer.report.page import write_page
    from fathometer.report.records import Run

    run = Run(record, envelope)
    write_page(path, [run], _exhibit(run))


def _remember(envelope: dict[str, Any]) -> str:
    """Make the winners of a benchmark the usual strategies of their file system."""
    from fathometer.lab.io.ranking import remembered_rows
    from fathometer.storage.volumes.strategy_cache import remember

    return remember(Path(envelope["input"]["folder"]), remembered_rows(envelope["results"]["rows"]))


def _plan(options: argparse.Namespace) -> None:
    import mpi4py

    mpi4py.rc.initialize = False  # nothing here communicates
    from fathometer.plan.machine_file import load_machine, usual_place
    from fathometer.record.envelope import plain, write_record
    from fathometer.seismic.plan import PlanRequest, lines, plan
    from fathometer.seismic.setup.run_files import protect_inputs
    from fathometer.seismic.survey import load_survey

    survey = load_survey(options.survey)
    if options.json is not None and str(options.json) != "-":
        _require_folders(options.json)
        protect_inputs(survey, [options.json])
    machine = options.on or usual_place()
    if options.on is None and not machine.exists():
        raise InputError(
            "--on: left out, and this machine has not been measured; run `fathometer calibrate`, or name a MACHINE.json"
        )
    request = PlanRequest(
        options.ranks,
        options.nodes,
        options.decomposition,
        options.within,
        options.velocities,
        options.migrate,
        options.history,
    )
    found = plan(survey, load_machine(machine), request)
    if options.json is None or str(options.json) != "-":
        _write("\n".join(lines(found)))
    if options.json is not None:
        if str(options.json) == "-":
            _write(json.dumps(plain(found.as_dict()), indent=2, ensure_ascii=False))
        else:
            write_record(options.json, found.as_dict())


def _submit(options: argparse.Namespace) -> None:
    import mpi4py

    mpi4py.rc.initialize = False  # nothing here communicates
    from fathometer.launch.slurm import batch_script, submit
    from fathometer.seismic.job import job_of
    from fathometer.seismic.survey import load_survey

    job = job_of(
        load_survey(options.survey),
        (sys.executable, "-m", "fathometer"),
        options.name,
        options.nodes,
        seconds=options.time,
        ranks_per_node=options.ranks_per_node,
        threads=options.threads,
        partition=options.partition,
        account=options.account,
        tasks=options.array,
    )
    if options.print:
        _write(batch_script(job).rstrip("\n"))
        return
    _write(submit(job))
    print(f"{'log':>13}  {job.output}/slurm-*.out", file=sys.stderr)


def _prepare(options: argparse.Namespace) -> None:
    from fathometer.launch.mpirun import launched

    world = launched(os.environ)
    if world is not None and world.size != 1:
        raise InputError(f"prepare: started as {world.size} ranks by {world.launcher}; allowed: one rank")
    from fathometer.seismic.model.preparation import Request, prepare_model

    if not options.output.is_dir():  # some formats are folders; the others' writer says so
        _require_folders(options.output)
    if any(length < 0 for length in options.smooth or ()):
        raise InputError("--smooth: found a negative length; allowed: metres from 0")

    def say(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr, flush=True)

    request = Request(
        options.model,
        options.output,
        options.units,
        options.axes,
        options.input_spacing,
        options.input_origin,
        options.crop,
        options.smooth,
        options.spacing,
        options.extend,
        options.epsilon,
        options.delta,
        options.below_water,
    )
    prepare_model(request, say)


def _calibrate(options: argparse.Namespace, comm: MPI.Intracomm, binding: Binding, say: Callable[[str], None]) -> None:
    from fathometer.lab.calibrate import calibrate
    from fathometer.parallel.collectives import collective_errors
    from fathometer.plan.machine_file import save_machine, usual_place

    path: Path = options.output or usual_place()
    with collective_errors(comm):
        if comm.rank == 0:
            if options.output is None:
                path.parent.mkdir(parents=True, exist_ok=True)
            _require_folders(path, options.files / "file")
    machine = calibrate(options.files, options.name, comm, binding, say)
    with collective_errors(comm):
        if machine is not None:
            save_machine(path, machine)
            say(f"written: {path}")


def _enough_to_exchange() -> int:
    """Two ranks where there are two cpus and no launcher has chosen."""
    from fathometer.launch.mpirun import launched

    world = launched(os.environ)
    if world is not None:
        return world.size or 1
    return min(2, len(os.sched_getaffinity(0)))


def _tell(outcome: Outcome, options: argparse.Namespace, context: Context) -> None:
    """The files and the cost, for people; the record, for programs. Nothing where other runs make the image."""
    if not outcome.record:
        return
    for kind, path in outcome.files.items():
        context.say(f"{kind:>13}  {path}")
    figures: dict[str, Any] = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
    context.say(
        f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s time steps at "
        f"{figures['grid point updates'] / 1e6:.0f} million cells a second; "
        f"at most {figures['peak memory'] / 1e9:.2g} GB a rank"
    )
    if options.json:
        _write(json.dumps(outcome.record, indent=2, ensure_ascii=False))


def _write(text: str) -> None:
    """Print on standard output, now: what cannot be written is found here and not at the interpreter's end."""
    with suppress(AttributeError):  # for names that are not UTF-8, and terminals that are not
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still in the buffer
        if not isinstance(error, BrokenPipeError):  # whoever reads may have seen enough
            raise FathometerError(f"standard output: cannot be written: {error.strerror}") from None


def _publish(path: Path, envelope: dict[str, Any], panels: list[dict[str, Any]]) -> None:
    """Write the page of a run that ends."""
    from fathometer.record.envelope import RECORD
    from fathometer.report.page import Exhibit, write_page
    from fathometer.report.records import Run
    from fathometer.seismic.panels import heading

    write_page(path, [Run(path.with_name(RECORD), envelope)], Exhibit(panels=panels, **heading(envelope)))


def _report(options: argparse.Namespace) -> None:
    """Pages and tables from records; raises InputError where none of them can be used."""
    from fathometer.record.envelope import PAGE
    from fathometer.report.page import check, comparison_tables, run_tables, write_page
    from fathometer.report.records import read_record
    from fathometer.report.tables import comma_separated, markdown
    from fathometer.storage import atomic

    runs: list[Run] = []
    for place in options.records:
        try:
            run = read_record(place)
            check(run)
            _exhibit(run, panels=False)
            runs.append(run)
        except InputError as error:
            complain(error)
    if not runs:
        raise InputError(f"report: none of the {len(options.records)} records can be used")
    page = options.output or runs[0].path.with_name(PAGE)
    outputs = [Path(name) for name in (options.markdown, options.csv) if name not in (None, "-")]
    _require_folders(page, *outputs)
    _spare((page, *outputs), [run.path for run in runs])
    write_page(page, runs, _exhibit(runs[0]))
    tables = comparison_tables(runs) if len(runs) > 1 else run_tables(runs[0])
    for name, made in ((options.markdown, markdown), (options.csv, comma_separated)):
        if name == "-":
            _write(made(tables).rstrip("\n"))
        elif name is not None:
            atomic.write(Path(name), made(tables).encode(errors="backslashreplace"))
    print(f"{'report':>13}  {page}", file=sys.stderr)


def _exhibit(run: Run, panels: bool = True) -> Exhibit:
    """What the record's application shows of a run; nothing for an application that shows nothing.

    Raises InputError where the record is not one of that application.
    """
    from fathometer.report.page import ODD, Exhibit, odd

    name = EXHIBITS.get(run.record["application"])
    if name is None:
        return Exhibit()
    shows = import_module(name)
    try:
        found = shows.panels_of_record(run.record, run.path) if panels else []
        return Exhibit(panels=found, **shows.heading(run.record))
    except ODD as error:
        raise InputError(f"{run.path}: damaged: {odd(error)}") from None


def _spare(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Raises InputError where a page or a table would replace a record that it is made from."""
    from fathometer.storage import atomic

    for path in outputs:
        if any(atomic.replaces(path, one) for one in inputs):
            raise InputError(f"{path}: is a record that is read; allowed: another name")


def _survey_build(options: argparse.Namespace) -> None:
    """The only action there is of `survey`."""
    from fathometer.storage.index.build import build_index
    from fathometer.storage.index.summary import table_of
    from fathometer.storage.index.words import words_of

    said = [*options.word]
    for name, word in (("shot", options.shot_key), ("channel", options.channel)):
        if word is not None:
            said.append(f"{name}={word}")
    words = words_of(said)
    _require_folders(options.output)

    def say(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr, flush=True)

    jobs = options.jobs or len(os.sched_getaffinity(0))
    index = build_index(options.files, options.output, words, jobs, options.strict, say)
    if not options.quiet:
        _write(table_of(index))
    if not index.summary.usable:
        raise InputError(f"{options.output}: none of {index.summary.traces} traces can be used: see their anomalies")


def _formats(options: argparse.Namespace) -> None:
    from fathometer.storage.volumes.availability import availability

    if not options.formats:
        raise InputError("info: the following arguments are required: FILE, or --formats")
    if options.files or options.picture is not None:
        raise InputError("info: --formats: found with FILE or --picture; allowed: alone or with --json")
    found = availability()
    if options.json:
        _write(json.dumps([one.as_dict() for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            _write("\n".join([one.format, *(f"  {label:<10} {text}" for label, text in one.rows())]))


def _info(options: argparse.Namespace) -> None:
    from fathometer.storage.describe import describe

    if options.formats or not options.files:
        _formats(options)
        return
    if options.picture is not None and len(options.files) != 1:
        raise InputError(f"--picture {options.picture}: draws one FILE, found {len(options.files)}")
    _require_png(options.picture)
    descriptions = [describe(reference, Path()) for reference in options.files]
    if options.json:
        _write(json.dumps([d.as_dict() for d in descriptions], indent=2, ensure_ascii=False))
    else:
        for reference, description in zip(options.files, descriptions, strict=True):
            _write("\n".join([reference, *(f"  {label:<18} {text}" for label, text in description.rows())]))
    if options.picture is not None:
        from fathometer.pictures.file_picture import picture_of

        picture_of(options.picture, options.files[0], Path())
