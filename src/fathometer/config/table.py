"""Tables and keys of an input file, as pydantic models."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Table(BaseModel):
    """A table of an input file, immutable; unknown keys, strings for numbers, NaN and infinity are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def key(meaning: str, unit: str = "", default: Any = ...) -> Any:
    """A key of a table: meaning, unit ("" where it has none) and default; without a default it is required."""
    return Field(default, description=meaning, json_schema_extra={"unit": unit})


def section(meaning: str, kind: type[Table]) -> Any:
    """A section that may be left out, because all of its keys have defaults."""
    return Field(default_factory=kind, description=meaning, json_schema_extra={"unit": ""})


def not_allowed() -> PydanticCustomError:
    """The error of a validator whose type says in words what is allowed (constraints.Allowed)."""
    return PydanticCustomError("not_allowed", "not allowed")
