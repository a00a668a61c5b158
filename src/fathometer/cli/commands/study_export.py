"""`fathometer study export`: a study's runs for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.cli.command import Command, Options
from fathometer.cli.output import labelled, print_line, print_text, require_writable

DESCRIPTION = """\
Write all runs of a study, none left out, a row a case, run and figure: as Parquet, which DuckDB, pandas and
polars open, or as CSV."""

EXAMPLES = """\
  fathometer study export ranks.study                     study.parquet in the folder
  fathometer study export ranks.study --csv - | head
  fathometer study export ranks.study --parquet ranks.parquet --csv ranks.csv"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer study export`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of a study, as `study run` has left it")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="(study.parquet in the folder, without --csv)")
    parser.add_argument("--csv", metavar="FILE", help="in place of Parquet, or beside it; - for standard output")


def run(options: Options) -> None:
    """Write the runs. Raises InputError where the folder holds no study."""
    from fathometer.lab.studies.export import comma_separated, write_parquet
    from fathometer.lab.studies.store import PARQUET, read_results
    from fathometer.storage import atomic

    parquet = options.parquet or (options.folder / PARQUET if options.csv is None else None)
    table = Path(options.csv) if options.csv not in (None, "-") else None
    results = read_results(options.folder)
    require_writable(parquet, table)
    if parquet is not None:
        write_parquet(parquet, results)
        print_line(labelled("Parquet", parquet))
    if options.csv == "-":
        print_text(comma_separated(results).rstrip("\n"))
    elif table is not None:
        atomic.write(table, comma_separated(results).encode(errors="backslashreplace"))
        print_line(labelled("CSV", table))


COMMAND = Command(
    "study export",
    "a study's runs as Parquet or CSV",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
