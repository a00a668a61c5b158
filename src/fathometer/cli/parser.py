"""The command line's parser, made from the commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean, nearest
from fathometer.cli import commands
from fathometer.cli.command import Command
from fathometer.cli.error_lines import print_error_once

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction["Parser"]

DESCRIPTION = """\
Real parallel applications, from files to results, that account for every second and byte: seismic imaging and
modelling, ocean circulation, reactive and incompressible flow, plasma turbulence, the atmosphere, farms of tasks. And
the instruments to measure any other program and machine with the same rigour."""

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
  fathometer ocean --demo --ranks 2         the circulation of an ocean, with its page
  fathometer report one/ two/               the page of a run again, compared with another
  fathometer stencil                        how fast the time steps are here, and what limits them
  fathometer io /scratch                    which way of writing and reading volumes is the fastest there

exit codes: 0 done, 1 failed, 2 wrong input, 3 a figure of a study's [gate] got worse, 75 interrupted where
--resume goes on, 130 interrupted"""

ACTIONS = "farm extract"  # a command of two words, the first of which is a command

# Under which heading of `fathometer --help` a command stands, by its first word.
HEADINGS = {
    "applications": (
        *("demo", "model", "migrate", "migrate-time", "ocean", "reactive", "flow", "plasma", "atmosphere", "farm"),
        *(ACTIONS, "plan", "submit", "report"),
    ),
    "files and surveys": ("new", "info", "prepare", "survey"),
    "laboratory": ("calibrate", "stencil", "io", "messages", "profile", "study", "cluster"),
}

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
    """A parser whose errors are one line, like all others, with what was meant where that is near."""

    def error(self, message: str) -> NoReturn:
        """Print the line; exit code 2."""
        if message.endswith("are required: ACTION"):
            message += f"; allowed: {', '.join(_actions(self))}"
        sys.exit(print_error_once(InputError(f"{message} (see {self.prog} --help)")))

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """As argparse; words that a command does not know are its error, not that of the parser above it."""
        options, rest = super().parse_known_args(args, namespace)
        if rest and not self._subparsers:
            known = [name for action in self._actions for name in action.option_strings]
            self.error(f"unrecognized arguments: {' '.join(rest)}{did_you_mean(rest[0].partition('=')[0], known)}")
        return options, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is not None and value not in choices:
            words = [str(choice) for choice in choices]
            meant = did_you_mean(str(value), words) or _action_meant(str(value), choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {', '.join(words)}){meant}")


def _action_meant(word: str, choices: Any) -> str:
    """The end of a message about a word that is none of these commands, where it is an action of one of them."""
    if not isinstance(choices, Mapping):
        return ""
    actions = {action: f"{group} {action}" for group in GROUPS for action in _actions(choices.get(group))}
    near = nearest(word, actions)
    return "" if near is None else f"; did you mean {actions[near]}?"


def _actions(group: argparse.ArgumentParser | None) -> list[str]:
    """The actions of a command of two words; none of another one."""
    found = [action.choices for action in group._actions] if group is not None else []
    return [str(name) for choices in found if isinstance(choices, Mapping) for name in choices]


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
        usage="%(prog)s [-h] [--version] COMMAND ...",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action=PrintVersion, nargs=0, help="show program's version number and exit")
    subparsers = main_parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, prog="fathometer", help=argparse.SUPPRESS
    )
    groups: dict[str, tuple[Parser, Subparsers]] = {}
    summaries: dict[str, str] = {}
    for name in commands.NAMES:
        command: Command = import_module(f"fathometer.cli.commands.{name}").COMMAND
        group = _group_of(command)
        if group and group not in groups:
            groups[group] = _add_group(subparsers, group)
        if group:
            groups[group][0].epilog = f"{groups[group][0].epilog}\n{command.examples.splitlines()[0]}"
        else:
            summaries[command.name] = command.summary
        _add_command(groups[group][1] if group else subparsers, command, listed=bool(group))
    summaries |= {name: summary for name, (summary, _) in GROUPS.items()}
    main_parser.description = f"{DESCRIPTION}\n{_listing(summaries)}"
    return main_parser


def with_actions(words: Sequence[str]) -> list[str]:
    """The words of a command line; where the first two are a command whose first word is one, too, as one word."""
    return [ACTIONS, *words[2:]] if " ".join(words[:2]) == ACTIONS else list(words)


def _group_of(command: Command) -> str:
    """The first of the two words of a command; "": it has one, or its first one is a command, too."""
    return command.name.rpartition(" ")[0] if command.name != ACTIONS else ""


def _listing(summaries: Mapping[str, str]) -> str:
    """The commands under their headings, with their summaries."""
    others = [name for name in summaries if not any(name in names for names in HEADINGS.values())]
    lines = []
    for heading, names in [*HEADINGS.items(), ("others", others)]:
        if names:
            lines += ["", f"{heading}:"]
            lines += [f"  {name:<14}{summaries[name]}" for name in names]
    return "\n".join(lines)


def _add_command(subparsers: Subparsers, command: Command, listed: bool) -> None:
    """listed: whether argparse is to list it, which knows no headings."""
    more: dict[str, Any] = {"help": command.summary} if listed else {}
    added = subparsers.add_parser(
        command.name.rpartition(" ")[2] if _group_of(command) else command.name,
        **more,
        description=command.description,
        epilog=f"examples:\n{command.examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(added)
    added.add_argument("--debug", action="store_true", help="of a defect of this program, print the traceback")
    added.set_defaults(run_command=command)


def _add_group(subparsers: Subparsers, group: str) -> tuple[Parser, Subparsers]:
    """The parser of a group, to whose examples its actions add theirs, and those of its actions."""
    _, description = GROUPS[group]
    added = subparsers.add_parser(
        group,
        description=description,
        epilog="examples:",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return added, added.add_subparsers(dest="action", metavar="ACTION", required=True)
