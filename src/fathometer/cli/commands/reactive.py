"""`fathometer reactive`: reactive flow through a porous medium."""

from __future__ import annotations

import argparse
from typing import Any

from fathometer.cli.command import Command, Options
from fathometer.cli.restartable_command import RestartableCommand
from fathometer.runs.restart_hint import END_SECONDS

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


RUN = RestartableCommand("reactive", "flow", "time.end=1e6")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer reactive`."""
    RUN.add_input(parser)
    RUN.add_run(parser)


def prepare(options: Options) -> Any:
    """The input, and the modules that its run needs. Raises InputError for options that contradict each other."""
    RUN.check(options)
    return RUN.load(options)


COMMAND = Command(
    RUN.name,
    "reactive flow through a porous medium, implicit in time",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=RUN.run_on_ranks,
    prepare=prepare,
    resume_hint=RUN.resume_hint,
    end_seconds=END_SECONDS,
)
