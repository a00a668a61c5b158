"""`fathometer ocean`: the circulation of an ocean."""

from __future__ import annotations

import argparse
import os.path
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.cli.command import Command, Options, RankCall
from fathometer.cli.restartable_command import RestartableCommand
from fathometer.runs.restart_hint import END_SECONDS

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


RUN = RestartableCommand("ocean", "ocean", "barotropic.solver=pipelined", "an")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer ocean`."""
    RUN.add_input(parser)
    parser.add_argument(
        "--write-case", choices=CASES, default=None, metavar="NAME", help=f"write OCEAN.toml: {' or '.join(CASES)}"
    )
    RUN.add_run(parser, "an earlier run's results, or OCEAN.toml")


def prepare(options: Options) -> Any:
    """The input, and the modules that its run needs. Raises InputError for options that contradict each other."""
    RUN.check(options)
    if not options.write_case:
        return RUN.load(options)
    if options.demo:
        raise InputError("--write-case: found together with --demo; allowed: one of them")
    RUN.refuse_run_options(options, "--write-case")
    if options.trace is not None or options.profile is not None:
        found = "--trace" if options.trace is not None else "--profile"
        raise InputError(f"{found}: found together with --write-case; allowed: with an ocean file that is run")
    if os.path.lexists(options.survey) and not options.overwrite:
        raise InputError(f"{options.survey}: exists; allowed: another name, or --overwrite to replace it")
    return None


def run_on_ranks(call: RankCall) -> None:
    """Collective. Run the ocean, or the demo; or write a case."""
    if call.options.write_case:
        write_case(call)
    else:
        RUN.run_on_ranks(call)


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
    RUN.name,
    "circulation of an ocean with a free surface",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=prepare,
    resume_hint=lambda options: "" if options.write_case else RUN.resume_hint(options),
    end_seconds=END_SECONDS,
)
