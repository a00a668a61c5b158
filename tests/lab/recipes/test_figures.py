"""Figures in what a run has left."""

import json
import math
import os

import pytest
from pydantic import ValidationError

from fathometer.base.errors import InputError
from fathometer.lab.recipes import line_search
from fathometer.lab.recipes.figures import figures_of
from fathometer.lab.recipes.json_path import path_problem
from fathometer.lab.recipes.keys import FigureTable, ValidityTable
from fathometer.lab.recipes.line_search import LONGEST_LINE, Search, found_in, lines_of
from fathometer.lab.recipes.taking import number_of
from fathometer.lab.recipes.validity import validity_problems

STDOUT = """\
step 1 took 9.0 ms
step 2 took 1.0 ms
output
step 3 took 50.0 ms
step 4 took 2.0 ms; step 5 took 3.0 ms
rate -1.5D+03
total 1,234.5
nothing
"""
RESULTS = {
    "total": 2.5,
    "runs": [{"name": "a b", "seconds": 1, "on": True}, {"name": "c", "seconds": "4.0", "on": False}],
    "deep": {"list": [[1, 2], [3]]},
    "none": None,
    "huge": 1e300,
}
CSV = "case, seconds,rate\n1,2.0,\n2,4.0,7\n3,,9\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "stdout").write_text(STDOUT)
    (tmp_path / "stderr").write_text("progress 1\rprogress 2\rprogress 3\n")
    (tmp_path / "results.json").write_text(json.dumps(RESULTS))
    (tmp_path / "cases.csv").write_text(CSV)
    (tmp_path / "cases.tsv").write_text("a b\tc,d\n1\t2\n")
    return tmp_path


def figure(name="x", unit="1", **keys):
    return FigureTable(name=name, unit=unit, **keys)


