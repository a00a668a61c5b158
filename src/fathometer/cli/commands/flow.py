"""`fathometer flow`: incompressible flow in a box."""

from __future__ import annotations

from fathometer.cli.restartable_command import RestartableCommand

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


COMMAND = RestartableCommand("flow", "flow", "time.end=20").command(
    "incompressible flow in a box, written as Tecplot files", DESCRIPTION, EXAMPLES
)
