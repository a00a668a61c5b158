"""`fathometer plan`: what a run will cost."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.option_types import count
from fathometer.base.options import add_options, values_of
from fathometer.cli import argument_groups, registry
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_json, print_text, require_writable
from fathometer.plan.options import PlanOptions

DESCRIPTION = """\
Say what a run will cost: grid, steps, memory, bytes, seconds of each phase; and how it is best run. Reads
headers, some rows of the model, no traces. The machine is this one as `fathometer calibrate` found it, or
described by a file."""

EXAMPLES = """\
  fathometer plan survey.toml
  fathometer plan survey.toml --ranks 2 --json -
  fathometer plan survey.toml --on cluster.json --within 8h
  fathometer plan future.toml --on cluster.json --nodes 16 --velocities 1500,4500 --migrate"""

STANDARD_OUTPUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer plan`."""
    argument_groups.add_survey(parser, "INPUT.toml", "the survey, ocean or flow file")
    argument_groups.add_set(parser, "the input file")
    parser.add_argument("--on", type=Path, metavar="MACHINE.json", help="the machine (as calibrate left it)")
    add_options(parser, PlanOptions, ("ranks",))
    argument_groups.add_rank_alias(parser, count)
    add_options(parser, PlanOptions, ("nodes", "decomposition", "within", "velocities"))
    add_options(parser.add_mutually_exclusive_group(), PlanOptions, ("migrate", "migrate_time", "model"))
    add_options(parser, PlanOptions, ("history", "iterations", "like"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the plan as JSON; -: print it")


def run(options: Options) -> None:
    """Print the plan of the input's application, and write it as JSON."""
    import mpi4py

    mpi4py.rc.initialize = False  # nothing here communicates
    from fathometer.plan.compression import compression_advice
    from fathometer.plan.machine_file import default_path, load_machine
    from fathometer.plan.worth import first_use, worth_of
    from fathometer.record.envelope import plain, write_record
    from fathometer.runs.application import protect

    application = registry.of_input(options.survey)
    input = application.load(options.survey, options.set)
    to_standard_output = str(options.json) == STANDARD_OUTPUT
    if options.json is not None and not to_standard_output:
        require_writable(options.json)
        protect(application.files(input), [options.json])
    path = options.on or default_path()
    if options.on is None and not path.exists():
        raise InputError(
            "--on: left out, and this machine has not been measured; run `fathometer calibrate`, or name a MACHINE.json"
        )
    run_options = values_of(PlanOptions, options)
    for name, value in run_options.items():
        if name not in application.identity.plan_options and value not in (None, False):
            option = name.replace("_", "-")
            of = f"{options.survey} is of the application {application.identity.name}"
            raise InputError(f"--{option}: found; {of}, without it")
    machine = load_machine(path)
    estimate, worth = application.plan(input, machine, run_options), worth_of(machine)
    record = dict(estimate.record) | {"machine_file": worth.as_dict()}
    asked = record.get("asked")
    told = [*first_use(machine, asked), *compression_advice(machine, asked)]
    if not to_standard_output:
        print_text("\n".join([*estimate.table, "", *told, *worth.lines()]))
    if to_standard_output:
        print_json(plain(record))
    elif options.json is not None:
        write_record(options.json, record)


COMMAND = Command(
    "plan",
    "what a survey will cost on a machine, before it runs",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
