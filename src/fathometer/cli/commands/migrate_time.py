"""`fathometer migrate-time`: Kirchhoff prestack time migration of recorded shots."""

from __future__ import annotations

from fathometer.cli.application_run import application_command, run_options
from fathometer.cli.commands.migrate import add_arguments

DESCRIPTION = """\
Migrate the shots of a survey ([acquisition] gathers) in time, by summing traces along diffraction curves. Writes the
image, its fold and velocities, a picture (image.png) and the run's record (run.json) into the folder "time" in the
output directory. Velocities are those of [time_migration], or made from [model]."""

EXAMPLES = """\
  fathometer migrate-time survey.toml
  fathometer migrate-time survey.toml --set time_migration.velocity=picks.txt
  fathometer migrate-time survey.toml --ranks 4 --resume"""

COMMAND = application_command(
    "migrate-time",
    "the image in time of recorded shots, by Kirchhoff migration",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_options,
)
