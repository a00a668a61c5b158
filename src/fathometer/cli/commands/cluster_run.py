"""`fathometer cluster run`: a command on the nodes of a cluster."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.base.option_types import count
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import printer

DESCRIPTION = """\
Run a command on a cluster, in the folder where this one runs. Without --ranks it runs on one node, and what it
starts by mpirun is on the nodes, such as the ranks of `fathometer migrate --ranks`; with --ranks mpirun starts
it on them. Its exit code is this command's; signals reach it."""

EXAMPLES = """\
  fathometer cluster run --ranks 4 -- hostname
  fathometer cluster run --ranks 4 --ranks-per-node 2 --placement cyclic -- ./program
  fathometer cluster run -- fathometer migrate survey.toml --ranks 2
  fathometer cluster run --node node2 -- fathometer io /run/cluster/local"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer cluster run`."""
    argument_groups.add_cluster(parser)
    argument_groups.add_rank_count(parser, count, "start N ranks of it by mpirun")
    parser.add_argument("--ranks-per-node", type=count, metavar="N", help="of each node (evenly)")
    parser.add_argument("--placement", default=None, metavar="HOW", help="block or cyclic (block)")
    parser.add_argument("--node", default="node1", metavar="NAME", help="on which it, or mpirun, runs (node1)")
    argument_groups.add_share(parser)
    argument_groups.add_quiet(parser)
    argument_groups.add_command(parser, "what is run")


def run(options: Options) -> None:
    """Become the command. Raises InputError where it cannot be run."""
    from fathometer.lab.cluster.running import Request, become

    request = Request(
        words=argument_groups.command_words(options),
        node=options.node,
        ranks=options.ranks,
        ranks_per_node=options.ranks_per_node,
        placement=options.placement,
        folders=[Path.cwd(), *options.share],
    )
    become(options.name, request, printer(options.quiet))


COMMAND = Command(
    "cluster run",
    "a command on the nodes of a cluster",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
