"""Published tables: those that come with the program, and files of the user's own."""

import tomllib

import pytest
from cli_support import run

from fathometer.base.errors import InputError
from fathometer.lab.landscape import NO_UNIT, PUBLISHED, SEE_UNIT, TEXT, landscape, landscapes, shown
from fathometer.lab.studies.published import published
from fathometer.lab.studies.report.markdown import published_text
from fathometer.lab.studies.study import ready
from fathometer.lab.studies.study_file import LandscapeTable, load_study

OWN = """
[[table]]
id = "mine"
title = "Mine"
source = { organisation = "Us", document = "a note" }
columns = [{ name = "nodes", unit = "1" }, { name = "time", unit = "s" }, { name = "what", unit = "text" }]
rows = [[1, 12.5, "old"], [2, "", "new"]]
notes = ["A doubt."]
"""


def test_all_tables_are_read_as_they_stand():
    raw = {table["id"]: table for table in tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["table"]}
    read = landscapes()
    assert len(read) == len(raw) == 45
    for name, table in read.items():
        assert [list(row) for row in table.rows] == raw[name]["rows"]
        assert [(column.name, column.unit) for column in table.columns] == [
            (column["name"], column["unit"]) for column in raw[name]["columns"]
        ]
        assert table.source["organisation"]
        assert table.notes
        units = {column.unit for column in table.columns}
        assert SEE_UNIT not in units or "unit" in [column.name for column in table.columns]
        text = published_text(shown(table))
        assert text.count("\n| ") >= len(table.rows)
        assert str(table.source["document"]).split("_")[0] in text.replace("\\", "")


def test_units_stand_in_heads_and_digits_are_as_published():
    table = shown(landscape("rtm-x6275m2-kernel-generations"))
    assert table.heads[2] == ("kernel time X6275", "s", True)
    assert table.heads[0][1:] == ("", False)
    assert [text for text, _ in table.rows[0]] == ["1243x1151x1231", "16", "306", "242", "1.3"]
    assert {TEXT, NO_UNIT}.isdisjoint(unit for _, unit, _ in table.heads)


def test_columns_can_be_chosen():
    table = landscape("rtm-x6275m2-scaling").only(["nodes", "total time"])
    assert table.rows[0] == [16, 501]
    with pytest.raises(InputError, match="columns: unknown column node of rtm-x6275m2-scaling; known: grid, nodes"):
        landscape("rtm-x6275m2-scaling").only(["node"])


def test_unknown_tables_have_near_ones():
    with pytest.raises(InputError, match="unknown table wrf-conus; near ones: wrf-conus-12km"):
        landscape("wrf-conus")
    with pytest.raises(InputError, match="unknown table zzz; the first of 45: "):
        landscape("zzz")


def test_own_files_beside_the_study(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(OWN)
    (tmp_path / "x.study").mkdir()
    (table,) = published([LandscapeTable(table="mine", file="own.toml")], tmp_path / "x.study")
    assert table.title == "Mine (mine)"
    assert [text for text, _ in table.rows[1]] == ["2", "–", "new"]
    assert table.notes == ["–: not given there.", "A doubt."]
    assert table.source == "Source: Us, a note."
    monkeypatch.chdir(tmp_path)
    assert published([LandscapeTable(table="mine", file="own.toml")], None) == [table]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('id = "mine"', "", "[[table]] 1 id: found None; allowed: text"),
        ("12.5", "12.5, 3", "[[table]] 1 rows, 1: found 4 values; allowed: 3, one a column"),
        ('"new"', "3", "[[table]] 1 rows, 2, what: found 3; allowed: text"),
        ('"new"', "true", "[[table]] 1 rows, 2, what: found True; allowed: text"),
        ('unit = "s"', "units = 1", "[[table]] 1 columns, 2: found "),
        ('["A doubt."]', "3", "[[table]] 1 notes: found 3"),
        (OWN.strip(), "", "found no [[table]]"),
        (OWN, OWN + OWN, "[[table]] 2 id: found mine twice"),
        ("[[table]]", "[[table", "not valid TOML"),
    ],
)
def test_damaged_files_are_one_line(tmp_path, before, after, told):
    (tmp_path / "own.toml").write_text(OWN.replace(before, after))
    with pytest.raises(InputError) as error:
        landscapes(tmp_path / "own.toml")
    assert told in str(error.value)
    assert "own.toml" in str(error.value)


def test_command(capsys):
    done = run(capsys, "study", "report", "--landscape", "wrf-conus-12km")
    assert done.code == 0
    assert done.out.startswith("### WRF")
    assert run(capsys, "study", "report", "--landscape", "wrf").code == 2


def test_a_table_that_is_unknown_is_told_before_the_first_run(tmp_path):
    text = 'title = "t"\n[application]\ncommand = ["true"]\n[factors]\n[[landscape]]\ntable = "TABLE"\n'
    path = tmp_path / "study.toml"
    path.write_text(text.replace("TABLE", "wrf-conus-12km"))
    ready(load_study(path))
    path.write_text(text.replace("TABLE", "zzz"))
    with pytest.raises(InputError, match=r"study\.toml: .*unknown table zzz"):
        ready(load_study(path))
