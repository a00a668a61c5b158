"""The table of packages in the developer guide is that of the tree."""

import importlib.util

import pytest
from paths import ROOT

_spec = importlib.util.spec_from_file_location("places", ROOT / "tools/places.py")
places = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(places)

GUIDE = (ROOT / "docs" / "developer-guide.md").read_text(encoding="utf-8")


def test_the_table_is_as_the_tree_says():
    assert places.with_table(GUIDE) == GUIDE, "make docs writes it anew"


def test_every_package_is_named_once_with_a_sentence():
    rows = [line.split(" | ") for line in places.table().splitlines()[2:]]
    named = [row[0].strip("| `").rstrip("/") for row in rows]
    package = ROOT / "src" / "fathometer"
    there = {str(path.parent.relative_to(package)) for path in package.rglob("__init__.py")} - {"."}
    assert sorted(named) == sorted(there)
    assert [row for row in rows if not row[1].endswith(". |")] == []


def test_a_page_without_the_place_for_it_is_refused():
    with pytest.raises(ValueError, match="places:begin"):
        places.with_table("# A page\n")


def test_every_file_says_what_it_is_for():
    assert "exact.hpp " in "\n".join(places.listing(places.PACKAGE / "native/core"))
    silent = [
        path
        for path in places.PACKAGE.rglob("*")
        if path.suffix in (".py", ".hpp") and "_native" not in path.parts and not places.purpose(path)
    ]
    assert silent == []
