"""`fathometer profile`: what a program does with MPI."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError, InputError
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.option_types import count
from fathometer.cli.output import labelled, print_line, print_text
from fathometer.cli.pages import page_panels

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

COUNTED = {
    "communicators": "tell calls apart by communicator",
    "sites": "tell calls apart by the place in the program",
    "wait": "let ranks meet before collective calls, which tells waiting from transfer and changes the run",
    "counters": "cycles, instructions and cache misses, where the system allows it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer profile --help`."""
    argument_groups.add_command(parser, "the command to run")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("profile"),
        metavar="DIR",
        help="folder of the results, seen by all hosts of the run (profile)",
    )
    for name, meaning in COUNTED.items():
        parser.add_argument(f"--{name}", action="store_true", help=meaning)
    parser.add_argument(
        "--profiler",
        default="fathometer",
        choices=("fathometer", "ompi"),
        help="ompi: Open MPI's own monitoring of messages, without preloading (fathometer)",
    )
    parser.add_argument(
        "--job", type=count, metavar="N", help="of several MPI jobs that the command runs (the longest)"
    )
    parser.add_argument(
        "--mpi", type=int, choices=(3, 4), help="4: listen to MPI 4's functions of large counts too (as MPI has them)"
    )
    parser.add_argument(
        "--hide-arguments",
        action="store_true",
        help="keep the command's arguments, such as passwords, out of record, page and files of ranks",
    )
    parser.add_argument("--keep", action="store_true", help="keep the files of the ranks")
    parser.add_argument(
        "--overwrite", action="store_true", help="remove what an earlier profile has left in the folder"
    )
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
    if options.environment:
        _print_environment(options)
        return
    from fathometer.lab.profile.profile import ProfileOptions, make_profile

    asked = ProfileOptions(
        words,
        options.output,
        _counted(options),
        options.profiler,
        options.job,
        None if options.mpi is None else options.mpi == 4,
        options.keep,
        options.overwrite,
        options.hide_arguments,
    )
    record, ended = make_profile(asked, ["fathometer", *sys.argv[1:]])
    write_profile(options.output, record, options.quiet, options.keep)
    if ended.interrupted:
        raise KeyboardInterrupt
    if ended.code:
        raise FathometerError(f"{words[0]}: ended with exit code {ended.code}; {options.output} has its profile")


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


def _counted(options: Options) -> tuple[str, ...]:
    return tuple(name for name in COUNTED if getattr(options, name))


def _print_environment(options: Options) -> None:
    import shlex

    from fathometer.lab.profile.launching import environment
    from fathometer.record.profiled import HIDE

    counted = (*_counted(options), HIDE) if options.hide_arguments else _counted(options)
    variables = environment(options.output, counted, options.mpi == 4, {})
    print_text("\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items()))


COMMAND = Command(
    "profile",
    "what any MPI program does with MPI, without building it anew",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
