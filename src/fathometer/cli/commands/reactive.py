"""`fathometer reactive`: reactive flow through a porous medium."""

from __future__ import annotations

from fathometer.cli.restartable_command import RestartableCommand

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


COMMAND = RestartableCommand("reactive", "flow", "time.end=1e6").command(
    "reactive flow through a porous medium, implicit in time", DESCRIPTION, EXAMPLES
)
