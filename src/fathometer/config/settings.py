"""Keys of an input file that are set on the command line: --set history.store=disk, as if they stood in the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from fathometer.base.errors import InputError

_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
ALLOWED = "KEY=VALUE, such as history.store=disk"


def with_settings(values: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The values of an input file with those of settings in place of its own, or besides.

    settings: KEY=VALUE. KEY: the names of the tables and of the key, with dots; of a list of tables the number of one,
    from 1. VALUE: as in TOML; what is none of its values is a string, so that words need no quotes. Of two with the
    same key the later one counts. A table is replaced as a whole. Raises InputError for a setting that is none, and for
    a key within something that is not a table.
    """
    changed: dict[str, Any] = _copied(values)
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not _KEY.fullmatch(name):
            raise InputError(f"--set: found {setting or 'nothing'}; allowed: {ALLOWED}")
        *parents, last = name.split(".")
        table: Any = changed
        for depth, parent in enumerate(parents, 1):
            within: Any = _entry(table, parent) if isinstance(table, list) else table.setdefault(parent, {})
            if not isinstance(within, dict) and (depth == len(parents) or not isinstance(within, list)):
                raise InputError(f"--set: found {setting}; {'.'.join(parents[:depth])} is not a table with keys to set")
            table = within
        table[last] = _value(text)
    return changed


def _entry(tables: list[Any], number: str) -> Any:
    """One of a list of tables, by its number from 1, as errors name it; None: there is none."""
    place = int(number) if number.isascii() and number.isdecimal() else 0
    return tables[place - 1] if 1 <= place <= len(tables) else None


def _value(text: str) -> Any:
    """The value that the text is in TOML; the text itself where it is none, or a date, which no key takes."""
    try:
        values = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = values["value"]
    return value if len(values) == 1 and isinstance(value, bool | int | float | str | list | dict) else text


def _copied(values: Any) -> Any:
    if isinstance(values, list):
        return [_copied(value) for value in values]
    return {name: _copied(value) for name, value in values.items()} if isinstance(values, Mapping) else values
