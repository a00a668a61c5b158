"""`fathometer flow`: incompressible flow in a box."""

from __future__ import annotations

import argparse
from typing import Any

from fathometer.cli.command import Command, Options
from fathometer.cli.restartable_command import RestartableCommand
from fathometer.runs.restart_hint import END_SECONDS

DESCRIPTION = """\
Incompressible flow in a box, in two or three dimensions, with a temperature that makes fluid rise where there is one:
a staggered grid, three stages a step, the pressure solved for directly. Writes velocity, pressure, temperature and
vorticity as Tecplot files, in one of several ways of MPI-IO, restart files, a picture (flow.png) and the run's record
(run.json) into the output directory. With --demo: vortices of Taylor and Green that break up."""

EXAMPLES = """\
  fathometer flow --demo --ranks 2
  fathometer flow flow.toml --ranks 4
  fathometer flow flow.toml --set output.tecplot.data=offsets --set output.tecplot.calls=independent
  fathometer flow flow.toml --ranks 4 --resume"""


RUN = RestartableCommand("flow", "flow", "time.end=20")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer flow`."""
    RUN.add_input(parser)
    RUN.add_run(parser)


def prepare(options: Options) -> Any:
    """The input, and the modules that its run needs. Raises InputError for options that contradict each other."""
    RUN.check(options)
    return RUN.load(options)


COMMAND = Command(
    RUN.name,
    "incompressible flow in a box, written as Tecplot files",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=RUN.run_on_ranks,
    prepare=prepare,
    resume_hint=RUN.resume_hint,
    end_seconds=END_SECONDS,
)
