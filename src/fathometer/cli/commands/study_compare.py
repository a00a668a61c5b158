"""`fathometer study compare`: two studies of one design, and whether anything got worse."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text, require_writable

DESCRIPTION = """\
Compare a study with an earlier one of the same design (two versions, machines or networks): the ratio of
each figure of each case with its interval, and what differs beyond doubt. Exit code 3 where a figure that
[gate] of the first one's study file names got worse by more than its tolerance, or has no value any more."""

EXAMPLES = """\
  fathometer study compare before.study after.study
  fathometer study compare before.study after.study --markdown compared.md"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer study compare --help`."""
    parser.add_argument("first", type=Path, metavar="A", help="the folder of the study that is compared with")
    parser.add_argument("second", type=Path, metavar="B", help="that of the other one")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the comparison as Markdown too")


def run(options: Options) -> None:
    """Print the comparison. Raises InputError for studies of different designs, GateError (exit code 3) where a figure
    of the gate got worse."""
    from fathometer.lab.studies.comparison import compare, require_gate
    from fathometer.lab.studies.report.compared import sentences, view
    from fathometer.lab.studies.report.markdown import compared_text
    from fathometer.lab.studies.report.terminal import text_of_comparison
    from fathometer.lab.studies.store import read_results
    from fathometer.storage import atomic

    require_writable(options.markdown)
    comparison = compare(read_results(options.first), read_results(options.second))
    names = (options.first.resolve().name, options.second.resolve().name)
    if names[0] == names[1]:
        names = (str(options.first), str(options.second))
    shown, legend = view(comparison, names)
    told = sentences(comparison)
    if options.markdown is not None:
        text = compared_text(shown, legend, told)
        atomic.write(options.markdown, text.encode(errors="backslashreplace"))
    print_text(text_of_comparison(shown, legend, told))
    require_gate(comparison)


COMMAND = Command(
    "study compare",
    "two studies of one design, and whether anything got worse",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
