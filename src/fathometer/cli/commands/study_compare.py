"""`fathometer study compare`: two builds by studies of one design, and whether anything got worse."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text, require_writable

DESCRIPTION = """\
Compare two builds, machines or networks by studies of one design: the ratio of each figure of each case with its
interval, and what differs beyond doubt. One folder: a study with [gate] baseline, which has run both builds in turns.
Several: the last one with those before; each session of a study is one value, and how far sessions differ is learned
from all of them, four or more. Exit code 3 where a figure of [gate] got worse by more than its tolerance or has no
value any more, 4 where that is not decided, else 0."""

EXAMPLES = """\
  fathometer study compare builds.study
  fathometer study compare monday.study tuesday.study wednesday.study today.study
  fathometer study compare before.study after.study --markdown compared.md --undecided pass"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer study compare`."""
    parser.add_argument(
        "studies",
        type=Path,
        nargs="+",
        metavar="STUDY",
        help="folders of studies, of which the last one is compared with the others; or of one with [gate] baseline",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the comparison as Markdown too")
    argument_groups.add_undecided(parser)


def run(options: Options) -> None:
    """Print the comparison. Raises InputError for studies of different designs, GateError (exit code 3) where a figure
    of the gate got worse, UndecidedError (4) where that is not decided."""
    from fathometer.lab.studies.comparison import compare, compare_builds, require_gate
    from fathometer.lab.studies.report.compared import IN_TURNS, sentences, view
    from fathometer.lab.studies.report.markdown import compared_text
    from fathometer.lab.studies.report.terminal import text_of_comparison
    from fathometer.lab.studies.store import read_results
    from fathometer.storage import atomic

    require_writable(options.markdown)
    *earlier, latest = options.studies
    places = [folder.resolve() for folder in options.studies]
    if twice := [str(folder) for folder, place in zip(options.studies, places, strict=True) if places.count(place) > 1]:
        raise InputError(f"compare: found {twice[0]} more than once; allowed: each study once")
    if earlier:
        comparison = compare([read_results(folder) for folder in earlier], read_results(latest))
        names = (earlier[-1].resolve().name, latest.resolve().name)
        if names[0] == names[1]:
            names = (str(earlier[-1]), str(latest))
        if len(earlier) > 1:
            names = (f"{len(earlier)} earlier studies", names[1])
    else:
        comparison, names = compare_builds(read_results(latest)), IN_TURNS
    shown, legend = view(comparison, names)
    told = sentences(comparison)
    if options.markdown is not None:
        text = compared_text(shown, legend, told)
        atomic.write(options.markdown, text.encode(errors="backslashreplace"))
    print_text(text_of_comparison(shown, legend, told))
    require_gate(comparison, options.undecided)


COMMAND = Command(
    "study compare",
    "two builds by studies of one design, and whether anything got worse",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
