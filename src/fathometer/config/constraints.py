"""The constraints of an input file's key in words, from its type annotation."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Len, MultipleOf
from pydantic import BaseModel


@dataclass(frozen=True)
class Allowed:
    """The words for a type that a validator beside it checks, in place of those derived from its constraints; choices:
    the values that it may have, where they are texts out of a list."""

    words: str
    choices: tuple[str, ...] = ()


def constraint(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    """The words for a type with its constraints: `int, [Ge(2), Le(16), MultipleOf(2)]` is "an even integer
    from 2 to 16". Raises TypeError for a type that input files do not have."""
    for item in metadata:
        if isinstance(item, Allowed):
            return item.words
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Annotated:
        return constraint(arguments[0], [*arguments[1:], *metadata])
    if origin is Literal:
        return " or ".join("true" if value is True else f'"{value}"' for value in arguments)
    if origin in (Union, UnionType):
        return " or ".join(constraint(branch) for branch in arguments if branch is not NoneType)
    if origin is tuple and arguments[-1] is Ellipsis and not any(isinstance(item, Len) for item in metadata):
        return f"a list of {_plural(constraint(arguments[0]))}"
    if origin is tuple:
        return _list(arguments, metadata)
    if origin is dict:
        return f"a table of {_plural(constraint(arguments[1]))}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"a table {{{', '.join(_keys(annotation))}}}"
    if annotation is bool:
        return "true or false"
    if annotation is int:
        return _number("integer", metadata)
    if annotation is float:
        return _number("number", metadata)
    if annotation is str:
        return "a string"
    raise TypeError(f"no words for {annotation}")


def choices(annotation: Any, metadata: Sequence[Any] = ()) -> list[str]:
    """The texts that a type is chosen from, or a list of it; none of a type whose values are free."""
    stated = [text for item in metadata if isinstance(item, Allowed) for text in item.choices]
    if stated:
        return stated
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return [value for value in arguments if isinstance(value, str)]
    if get_origin(annotation) is Annotated:
        return choices(arguments[0], arguments[1:])
    if get_origin(annotation) in (Union, UnionType, tuple):
        return [text for argument in arguments for text in choices(argument)]
    return []


def _keys(model: type[BaseModel]) -> list[str]:
    """The keys of a table, the required ones first; the discriminator `kind` with its value."""
    fields = model.model_fields
    names = sorted(fields, key=lambda name: not fields[name].is_required())
    return [f"kind = {constraint(fields[name].annotation)}" if name == "kind" else name for name in names]


def _list(items: Sequence[Any], metadata: Sequence[Any]) -> str:
    words = constraint(items[0]).removeprefix("a ").removeprefix("an ")
    noun, _, limits = words.partition(" ")
    counts = [str(len(items))]
    for item in metadata:
        if isinstance(item, Len):
            counts = [str(count) for count in range(item.min_length, (item.max_length or 0) + 1)]
    return f"a list of {' or '.join(counts)} {noun}s{' ' + limits if limits else ''}"


def _plural(words: str) -> str:
    """Of "a string" that is "strings"; what has no article stays."""
    noun, _, rest = words.removeprefix("an ").removeprefix("a ").partition(" ")
    return words if noun == words else f"{noun}s{' ' + rest if rest else ''}"


def _plain(limit: Any) -> str:
    """A limit as people write it: 100000 rather than 100000.0, 1e+08 for what has many digits."""
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def _number(noun: str, metadata: Sequence[Any]) -> str:
    low = high = ""
    even = False
    for item in metadata:
        if isinstance(item, Gt):
            low = f" above {_plain(item.gt)}"
        elif isinstance(item, Ge):
            low = f" from {_plain(item.ge)}"
        elif isinstance(item, Le):
            high = f" to {_plain(item.le)}"
        elif isinstance(item, MultipleOf) and item.multiple_of == 2:
            even = True
    article = "an" if even or noun == "integer" else "a"
    return f"{article} {'even ' if even else ''}{noun}{low}{high}"
