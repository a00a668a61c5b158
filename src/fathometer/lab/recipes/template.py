"""Names in braces, such as "{threads}", in the words of a command, in names of files and in text files.

`{{` and `}}` are braces; a brace that is neither is an error, as is a name that nobody knows. In regular expressions,
where braces have a meaning of their own, only names are filled in, and stand for themselves, letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fathometer.base.errors import InputError, shortened
from fathometer.base.meant import nearest

Value = bool | int | float | str
Values = Mapping[str, Value | Sequence[Value]]  # a sequence: of words

NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*"
_PART = re.compile(rf"\{{\{{|\}}\}}|\{{({NAME})\}}|[{{}}]")
_ALONE = re.compile(rf"\{{({NAME})\}}")
_IN_PATTERN = re.compile(rf"(?<!\\)(?<!\\N)\{{({NAME})\}}")  # neither \{name} nor \N{NAME}, a letter


def text_of(value: Value) -> str:
    """A value as it stands in a command: true, false, the shortest digits that give the number again, the text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def names_in(word: str) -> list[str]:
    """The names in braces, in order. Raises InputError for a brace that belongs to none."""
    return [match[1] for match in _PART.finditer(word) if _checked(match, word)[1] is not None]


def fill(word: str, values: Values) -> str:
    """The word with the values of its names; those of a sequence with blanks between.

    Raises InputError for an unknown name, with those that are known, and for a brace that belongs to none.
    """

    def replaced(match: re.Match[str]) -> str:
        name = _checked(match, word)[1]
        return match[0][0] if name is None else " ".join(_texts(name, word, values))

    return _PART.sub(replaced, word)


def fill_words(words: Sequence[str], values: Values) -> list[str]:
    """The words with the values of their names. A word that is nothing but the name of a sequence becomes as many words
    as that has; one that is the name of an empty text stays a word. Raises InputError as `fill`."""
    return list(_filled(words, values))


def names_in_pattern(pattern: str) -> list[str]:
    """The names in braces of a regular expression, in order."""
    return _IN_PATTERN.findall(pattern)


def fill_pattern(pattern: str, values: Values) -> str:
    """A regular expression with the values of its names, with blanks between those of a sequence. Raises InputError for
    an unknown name."""
    return _IN_PATTERN.sub(lambda match: re.escape(" ".join(_texts(match[1], pattern, values))), pattern)


def value_of(word: str, values: Values) -> Value | Sequence[Value]:
    """What a word stands for: the value itself, a number for example, where it is nothing but a name; else the text.
    Raises InputError as `fill`."""
    alone = _ALONE.fullmatch(word)
    return values[alone[1]] if alone is not None and alone[1] in values else fill(word, values)


def _filled(words: Sequence[str], values: Values) -> Iterator[str]:
    for word in words:
        alone = _ALONE.fullmatch(word)
        if alone is not None:
            yield from _texts(alone[1], word, values)
        else:
            yield fill(word, values)


def check_names(word: str, known: Sequence[str]) -> None:
    """Raises InputError where a name in braces is not one of `known`."""
    _check(names_in(word), word, known)


def check_pattern(pattern: str, known: Sequence[str]) -> None:
    """The same of a regular expression."""
    _check(names_in_pattern(pattern), pattern, known)


def _check(names: Sequence[str], word: str, known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise _unknown(name, word, known)


def _texts(name: str, word: str, values: Values) -> list[str]:
    if name not in values:
        raise _unknown(name, word, list(values))
    value = values[name]
    return [text_of(value)] if isinstance(value, bool | int | float | str) else [text_of(item) for item in value]


def _checked(match: re.Match[str], word: str) -> re.Match[str]:
    if len(match[0]) == 1:
        where = shortened(word[max(match.start() - 20, 0) : match.end() + 20])
        raise InputError(f"{where}: found a {match[0]} alone; allowed: a name in braces, or {match[0] * 2} for a brace")
    return match


def _unknown(name: str, word: str, known: Sequence[str]) -> InputError:
    near = nearest(name, known, 0.6)
    hint = f"did you mean {{{near}}}?" if near else f"known: {', '.join(known) or 'none'}"
    return InputError(f"{shortened(word, 60)}: unknown name {{{name}}}; {hint}")
