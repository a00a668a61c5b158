"""`fathometer ocean`: the circulation of an ocean."""

from __future__ import annotations

from fathometer.cli.restartable_command import RestartableCommand

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


COMMAND = RestartableCommand(
    "ocean", "ocean", "barotropic.solver=pipelined", "an", CASES, "fathometer.apps.ocean.cases:CASES"
).command("circulation of an ocean with a free surface", DESCRIPTION, EXAMPLES)
