"""`fathometer study run`: measure all cases of a study."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError, shortened
from fathometer.base.formatting import duration
from fathometer.base.ledger import now
from fathometer.base.option_types import count
from fathometer.base.option_types import duration as seconds
from fathometer.base.progress import LINE_SECONDS, on_terminal
from fathometer.cli import argument_groups, registry
from fathometer.cli.command import Command, Options
from fathometer.cli.output import labelled, print_line, print_text, printer
from fathometer.cli.pages import write_profile_pages

if TYPE_CHECKING:
    from fathometer.lab.studies.design import Case
    from fathometer.lab.studies.results import Run, RunKind

DESCRIPTION = """\
Run every case of a study: once a round, in an order drawn anew, until all figures are as precise as asked,
or the budget is spent. Each run is kept as soon as it has ended; a study that was interrupted goes on where
it was when the same command is given again. At the end the tables, the page and the Parquet file are
written into the study's folder. Where [gate] names a baseline, it is run in turns with this build, and the
exit code is 3 where a figure got worse by more than the tolerance, 4 where that is not decided; it is 1 where
no run has succeeded. With --form a published table is made (`fathometer study forms`): INPUT is an input file
or a folder, and the study file is written first, to be changed and run again."""

EXAMPLES = """\
  fathometer study run examples/studies/ranks-threads.toml
  fathometer study run study.toml --overwrite
  fathometer study run study.toml --sessions 5 --pause 8h
  fathometer study run study.toml --output today.study
  fathometer study run --form scaling survey.toml --nodes 1,2,4
  fathometer study run --form message-profile --quick"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer study run`."""
    parser.add_argument(
        "study", type=Path, nargs="?", metavar="STUDY.toml", help="the study file; with --form the form's input"
    )
    parser.add_argument("--form", metavar="NAME", help="make a published table (`fathometer study forms`)")
    parser.add_argument("--nodes", metavar="N,N...", help="with --form: nodes to run on (as the machine has)")
    parser.add_argument("--quick", action="store_true", help="with --form: small, under three minutes")
    parser.add_argument(
        "--record", type=Path, metavar="STUDY", help="with --form: the same form's folder, from another machine"
    )
    parser.add_argument(
        "--deck", type=Path, metavar="FILE.DATA", help="with --form throughput: of OPM Flow, which then runs beside"
    )
    parser.add_argument(
        "--on", type=Path, metavar="MACHINE.json", help="with --form scaling: the machine file of its predictions"
    )
    argument_groups.add_results(parser)
    parser.add_argument("--retry-failed", action="store_true", help="make runs that have failed again")
    parser.add_argument("--overwrite", action="store_true", help="remove what an earlier study has left in the folder")
    parser.add_argument("--prepare", action="store_true", help="make the inputs of [[prepare]], and run nothing")
    parser.add_argument(
        "--sessions",
        type=count,
        default=1,
        metavar="N",
        help="spread the rounds over so many sessions, each with a warm-up, to learn how far sessions differ",
    )
    parser.add_argument(
        "--pause", type=seconds, default=60.0, metavar="TIME", help="between sessions, such as 90s, 30m or 8h (60s)"
    )
    argument_groups.add_undecided(parser)
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """Run the study, in this process. Raises InputError and FathometerError as `run_study`, GateError and
    UndecidedError as `require_gate`, and FathometerError where no run has succeeded."""
    from fathometer.lab.studies.comparison import compare_builds, require_gate
    from fathometer.lab.studies.course import require_success, run_study
    from fathometer.lab.studies.forecast import predict
    from fathometer.lab.studies.preparation import prepare
    from fathometer.lab.studies.report.files import write_answer
    from fathometer.lab.studies.report.profiles import to_be_shown
    from fathometer.lab.studies.report.terminal import text_of_study
    from fathometer.lab.studies.study import cases_and_designs, in_sessions, ready
    from fathometer.lab.studies.study_file import load_study

    file = load_study(study_file(options), options.output)
    cases_and_designs(file)
    prepare(file, printer(options.quiet), options.overwrite)
    if options.prepare:
        return
    study = in_sessions(ready(file, registry.files_read_by), options.sessions, options.pause)
    words, limits = ["fathometer", *sys.argv[1:]], study.limits
    rounds = limits.most * (2 if study.pairs else 1)  # with those that are made again
    most = len(study.cases) * (limits.sessions * limits.warm_up + rounds) + limits.winners * limits.least
    display = _Display(options.quiet, most)
    try:
        results = run_study(study, words, options.overwrite, display, options.retry_failed)
    finally:
        display.clear()
    predict(study)
    write_profile_pages(to_be_shown(file.folder, results), printer(options.quiet))
    for path in write_answer(file.folder, results):
        if not options.quiet:
            print_line(labelled(path.suffix[1:] or path.name, path))
    if not options.quiet:
        print_text(text_of_study(results, time.time()))
    require_success(results)
    if study.pairs:
        require_gate(compare_builds(results), options.undecided)


