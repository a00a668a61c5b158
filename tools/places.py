"""What stands where in the source.

    python tools/places.py FOLDER ...     what the files of folders below src/fathometer are for, by their first lines
    python tools/places.py --write PAGE   brings the table of packages in the developer guide up to date

Each package has a row there with the docstring of its __init__.py, from top to bottom as the layers of
tests/test_imports.py order them.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from test_imports import LAYERS  # noqa: E402

PACKAGE = ROOT / "src" / "fathometer"
SUFFIXES = (".py", ".cpp", ".hpp")
BEGIN_MARKER, END_MARKER = "<!-- places:begin -->", "<!-- places:end -->"


def packages(folder: Path = PACKAGE) -> Iterator[Path]:
    """The folders of all packages below one, each before those in it."""
    name = ".".join(folder.relative_to(PACKAGE.parent).parts)
    order = LAYERS.get(name, "").split()
    inner = sorted(path.parent for path in folder.glob("*/__init__.py"))
    for package in sorted(inner, key=lambda path: order.index(path.name) if path.name in order else len(order)):
        yield package
        yield from packages(package)


def table() -> str:
    """The table in Markdown."""
    rows = ["| package | what it is for |", "|---|---|"]
    for folder in packages():
        rows.append(f"| `{folder.relative_to(PACKAGE)}/` | {purpose(folder / '__init__.py')} |")
    return "\n".join(rows)


def purpose(path: Path) -> str:
    """The first paragraph of a module's docstring, or of the comment at the head of a file of C++; "" where none is."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        words = ast.get_docstring(ast.parse(text)) or ""
    else:
        head = takewhile(lambda line: line.startswith("//"), text.splitlines())
        words = "\n".join(line.removeprefix("//").strip() for line in head)
    return " ".join(words.partition("\n\n")[0].split())


def listing(folder: Path) -> list[str]:
    """A line for each file of a folder: its name, and what it is for."""
    files = [path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and path.name != "__init__.py"]
    files = [path for path in files if path.suffix != ".cpp" or path.with_suffix(".hpp") not in files]
    widest = max((len(path.name) for path in files), default=0)
    return [f"{path.name:<{widest}}  {purpose(path)}".rstrip() for path in files]


def with_table(text: str) -> str:
    """The text of the page with the table between its markers. ValueError where one is missing."""
    before, begin, rest = text.partition(BEGIN_MARKER)
    _, end, after = rest.partition(END_MARKER)
    if not begin or not end:
        raise ValueError(f"found no {BEGIN_MARKER} … {END_MARKER}; needed: both, in this order")
    return f"{before}{BEGIN_MARKER}\n{table()}\n{END_MARKER}{after}"


def main() -> int:
    """List folders, or write the table; the exit code."""
    parser = argparse.ArgumentParser(description="What stands where in the source.")
    parser.add_argument(
        "folders", nargs="*", metavar="FOLDER", help="below src/fathometer, such as runs or native/core"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE", help="whose table of packages is brought up to date")
    options = parser.parse_args()
    if options.write is not None:
        options.write.write_text(with_table(options.write.read_text(encoding="utf-8")), encoding="utf-8")
    for name in options.folders:
        if not (PACKAGE / name).is_dir():
            parser.error(f"{name}: no such folder in {PACKAGE.relative_to(ROOT)}")
        print(f"{name}/", *listing(PACKAGE / name), "", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
