"""`fathometer survey build`: an index of field data."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.option_types import count
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text, printer, require_writable

DESCRIPTION = """\
Read all traces of SEG-Y (revisions 0, 1, 2) and SU files once, and write an index of them: a
Parquet table of file, trace, shot, channel, places (m), sampling and flags. [acquisition] gathers takes it
in place of the files. What is wrong with traces is counted, listed and flagged; files that are no gathers
are left out."""

EXAMPLES = """\
  fathometer survey build line/*.segy -o line.parquet
  fathometer survey build *.sgy --shot-key EnergySourcePoint --word receiver_depth=205:i4
  fathometer survey build a.su b.su --strict"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer survey build`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="SEG-Y and SU files")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("survey.parquet"), metavar="INDEX", help="(survey.parquet)"
    )
    parser.add_argument("--jobs", type=count, metavar="N", help="threads that read (as many as this process has cores)")
    parser.add_argument(
        "--shot-key",
        metavar="WORD",
        help="what tells shots apart: a header field, or BYTE:TYPE (FieldRecord, 9:i4); file+WORD: within a file",
    )
    parser.add_argument("--channel", metavar="WORD", help="number of a trace within its shot (TraceNumber, 13:i4)")
    parser.add_argument(
        "--word",
        action="append",
        default=[],
        metavar="NAME=WORD",
        help="another header word, or none: source_x=73:i4, coordinate_scalar=none ...; repeatable",
    )
    argument_groups.add_sample_interval(parser)
    parser.add_argument("--strict", action="store_true", help="the first anomaly is an error")
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """Build the index, in this process. Raises InputError where none of the traces can be used."""
    from fathometer.storage.index.build import build_index
    from fathometer.storage.index.summary import table_of
    from fathometer.storage.index.words import words_of

    header_words = [*options.word]
    for name, word in (("shot", options.shot_key), ("channel", options.channel)):
        if word is not None:
            header_words.append(f"{name}={word}")
    words = words_of(header_words)
    require_writable(options.output)
    jobs = options.jobs or len(os.sched_getaffinity(0))
    index = build_index(
        options.files,
        options.output,
        words,
        jobs=jobs,
        strict=options.strict,
        say=printer(options.quiet),
        interval=options.sample_interval,
    )
    if not options.quiet:
        print_text(table_of(index))
    if not index.summary.usable:
        raise InputError(f"{options.output}: none of {index.summary.traces} traces can be used: see their anomalies")


COMMAND = Command(
    "survey build",
    "scan the headers and samples of SEG-Y and SU files into an index",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
