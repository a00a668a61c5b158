"""Places in a JSON file: `results.times[0].total`, `figures[name=read model].value`, `jobs[*].seconds`.

key          of a table, after a dot; letters, digits, _, -, blanks and whatever is no dot or bracket
[n]          an item of a list, from 0; from its end with -1
[*]          all items
[key=value]  those items of a list of tables that have this value, a text, number, true or false; several of them after
             each other: those that have all these values
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(
    r"\.?(?P<key>[^.\[\]]+)"
    r"|\[(?P<index>-?[0-9]{1,9})\]"
    r"|\[(?P<all>\*)\]"
    r"|\[(?P<name>[^=\[\]]+)=(?P<value>[^\[\]]*)\]"
)


@dataclass(frozen=True)
class _Step:
    """One step of a path: a key, an index, or a name and its value; all of them None: all items."""

    key: str | None = None
    index: int | None = None
    name: str | None = None
    value: str = ""

    def of(self, value: Any) -> list[Any]:
        """What it leads to from a value; [] where that does not have it."""
        if self.key is not None:
            return [value[self.key]] if isinstance(value, dict) and self.key in value else []
        if self.name is not None and isinstance(value, dict):  # an item that a step before has let pass
            return [value] if _text(value.get(self.name)) == self.value else []
        if not isinstance(value, list):
            return []
        if self.index is not None:
            return [value[self.index]] if -len(value) <= self.index < len(value) else []
        if self.name is None:
            return value
        return [item for item in value if isinstance(item, dict) and _text(item.get(self.name)) == self.value]


def path_problem(path: str) -> str | None:
    """What is wrong with a path, as "found …; allowed: …"; None where nothing is."""
    if _steps(path) is None:
        return f'found "{path}"; allowed: keys with dots between, [n], [*], [key=value]: figures[name=total].value'
    return None


def values_at(path: str, values: Any) -> list[Any]:
    """All that a path without problem leads to in the values of a JSON file; [] where there is nothing."""
    found = [values]
    for step in _steps(path) or ():
        found = [inner for value in found for inner in step.of(value)]
    return found


def _steps(path: str) -> list[_Step] | None:
    steps: list[_Step] = []
    end = 0
    for match in _STEP.finditer(path):
        dotted = match[0].startswith(".")
        # A key follows a dot, but for the first one; nothing else does.
        if match.start() != end or (match["key"] is not None and dotted != bool(steps)):
            return None
        end = match.end()
        steps.append(_step(match))
    return steps if steps and end == len(path) else None


def _step(match: re.Match[str]) -> _Step:
    if match["key"] is not None:
        return _Step(key=match["key"])
    if match["index"] is not None:
        return _Step(index=int(match["index"]))
    return _Step() if match["all"] else _Step(name=match["name"], value=match["value"])


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None
