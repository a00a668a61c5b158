"""SQL over a study's runs, by DuckDB in memory: the table `runs` has the columns of the export."""

from __future__ import annotations

from typing import Any

from fathometer.base.errors import InputError, shortened
from fathometer.lab.studies.export import table
from fathometer.lab.studies.results import Results

TABLE = "runs"
MISSING = (
    "query: DuckDB is not installed; allowed: `pip install 'fathometer[query]'`, or `fathometer study export` and any "
    "other program"
)


def query(results: Results, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names of the columns and rows of a query's answer.

    The query sees the runs and nothing else: it can neither read nor write files, nor load extensions. Raises
    InputError where DuckDB is not installed, and for a query that it refuses.
    """
    try:
        import duckdb
    except ImportError:
        raise InputError(MISSING) from None
    with duckdb.connect(":memory:") as connection:
        connection.register("exported", table(results))
        connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM exported")
        connection.unregister("exported")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        try:
            answer = connection.execute(text)
            names = [column[0] for column in answer.description or []]
            return names, answer.fetchall()
        except duckdb.Error as error:
            raise InputError(
                f"query: {shortened(error, 400)}; columns: {', '.join(table(results).column_names)}"
            ) from None
