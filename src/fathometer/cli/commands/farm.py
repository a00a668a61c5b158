"""`fathometer farm`: tasks, done by workers on nodes."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.options import add_options
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.restartable_command import RestartableCommand
from fathometer.runs.options import RunOptions
from fathometer.runs.restart_hint import END_SECONDS

DESCRIPTION = """\
Do many tasks: sequences of a FASTA file through BLAST+ or another program, a command over the lines of a file
or over a grid of parameters, or built-in tasks of known length. Each rank is a node, with workers of its own
and a writer that gathers results into one compressed file. A task that fails is tried again, then set aside;
workers may die; what is not finished is done by --resume, each task once."""

EXAMPLES = """\
  fathometer farm --demo
  fathometer farm farm.toml
  fathometer farm farm.toml --ranks 2 --set output.compression=none
  fathometer farm farm.toml --resume --retry-failed
  fathometer farm extract out/ --task 17           one result out of the files
  fathometer farm extract out/ -o all.xml          all of them, as one document"""


@dataclass(frozen=True)
class FarmCommand(RestartableCommand):
    """The command: its tasks may be tried again."""

    def add_run(self, parser: argparse.ArgumentParser, replaced: str = "an earlier run's results") -> None:
        """What becomes of an earlier run, and arguments of all runs."""
        add_options(
            parser,
            RunOptions,
            ("resume", "retry_failed", "overwrite"),
            resume={"help": "go on with the tasks that have no result yet"},
            retry_failed={"help": "as --resume, and once more those tasks that were set aside"},
            overwrite={"help": f"replace {replaced}"},
        )
        argument_groups.add_run(parser)
        argument_groups.add_set(parser, f"the {self.kind} file", self.key)

    def refuse_run_options(self, options: Options, beside: str) -> None:
        """Raises InputError for options of an input file that is run."""
        for name, value in (
            ("--set", options.set),
            ("--resume", options.resume),
            ("--retry-failed", options.retry_failed),
        ):
            if value:
                raise InputError(f"{name}: found together with {beside}; allowed: with a farm file that is run")


RUN = FarmCommand("farm", "farm", "output.flush=10")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    RUN.add_input(parser)
    RUN.add_run(parser)


def _prepare(options: Options) -> Any:
    RUN.check(options)
    return RUN.load(options)


COMMAND = Command(
    "farm",
    "many tasks, such as searches by BLAST+, by workers on nodes",
    DESCRIPTION,
    EXAMPLES,
    _add_arguments,
    run_on_ranks=RUN.run_on_ranks,
    prepare=_prepare,
    resume_hint=RUN.resume_hint,
    end_seconds=END_SECONDS,
)
