"""Values as the text of a TOML file; `tomllib` reads the same values back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def quoted(text: object) -> str:
    """A string of TOML."""
    return f'"{escaped(str(text))}"'


def escaped(text: str) -> str:
    """A text within the marks of a TOML string."""
    kept = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in kept)


def toml(value: Any) -> str:
    """A text, number, list or table of TOML, in one line.

    >>> toml({"x": [1, 2.5, True], "C a": 'say "no"'})
    '{x = [1, 2.5, true], "C a" = "say \\\\"no\\\\""}'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{bare(name)} = {toml(entry)}' for name, entry in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(toml, value))}]"
    return quoted(value)


def toml_file(values: Mapping[str, Any]) -> str:
    """A file of sections, each a table; what lies deeper is within one line."""
    lines = [f"{bare(name)} = {toml(value)}" for name, value in values.items() if not _tables(value)]
    for name, value in values.items():
        for table in _tables(value):
            head = f"[[{bare(name)}]]" if isinstance(value, list) else f"[{bare(name)}]"
            lines += ["", head, *(f"{bare(key)} = {toml(entry)}" for key, entry in table.items())]
    return "\n".join(lines).strip("\n") + "\n"


def bare(name: str) -> str:
    """A key: in marks where it needs them."""
    return name if _BARE.fullmatch(name) else quoted(name)


def _tables(value: Any) -> list[Mapping[str, Any]]:
    """The tables that are a section of a file, or its list of them; none of any other value."""
    tables = value if isinstance(value, list) else [value]
    return tables if all(isinstance(table, Mapping) for table in tables) else []
