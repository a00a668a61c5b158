"""`fathometer study plan`: the cases of a study, and what it will take."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text

if TYPE_CHECKING:
    from fathometer.lab.studies.forecast import Forecast
    from fathometer.lab.studies.study import ReadyStudy

DESCRIPTION = """\
List the cases of a study, how often each will be run, and what it will take: from what the study has
measured already, or with --predict from the program's own prediction. Checks all that can be checked before
the first run; runs nothing."""

EXAMPLES = """\
  fathometer study plan examples/studies/ranks-threads.toml
  fathometer study plan study.toml --predict --all"""

SHOWN = 20  # cases, without --all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer study plan`."""
    parser.add_argument("study", type=Path, metavar="STUDY.toml", help="the study file")
    argument_groups.add_results(parser)
    parser.add_argument("--predict", action="store_true", help="ask the program how long each case will take")
    parser.add_argument("--all", action="store_true", help=f"list all cases, not the first {SHOWN} only")
    parser.add_argument("--commands", action="store_true", help="with the command of each case")


def run(options: Options) -> None:
    """List the cases. Raises InputError for what is wrong with the study."""
    from fathometer.lab.studies.forecast import forecast
    from fathometer.lab.studies.preparation import missing
    from fathometer.lab.studies.study import ready
    from fathometer.lab.studies.study_file import load_study

    file = load_study(options.study, options.output)
    absent = missing(file)
    if absent:
        raise InputError(
            f"{file.path}: [[prepare]]: {absent[0]} is not there yet; `fathometer study run --prepare` makes it"
        )
    study = ready(file)
    print_text("\n".join(_lines(study, forecast(study, options.predict), options)))


def _lines(study: ReadyStudy, forecast: Forecast, options: Options) -> Iterator[str]:
    from fathometer.base.formatting import duration

    yield study.file.title
    if study.file.question:
        yield study.file.question
    shown = study.cases if options.all else study.cases[:SHOWN]
    names = list(study.file.factors)
    for case in shown:
        seconds = forecast.seconds.get(case.name)
        yield f"  {case.name}  {case}{'' if seconds is None else f': {seconds:.3g} s'}"
        if options.commands:
            yield from (f"      {' '.join(launch.words)}" for launch in study.runs.commands(case))
    if len(shown) < len(study.cases):
        yield f"  … and {len(study.cases) - len(shown)} more (--all)"
    if list(study.designs) != ["all"]:
        yield "designs: " + ", ".join(f"{name} {len(cases)}" for name, cases in study.designs.items())
    limits, rule = study.limits, study.rule
    rounds = f"{rule.least} rounds"
    if rule.most > rule.least:
        rounds = f"{rule.least} to {rule.most} rounds, until each interval is at most {100 * rule.width:g} % wide"
    yield f"{len(study.cases)} cases of {', '.join(names) or 'no factors'}; {limits.warm_up} warm-up, {rounds}"
    for count in dict.fromkeys((rule.least, rule.most)):
        total = forecast.of_rounds(study, count)
        if total is not None:
            yield f"{count} rounds: {duration(total)} ({_source(forecast)})"
    if not forecast.source:
        yield "how long is not known: --predict asks the program, and a study that was begun knows from its runs"
    if limits.budget is not None:
        yield f"budget: {duration(limits.budget)}"


def _source(forecast: Forecast) -> str:
    return "from its runs so far" if forecast.source == "runs" else "predicted"


COMMAND = Command(
    "study plan",
    "the cases of a study and what it will take, before it runs",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