def study_file(options: Options) -> Path:
    """The study file; with --form it is written, beside the folder of the results.

    Raises InputError for options that do not belong together, as `made`, and where another file is there already.
    """
    from fathometer.lab.forms.files import study_path, write_study
    from fathometer.lab.forms.form import form_of
    from fathometer.lab.forms.here import here
    from fathometer.lab.forms.making import Asked, made, nodes_of

    if options.form is None:
        for name in ("nodes", "quick", "record", "deck", "on"):
            if getattr(options, name):
                raise InputError(f"--{name}: found without --form; allowed: with it")
        if options.study is None:
            raise InputError("study run: found neither STUDY.toml nor --form; needed: one of them")
        given: Path = options.study
        if kind := registry.kind_of(given):
            raise InputError(
                f"{given}: is an input file of the application {kind}, no study; needed: a study file; "
                f"`fathometer study run --form scaling {given}` makes and runs one"
            )
        return given
    form = form_of(options.form)
    source: Path | None = options.study
    if source is not None and not source.exists():
        raise InputError(f"--form {form.name}: no {source}; needed: its input")
    asked = Asked(
        source,
        registry.kind_of(source) if source is not None and source.is_file() else "",
        nodes_of(options.nodes) if options.nodes else (),
        options.quick,
        options.record,
        options.deck,
        options.on,
    )
    path = study_path(form.name, options.output)
    study = made(form, asked, here())
    write_study(path, study.text, (source, options.record, options.deck, options.on), options.overwrite)
    if not options.quiet:
        print_line(labelled("study", path))
        for note in study.notes:
            print_line(f"· {note}")
    return path


class _Display:
    """What is run now: in place on a terminal, now and then a line in a log; each failure is a line that stays."""

    def __init__(self, quiet: bool, most: int) -> None:
        self._quiet, self._most = quiet, most
        self._in_place = on_terminal(sys.stderr, os.environ)
        self._told, self._made = now(), 0

    def began(self, case: Case, kind: RunKind, number: int, left: float | None) -> None:
        """Show that a run begins, with what is left of the budget in seconds."""
        time = now()
        if self._quiet or not (self._in_place or time - self._told >= LINE_SECONDS):
            return
        self._told = time
        budget = f", {duration(left)} of the budget left" if left is not None else ""
        self._show(f"{kind} {number}, {case}; {self._made} of at most {self._most} runs made{budget}")

    def state(self, case: Case, kind: RunKind, number: int, words: str) -> None:
        """Say what a run waits for."""
        if not self._quiet:
            print_line(f"{kind} {number}, {case}: {words}")

    def ended(self, case: Case, run: Run) -> None:
        """Count a run; say why it failed."""
        self._made += 1
        if run.failed and not self._quiet:
            self.clear()
            print_line(f"{run.kind} {run.number}, {case}: failed: {run.failed}")

    def pausing(self, session: int, seconds: float) -> None:
        """Say how long it is to the next session."""
        if not self._quiet:
            self.clear()
            print_line(f"session {session} begins in {duration(seconds)}")

    def clear(self) -> None:
        """End the line that is shown in place."""
        if self._in_place and not self._quiet:
            self._write("\r\x1b[K")

    def _show(self, line: str) -> None:
        if self._in_place:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r\x1b[K{shortened(line, width)}")
        else:
            print_line(line)

    def _write(self, text: str) -> None:
        with suppress(OSError):  # that nobody reads is no reason to lose a study
            sys.stderr.write(text)
            sys.stderr.flush()


COMMAND = Command(
    "study run",
    "measure what a study asks: all its cases, in rounds, and the answer",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
    resume_hint=lambda options: "the same command goes on where it was",
)
