"""Names in braces in the words of a command, in place of which each task has its own values; no shell sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache


@cache
def forms(word: str) -> tuple[str | tuple[str], ...]:
    """A word of a command in parts: texts, and the names in braces, each in a tuple. `{{` and `}}` are braces.

    >>> forms("-o{name}{{1}}.txt")
    ('-o', ('name',), '{1}.txt')

    Raises ValueError for a brace without its other one.
    """
    parts: list[str | tuple[str]] = []
    text, rest = "", word
    while rest:
        if rest[:2] in ("{{", "}}"):
            text, rest = text + rest[0], rest[2:]
        elif rest[0] == "{" and "}" in rest and "{" not in rest[1 : rest.index("}")]:
            name, _, rest = rest[1:].partition("}")
            parts += [text, (name,)] if text else [(name,)]
            text = ""
        elif rest[0] in "{}":
            raise ValueError(f'found "{word}"; allowed: {{name}}, and {{{{ or }}}} for a brace')
        else:
            text, rest = text + rest[0], rest[1:]
    return (*parts, text) if text else tuple(parts)


def names_in(words: Sequence[str]) -> list[str]:
    """The names in braces in the words of a command. Raises ValueError as `forms`."""
    return [part[0] for word in words for part in forms(word) if isinstance(part, tuple)]


def spelt(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with values in place of names."""
    return ["".join(part if isinstance(part, str) else values[part[0]] for part in forms(word)) for word in words]
