"""`fathometer migrate`: reverse time migration of recorded shots."""

from __future__ import annotations

import argparse

from fathometer.base.option_types import whole_number
from fathometer.base.options import add_options
from fathometer.cli import argument_groups
from fathometer.cli.application_run import application_command, run_options
from fathometer.runs.options import RunOptions

DESCRIPTION = """\
Migrate the shots of a survey ([acquisition] gathers). Writes the image, the Laplacian-filtered image, the
source illumination, a picture (image.png) and the run's record (run.json) into the output directory."""

EXAMPLES = """\
  fathometer migrate survey.toml
  fathometer migrate survey.toml --ranks 4 --json > record.json
  mpirun -n 8 fathometer migrate survey.toml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer migrate`."""
    argument_groups.add_survey(parser)
    add_options(parser, RunOptions, ("resume", "overwrite", "retry_failed", "share"))
    parser.add_argument(
        "--restarts",
        type=whole_number,
        default=0,
        metavar="N",
        help="start --ranks again, at most N times, if one is killed",
    )
    argument_groups.add_processor(parser)
    argument_groups.add_run(parser)


COMMAND = application_command(
    "migrate",
    "the depth image of recorded shots, by reverse time migration",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_options,
)
