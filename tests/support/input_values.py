"""Values of input files for tests: some of them changed, and their text."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def changed(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of these tables with further keys: table__key = value, or table__inner__key; None removes it."""
    found = copy.deepcopy(dict(base))
    for name, value in changes.items():
        *tables, key = name.split("__")
        if not tables:
            found[key] = copy.deepcopy(value)
            continue
        entry = found
        for table in tables:
            entry = entry.setdefault(table, {})
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = value
    return {name: value for name, value in found.items() if value is not None}


def text_of(values: dict[str, Any]) -> str:
    """TOML of nested values: tables and lists of tables."""

    def one(value: Any) -> str:
        match value:
            case bool():
                return "true" if value else "false"
            case str():
                return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
            case dict():
                return "{" + ", ".join(f'"{key}" = {one(entry)}' for key, entry in value.items()) + "}"
            case list() | tuple():
                return "[" + ", ".join(one(entry) for entry in value) + "]"
        return repr(value)

    return "".join(f'"{name}" = {one(value)}\n' for name, value in values.items())
