"""One line for an error of an input file: the key and its place, what was found, what is allowed."""

import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from fathometer.base.meant import did_you_mean, nearest
from fathometer.base.names import visible_name
from fathometer.config.constraints import choices, constraint
from fathometer.config.table import NO_QUANTITY

QUOTE = '"'
_MAX_VALUE_LENGTH = 60  # characters
# Names that pydantic gives to branches of a union.
_BRANCHES = frozenset({"str", "float", "int", "bool", "constrained-float", "constrained-int"})
# Of the problems that the branches of a union report for one key, the last of these explains most.
_PRECEDENCE = ("union_tag_not_found", "union_tag_invalid", "value_error")

Place = tuple[str | int, ...]  # keys, and of [[tables]] which of them, from 0


def first_problem(error: ValidationError, values: Mapping[str, Any], root: type[BaseModel]) -> str:
    """The first problem in one line, with the number of the others.

    `values` is the input as it was read, `root` the model that refused it. Unknown keys come first: a
    misspelt key is also a missing one, and the spelling explains both. The problems of a union's branches
    count as one.
    """
    problems: dict[Place, list[Any]] = {}
    for item in error.errors(include_url=False, include_input=False):
        problems.setdefault(_place(item["loc"], root), []).append(item)
    lines: list[tuple[int, str]] = []
    for place, items in problems.items():
        if any(other[: len(place)] == place and len(other) > len(place) for other in problems):
            continue  # another branch of a union; the intended branch has a problem further in
        item = max(items, key=lambda e: _PRECEDENCE.index(e["type"]) if e["type"] in _PRECEDENCE else -1)
        unknown = item["type"] == "extra_forbidden"
        lines.append((0 if unknown else 1, _line(place, item, values, root)))
    lines.sort(key=lambda line: line[0])
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return " ".join(lines[0][1].split()) + more  # a quoted key may hold a line end


def named(place: Place, root: type[BaseModel]) -> str:
    """A key as messages name it: [wavelet] peak_frequency."""
    return _name(place, root)


def needed_at(place: Place, values: Mapping[str, Any], root: type[BaseModel]) -> str:
    """A key by its name, and in brackets what it needs."""
    field = _field(place, values, root)
    if field is None and place[-1] == "kind" and len(place) > 1:  # which of several tables is what is not known
        return f"{_name(place, root)} ({_kinds(_field(place[:-1], values, root))})"
    return f"{_name(place, root)} ({_allowed(field)})" if field is not None else _name(place, root)


def _line(place: Place, item: Mapping[str, Any], values: Mapping[str, Any], root: type[BaseModel]) -> str:
    name = _name(place, root)
    if item["type"] == "extra_forbidden":
        return _unknown(place, values, root)
    field = _field(place, values, root)
    if item["type"] == "union_tag_not_found":
        return f"{name}{_dot(place)}kind: missing; allowed: {_kinds(field)}"
    if item["type"] == "union_tag_invalid":
        kind = _get((*place, "kind"), values)
        shown, tags = _shown(kind), sorted(_tags(_models(field.annotation))) if field else ()
        return f"{name}{_dot(place)}kind: found {shown}; allowed: {_kinds(field)}{did_you_mean(kind, tags, QUOTE)}"
    if item["type"] == "missing" and place[-1] not in (_get(place[:-1], values) or {}):
        return f"{name}: missing; needed: {_allowed(field)}"
    if item["type"] == NO_QUANTITY:
        return f"{_name((*place, item['ctx']['key']), root)}: {item['ctx']['error']}"
    if item["type"] == "value_error":
        section = len(place) < 2 and name.startswith("[")  # the error itself begins with the key
        return f"{name}{' ' if section or not name else ': '}{item['ctx']['error']}".strip()
    return f"{name}: found {_shown(_get(place, values))}; allowed: {_allowed(field)}{_meant(place, values, field)}"


def _dot(place: Place) -> str:
    """Between the name of a table and that of its key: a section, or one of a list of them, is in brackets."""
    return "." if len(place) > 1 and not isinstance(place[-1], int) else " "


def _meant(place: Place, values: Mapping[str, Any], field: FieldInfo | None) -> str:
    """Which of the choices of a key, where it has some, was meant by its value, or by a text of its list."""
    known = choices(field.annotation, field.metadata) if field is not None else []
    value = _get(place, values)
    if field is not None and (hint := _written(place, value, field)):
        return hint
    found = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    return next((meant for text in found if text not in known and (meant := did_you_mean(text, known, QUOTE))), "")


def _written(place: Place, value: Any, field: FieldInfo) -> str:
    """How a value is written that has the right contents in another notation."""
    words = constraint(field.annotation, field.metadata)
    models = _models(field.annotation)
    if isinstance(value, str) and re.match(r"(or )?(a|an|an even) (number|integer)", words) and not models:
        return "; a number stands without quotes and unit" if re.match(r"\s*[+-]?\.?\d", value) else ""
    if isinstance(value, str) and value in _tags(models):
        return f'; did you mean {{kind = "{value}"}}?'
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and re.match(r"a list of (1 or \d+ |at least one )?(number|integer)", words):
        return f"; a list of one stands in brackets: [{_shown(value)}]"
    if isinstance(value, Mapping) and words.startswith("a list of tables"):
        return f"; a table of a list is written [[{_dotted(place)}]]"
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        joined = "".join(value)
        return f'; did you mean "{joined}"?' if joined in choices(field.annotation, field.metadata) else ""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value) and models:
        return f"; it is one table, written [{_dotted(place)}]"
    return ""


