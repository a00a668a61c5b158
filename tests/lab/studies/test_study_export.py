"""A study's runs for other programs: CSV, Parquet, SQL."""

import csv
import io
import sys
from dataclasses import replace

import pyarrow.parquet as parquet
import pytest
from cli_support import run

from fathometer.base.errors import InputError
from fathometer.lab.studies.export import comma_separated, table, write_parquet
from fathometer.lab.studies.query import query
from fathometer.lab.studies.results import is_exact
from tests.support.study_support import KERNEL, MEMORY, TOTAL, keep, study

MIXED = {"ranks": [1, 2], "share": [0.5, 1], "pinned": [True, False], "store": ["memory", 3]}


def results(rounds=2):
    """A study of all kinds of factors, in which some runs failed."""

    def runs(settings, run):
        if settings["store"] == 3 and run.number == 2:
            return replace(run, failed='said "no",\nand ended', marks=("swapped", "cores shared"))
        return run

    return study(MIXED, rounds=rounds, figures=(TOTAL, KERNEL), runs=runs)


def test_csv_has_every_run():
    made = results()
    rows = list(csv.DictReader(io.StringIO(comma_separated(made))))
    expected = list(made.rows())
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert {name: "" if value is None else str(value) for name, value in wanted.items()} == row
    assert sum(row["failed"] != "" for row in rows) == 8
    assert {row["figure"] for row in rows if row["failed"]} == {""}


def test_parquet_has_a_type_for_each_factor(tmp_path):
    made = results()
    write_parquet(tmp_path / "study.parquet", made)
    read = parquet.read_table(tmp_path / "study.parquet")
    types = {name: str(kind) for name, kind in zip(read.schema.names, read.schema.types, strict=True)}
    assert types["factor_ranks"] == "int64"
    assert types["factor_share"] == "double"
    assert types["factor_pinned"] == "bool"
    assert types["factor_store"] == "string"
    assert set(read["factor_store"].to_pylist()) == {"memory", "3"}
    assert read["value"].to_pylist() == [row["value"] for row in made.rows()]


@pytest.mark.parametrize("rounds", [0, 1])
def test_a_study_without_runs_has_the_same_columns(rounds):
    assert table(study({"ranks": [1]}, rounds=rounds)).column_names == table(study({"ranks": [1]})).column_names


def test_query():
    pytest.importorskip("duckdb", reason="DuckDB is optional: pip install 'fathometer[query]'")
    made = results()
    names, rows = query(made, "select factor_ranks, count(*) n from runs where kind = 'round' group by 1 order by 1")
    assert (names, rows) == (["factor_ranks", "n"], [(1, 28), (2, 28)])
    (median,), *_ = query(made, "select median(value) from runs where figure = 'total' and kind = 'round'")[1]
    assert 0.5 < median < 3


@pytest.mark.parametrize(
    "text",
    [
        "select * from read_csv('/etc/hostname')",
        "copy runs to '/tmp/never-written.csv'",
        "attach '/tmp/never-written.db'",
        "set enable_external_access = true",
        "set memory_limit = '1TB'",
        "install httpfs",
        "selec value from runs",
    ],
)
def test_queries_reach_no_files(text):
    pytest.importorskip("duckdb", reason="DuckDB is optional: pip install 'fathometer[query]'")
    with pytest.raises(InputError, match="query: ") as error:
        query(results(), text)
    assert "\n" not in str(error.value)


def test_without_duckdb_the_error_says_how_to_have_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r"DuckDB is not installed; allowed: `pip install 'fathometer\[query\]'`"):
        query(results(), "select 1")


def test_commands(capsys, tmp_path):
    folder = keep(results(), tmp_path / "x.study")
    assert run(capsys, "study", "export", folder).code == 0
    assert parquet.read_table(folder / "study.parquet").num_rows == len(list(results().rows()))
    done = run(capsys, "study", "export", folder, "--csv", "-")
    assert (done.code, done.out) == (0, comma_separated(results()))
    assert (
        run(capsys, "study", "export", folder, "--csv", tmp_path / "x.csv", "--parquet", tmp_path / "x.parquet").code
        == 0
    )
    assert (tmp_path / "x.csv").read_text() == comma_separated(results())
    done = run(capsys, "study", "show", folder)
    assert (done.code, done.err) == (0, "")
    assert "complete: 2 of 2 rounds" in done.out
    done = run(capsys, "study", "report", folder)
    assert done.code == 0
    assert (folder / "study.html").read_text().startswith("<!doctype html>")
    assert (folder / "study.md").read_text().startswith("# Ranks against threads")
    for words in (
        ("show", tmp_path),
        ("report",),
        ("report", folder, "--landscape", "x"),
        ("export", tmp_path / "none"),
    ):
        done = run(capsys, "study", *words)
        assert done.code == 2
        assert done.err.count("\n") == 1
    pytest.importorskip("duckdb", reason="DuckDB is optional: pip install 'fathometer[query]'")
    done = run(capsys, "study", "query", folder, "select count(*) as n from runs")
    assert (done.code, done.out) == (0, f"n\n{len(list(results().rows()))}\n")


def test_whole_numbers_beyond_64_bits_are_floating():
    for value, kind in ((2**63 - 1, "int64"), (2**63, "double"), (-(2**63), "int64")):
        made = table(study({"ranks": [1, value]}, lambda _: 1.0, rounds=1))
        assert str(made.schema.field("factor_ranks").type) == kind
        assert set(made["factor_ranks"].to_pylist()) == {1, value}


def test_counts_can_be_exact_and_times_and_rates_are_not():
    assert is_exact(MEMORY, [3.0, 3.0])
    assert not is_exact(MEMORY, [3.0, 4.0])
    assert not is_exact(MEMORY, [3.0])
    assert not is_exact(TOTAL, [3.0, 3.0])
    assert not is_exact(KERNEL, [3.0, 3.0])
