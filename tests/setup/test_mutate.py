"""The tool that changes the program in small ways: its changes are changes, of all kinds, and can be compiled."""

import ast
import sys

import pytest
from paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import mutate

TEXT = '''\
"""Docstring with 1 < 2."""
LIMIT = 3


def function(a: "1 < 2", b: int) -> bool:
    if a < b < LIMIT and not b:
        print(a)
        return a + b == 4
    return True if a else b
'''
CHANGED = [
    "4",  # LIMIT
    "(not (a < b < LIMIT and not b))",
    "a < b < LIMIT or not b",
    "a < b < LIMIT",
    "a <= b < LIMIT",
    "a < b <= LIMIT",
    "a < b",
    "b",
    "None",
    "return None",
    "a + b != 4",
    "a - b",
    "5",
    "return None",
    "b if a else True",
    "False",
]


def test_each_kind_of_change(tmp_path, monkeypatch):
    path = tmp_path / "module.py"
    path.write_text(TEXT)
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    found = list(mutate.mutants_of(path))
    assert sorted(one.after for one in found) == sorted(CHANGED)
    for one in found:
        changed = TEXT[: one.start] + one.after + TEXT[one.end :]
        assert changed != TEXT
        ast.parse(changed)
        assert TEXT[one.start : one.end] == one.before
        assert one.within == (one.line > 4)


@pytest.mark.parametrize("name", mutate.SOURCES)
def test_the_sources_are_there(name):
    assert any(path.is_relative_to(mutate.PACKAGE / name) for path in mutate.sources())
