"""Arguments that several commands have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fathometer.base.option_types import folder, integer, sample_interval

CLUSTER = "default"  # the name of a cluster that is given none


def add_survey(
    parser: argparse.ArgumentParser,
    name: str = "SURVEY.toml",
    meaning: str = "the survey file",
    optional: bool = False,
) -> None:
    """The input file."""
    parser.add_argument("survey", type=Path, nargs="?" if optional else None, metavar=name, help=meaning)


def add_set(
    parser: argparse.ArgumentParser, file: str = "the survey file", example: str = "history.store=disk"
) -> None:
    """--set, of commands that read an input file to run or plan it.

    file, example: what it is, and how one of its keys is set.
    """
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"set a key of {file}, such as {example}, for this run; any number of times",
    )


class _SetKey(argparse.Action):
    """An option that stands for --set KEY=VALUE of one key, its `const`."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        namespace.set = [*(namespace.set or ()), f"{self.const}={values}"]


def add_processor(parser: argparse.ArgumentParser) -> None:
    """--processor, of commands that take acoustic time steps."""
    parser.add_argument(
        "--processor",
        action=_SetKey,
        dest="set",
        const="parallel.processor",
        default=[],
        choices=("auto", "cpu", "gpu"),
        help="what takes the time steps: --set parallel.processor=… (default: a graphics card, if kernels were built)",
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """--quiet."""
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def add_results(parser: argparse.ArgumentParser) -> None:
    """--output, of commands that read a study file."""
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="folder of the results, in place of what the study file says"
    )


def add_undecided(parser: argparse.ArgumentParser) -> None:
    """--undecided, of commands that end with the exit code of a gate."""
    parser.add_argument(
        "--undecided",
        choices=("pass", "fail"),
        help="exit with 0 (pass) or 3 (fail), not 4, where it is not decided whether a figure of [gate] got worse",
    )


def add_command(parser: argparse.ArgumentParser, meaning: str) -> None:
    """-- COMMAND ..., of commands that run another one; `command_words` has it."""
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help=meaning)


def command_words(options: argparse.Namespace) -> list[str]:
    """The words of that command."""
    words: list[str] = options.words
    return words[1:] if words[:1] == ["--"] else words


def add_cluster(parser: argparse.ArgumentParser, default: str | None = CLUSTER, none: str = CLUSTER) -> None:
    """--name, of commands on clusters.

    default: what it is where it is left out. none: what that means, in words.
    """
    parser.add_argument("--name", default=default, metavar="NAME", help=f"of the cluster ({none})")


def add_share(parser: argparse.ArgumentParser) -> None:
    """--share, of commands that make a cluster or run on one."""
    parser.add_argument(
        "--share",
        type=folder,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder in /tmp or /run that nodes see; repeatable",
    )


def add_sample_interval(parser: argparse.ArgumentParser) -> None:
    """--sample-interval, of commands that read traces."""
    parser.add_argument(
        "--sample-interval",
        type=sample_interval,
        metavar="S",
        help="of the traces, in seconds, in place of what the headers say (0.002)",
    )


def add_rank_count(parser: argparse.ArgumentParser, number: Callable[[str], int], help_text: str) -> None:
    """--ranks; also --rank."""
    parser.add_argument("--ranks", type=number, metavar="N", help=help_text)
    add_rank_alias(parser, number)


def add_rank_alias(parser: argparse.ArgumentParser, number: Callable[[str], int]) -> None:
    """--rank beside --ranks: people write it, and it is no abbreviation of --ranks-per-node."""
    parser.add_argument("--rank", type=number, dest="ranks", help=argparse.SUPPRESS)


def add_ranks(parser: argparse.ArgumentParser) -> None:
    """Of commands that run on ranks."""
    add_rank_count(parser, integer, "start N MPI ranks (default: as launched, or 1)")
    parser.add_argument("--threads", type=integer, metavar="T", help="threads a rank (default: all its cores)")
    parser.add_argument(
        "--bind",
        choices=("cores", "none"),
        default="cores",
        help="none: threads go where the system has them go (default: each stays on a core)",
    )
    add_quiet(parser)


def add_record(parser: argparse.ArgumentParser) -> None:
    """Of commands that leave the record of a run."""
    parser.add_argument("--json", action="store_true", help="print the run's record as JSON on standard output")
    add_ranks(parser)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Of commands that leave the record of a run and can write its trace."""
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write all spans of all ranks, for Perfetto")
    parser.add_argument(
        "--profile", type=Path, metavar="DIR", help="count what the ranks do with MPI, as fathometer profile -o DIR"
    )
    add_record(parser)
