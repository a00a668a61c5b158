"""Whether values are those of a record, by its JSON schema (run.schema.json)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("run.schema.json")
LONGEST_MESSAGE = 160  # letters


def problem_of(value: Any, part: str = "") -> str:
    """What the schema does not allow of a record, or of one of its parts ("machine", "cluster"), in one line with its
    place; "" where it allows all."""
    # Imported here, since a run that ends writes its page without reading a record.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    wrong = best_match(Draft202012Validator(_schema(part)).iter_errors(value))
    if wrong is None:
        return ""
    where = wrong.json_path.removeprefix("$").removeprefix(".") or "the whole"
    return f"{part}{'.' if part else ''}{where}: {_short(' '.join(wrong.message.split()))}"


@cache
def _schema(part: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return {"$ref": f"#/$defs/{part}", "$defs": whole["$defs"]} if part else whole


def _short(text: str) -> str:
    """A message quotes the value that it is about, however long that is."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE // 2]} … {text[-LONGEST_MESSAGE // 2 :]}"
