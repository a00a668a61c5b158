"""Pages of records: what their application shows of them and the page itself, brought together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base.errors import InputError
from fathometer.cli import registry

if TYPE_CHECKING:
    from fathometer.report.page import PagePanels
    from fathometer.report.records import Run
    from fathometer.runs.application import Panel


def publish(path: Path, record: dict[str, Any], panels: Sequence[Panel]) -> None:
    """Write the page of a run that ends, with panels that it has made itself."""
    from fathometer.record.envelope import RECORD
    from fathometer.report.page import PagePanels, write_page
    from fathometer.report.records import Run
    from fathometer.runs.application import Heading

    shown = registry.panels_of(record)
    heading = shown.heading(record) if shown is not None else Heading()
    write_page(path, [Run(path.with_name(RECORD), record)], PagePanels(heading, panels))


def write_profile_pages(records: Iterable[Path], say: Callable[[str], None]) -> None:
    """Write the page beside each record of a profile, where there is none; what cannot be read is said. Raises
    FathometerError where a page cannot be written."""
    from fathometer.lab.profile.profile import PAGE
    from fathometer.report.page import write_page
    from fathometer.report.records import read_record

    for record in records:
        if not (page := record.with_name(PAGE)).exists():
            try:
                shown = read_record(record)
                panels = page_panels(shown)
            except InputError as error:
                say(f"note: no page of this profile: {error}")
                continue
            write_page(page, [shown], panels)


def page_panels(run: Run) -> PagePanels:
    """What the record's application or benchmark shows of a run; empty where neither is known.

    Raises InputError where the record is not one that it has written.
    """
    return _page_panels(run, with_panels=True)


def check_heading(run: Run) -> None:
    """Raises InputError where the heading of a record cannot be made: its application has not written it."""
    _page_panels(run, with_panels=False)


def _page_panels(run: Run, with_panels: bool) -> PagePanels:
    from fathometer.report.page import DAMAGE, PagePanels, damage_message

    shown = registry.panels_of(run.record)
    if shown is None:
        return PagePanels()
    try:
        panels = shown.panels(run.record, run.path) if with_panels else []
        return PagePanels(shown.heading(run.record), panels)
    except DAMAGE as error:
        raise InputError(f"{run.path}: damaged: {damage_message(error)}") from None
