"""The text of a new input file: what was found for its keys, gaps for what is needed, and what else may be set.

What a key means, its unit and what is allowed come from the input's own tables, as in the reference (reference.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fathometer.base.errors import shortened
from fathometer.config.constraints import constraint
from fathometer.config.gaps import GAP
from fathometer.config.toml_text import bare, toml

WIDTH = 110  # letters of a line of comments
NAME_WIDTH = 26  # of keys that may be set too


@dataclass(frozen=True)
class Found:
    """A value of a key as TOML has it, and a note: where it is from, or of a gap what may help to fill it."""

    value: Any
    note: str = ""


def gap(note: str = "") -> Found:
    """A key that is needed, and that was not found."""
    return Found(GAP, note)


@dataclass(frozen=True)
class Drafted:
    """What an application makes of files for a new input file.

    Attributes:
        keys: of the input's sections, each a mapping of key to Found or to a mapping of a table within it; of a list of
            tables a list of such.
        command: that runs the input file. notes: for whoever asked for it.
    """

    keys: Mapping[str, Any]
    command: str
    notes: Sequence[str] = ()


def draft_text(root: type[BaseModel], keys: Mapping[str, Any], head: Sequence[str], reference: str) -> str:
    """The input file. Keys that are needed and that `keys` (see Drafted) has not become gaps.

    root: the model of the input. head: lines that say what it is. reference: where all keys are described.
    """
    parts = ["\n".join(line for text in head for line in _comment(text))]
    left: list[str] = []
    for name, field in root.model_fields.items():
        found = keys.get(name)
        if found is None and not field.is_required():
            left.append(f"{_heading(name, field)} {_first_line(field.description or '')}")
        elif isinstance(found, Found) or not _models(field.annotation):
            parts.append("\n".join(_live(name, field, found)))
        else:
            tables = found if isinstance(found, list) else [found or {}]
            for number, table in enumerate(tables):
                about = list(_comment(_sentence(field.description))) if number == 0 else []
                parts.append("\n".join([*about, *_table(_heading(name, field), name, field, table)]))
    if left:
        lines = [line for text in left for line in _comment(text, "#   ", "#       ")]
        parts.append("\n".join(["# Further sections, each of which may be left out:", *lines]))
    parts.append("\n".join(_comment(f"All keys with their units, limits and defaults: {reference}")))
    return "\n\n".join(parts) + "\n"


def _table(heading: str, path: str, field: FieldInfo, found: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a table, those within it after it. path: of its heading, with dots."""
    yield heading
    model = _chosen(field, found)
    if model is None:  # several kinds, and it is not known which
        kinds = [(_kind(one), _first_line(one.__doc__ or "")) for one in _models(field.annotation)]
        for kind, words in kinds:
            yield from _comment(f'"{kind}": {words}' if words else f'"{kind}"', "#   ", "#       ")
        yield f"kind = {toml(GAP)}    # one of these; then add the keys that it needs"
        return
    inner: list[tuple[str, FieldInfo, Any]] = []
    left: list[tuple[str, FieldInfo]] = []
    for name, one in model.model_fields.items():
        value = found.get(name)
        if isinstance(value, Mapping):
            inner.append((name, one, value))
        elif isinstance(value, Found) or one.is_required():
            yield from _live(name, one, value)
        else:
            left.append((name, one))
    if left:
        yield "# May be set too:"
        for name, one in left:
            yield from _left(name, one)
    for name, one, value in inner:
        yield ""
        yield from _comment(_sentence(one.description))
        yield from _table(f"[{path}.{bare(name)}]", f"{path}.{bare(name)}", one, value)


def _live(name: str, field: FieldInfo, found: Found | None) -> Iterator[str]:
    """A key that is set, or a gap, below what it means."""
    found = found or gap()
    note = shortened(found.note, 2 * WIDTH)  # it may quote what stands in files
    kind = name == "kind" and found.value != GAP and len(_choices(field)) == 1
    if not kind:
        yield from _comment(_about(field))
    line = f"{bare(name)} = {toml(found.value)}"
    if not note:
        yield line
    elif len(line) + len(note) + 6 <= WIDTH + 10:
        yield f"{line}    # {note}"
    else:
        yield from _comment(note, "#   ", "#   ")
        yield line


def _left(name: str, field: FieldInfo) -> Iterator[str]:
    """A key that may be set, with its default."""
    has = field.default_factory is None and field.default not in (None, (), {}) and not _tables(field.default)
    begin = f"{bare(name)} = {toml(_plain(field.default))}" if has else bare(name)
    first = f"#   {begin:<{NAME_WIDTH}} "
    yield from _comment(f"{field.description}{_unit(field)}", first, f"#{'':{NAME_WIDTH + 6}}")


def _about(field: FieldInfo) -> str:
    words = "" if _models(field.annotation) else f": {constraint(field.annotation, field.metadata)}"
    return f"{field.description}{_unit(field)}{words}"


def _unit(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    unit = extra.get("unit") if isinstance(extra, dict) else None
    return f" ({unit})" if unit else ""


def _comment(text: str, first: str = "# ", others: str = "# ") -> list[str]:
    return textwrap.wrap(text, WIDTH + 8, initial_indent=first, subsequent_indent=others, break_long_words=False) or [
        first.rstrip()
    ]


def _heading(name: str, field: FieldInfo) -> str:
    return f"[[{name}]]" if get_origin(field.annotation) is tuple or _listed(field.annotation) else f"[{name}]"


def _listed(annotation: Any) -> bool:
    """Whether a type is a list of tables."""
    arguments = get_args(annotation)
    return (get_origin(annotation) is tuple and bool(_models(annotation))) or (
        bool(arguments) and get_origin(annotation) is not dict and any(_listed(one) for one in arguments)
    )


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _chosen(field: FieldInfo, found: Mapping[str, Any]) -> type[BaseModel] | None:
    """The table that a key holds: the only one, or that of the kind that was found."""
    models = _models(field.annotation)
    if len(models) == 1:
        return models[0]
    kind = found.get("kind")
    for model in models:
        if isinstance(kind, Found) and kind.value in _choices(model.model_fields["kind"]):
            return model
    return None


def _choices(field: FieldInfo) -> tuple[Any, ...]:
    return get_args(field.annotation)


def _kind(model: type[BaseModel]) -> str:
    return ", ".join(map(str, _choices(model.model_fields["kind"])))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _tables(value: Any) -> bool:
    return isinstance(value, BaseModel)


def _first_line(text: str) -> str:
    return " ".join(text.split())


def _sentence(words: str | None) -> str:
    return f"{(words or '')[:1].upper()}{(words or '')[1:]}."