STEP = {"pattern": r"step \d+ took ([0-9.]+) ms"}


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        (STEP, 3.0),
        (STEP | {"take": "first"}, 9.0),
        (STEP | {"take": "sum"}, 65.0),
        (STEP | {"take": "mean"}, 13.0),
        (STEP | {"take": "least"}, 1.0),
        (STEP | {"take": "most"}, 50.0),
        (STEP | {"take": "mean", "skip": 1}, 14.0),
        (STEP | {"take": "mean", "skip": 1, "not_after": "^output"}, 2.0),
        (STEP | {"take": "first", "skip": 2, "not_after": "^output"}, 2.0),
        (STEP | {"take": "count"}, 5.0),
        (STEP | {"take": "count", "skip": 1, "not_after": "^output"}, 3.0),
        ({"pattern": "^nothing$", "take": "count"}, 1.0),
        ({"pattern": "absent", "take": "count"}, 0.0),
        (STEP | {"take": "first", "since": "^output"}, 50.0),
        (STEP | {"take": "sum", "since": "^step 2", "skip": 1}, 55.0),
        (STEP | {"take": "mean", "since": "^step"}, 2.5),
        (STEP | {"take": "count", "since": "^absent"}, 0.0),
        ({"pattern": r"step {which_step} took ([0-9.]+) ms", "take": "only"}, 50.0),
        ({"pattern": r"rate \S{2}.(.)D", "default": 7.0}, 5.0),
        ({"pattern": r"{dot}(5)D"}, 5.0),
        ({"pattern": "absent (1)", "default": 7.0}, 7.0),
        ({"pattern": "absent (1)", "file": "absent", "default": 7.0}, 7.0),
        ({"expression": "2 if ranks == 3 else absent"}, 2.0),
        ({"json_path": "runs", "file": "results.json", "take": "count"}, 1.0),
        ({"json_path": "runs[*]", "file": "results.json", "take": "count"}, 2.0),
        ({"json_path": "runs[9]", "file": "results.json", "take": "count"}, 0.0),
        ({"json_path": "runs[0].seconds", "file": "results.json", "take": "only"}, 1.0),
        (STEP | {"scale": 0.001}, 0.003),
        ({"pattern": r"^rate (\S+)$"}, -1500.0),
        ({"pattern": r"progress (\d)", "file": "stderr", "take": "sum"}, 6.0),
        ({"pattern": r"progress (\d)", "file": "{which}", "take": "first"}, 1.0),
        ({"json_path": "total", "file": "results.json"}, 2.5),
        ({"json_path": "runs[0].seconds", "file": "results.json"}, 1.0),
        ({"json_path": "runs[-1].seconds", "file": "results.json"}, 4.0),
        ({"json_path": "runs[*].seconds", "file": "results.json", "take": "mean"}, 2.5),
        ({"json_path": "runs[name=a b].seconds", "file": "results.json"}, 1.0),
        ({"json_path": "runs[on=false].seconds", "file": "results.json"}, 4.0),
        ({"json_path": "deep.list[*][0]", "file": "results.json", "take": "sum"}, 4.0),
        ({"csv_column": "seconds", "file": "cases.csv", "take": "mean"}, 3.0),
        ({"csv_column": "seconds", "file": "cases.csv", "take": "mean", "skip": 1}, 4.0),
        ({"csv_column": "seconds", "file": "cases.csv", "take": "least", "skip": 1}, 4.0),
        ({"csv_column": "rate", "file": "cases.csv", "skip": 1}, 9.0),
        ({"csv_column": "c,d", "file": "cases.tsv"}, 2.0),
        ({"expression": "ranks * 2 + wall_seconds"}, 7.5),
    ],
)
def test_a_figure_is_found(folder, keys, wanted):
    values = {"which": "stderr", "ranks": 3, "wall_seconds": 1.5, "which_step": 3, "dot": "."}
    found, problems = figures_of([figure(**keys)], folder, values)
    assert problems == []
    assert found == {"x": pytest.approx(wanted, rel=1e-15)}


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"pattern": "absent (1)"}, "x: no match of 'absent (1)' in stdout"),
        (STEP | {"skip": 5}, "in stdout, none of which is left to count"),
        (STEP | {"since": "absent"}, "x: no match of 'step"),
        (STEP | {"since": "^rate"}, "x: no match of 'step"),
        (STEP | {"take": "only"}, "x: stdout: found 5 numbers; allowed: one"),
        ({"pattern": "step {zero} (.)"}, "x: no match of 'step 0 (.)' in stdout"),
        ({"pattern": r"total (\S+)", "default": 1.0}, 'x: stdout: "1,234.5" is not a number'),
        ({"json_path": "runs[*].seconds", "file": "results.json", "take": "only"}, "x: results.json: found 2 numbers"),
        ({"pattern": r"total (\S+)"}, 'x: stdout: "1,234.5" is not a number, without commas'),
        ({"pattern": "(nothing)"}, 'x: stdout: "nothing" is not a number'),
        ({"pattern": "no(thing)?", "file": "absent"}, "x: no file absent"),
        ({"json_path": "total.x", "file": "results.json"}, "x: nothing at total.x in results.json"),
        ({"json_path": "runs[2].seconds", "file": "results.json"}, "x: nothing at runs[2].seconds"),
        ({"json_path": "none", "file": "results.json"}, "x: results.json: found None; allowed: a number"),
        ({"json_path": "runs[0].on", "file": "results.json"}, "x: results.json: found True; allowed: a number"),
        ({"json_path": "total", "file": "stdout"}, "x: stdout: Expecting value"),
        ({"csv_column": "second", "file": "cases.csv"}, "x: cases.csv: no column second; there are: case, seconds"),
        ({"csv_column": "seconds", "file": "cases.csv", "skip": 2}, "nothing at seconds in cases.csv, after 2"),
        ({"expression": "other / 2"}, "x: no other, of which it is made"),
        ({"expression": "1 / zero"}, "x: 1 / zero: division by zero, where zero = 0"),
        ({"expression": "1 < 2"}, "x: found True; allowed: a number"),
        ({"json_path": "huge", "file": "results.json", "scale": 1e18}, "is not a finite number"),
    ],
)
def test_a_figure_that_is_not_there_is_a_problem_and_no_number(folder, keys, told):
    found, problems = figures_of([figure(**keys)], folder, {"zero": 0})
    assert found == {}
    assert len(problems) == 1
    assert told in problems[0]


