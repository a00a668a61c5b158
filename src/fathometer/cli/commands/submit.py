"""`fathometer submit`: a migration as a batch job."""

from __future__ import annotations

import argparse

from fathometer.base.option_types import slurm_name
from fathometer.base.options import add_options, values_of
from fathometer.base.own_program import own_program
from fathometer.cli import argument_groups, registry
from fathometer.cli.command import Command, Options
from fathometer.cli.output import labelled, print_line, print_text
from fathometer.launch.slurm import Job, batch_script, submit

DESCRIPTION = """\
Write a batch script for `fathometer migrate SURVEY.toml --resume` (with --migrate-time: `migrate-time`) and
give it to Slurm. Before the job's
time is over, or when it is pre-empted, the run drops the shots that it is at and ends with code 75; the
script then puts the job back into the queue, as long as shots get done. Prints the job's number."""

EXAMPLES = """\
  fathometer submit survey.toml --nodes 4 --time 8h --partition long
  fathometer submit survey.toml --nodes 4 --ranks-per-node 2 --threads 32 --time 2d
  fathometer submit survey.toml --array 16 --time 4h     16 jobs of one node share the shots
  fathometer submit survey.toml --time 8h --migrate-time
  fathometer submit survey.toml --time 8h --print > job.sh"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer submit`."""
    argument_groups.add_survey(parser)
    add_options(parser, Job, ("nodes", "seconds", "ranks_per_node"))
    parser.add_argument("--rank", "--ranks", dest="ranks_per_node", type=_ranks_in_all, help=argparse.SUPPRESS)
    add_options(parser, Job, ("threads", "partition", "account"))
    parser.add_argument("--name", type=slurm_name, metavar="NAME", help="of the job (fathometer-SURVEY)")
    add_options(parser, Job, ("array_size",))
    parser.add_argument("--migrate-time", action="store_true", help="the time migration (migrate-time) of the survey")
    parser.add_argument("--print", action="store_true", help="print the script; submit nothing")


def _ranks_in_all(text: str) -> int:
    """Refused, rather than taken for --ranks-per-node."""
    raise argparse.ArgumentTypeError(f"found {text}; allowed: --nodes and --ranks-per-node, whose product it is")


def run(options: Options) -> None:
    """Write the job's script and give it to Slurm."""
    import mpi4py

    mpi4py.rc.initialize = False  # nothing here communicates
    application = registry.of_input(options.survey)
    in_time = {"in_time": True} if options.migrate_time else {}
    job = application.batch_job(
        application.load(options.survey),
        own_program(),
        options.name,
        **values_of(Job, options),
        **in_time,
    )
    if options.print:
        print_text(batch_script(job).rstrip("\n"))
        return
    print_text(submit(job))
    print_line(labelled("log", f"{job.output}/slurm-*.out"))


COMMAND = Command(
    "submit",
    "a migration as a Slurm job that goes on when it was interrupted",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
