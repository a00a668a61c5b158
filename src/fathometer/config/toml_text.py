"""Values as the text of a TOML file; `tomllib` reads the same values back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def quoted(text: object) -> str:
    """A string of TOML."""
    return '"' + inner(str(text)) + '"'


def inner(text: str) -> str:
    """A text within the marks of a TOML string."""
    kept = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in kept)


def toml(value: Any) -> str:
    """A value of TOML, in one line.

    >>> toml({"x": [1, 2.5], "name": "a"})
    '{ x = [1, 2.5], name = "a" }'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(name)} = {toml(entry)}" for name, entry in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return quoted(value)


def toml_file(values: Mapping[str, Any]) -> str:
    """A file of sections, each a table; what lies deeper is within one line."""
    lines = [f"{_key(name)} = {toml(value)}" for name, value in values.items() if not _tables(value)]
    for name, value in values.items():
        for table in _tables(value):
            head = f"[[{_key(name)}]]" if isinstance(value, list) else f"[{_key(name)}]"
            lines += ["", head, *(f"{_key(key)} = {toml(entry)}" for key, entry in table.items())]
    return "\n".join(lines).strip("\n") + "\n"


def _tables(value: Any) -> list[Mapping[str, Any]]:
    """The tables that are a section of a file, or its list of them; none of any other value."""
    tables = value if isinstance(value, list) else [value]
    return tables if all(isinstance(table, Mapping) for table in tables) else []


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else quoted(name)
