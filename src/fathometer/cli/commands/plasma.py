"""`fathometer plasma`: plasma turbulence."""

from __future__ import annotations

from fathometer.cli.restartable_command import RestartableCommand

CASES = ("cyclone", "zonal", "alfven", "standard-64", "standard-16")  # as in apps/plasma/cases.py, imported when needed

DESCRIPTION = """\
Turbulence of a magnetised plasma in a flux tube, by the gyrokinetic equations: growth rates and frequencies of linear
modes, or the turbulence of a box of modes, with adiabatic or kinetic electrons. Ranks share modes and velocities;
arrays are transposed between them several times a step, in one of several ways. Writes the potential as NetCDF,
restart files, a picture (plasma.png) and the run's record (run.json) into the output directory. With --demo: turbulence
in a small box. With --write-case: a plasma file, to be changed and run; standard-64 and standard-16 have as many modes,
steps and fields as two published benchmarks of GYRO."""

EXAMPLES = """\
  fathometer plasma --demo --ranks 2
  fathometer plasma cyclone.toml --write-case cyclone; fathometer plasma cyclone.toml
  fathometer plasma box.toml --ranks 4 --set parallel.mode_ranks=2 --set parallel.protocol=pairwise
  fathometer plasma box.toml --ranks 4 --resume"""


COMMAND = RestartableCommand(
    "plasma", "plasma", "time.end=20", cases=CASES, texts="fathometer.apps.plasma.cases:CASES"
).command("turbulence of a magnetised plasma", DESCRIPTION, EXAMPLES)
