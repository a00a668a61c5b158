"""The reference of an input file's keys in Markdown, generated from its models."""

from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fathometer.base.errors import InputError
from fathometer.config.constraints import constraint

BEGIN_MARKER = "<!-- keys:begin -->"
END_MARKER = "<!-- keys:end -->"


def reference(root: type[BaseModel]) -> str:
    """The reference of an input model in Markdown: a table of the keys outside all sections, if there are any, then one
    for each section, and for each table within it, with key, meaning, unit, allowed values and default."""
    plain = {name: field for name, field in root.model_fields.items() if not _models(field.annotation)}
    parts = [f"### Keys outside of tables\n\n{_rows(plain)}"] if plain else []
    for section, field in root.model_fields.items():
        if section in plain:
            continue
        optional = "" if field.is_required() else " May be left out."
        parts.append(f"### `{_heading(section, field)}`\n\n{_sentence(field.description)}{optional}")
        for path, model in _tables((section,), field):
            parts += _part(path, model)
    return "\n\n".join(parts) + "\n"


def with_reference(text: str, name: str, root: type[BaseModel]) -> str:
    """The text of a page with the reference between its markers; raises InputError that names the page where
    they are missing."""
    before, begin, rest = text.partition(BEGIN_MARKER)
    _, end, after = rest.partition(END_MARKER)
    if not begin or not end:
        raise InputError(f"{name}: found no {BEGIN_MARKER} … {END_MARKER}; needed: both, in this order")
    return f"{before}{BEGIN_MARKER}\n{reference(root)}{END_MARKER}{after}"


def _tables(path: tuple[str, ...], field: FieldInfo) -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    """The models that a key can hold, and those that their keys can hold, each with its place."""
    for model in _models(field.annotation):
        yield path, model
        for key, inner in model.model_fields.items():
            yield from _tables((*path, key), inner)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _part(path: tuple[str, ...], model: type[BaseModel]) -> list[str]:
    """A table's heading, where it is not the only one of its section, and its keys."""
    kind = model.model_fields.get("kind")
    parts = []
    if len(path) > 1 or kind is not None:
        name = f"`[{path[0]}]{' ' if len(path) > 1 else ''}{'.'.join(path[1:])}`"
        with_kind = f" with `kind = {constraint(kind.annotation)}`" if kind is not None else ""
        parts.append(f"**{name}{with_kind}.** {cleandoc(model.__doc__ or '')}")
    return [*parts, _rows(model.model_fields)]


def _heading(section: str, field: FieldInfo) -> str:
    """[section], or [[section]] of a list of tables."""
    listed = get_origin(field.annotation) is tuple
    return f"[[{section}]]" if listed else f"[{section}]"


def _rows(fields: Mapping[str, FieldInfo]) -> str:
    head = ["| key | meaning | unit | allowed | default |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(_row(key, field) for key, field in fields.items())])


def _row(key: str, field: FieldInfo) -> str:
    extra = field.json_schema_extra
    unit = str(extra["unit"]) if isinstance(extra, dict) else ""
    words = constraint(field.annotation, field.metadata)
    return f"| `{key}` | {field.description} | {unit} | {words} | {_default(field)} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**needed**"
    if field.default is None or field.default_factory is not None or field.default in ((), {}):
        return "none"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, tuple):
        return f"`{list(field.default)}`"
    return f'`"{field.default}"`' if isinstance(field.default, str) else f"`{field.default}`"


def _sentence(words: str | None) -> str:
    return f"{(words or '')[:1].upper()}{(words or '')[1:]}."
