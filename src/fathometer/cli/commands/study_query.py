"""`fathometer study query`: SQL over a study's runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text

DESCRIPTION = """\
Ask a study's runs by SQL: the table `runs` has a row a case, run and figure, with columns case, factor_NAME,
kind (warm-up, round, winner), round, begin, seconds, failed, marks, figure, value, unit, direction. Prints
CSV. Needs DuckDB (pip install 'fathometer[query]'); the query can touch no files."""

EXAMPLES = """\
  fathometer study query ranks.study "select factor_ranks, median(value) from runs where figure = 'total' group by 1"
  fathometer study query ranks.study "select case, round, failed from runs where failed <> ''\""""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer study query`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of a study, as `study run` has left it")
    parser.add_argument("query", metavar="SQL", help="what is asked of the table runs")


def run(options: Options) -> None:
    """Print the answer as CSV. Raises InputError where the folder holds no study, for a query that DuckDB refuses, and
    without DuckDB."""
    from fathometer.base.text_tables import comma_separated
    from fathometer.lab.studies.query import query
    from fathometer.lab.studies.store import read_results

    names, rows = query(read_results(options.folder), options.query)
    print_text(comma_separated(names, rows).rstrip("\n"))


COMMAND = Command(
    "study query",
    "SQL over a study's runs",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
