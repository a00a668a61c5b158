"""A study's runs for other programs: CSV, and one Parquet that DuckDB, pandas and polars open.

A row is a case, a run and a figure (`Results.rows`). A factor is a column of one type: numbers, true and false, or
text; values of mixed kinds are text.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base import text_tables
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.results import Results
from fathometer.storage import atomic

if TYPE_CHECKING:
    import pyarrow as pa

# Columns beside those of the factors.
BEFORE = {"case": "string"}
AFTER = {
    "kind": "string",
    "round": "int64",
    "session": "int64",
    "begin": "float64",
    "seconds": "float64",
    "failed": "string",
    "marks": "string",
    "figure": "string",
    "value": "float64",
    "unit": "string",
    "direction": "string",
}


def columns(results: Results) -> dict[str, str]:
    """Names and types of the columns, in order."""
    factors = {f"factor_{name}": _type(values) for name, values in results.factors.items()}
    # What tells cases that are run for comparison from the others: a job alone, a baseline.
    further = dict.fromkeys(name for case in results.cases.values() for name in case.case.settings)
    return {**BEFORE, **{f"factor_{name}": "string" for name in further}, **factors, **AFTER}


def table(results: Results) -> pa.Table:
    """All rows as an Arrow table."""
    import pyarrow as pa

    types = columns(results)
    schema = pa.schema([(name, _arrow(kind)) for name, kind in types.items()])
    rows = list(results.rows())
    arrays = [pa.array([_value(row.get(name), kind) for row in rows], _arrow(kind)) for name, kind in types.items()]
    return pa.Table.from_arrays(arrays, schema=schema)


def write_parquet(path: Path, results: Results) -> None:
    """Write all rows. Raises FathometerError that names the file where it cannot be written."""
    import pyarrow.parquet as parquet

    out = io.BytesIO()
    parquet.write_table(table(results), out)
    atomic.write(path, out.getvalue())


def comma_separated(results: Results) -> str:
    """All rows as CSV with a head line; a run that failed has no figure, and no value."""
    names = list(columns(results))
    return text_tables.comma_separated(names, ([row.get(name) for name in names] for row in results.rows()))


def _type(values: Sequence[Any]) -> str:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return "bool"
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return "int64"
    return "float64" if kinds and kinds <= {int, float} else "string"


def _arrow(kind: str) -> Any:
    import pyarrow as pa

    return {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}[kind]


def _value(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "string":
        # Output of programs may hold what is not UTF-8.
        return (value if isinstance(value, str) else text_of(value)).encode(errors="backslashreplace").decode()
    return float(value) if kind == "float64" else value
