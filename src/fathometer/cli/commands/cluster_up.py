"""`fathometer cluster up`: nodes on this machine, with links between them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fathometer.base.option_types import count
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text, printer, require_writable

DESCRIPTION = """\
Make a cluster on this machine: nodes in namespaces of Linux, each with a host name, a network, a /tmp, a /run
and shared memory of its own, and links of a chosen rate between them. Each link is measured when it is made.
Nothing changes outside of these namespaces; root is not needed where the system allows user namespaces."""

EXAMPLES = """\
  fathometer cluster up --nodes 4 --link 1gbit
  fathometer cluster up --name wide --nodes 2 --link 10gbit --rails 2 --json wide.json
  fathometer cluster up --nodes 2 --slurm
  fathometer cluster run -- hostname
  fathometer cluster down"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer cluster up`."""
    argument_groups.add_cluster(parser)
    parser.add_argument("--nodes", type=count, default=2, metavar="N", help="how many (2)")
    parser.add_argument("--link", default="unlimited", metavar="RATE", help="of each: 1gbit, 250mbit ... (unlimited)")
    parser.add_argument("--rails", type=count, default=1, metavar="N", help="networks, 1 or 2; MPI uses all (1)")
    parser.add_argument("--slurm", action="store_true", help="with Slurm in it: sbatch and srun, on the nodes")
    parser.add_argument(
        "--network-folder", action="store_true", help="with a GlusterFS over the links, as /run/cluster/network"
    )
    argument_groups.add_share(parser)
    parser.add_argument("--user-namespace", action="store_true", help="without rights of root, also for root")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record, with what the links give")
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """Make it. Raises InputError and FathometerError as `bring_up`."""
    from fathometer.lab.cluster.making import bring_up
    from fathometer.lab.cluster.spec import spec_of
    from fathometer.lab.cluster.table import table_lines

    spec = spec_of(
        nodes=options.nodes,
        link=options.link,
        rails=options.rails,
        slurm=options.slurm,
        network_folder=options.network_folder,
    )
    require_writable(options.json)
    say = printer(options.quiet)
    cluster = bring_up(
        options.name, spec, say, folders=[Path.cwd(), *options.share], user_namespace=options.user_namespace
    )
    if options.json is not None:
        from fathometer.lab.cluster.links_record import record_of
        from fathometer.record.envelope import write_record

        write_record(options.json, record_of(cluster, ["fathometer", *sys.argv[1:]]))
    if not options.quiet:
        print_text("\n".join(table_lines(cluster)))


COMMAND = Command(
    "cluster up",
    "nodes on this machine, with links of a chosen rate between them",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
