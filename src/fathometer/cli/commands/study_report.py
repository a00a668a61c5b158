"""`fathometer study report`: the page of a study, and the same as Markdown."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.cli.command import Command, Options
from fathometer.cli.output import labelled, print_line, print_text, require_writable

DESCRIPTION = """\
Write what a study says as a page (study.html) and as Markdown (study.md): the answer in a sentence, tables,
plots, published results beside, the configuration, how to repeat it, what was marked; and each table as CSV and
Markdown in the folder (tables/). It may still run."""

EXAMPLES = """\
  fathometer study report ranks.study
  fathometer study report ranks.study -o ranks.html --markdown -
  fathometer study report --landscape wrf-conus-12km      a published table, as Markdown"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer study report`."""
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="of a study, as `study run` has left it")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE", help="the page (study.html in the folder)")
    parser.add_argument("--markdown", metavar="FILE", help="(study.md in the folder); - for standard output")
    parser.add_argument("--landscape", metavar="ID", help="in place of a study: print a published table")


def run(options: Options) -> None:
    """Write page and Markdown. Raises InputError where the folder holds no study."""
    if (options.folder is None) == (options.landscape is None):
        raise InputError("study report: found " + ("neither" if options.folder is None else "both")
                         + " of FOLDER and --landscape; allowed: one of them")  # fmt: skip
    if options.landscape is not None:
        from fathometer.lab.landscape import landscape, shown
        from fathometer.lab.studies.report.markdown import published_text

        print_text(published_text(shown(landscape(options.landscape))))
        return
    from fathometer.lab.studies.report.files import tables_of
    from fathometer.lab.studies.report.markdown import markdown
    from fathometer.lab.studies.report.page import write_page
    from fathometer.lab.studies.store import PAGE, TEXT, read_results
    from fathometer.storage import atomic

    results = read_results(options.folder)
    page = options.output or options.folder / PAGE
    to_output = options.markdown == "-"
    text_file = None if to_output else Path(options.markdown) if options.markdown else options.folder / TEXT
    require_writable(page, text_file)
    text = markdown(results, options.folder)
    write_page(page, results, options.folder)
    if text_file is None:
        print_text(text.rstrip("\n"))
    else:
        atomic.write(text_file, text.encode(errors="backslashreplace"))
        print_line(labelled("Markdown", text_file))
    print_line(labelled("page", page))
    print_line(labelled("tables", tables_of(options.folder, results)))


COMMAND = Command(
    "study report",
    "a study as a page and as Markdown",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
