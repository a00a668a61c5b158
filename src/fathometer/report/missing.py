"""A panel, or in its place the reason why it could not be made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from fathometer.base.errors import FathometerError
from fathometer.runs.application import Panel

Run = TypeVar("Run")


def panel_or_missing(title: str, panel: Callable[[Run], Panel], run: Run) -> Panel:
    """The panel of a run, or a `missing` one with the error."""
    try:
        return panel(run)
    except (FathometerError, OSError) as error:
        return missing(title, str(error))
    except Exception as error:  # the record of a run must not be lost for its page
        return missing(title, f"{type(error).__name__}: {error}")


def panels_or_missing(title: str, panels: Callable[[], list[Panel]]) -> list[Panel]:
    """Several panels, or a `missing` one of this title with the error."""
    try:
        return panels()
    except Exception as error:  # the record of a run must not be lost for its page
        return [missing(title, f"{type(error).__name__}: {error}")]


def panels_of_results(
    record: Mapping[str, Any], kinds: Iterable[tuple[str, str, Callable[[Mapping[str, Any]], Panel]]]
) -> list[Panel]:
    """Panels of a record's results, as far as it has them; kinds: title, entry of the results, what makes the panel."""
    return [panel_or_missing(title, panel, record) for title, entry, panel in kinds if entry in record["results"]]


def missing(title: str, reason: str) -> Panel:
    """The panel that says why there is none."""
    return {"kind": "missing", "title": title, "reason": reason}
