"""`fathometer cluster status`: the clusters of this machine."""

from __future__ import annotations

import argparse

from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_json, print_text

DESCRIPTION = """\
Show the clusters of this machine: their nodes with the cores that each has, what their links gave when they
were made, what has ended of them, and what cannot be concluded from runs on them."""

EXAMPLES = """\
  fathometer cluster status
  fathometer cluster status --name wide --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer cluster status`."""
    argument_groups.add_cluster(parser, default=None, none="all")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: Options) -> None:
    """Print it. Raises InputError where there is no cluster of the name."""
    from fathometer.lab.cluster import state
    from fathometer.lab.cluster.table import status_of, table_lines
    from fathometer.record.envelope import plain

    found = [cluster for name in state.names() if (cluster := state.read(name)) is not None]
    if options.name is not None:
        found = [cluster for cluster in found if cluster.name == options.name] or [state.existing(options.name)]
    if options.json:
        print_json(plain([status_of(cluster) for cluster in found]))
        return
    print_text("\n\n".join("\n".join(table_lines(cluster)) for cluster in found) or "no cluster is up")


COMMAND = Command(
    "cluster status",
    "the clusters of this machine, and what their links give",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
