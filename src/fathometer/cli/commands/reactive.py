"""`fathometer reactive`: reactive flow through a porous medium."""

from __future__ import annotations

import argparse
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

NAME = "reactive"

DESCRIPTION = """\
Advection, diffusion and dispersion of aqueous species with equilibria among them and minerals that dissolve and
precipitate, implicit in time, by PETSc. Writes concentrations, pH and minerals as HDF5 volumes with a description that
ParaView and VisIt open (flow.xdmf), restart files, a picture (flow.png) and the run's record (run.json) into the output
directory. With --demo: acid water that enters a cube of sand with calcite."""

EXAMPLES = """\
  fathometer reactive --demo --ranks 2
  fathometer reactive flow.toml --ranks 4
  fathometer reactive flow.toml --set "petsc.options=-ksp_type bcgs -pc_type asm"
  fathometer reactive flow.toml --ranks 4 --resume"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer reactive --help`."""
    argument_groups.add_survey(parser, "FLOW.toml", "the flow file", optional=True)
    parser.add_argument("--demo", action="store_true", help="the built-in case, in place of a flow file")
    parser.add_argument("--quick", action="store_true", help="a smaller one, with --demo")
    parser.add_argument(
        "--output", type=Path, default=None, metavar="DIR", help="folder of the demo's files (reactive-demo)"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the newest restart file, if there is one")
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier run's results")
    argument_groups.add_run(parser)
    argument_groups.add_set(parser)


def prepare(options: Options) -> Any:
    """The input, and the modules that its run needs. Raises InputError for options that contradict each other."""
    run_options(options)
    if options.demo == (options.survey is not None):
        found = "both" if options.demo else "neither"
        raise InputError(f"FLOW.toml, --demo: found {found}; needed: one of them")
    for name, value in (("--set", options.set), ("--resume", options.resume)):
        if options.demo and value:
            raise InputError(f"{name}: found together with --demo; allowed: with a flow file")
    for name, value in (("--quick", options.quick), ("--output", options.output)):
        if value and not options.demo:
            raise InputError(f"{name}: found without --demo; allowed: with it")
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
    """Collective. Run the flow, or the demo."""

    def work(application: Application, call: RankCall, context: Context) -> Outcome:
        if call.options.demo:
            folder = call.options.output or Path("reactive-demo")
            return application.demo(folder, call.options.quick, call.comm, context)
        if call.trace is not None:
            application.protect_inputs(call.prepared, [call.trace])
        return application.run(NAME, call.prepared, call.comm, context)

    run_application(registry.application(NAME), call, work, run_options)


COMMAND = Command(
    NAME,
    "reactive flow through a porous medium, implicit in time",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=prepare,
)
