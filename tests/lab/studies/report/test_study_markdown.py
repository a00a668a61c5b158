"""Markdown of a study: read back by a parser of Markdown, its tables are tables and its texts are only texts."""

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from fathometer.lab.studies.report.markdown import markdown
from fathometer.lab.studies.report.tables import views
from tests.support.study_support import KERNEL, TOTAL, study

EVIL = "<script>alert(1)</script> | a\nb `c` [d](e) *f*"


def tables(text):
    """The tables of a text: lists of rows, rows lists of cells."""
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    found, inside = [], False
    for token in parsed:
        if token.type in ("table_open", "table_close"):
            inside = token.type == "table_open"
            found += [[]] if inside else []
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and inside:
            found[-1][-1].append("".join(child.content for child in token.children))
    return found


def test_tables_are_read_back_as_they_are():
    results = study(
        {"ranks": [1, 2], "threads": [1, 2]},
        figures=(TOTAL, KERNEL),
        table=[{"rows": "ranks, threads", "relative_to": {"ranks": 1, "threads": 1}}],
    )
    shown, _ = views(results)
    read = tables(markdown(results))
    for view, table in zip(shown, read, strict=False):
        assert len(table) == 1 + len(view.rows)
        assert all(len(row) == len(view.heads) for row in table)
        for row, cells in zip(table[1:], view.rows, strict=True):
            assert all(cell.text in text and cell.interval in text for text, cell in zip(row, cells, strict=True))


def test_the_whole_report_is_there():
    text = markdown(replace(study({"ranks": [1, 2]}, landscape=[{"table": "wrf-conus-12km"}]), text="a = '''```'''\n"))
    for head in ("# Ranks against threads", "## How it went", "## What was measured", "## How to repeat it",
                 "## Published results beside", "## Hardware", "## Software"):  # fmt: skip
        assert f"\n{head}\n" in f"\n{text}"
    assert "fathometer study run ranks.toml" in text
    assert "````toml\na = '''```'''\n````" in text  # a fence that the file cannot end


def test_names_with_markup_are_only_text():
    results = study(
        {EVIL: [EVIL, "b"], "ranks": [1, 2]},
        figures=(replace(TOTAL, name=EVIL),),
        title=EVIL,
        question=EVIL,
        rounds=3,
        runs=lambda settings, run: replace(run, marks=(EVIL,)) if settings["ranks"] == 1 else replace(run, failed=EVIL),
    )
    text = markdown(results)
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    for tag in ("<script", "<a ", "<code>c"):
        assert tag not in rendered
    (main, *_) = tables(text)
    assert len(main) == 5
    assert {len(row) for row in main} == {3}


@pytest.mark.parametrize("rounds", [0, 1])
def test_a_study_that_has_just_begun(rounds):
    text = markdown(study({"ranks": [1, 2]}, rounds=rounds, ended=""))
    assert "This study is not complete" in text
    assert ("Nothing has been measured yet" in text) == (rounds == 0)
    assert ("not run yet" in text) == (rounds == 0)
