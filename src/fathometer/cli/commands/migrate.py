"""`fathometer migrate`: reverse time migration of recorded shots."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError
from fathometer.cli import argument_groups
from fathometer.cli.application_run import application_command
from fathometer.cli.command import Options
from fathometer.cli.option_types import whole_number

if TYPE_CHECKING:
    from fathometer.runs.options import RunOptions

DESCRIPTION = """\
Migrate the shots of a survey ([acquisition] gathers). Writes the image, the Laplacian-filtered image, the
source illumination, a picture (image.png) and the run's record (run.json) into the output directory."""

EXAMPLES = """\
  fathometer migrate survey.toml
  fathometer migrate survey.toml --ranks 4 --json > record.json
  mpirun -n 8 fathometer migrate survey.toml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer migrate --help`."""
    argument_groups.add_survey(parser)
    parser.add_argument("--resume", action="store_true", help="go on with what an earlier run left, if there is one")
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier run's results and journal")
    parser.add_argument(
        "--retry-failed", action="store_true", help="as --resume, and once more those shots that were set aside"
    )
    parser.add_argument(
        "--share", metavar="NAME", help="share the shots with the other runs that say this NAME; resumes"
    )
    parser.add_argument(
        "--restarts",
        type=whole_number,
        default=0,
        metavar="N",
        help="start --ranks again, at most N times, if one is killed",
    )
    argument_groups.add_run(parser)


def run_options(options: Options) -> RunOptions:
    """What is to become of an earlier migration in the same folder. Raises InputError for options that contradict."""
    from fathometer.runs.options import RunOptions

    for name, value in (
        ("--resume", options.resume),
        ("--retry-failed", options.retry_failed),
        ("--share", options.share),
    ):
        if value and options.overwrite:
            raise InputError(f"--overwrite: found together with {name}; allowed: one of them")
    share = " ".join((options.share or "").split())
    if options.share is not None and not share:
        raise InputError("--share: found an empty name; allowed: a name that all the runs say")
    resume = options.resume or options.retry_failed or bool(share)
    return RunOptions(resume, options.overwrite, options.retry_failed, share)


COMMAND = application_command(
    "migrate",
    "the depth image of recorded shots, by reverse time migration",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_options,
)
