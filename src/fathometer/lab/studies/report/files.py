"""The files of a study's answer, in its folder: page, Markdown, all runs as a table, and each table of the page."""

from __future__ import annotations

from pathlib import Path

from fathometer.lab.studies.export import write_parquet
from fathometer.lab.studies.levels import level_of
from fathometer.lab.studies.report.further import all_views
from fathometer.lab.studies.report.markdown import markdown
from fathometer.lab.studies.report.page import write_page
from fathometer.lab.studies.report.table_files import write_tables
from fathometer.lab.studies.results import Results
from fathometer.lab.studies.store import PAGE, PARQUET, TEXT
from fathometer.storage import atomic


def write_answer(folder: Path, results: Results) -> list[Path]:
    """Write them; their paths. FathometerError that names the file where one cannot be written."""
    paths = [folder / name for name in (PAGE, TEXT, PARQUET)]
    write_page(paths[0], results, folder)
    atomic.write(paths[1], markdown(results, folder).encode(errors="backslashreplace"))
    write_parquet(paths[2], results)
    return [*paths, tables_of(folder, results)]


def tables_of(folder: Path, results: Results) -> Path:
    """Write all tables of the page as files of their own; their folder. Raises as `write_tables`."""
    return write_tables(folder, *all_views(results, folder), level_of(results))
