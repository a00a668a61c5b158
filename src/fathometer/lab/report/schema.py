"""Whether a value fits a JSON schema: the keywords that run.schema.json uses, and no others.

jsonschema does more, and the tests compare with it; but a reader of records need not wait for it, nor have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

# Booleans are no numbers here, although Python's are.
TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def complaints(value: Any, schema: Schema, root: Schema | None = None, place: str = "") -> Iterator[str]:
    """What in `value` does not fit, one line each: its place, what was found, what is allowed."""
    root = schema if root is None else root
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        yield from complaints(value, target, root, place)
    wanted = schema.get("type")
    kinds = [wanted] if isinstance(wanted, str) else wanted or []
    if kinds and not any(TYPES[kind](value) for kind in kinds):
        yield f"{place or 'the whole'}: found {_shown(value)}; allowed: {' or '.join(kinds)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: found {_shown(value)}; allowed: {_shown(schema['const'])}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: found {_shown(value)}; allowed: {', '.join(map(_shown, schema['enum']))}"
    yield from _bounds(value, schema, place)
    if isinstance(value, dict):
        yield from _members(value, schema, root, place)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from complaints(one, schema.get("items", {}), root, f"{place}[{number}]")
    if "if" in schema:
        fits = next(complaints(value, schema["if"], root, place), None) is None
        yield from complaints(value, schema.get("then" if fits else "else", {}), root, place)


def _bounds(value: Any, schema: Schema, place: str) -> Iterator[str]:
    """Of numbers, lengths and letters."""
    if TYPES["number"](value):
        if value < schema.get("minimum", value):
            yield f"{place}: found {value}; allowed: {schema['minimum']} or more"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            yield f"{place}: found {value}; allowed: more than {schema['exclusiveMinimum']}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield f"{place}: found an empty text"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{place}: found {_shown(value)}; allowed: {schema['pattern']}"
    if isinstance(value, list) and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        allowed = f"at least {schema['minItems']}" if "minItems" in schema else f"at most {schema['maxItems']}"
        yield f"{place}: found {len(value)} entries; allowed: {allowed}"


def _members(value: dict[str, Any], schema: Schema, root: Schema, place: str) -> Iterator[str]:
    before = f"{place}." if place else ""
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{before}{name}: missing"
    named, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, one in value.items():
        if "propertyNames" in schema:
            yield from complaints(name, schema["propertyNames"], root, f"{before}{name}")
        if name in named:
            yield from complaints(one, named[name], root, f"{before}{name}")
        elif others is False:
            yield f"{before}{name}: unknown"
        elif others is not True:
            yield from complaints(one, others, root, f"{before}{name}")


def _shown(value: Any) -> str:
    """A value in a message, on one line and not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
