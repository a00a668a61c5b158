"""Types of keys: numbers, files. Physical quantities, and ranges of them, are in quantities.py."""

import math
from typing import Annotated

from annotated_types import Ge, Gt
from pydantic import AfterValidator, Strict

from fathometer.base.names import control_problem
from fathometer.config.constraints import Allowed
from fathometer.config.table import not_allowed

MAX_RANGE_VALUES = 10_000_000  # of a range; more are a typing error


def plain_name(name: str) -> str:
    """The name of a file or folder, in UTF-8 or not; ValueError where it is empty or holds a control character."""
    if not name:
        raise not_allowed()
    if problem := control_problem(name):
        raise ValueError(problem)
    return name


def even_range(values: tuple[float, float, float]) -> tuple[float, float, float]:
    """Check [first, last, step]: the step leads from first to last in whole steps (to 1e-6 of a step)."""
    first, last, step = values
    found = f"found [{first:g}, {last:g}, {step:g}]"
    if step == 0.0:
        raise ValueError(f"{found}, the step is 0; allowed: a step other than 0, or one number")
    if (last - first) * step < 0.0:
        raise ValueError(f"{found}, the step leads away from the last value; allowed: step {-step:g}")
    steps = (last - first) / step
    if not steps < MAX_RANGE_VALUES:
        raise ValueError(f"{found} is {steps:.3g} places; allowed: at most {MAX_RANGE_VALUES}")
    if abs(steps - round(steps)) > 1e-6:
        below, above = (first + math.floor(steps) * step, first + math.ceil(steps) * step)
        raise ValueError(
            f"{found}, the step does not divide last - first; last values that fit: {below:.10g} or {above:.10g}"
        )
    return values


# TOML arrays are lists, so the tuple itself is not validated strictly; its items are.
Loose = Strict(False)
Strictly = Strict(True)  # no text, true or false for a number, in records that are read back (storage/json_text.py)
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]
Count = Annotated[int, Ge(1)]
# Without constraints of pydantic, which refuse a text that is not Unicode.
FileName = Annotated[str, AfterValidator(plain_name), Allowed("a file")]
FolderName = Annotated[str, AfterValidator(plain_name), Allowed("a folder")]