@pytest.mark.parametrize("file", ["/etc/passwd", "../../../etc/passwd", "a/../../b", "..", "{which}/../x"])
def test_a_file_that_leads_out_of_the_folder_is_refused_when_it_is_read(file):
    told = "leads out of the run's folder; allowed: a file in it"
    for table in (FigureTable, ValidityTable):
        keys = {"name": "x", "unit": "1", "pattern": "(1)"} if table is FigureTable else {}
        with pytest.raises(ValidationError, match=told):
            table(file=file, **keys)
    with pytest.raises(ValidationError, match=told):
        ValidityTable(files=["stdout", file])


@pytest.mark.parametrize("value", ["/etc/passwd", "../stdout", "x/../../y"])
def test_values_in_braces_lead_nowhere_else(folder, value):
    with pytest.raises(InputError, match=rf"file: found '{value}', which leads out of the run's folder"):
        figures_of([figure(file="{which}", pattern="(1)")], folder, {"which": value})
    with pytest.raises(InputError, match=rf"file: found '{value}', which leads out of the run's folder"):
        validity_problems(ValidityTable(files=["{which}"]), folder, {"which": value}, 0, {})


@pytest.mark.parametrize("link", ["file", "folder", "loop", "chain"])
def test_a_link_that_leads_out_of_the_folder_is_not_followed(folder, tmp_path_factory, link):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("time 3\n")
    (folder / "file").symlink_to(outside / "secret")
    (folder / "folder").symlink_to(outside)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "chain").symlink_to("file")
    file = "folder/secret" if link == "folder" else link
    told = f"{file}: a link that leads out of the run's folder; allowed: a file in it"
    if link == "loop":
        told = f"no file {file}"
    for keys in ({"pattern": r"time (\d)"}, {"json_path": "a"}, {"csv_column": "time 3"}):
        assert figures_of([figure(file=file, **keys)], folder, {}) == ({}, [f"x: {told}"])
    if link != "loop":
        assert validity_problems(ValidityTable(file=file, must=["time"]), folder, {}, 0, {}) == [told]
        assert validity_problems(ValidityTable(files=[file]), folder, {}, 0, {}) == [told]


def test_links_within_the_run_are_followed(folder, tmp_path_factory):
    """Also those into the folder that jobs at the same time write into together."""
    shared = tmp_path_factory.mktemp("shared")
    (shared / "log").write_text("time 3\n")
    (folder / "log").symlink_to(shared / "log")
    (folder / "newest").symlink_to("stdout")
    tables = [figure("x", pattern=r"time (\d)", file="log"), figure("y", **STEP, file="newest")]
    tables.append(figure("z", pattern=r"time (\d)", file="{folder}/log"))
    assert figures_of(tables, folder, {"folder": str(shared)}) == ({"x": 3.0, "y": 3.0, "z": 3.0}, [])


def test_optional_figures_may_be_absent_but_not_wrong(folder):
    tables = [
        figure("a", pattern="absent (1)", optional=True),
        figure("b", pattern="(1)", file="absent", optional=True),
        figure("c", json_path="no", file="results.json", optional=True),
        figure("d", expression="2 * a", optional=True),
        figure("e", pattern=r"total (\S+)", optional=True),
    ]
    found, problems = figures_of(tables, folder, {})
    assert found == {}
    assert [problem[0] for problem in problems] == ["e"]


def test_what_contradicts_itself_is_refused():
    for keys, told in (
        ({"pattern": "x (1)", "default": 1.0, "optional": True}, "default: found with optional"),
        ({"json_path": "a", "since": "x"}, "since: found with json_path; allowed: with pattern"),
        ({"pattern": "x"}, "with 0 groups; allowed: one"),
    ):
        with pytest.raises(ValidationError, match=told):
            figure(**keys)


def test_expressions_are_made_of_figures_above_by_their_names(folder):
    tables = [figure("all steps", **STEP, take="sum"), figure("rate", expression="cells / all_steps")]
    assert figures_of(tables, folder, {"cells": 130})[0] == {"all steps": 65.0, "rate": 2.0}


