"""Tables as text."""

import csv
import io

from fathometer.base.text_tables import TextColumn, aligned, comma_separated, markdown_lines, ruled


def test_columns_are_as_wide_as_their_longest_text():
    columns = (TextColumn("what", gap=0), TextColumn("seconds", right=True, least=9), TextColumn("why", gap=3))
    rows = [["a", "1.5", ""], ["much longer", "123456789.0", "late"], [], ["short"]]
    assert aligned(columns, rows, "  ") == [
        "  what            seconds   why",
        "  a                   1.5",
        "  much longer 123456789.0   late",
        "",
        "  short",
    ]


def test_there_is_no_line_of_heads_without_heads():
    assert aligned((TextColumn(gap=0), TextColumn(right=True, least=4)), [["a", "1"]]) == ["a    1"]
    assert aligned((TextColumn(gap=0),), []) == []


def test_a_ruled_table_folds_what_is_long_and_obeys_nothing():
    columns = (TextColumn("what", most=5), TextColumn("number", right=True), TextColumn("all\nof it", whole=True))
    text = ruled("[red]a title", columns, [("one two", "1", "[bold]kept on one line")], 60)
    assert text.splitlines()[0] == "[red]a title"
    lines = [line.split() for line in text.splitlines()]
    assert ["one", "1", "[bold]kept", "on", "one", "line"] in lines
    assert ["two"] in lines
    assert not any(line.endswith(" ") for line in text.split("\n"))


def test_cells_of_markdown_are_only_text():
    assert markdown_lines(["a|b", ""], [True, False], [["*1*", "x\ny"]]) == [
        "| a\\|b |   |",
        "|---:|---|",
        "| \\*1\\* | x y |",
    ]


def test_csv_holds_every_text():
    rows = [["a, b", None, 1.5], ['"c"\n', 2, True]]
    text = comma_separated(["x", "y", "z"], rows)
    assert list(csv.reader(io.StringIO(text))) == [["x", "y", "z"], ["a, b", "", "1.5"], ['"c"\n', "2", "True"]]
