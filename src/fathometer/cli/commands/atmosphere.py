"""`fathometer atmosphere`: a spectral model of the atmosphere."""

from __future__ import annotations

from fathometer.cli.restartable_command import RestartableCommand

# As in apps/atmosphere/cases.py, imported when needed.
CASES = (
    *("baroclinic-wave", "steady-jet", "baroclinic-jet", "held-suarez", "day-night", "tracers"),
    *("steady-zonal", "mountain", "rossby-haurwitz", "jet"),
)

DESCRIPTION = """\
The air of a whole planet by spherical harmonics: primitive equations on hybrid levels, or shallow water, semi-implicit
in time, with tracers. Ranks share wavenumbers along longitude and pairs of latitudes; arrays are transposed between
them twice a step, in one of several ways. Writes winds, temperature, surface pressure, vorticity and tracers as NetCDF
on the Gaussian grid, restart files, a picture (atmosphere.png) and the run's record (run.json) into the output
directory. With --demo: a storm that develops within nine days. With --write-case: an atmosphere file, to be changed
and run."""

EXAMPLES = """\
  fathometer atmosphere --demo --ranks 2
  fathometer atmosphere jet.toml --write-case jet; fathometer atmosphere jet.toml
  fathometer atmosphere wave.toml --ranks 4 --set grid.truncation=42 --set parallel.protocol=pairwise
  fathometer atmosphere wave.toml --ranks 4 --resume"""


COMMAND = RestartableCommand(
    "atmosphere", "atmosphere", "time.end=4", cases=CASES, texts="fathometer.apps.atmosphere.cases:CASES"
).command("the air of a planet", DESCRIPTION, EXAMPLES)
