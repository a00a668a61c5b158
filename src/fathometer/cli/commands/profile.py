"""`fathometer profile`: what a program does with MPI."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.options import add_options, options_of
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import labelled, print_line, print_text
from fathometer.cli.pages import page_panels
from fathometer.lab.profile.options import ProfileOptions

DESCRIPTION = """\
Run a command and count what its MPI programs do with MPI: calls, seconds and bytes by function and size, messages
between ranks, time in MPI against time outside of it. A library is preloaded; the programs need not be built anew, and
may be in C, C++, Fortran or Python, with Open MPI or MPICH. What was counted is kept however they end. The folder of
the results gets the record profile.json and the page profile.html; both hold the command with its arguments, and so do
the files of the ranks, unless --hide-arguments is given."""

EXAMPLES = """\
  fathometer profile -- mpirun -n 4 ./program input.dat
  fathometer profile --wait --communicators --sites -o cg.profile -- mpirun -n 4 ./cg 1000
  fathometer profile --profiler ompi -- mpirun -n 4 ./program
  fathometer profile --environment -o big.profile >> job.sh     lines of a batch script, before its srun
  fathometer profile --gather -o big.profile                    afterwards: the record and the page"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer profile`."""
    argument_groups.add_command(parser, "the command to run")
    add_options(parser, ProfileOptions)
    parser.add_argument("--environment", action="store_true", help="run nothing: print the variables of a batch script")
    parser.add_argument("--gather", action="store_true", help="run nothing: what the folder's ranks have left")
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """Run the command and write its profile. Raises FathometerError where the command failed."""
    words = tuple(argument_groups.command_words(options))
    if bool(words) == (options.environment or options.gather):
        raise InputError(
            f"profile: found {'a command besides' if words else 'no command without'} --environment or --gather; "
            "allowed: -- COMMAND ..., or one of them"
        )
    asked = options_of(ProfileOptions, options, command=words)
    if options.environment:
        _print_environment(asked)
        return
    from fathometer.lab.profile.profile import make_profile

    record, ended = make_profile(asked, ["fathometer", *sys.argv[1:]])
    write_profile(asked.folder, record, options.quiet, asked.keep)
    if ended.interrupted:
        raise KeyboardInterrupt
    if ended.code:
        raise FathometerError(f"{words[0]}: ended with exit code {ended.code}; {asked.folder} has its profile")


def write_profile(folder: Path, record: dict[str, Any], quiet: bool, keep: bool = False) -> None:
    """Write record and page into a folder, remove the files of the ranks but to `keep` them, and print the table.

    Raises FathometerError where one of both cannot be written, once all else is done: the files of the ranks stay
    where the record is missing, and `--gather` makes it from them.
    """
    from fathometer.lab.profile.profile import PAGE, RECORD, remove_left
    from fathometer.lab.profile.terminal import text_of_profile
    from fathometer.record.envelope import write_record
    from fathometer.report.page import write_page
    from fathometer.report.records import Run

    path, page = folder / RECORD, folder / PAGE
    shown = Run(path, record)
    written: list[tuple[str, Path]] = []
    failed: list[FathometerError] = []
    try:
        write_record(path, record)
        written.append(("record", path))
        if not keep:
            remove_left(folder, record)
    except FathometerError as error:
        failed.append(error)
    try:
        write_page(page, [shown], page_panels(shown))
        written.append(("page", page))
    except FathometerError as error:
        failed.append(error)
    if not quiet:
        print_text(text_of_profile(record))
        for kind, file in written:
            print_line(labelled(kind, file))
    if failed:
        raise failed[0]


def _print_environment(asked: ProfileOptions) -> None:
    import shlex

    from fathometer.lab.profile.launching import environment
    from fathometer.record.profiled import HIDE

    counted = (*asked.counted, HIDE) if asked.hide_arguments else asked.counted
    variables = environment(asked.folder, counted, asked.newer is True, {})
    print_text("\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items()))


COMMAND = Command(
    "profile",
    "what any MPI program does with MPI, without building it anew",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
