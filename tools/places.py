"""Brings the table of packages in the developer guide up to date: python tools/places.py PAGE

Each package has a row with the docstring of its __init__.py, from top to bottom as the floors of tests/test_imports.py
order them.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from test_imports import FLOORS  # noqa: E402

PACKAGE = ROOT / "src" / "fathometer"
BEGIN_MARKER, END_MARKER = "<!-- places:begin -->", "<!-- places:end -->"


def packages(folder: Path = PACKAGE) -> Iterator[Path]:
    """The folders of all packages below one, each before those in it."""
    name = ".".join(folder.relative_to(PACKAGE.parent).parts)
    order = FLOORS.get(name, "").split()
    inner = sorted(path.parent for path in folder.glob("*/__init__.py"))
    for package in sorted(inner, key=lambda path: order.index(path.name) if path.name in order else len(order)):
        yield package
        yield from packages(package)


def table() -> str:
    """The table in Markdown."""
    rows = ["| room | what it is for |", "|---|---|"]
    for folder in packages():
        words = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        first = " ".join(words.partition("\n\n")[0].split())
        rows.append(f"| `{folder.relative_to(PACKAGE)}/` | {first} |")
    return "\n".join(rows)


def with_table(text: str) -> str:
    """The text of the page with the table between its markers. ValueError where one is missing."""
    before, begin, rest = text.partition(BEGIN_MARKER)
    _, end, after = rest.partition(END_MARKER)
    if not begin or not end:
        raise ValueError(f"found no {BEGIN_MARKER} … {END_MARKER}; needed: both, in this order")
    return f"{before}{BEGIN_MARKER}\n{table()}\n{END_MARKER}{after}"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
