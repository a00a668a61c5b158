"""Tables and keys of an input file, as pydantic models."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from fathometer.base.errors import shortened

SMALLEST, LARGEST = 1e-60, 1e18  # magnitudes of a number that is not 0, in whatever unit
NO_QUANTITY = "no_quantity"  # type of the error of a table one of whose numbers is beyond; context: key, error


class Table(BaseModel):
    """A table of an input file, immutable; unknown keys, strings for numbers, NaN and infinity are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    largest: ClassVar[float] = LARGEST

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, values: Any) -> Any:
        """Numbers that no quantity has would overflow, or divide by what has become 0, somewhere behind the checks of
        their own keys. NaN and infinity are refused there."""
        for name, value in values.items() if isinstance(values, dict) else ():
            field = cls.model_fields.get(name)
            free = field is not None and get_origin(field.annotation) is dict  # names that are no keys
            for number in _numbers(value, free):
                size = abs(number)
                if 0 < size < SMALLEST or cls.largest < size < math.inf:
                    allowed = f"0, and magnitudes from {SMALLEST:g}"
                    if size > cls.largest:
                        allowed = f"magnitudes up to {cls.largest:g}"
                    found = f"found {shortened(number, 40)}; allowed: {allowed}"
                    raise PydanticCustomError(NO_QUANTITY, "{error}", {"key": name, "error": found})
        return values


def _numbers(value: Any, free: bool) -> Iterator[float]:
    """The numbers in a key's value, of tables those whose names are free: others have checks of their own."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, list | tuple) or (free and isinstance(value, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner, free)


def key(meaning: str, unit: str = "", default: Any = ...) -> Any:
    """A key of a table: meaning, unit ("" where it has none) and default; without a default it is required."""
    return Field(default, description=meaning, json_schema_extra={"unit": unit})


def section(meaning: str, kind: type[Table]) -> Any:
    """A section that may be left out, because all of its keys have defaults."""
    return Field(default_factory=kind, description=meaning, json_schema_extra={"unit": ""})


def not_allowed() -> PydanticCustomError:
    """The error of a validator whose type says in words what is allowed (constraints.Allowed)."""
    return PydanticCustomError("not_allowed", "not allowed")
