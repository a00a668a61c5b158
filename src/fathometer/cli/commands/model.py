"""`fathometer model`: forward modelling."""

from __future__ import annotations

import argparse

from fathometer.base.options import add_options
from fathometer.cli import argument_groups
from fathometer.cli.application_run import application_command, run_options
from fathometer.runs.options import RunOptions

DESCRIPTION = """\
Model the shots of a geometry ([acquisition] sources and receivers: ranges, or tables in CSV or Parquet) and write
them as one SEG-Y file, shots.segy, into the survey's output directory, with the run's record (run.json). With
[acquisition] gathers, recorded shots or an index of them: model these at their own places and write the traces in
the recorded order under the recorded headers, as shots.segy or shots.su, or several files in the folder shots.
With [propagation] physics = "elastic": velocities or stresses, a SEG-Y file for each component, snapshots and a map of
peak velocities."""

EXAMPLES = """\
  fathometer model survey.toml
  fathometer model survey.toml --ranks 2 --threads 8
  fathometer model loh1/loh1.toml --ranks 2 --resume
  srun -n 64 fathometer model survey.toml --quiet"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer model`."""
    argument_groups.add_survey(parser)
    add_options(
        parser,
        RunOptions,
        ("resume", "overwrite"),
        resume={"help": "go on with the shots that are not done"},
        overwrite={"help": "replace files that no run has left a record of, and an unfinished run"},
    )
    argument_groups.add_processor(parser)
    argument_groups.add_run(parser)


COMMAND = application_command(
    "model", "synthetic shot gathers by forward modelling", DESCRIPTION, EXAMPLES, add_arguments, run_options
)
