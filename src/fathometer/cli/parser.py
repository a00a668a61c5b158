"""The command line's parser, made from the commands."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from fathometer.base.errors import InputError
from fathometer.cli import commands
from fathometer.cli.command import Command
from fathometer.cli.error_lines import print_error_once

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction["Parser"]

DESCRIPTION = """\
Seismic depth imaging: 3D anisotropic (VTI) forward modelling and reverse time migration, run by MPI ranks with
OpenMP threads."""

EXAMPLES = """\
examples:
  fathometer demo --quick                   a first image within a minute
  fathometer model survey.toml --ranks 2    synthetic shots of a geometry
  fathometer migrate survey.toml            the image of recorded shots
  fathometer submit survey.toml --time 8h   the same as a batch job that goes on when it was interrupted
  fathometer info shots.segy vp.rsf         what these files hold
  fathometer prepare vp.segy -o smooth.rsf --smooth 100   a model to migrate in
  fathometer survey build line/*.segy       an index of field data, and what is wrong with them
  fathometer plan survey.toml               what it will cost, before it runs
  fathometer report one/ two/               the page of a run again, compared with another
  fathometer stencil                        how fast the time steps are here, and what limits them
  fathometer io /scratch                    which way of writing and reading volumes is the fastest there

exit codes: 0 done, 1 failed, 2 wrong input, 3 a figure of a study's [gate] got worse, 75 interrupted where
--resume goes on, 130 interrupted"""

# Commands of two words: the first one stands in the list of all commands, the second one is its action.
GROUPS = {
    "survey": ("an index of the traces of many files", "Prepare field data for migration."),
    "study": (
        "measurements that answer a question",
        "Measure programs over settings, and say what makes a difference.",
    ),
    "cluster": (
        "nodes on this machine, for tests, teaching and questions about placement and links",
        "Make a cluster of namespaces on this machine, run commands on it, and take it down.",
    ),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        """Print the line; exit code 2."""
        sys.exit(print_error_once(InputError(f"{message} (see {self.prog} --help)")))


class PrintVersion(argparse.Action):
    """--version: like argparse's own, but the version is read only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print and exit."""
        from fathometer import __version__

        print(f"{parser.prog} {__version__}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; the parsed options hold the chosen one as `run_command`."""
    main_parser = Parser(
        prog="fathometer",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action=PrintVersion, nargs=0, help="show program's version number and exit")
    subparsers = main_parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    groups: dict[str, tuple[Parser, Subparsers]] = {}
    for name in commands.NAMES:
        command: Command = import_module(f"fathometer.cli.commands.{name}").COMMAND
        group = command.name.rpartition(" ")[0]
        if group and group not in groups:
            groups[group] = _add_group(subparsers, group)
        if group:
            groups[group][0].epilog = f"{groups[group][0].epilog}\n{command.examples.splitlines()[0]}"
        _add_command(groups[group][1] if group else subparsers, command)
    return main_parser


def _add_command(subparsers: Subparsers, command: Command) -> None:
    added = subparsers.add_parser(
        command.name.rpartition(" ")[2],
        help=command.summary,
        description=command.description,
        epilog=f"examples:\n{command.examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(added)
    added.add_argument("--debug", action="store_true", help="of a defect of this program, print the traceback")
    added.set_defaults(run_command=command)


def _add_group(subparsers: Subparsers, group: str) -> tuple[Parser, Subparsers]:
    """The parser of a group, to whose examples its actions add theirs, and those of its actions."""
    summary, description = GROUPS[group]
    added = subparsers.add_parser(
        group,
        help=summary,
        description=description,
        epilog="examples:",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return added, added.add_subparsers(dest="action", metavar="ACTION", required=True)
