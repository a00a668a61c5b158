"""`fathometer calibrate`: measure what plans need to know of this machine."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.cli import argument_groups, registry
from fathometer.cli.benchmark import two_ranks
from fathometer.cli.command import Command, Options, RankCall
from fathometer.cli.output import require_writable

if TYPE_CHECKING:
    pass

DESCRIPTION = """\
Measure memory bandwidth, rates of the time steps, messages between two ranks, files, and what every run
costs, and write them as a machine file for `fathometer plan --on`. Each is measured several times; the file and the
last lines say what was measured while others used the machine."""

EXAMPLES = """\
  fathometer calibrate
  fathometer calibrate -o laptop.json --files /scratch
  fathometer calibrate --for atmosphere plasma"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer calibrate`."""
    parser.add_argument("-o", "--output", type=Path, metavar="MACHINE.json", help="file (where `plan` looks for it)")
    parser.add_argument("--files", type=Path, default=Path(), metavar="DIR", help="where files are measured (.)")
    parser.add_argument("--name", default="", help="of the machine, for people")
    commands = registry.probed_commands()
    parser.add_argument(
        "--for",
        nargs="+",
        dest="commands",
        choices=commands,
        default=commands,
        metavar="COMMAND",
        help=f"only what plans of these need: {', '.join(commands)} (all)",
    )
    argument_groups.add_ranks(parser)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Measure, and write the machine file."""
    from fathometer.lab.calibrate import calibrate
    from fathometer.parallel.collectives import collective_errors
    from fathometer.plan.machine_file import default_path, save_machine

    options = call.options
    path: Path = options.output or default_path()
    with collective_errors(call.comm):
        if call.comm.rank == 0:
            if options.output is None:
                path.parent.mkdir(parents=True, exist_ok=True)
            require_writable(path, options.files / "file")
    probes = list(registry.probes(options.commands))
    machine = calibrate(options.files, options.name, probes, call.comm, call.binding, call.say)
    with collective_errors(call.comm):
        if machine is not None:
            save_machine(path, machine)
            call.say(f"written: {path}")


def prepare(options: Options) -> None:
    """The measurements, and those of the applications."""
    import_module("fathometer.lab.calibrate")
    list(registry.probes(options.commands))


COMMAND = Command(
    "calibrate",
    "measure what plans need to know of this machine, in some minutes",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=prepare,
    default_ranks=two_ranks,
)
