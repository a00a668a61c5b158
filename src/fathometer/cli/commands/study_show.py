"""`fathometer study show`: a study's answer on the terminal."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from fathometer.base.option_types import duration
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text

DESCRIPTION = """\
Print what a study says: how far it is and by when it may be done, its answer in a sentence, its tables, how
the measurement went. It may still run."""

EXAMPLES = """\
  fathometer study show ranks.study
  fathometer study show ranks.study --every 30s      again and again, until it is complete"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer study show`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of a study, as `study run` has left it")
    parser.add_argument(
        "--every", type=duration, metavar="TIME", help="print it again after so long, until it is complete"
    )


def run(options: Options) -> None:
    """Print the answer. Raises InputError where the folder holds no study."""
    from fathometer.lab.studies.course import under_way
    from fathometer.lab.studies.report.terminal import text_of_study
    from fathometer.lab.studies.store import read_results

    while True:
        results = read_results(options.folder)
        print_text(text_of_study(results, time.time()))
        if results.ended:
            return
        going = under_way(options.folder)
        print_text("`study run` is at work on it." if going else "No `study run` is at work on it on this host.")
        if options.every is None:
            return
        time.sleep(options.every)


COMMAND = Command(
    "study show",
    "a study's answer on the terminal, also while it runs",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