def _name(place: Place, root: type[BaseModel]) -> str:
    """("acquisition", "sources", "x") is [acquisition] sources.x, ("job", 1, "name") is [[job]] 2 name; a key outside
    all sections is itself, and the whole file has no name."""
    if not place:
        return ""
    last = max((n for n, part in enumerate(place) if isinstance(part, int)), default=None)
    if last is not None:
        names = [str(part) for part in place[:last] if isinstance(part, str)]
        return f"[[{'.'.join(names)}]] {int(place[last]) + 1} {_dotted(place[last + 1 :])}".strip()
    field = root.model_fields.get(str(place[0]))
    if len(place) == 1 and field is not None and not _models(field.annotation) and not _is_free(field.annotation):
        return str(place[0])
    return f"[{place[0]}] {_dotted(place[1:])}".strip()


def _dotted(place: Place) -> str:
    return ".".join(map(str, place))


def _unknown(place: Place, values: Mapping[str, Any], root: type[BaseModel]) -> str:
    *parents, last = place
    key = str(last)
    holder = _field(tuple(parents), values, root) if parents else None
    models = _models(holder.annotation) if holder is not None else [root]
    model = _chosen(models, _get(tuple(parents), values))
    known = list(model.model_fields) if model is not None else []
    if not parents:
        known_words = ", ".join(f"[{section}]" for section in known)
        near = nearest(key, known, 0.5)
        homes = [section for section in known if key in _keys(root.model_fields[section])]
        if isinstance(values.get(key), Mapping) or not homes:
            hint = f"did you mean [{near}]?" if near else f"known: {known_words}"
            return f"[{key}]: unknown section; {hint}"
        return f"{key}: unknown outside a section; it belongs to [{homes[0]}]"
    near = nearest(key, known, 0.5)
    homes = [section for section in root.model_fields if key in _keys(root.model_fields[section])]
    if homes and parents != [homes[0]] and key not in known:
        hint = f"it belongs to [{homes[0]}]"
    elif near:
        hint = f"did you mean {near}?"
    else:
        hint = f"known: {', '.join(known)}"
    return f"{_name(place, root)}: unknown key; {hint}"


def _keys(field: FieldInfo) -> set[str]:
    return {key for model in _models(field.annotation) for key in model.model_fields}


def _place(loc: tuple[int | str, ...], root: type[BaseModel]) -> Place:
    """The keys in a pydantic location: without the names of union branches, and without indices but those of tables."""
    place: list[str | int] = []
    models = [root]
    annotation: Any = None
    for part in loc:
        if isinstance(part, int):
            if not models:
                break
            if not isinstance(place[-1], int):
                place.append(part)
            continue
        fields = [model.model_fields[part] for model in models if part in model.model_fields]
        if fields:
            place.append(part)
            annotation = fields[0].annotation
            models = _models(annotation)
        elif part in _tags(models):
            models = [model for model in models if part in _tags([model])]
        elif part in {model.__name__ for model in models}:  # a table that may also be something else
            models = [model for model in models if part == model.__name__]
        elif part == loc[-1] and models and "[" not in part and part not in _BRANCHES:
            place.append(part)  # an unknown key
        elif not models and _is_free(annotation):
            place.append(part)
            annotation = None
    return tuple(place)


def _is_free(annotation: Any) -> bool:
    """Whether a type is a table whose keys are free."""
    return get_origin(annotation) is dict or any(_is_free(argument) for argument in get_args(annotation))


def _models(annotation: Any) -> list[type[BaseModel]]:
    """All models that a type can hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _tags(models: list[type[BaseModel]]) -> set[str]:
    """The values of the discriminator `kind` of these models."""
    return {
        str(tag)
        for model in models
        if "kind" in model.model_fields
        for tag in get_args(model.model_fields["kind"].annotation)
    }


def _chosen(models: list[type[BaseModel]], value: Any) -> type[BaseModel] | None:
    """The model that the table's `kind` selects."""
    kind = value.get("kind") if isinstance(value, Mapping) else None
    for model in models:
        if len(models) == 1 or kind in _tags([model]):
            return model
    return None


def _field(place: Place, values: Mapping[str, Any], root: type[BaseModel]) -> FieldInfo | None:
    field: FieldInfo | None = None
    models = [root]
    for depth, key in enumerate(place):
        if isinstance(key, int):
            continue
        model = _chosen(models, _get(place[:depth], values))
        if model is None or key not in model.model_fields:
            return None
        field = model.model_fields[key]
        models = _models(field.annotation)
    return field


def _kinds(field: FieldInfo | None) -> str:
    return " or ".join(f'"{kind}"' for kind in sorted(_tags(_models(field.annotation)))) if field else ""


def _allowed(field: FieldInfo | None) -> str:
    if field is None:
        return "tables, one for each section"
    words = constraint(field.annotation, field.metadata)
    extra = field.json_schema_extra
    unit = extra.get("unit") if isinstance(extra, dict) else None
    return f"{words} ({unit})" if unit else words


def _get(place: Place, values: Mapping[str, Any]) -> Any:
    value: Any = values
    for key in place:
        inside = (
            key < len(value)
            if isinstance(key, int) and isinstance(value, list)
            else isinstance(value, Mapping) and key in value
        )
        if not inside:
            return None
        value = value[key]
    return value


def _shown(value: Any) -> str:
    """The value in TOML's notation, cut where it is long."""
    text = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
    text = visible_name(text)
    return text if len(text) <= _MAX_VALUE_LENGTH else text[: _MAX_VALUE_LENGTH - 1] + "…"
