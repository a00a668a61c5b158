"""`fathometer ocean`: the circulation of an ocean."""

from __future__ import annotations

import argparse
import os.path
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base.errors import InputError
from fathometer.cli import argument_groups, registry
from fathometer.cli.application_run import run_application
from fathometer.cli.command import Command, Options, RankCall

if TYPE_CHECKING:
    from fathometer.runs.application import Application
    from fathometer.runs.context import Context, Outcome
    from fathometer.runs.options import RunOptions

NAME = "ocean"
CASES = ("one-degree", "double-gyre")  # as in apps/ocean/cases.py, which is imported when it is asked for

DESCRIPTION = """\
Hydrostatic circulation on a B-grid with z levels: momentum, temperature, salinity, and a free surface that is implicit
in time, by conjugate gradients over blocks of the grid without those of land. Writes fields as NetCDF with CF names,
restart files, a picture (ocean.png) and the run's record (run.json) into the output directory. With --demo: a basin
whose water the wind drives around two gyres. With --write-case: an ocean file, to be changed and run; one-degree is the
benchmark, an earth with idealised continents of 320 x 384 cells and 40 levels."""

EXAMPLES = """\
  fathometer ocean --demo --ranks 2
  fathometer ocean ocean.toml --ranks 4
  fathometer ocean ocean.toml --set barotropic.solver=pipelined --set decomposition.block=[40,48]
  fathometer ocean ocean.toml --ranks 4 --resume
  fathometer ocean earth.toml --write-case one-degree; fathometer ocean earth.toml --ranks 2 --set time.steps=4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer ocean --help`."""
    argument_groups.add_survey(parser, "OCEAN.toml", "the ocean file", optional=True)
    parser.add_argument("--demo", action="store_true", help="the built-in case, in place of an ocean file")
    parser.add_argument("--quick", action="store_true", help="a smaller one, with --demo")
    parser.add_argument(
        "--output", type=Path, default=None, metavar="DIR", help="folder of the demo's files (ocean-demo)"
    )
    parser.add_argument(
        "--write-case", choices=CASES, default=None, metavar="NAME", help=f"write OCEAN.toml: {' or '.join(CASES)}"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the newest restart file, if there is one")
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier run's results, or OCEAN.toml")
    argument_groups.add_run(parser)
    argument_groups.add_set(parser)


def prepare(options: Options) -> Any:
    """The input, and the modules that its run needs. Raises InputError for options that contradict each other."""
    run_options(options)
    if options.demo == (options.survey is not None):
        found = "both" if options.demo else "neither"
        raise InputError(f"OCEAN.toml, --demo: found {found}; needed: one of them")
    for other, beside in (("--demo", options.demo), ("--write-case", options.write_case)):
        for name, value in (("--set", options.set), ("--resume", options.resume)):
            if beside and value:
                raise InputError(f"{name}: found together with {other}; allowed: with an ocean file that is run")
    for name, value in (("--quick", options.quick), ("--output", options.output)):
        if value and not options.demo:
            raise InputError(f"{name}: found without --demo; allowed: with it")
    if options.write_case:
        if options.trace is not None or options.profile is not None:
            found = "--trace" if options.trace is not None else "--profile"
            raise InputError(f"{found}: found together with --write-case; allowed: with an ocean file that is run")
        if os.path.lexists(options.survey) and not options.overwrite:
            raise InputError(f"{options.survey}: exists; allowed: another name, or --overwrite to replace it")
        return None
    application = registry.application(NAME)
    input = None if options.demo else application.load(options.survey, options.set)
    application.import_modules(NAME)
    return input


def run_options(options: Options) -> RunOptions:
    """What is to become of an earlier run in the same folder. Raises InputError for options that contradict."""
    from fathometer.runs.options import RunOptions

    if options.resume and options.overwrite:
        raise InputError("--overwrite: found together with --resume; allowed: one of them")
    return RunOptions(resume=options.resume, overwrite=options.overwrite or options.demo)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Run the ocean, or the demo; or write a case."""

    def work(application: Application, call: RankCall, context: Context) -> Outcome:
        if call.options.demo:
            folder = call.options.output or Path("ocean-demo")
            return application.demo(folder, call.options.quick, call.comm, context)
        if call.trace is not None:
            application.protect_inputs(call.prepared, [call.trace])
        return application.run(NAME, call.prepared, call.comm, context)

    if call.options.write_case:
        write_case(call)
    else:
        run_application(registry.application(NAME), call, work, run_options)


def write_case(call: RankCall) -> None:
    """Collective. Write the ocean file of a case. Raises FathometerError where that fails."""
    from fathometer.apps.ocean.cases import CASES as TEXTS
    from fathometer.parallel.collectives import collective_errors
    from fathometer.storage import atomic

    path: Path = call.options.survey
    with collective_errors(call.comm):
        if call.comm.rank == 0:
            atomic.write(path, TEXTS[call.options.write_case]().encode())
    call.say(f"{path}: written; run it: fathometer ocean {path}")


COMMAND = Command(
    NAME,
    "circulation of an ocean with a free surface",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=prepare,
)