@pytest.mark.parametrize("path", ["", ".a", "a.", "a..b", "a[", "a[x]", "[0]a", "a[0]b", "a[1.5]", "a.[0]", "a]"])
def test_what_is_no_path(path):
    problem = path_problem(path)
    assert problem is not None
    assert problem.startswith(f'found "{path}"; allowed: keys with dots')


@pytest.mark.parametrize("text", ["12", "-1.5", "+.5", "1.", "1.2e-3", "1.2E+03", " 7 "])
def test_numbers_as_python_reads_them(text):
    assert number_of(text) == float(text)


@pytest.mark.parametrize(("text", "wanted"), [("1.2D+03", 1200.0), ("5d-1", 0.5)])
def test_numbers_of_fortran(text, wanted):
    assert number_of(text) == wanted


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e999", "1_000", "0x1", "1,5", "1.2.3", "٣", "1 2", "****"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match="is not a number"):
        number_of(text)


@pytest.mark.parametrize(
    "wanted",
    [
        Search("(?:a|aa)+$ (1)"),
        Search("(a+)+$x", "count"),
        Search(r"time (\d)", since="(a+)+$x"),
        Search(r"time (\d)", not_after="(a+)+$x"),
    ],
)
def test_a_pattern_that_computes_too_long_on_a_line_is_named(tmp_path, monkeypatch, wanted):
    (tmp_path / "stdout").write_text("time 3\n" + "a" * 60 + "\ntime 3\n")
    monkeypatch.setattr(line_search, "LINE_LIMIT", 0.1)
    found = found_in(tmp_path / "stdout", [Search(r"time (\d)"), wanted])
    told = f"the pattern '{wanted.patterns[-1]}' computed more than 0.1 s on line 2; allowed: one "
    assert [each.problem for each in found] == 2 * [told + "without repetitions of repetitions"]


def test_patterns_that_take_too_long_together_are_named(tmp_path, monkeypatch):
    """Of figures, and of what shows that a run did its work."""
    (tmp_path / "stdout").write_text("a" * 60 + "\ntime 3\n")
    monkeypatch.setattr(line_search, "LINE_LIMIT", 60.0)
    tables = [figure("x", pattern="(?:a|aa)+$ (1)"), figure("y", pattern=r"time (\d)")]
    found, problems = figures_of(tables, tmp_path, {}, seconds=0.3)
    told = r"stdout: its patterns took more than 0.3 s: '(?:a|aa)+$ (1)', 'time (\d)'"
    assert (found, problems) == ({}, [f"x: {told}", f"y: {told}"])
    table = ValidityTable(must=["(a+)+$x"])
    told = "stdout: its patterns took more than 0.3 s: '(a+)+$x'"
    assert validity_problems(table, tmp_path, {}, 0, {}, seconds=0.3) == [told]


def test_lines_of_any_length_are_read_in_little_memory_and_no_number_is_cut(tmp_path):
    path = tmp_path / "stdout"
    longest = "x" * (LONGEST_LINE - 4) + " 12345678"
    path.write_text(f"n 1\n{longest}\n{'y' * 3 * LONGEST_LINE}\nn 2\n")
    lines = list(lines_of(path))
    assert lines[0] == "n 1"
    assert lines[1].strip() == "x" * (LONGEST_LINE - 4)
    assert lines[2:] == ["", "n 2"]
    with path.open("wb") as file:  # a line of 200 million zero bytes, of which the disk holds nothing
        os.truncate(path, 200_000_000)
        file.seek(200_000_000)
        file.write(b"\nn 3\n")
    assert found_in(path, [Search(r"^n (\d)$")])[0].value == 3.0


def test_bytes_that_are_no_text_do_no_harm(tmp_path):
    (tmp_path / "stdout").write_bytes(b"\xff\xfe\x00 n 4\n")
    assert figures_of([figure(pattern=r"n (\d)")], tmp_path, {}) == ({"x": 4.0}, [])


def test_no_number_is_ever_silent(folder):
    found, problems = figures_of([figure(**STEP), figure("y", pattern="(z)")], folder, {})
    assert set(found) == {"x"}
    assert len(problems) == 1
    assert all(math.isfinite(number) for number in found.values())
