"""Tables and keys of an input file, as pydantic models."""

import math
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from fathometer.base.errors import shortened

LARGEST = 1e18  # magnitude of a number, in whatever unit
TOO_LARGE = "too_large"  # type of the error of a table one of whose numbers is beyond; context: key, error


class Table(BaseModel):
    """A table of an input file, immutable; unknown keys, strings for numbers, NaN and infinity are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    largest: ClassVar[float] = LARGEST

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, values: Any) -> Any:
        """Numbers that no quantity has would overflow somewhere behind the checks of their own keys. NaN and infinity
        are refused there."""
        for name, value in values.items() if isinstance(values, dict) else ():
            for number in value if isinstance(value, list | tuple) else (value,):
                if isinstance(number, int | float) and cls.largest < abs(number) < math.inf:
                    found = f"found {shortened(number, 40)}; allowed: magnitudes up to {cls.largest:g}"
                    raise PydanticCustomError(TOO_LARGE, "{error}", {"key": name, "error": found})
        return values


def key(meaning: str, unit: str = "", default: Any = ...) -> Any:
    """A key of a table: meaning, unit ("" where it has none) and default; without a default it is required."""
    return Field(default, description=meaning, json_schema_extra={"unit": unit})


def section(meaning: str, kind: type[Table]) -> Any:
    """A section that may be left out, because all of its keys have defaults."""
    return Field(default_factory=kind, description=meaning, json_schema_extra={"unit": ""})


def not_allowed() -> PydanticCustomError:
    """The error of a validator whose type says in words what is allowed (constraints.Allowed)."""
    return PydanticCustomError("not_allowed", "not allowed")
