"""`fathometer cluster down`: the end of a cluster."""

from __future__ import annotations

import argparse

from fathometer.base.errors import InputError
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import printer

DESCRIPTION = """\
End a cluster with all that runs in it, and remove its folder with what the nodes' own folders hold. Also what a
crash, or kill -9, has left of one."""

EXAMPLES = """\
  fathometer cluster down
  fathometer cluster down --name wide
  fathometer cluster down --all"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer cluster down`."""
    argument_groups.add_cluster(parser, default=None)
    parser.add_argument("--all", action="store_true", help="all clusters of this user on this machine")
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """End it. Raises InputError where there is none."""
    from fathometer.lab.cluster import state
    from fathometer.lab.cluster.making import take_down

    if options.all and options.name is not None:
        raise InputError(f"cluster down: found --name {options.name} and --all; allowed: one of them")
    say = printer(options.quiet)
    one = argument_groups.CLUSTER if options.name is None else options.name
    for name in state.names() if options.all else [one]:
        ended = take_down(name)
        say(f"cluster {name}: down; {ended} processes ended")


COMMAND = Command(
    "cluster down",
    "end a cluster, with all that runs in it",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
