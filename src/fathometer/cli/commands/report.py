"""`fathometer report`: the page of a run, and comparisons of several."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError
from fathometer.cli.command import Command, Options
from fathometer.cli.error_lines import print_error
from fathometer.cli.output import labelled, print_line, print_text, protect_records, require_writable
from fathometer.cli.pages import check_heading, page_panels

if TYPE_CHECKING:
    from fathometer.report.records import Run

DESCRIPTION = """\
Write the page (report.html) of a run from its record and the files that the record names, where they still
are. Several records are compared with the first: seconds of each phase, figures of merit, speed-up.
A folder stands for the record in it. A record that cannot be used is reported, and the others are used."""

EXAMPLES = """\
  fathometer report image/run.json
  fathometer report two-ranks/ four-ranks/ -o scaling.html
  fathometer report before/ after/ --markdown - --csv phases.csv"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer report`."""
    parser.add_argument("records", nargs="+", type=Path, metavar="RUN.json", help="a record, or the folder of one")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="PAGE", help="the page (report.html beside the first record)"
    )
    parser.add_argument("--markdown", metavar="FILE", help="write the tables as Markdown; - for standard output")
    parser.add_argument("--csv", metavar="FILE", help="write them as CSV in SI units; - for standard output")


def run(options: Options) -> None:
    """Write page and tables. Raises InputError where none of the records can be used."""
    from fathometer.record.envelope import PAGE
    from fathometer.report.page import comparison_tables, run_tables, write_page
    from fathometer.report.tables import comma_separated, markdown
    from fathometer.storage import atomic

    runs = _usable(options.records)
    page = options.output or runs[0].path.with_name(PAGE)
    table_files = [Path(name) for name in (options.markdown, options.csv) if name not in (None, "-")]
    require_writable(page, *table_files)
    protect_records((page, *table_files), [run.path for run in runs])
    write_page(page, runs, page_panels(runs[0]))
    tables = comparison_tables(runs) if len(runs) > 1 else run_tables(runs[0])
    for name, formatted in ((options.markdown, markdown), (options.csv, comma_separated)):
        if name == "-":
            print_text(formatted(tables).rstrip("\n"))
        elif name is not None:
            atomic.write(Path(name), formatted(tables).encode(errors="backslashreplace"))
    print_line(labelled("report", page))


def _usable(places: list[Path]) -> list[Run]:
    """The records that can be used; the errors of the others are printed. Raises InputError where there is none."""
    from fathometer.report.page import check
    from fathometer.report.records import read_record

    runs: list[Run] = []
    for place in places:
        try:
            run = read_record(place)
            check(run)
            check_heading(run)
            runs.append(run)
        except InputError as error:
            if len(places) == 1:
                raise
            print_error(error)
    if not runs:
        raise InputError(f"report: none of the {len(places)} records can be used")
    return runs


COMMAND = Command(
    "report",
    "the page of a run again, and comparisons of several",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
