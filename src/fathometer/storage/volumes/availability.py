"""Formats and strategies available on this machine, and how to install what is missing: `fathometer info --formats`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fathometer.storage.volumes.formats.hdf5 import filters_missing
from fathometer.storage.volumes.registry import FORMATS, Format
from fathometer.storage.volumes.strategy_cache import winners

RANKS = 2  # that a strategy is to work on


@dataclass(frozen=True)
class Availability:
    """One format on this machine; `read` or `write` is empty where it cannot be read, or written."""

    format: str
    suffixes: tuple[str, ...]
    read: tuple[str, ...]  # names of strategies
    write: tuple[str, ...]
    missing: tuple[str, ...]  # one line each: what, and how to install it
    remembered: tuple[str, ...]  # one line each: what `auto` stands for on some file system
    note: str

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        return [
            ("suffixes", ", ".join(self.suffixes)),
            ("read", ", ".join(self.read) or "no"),
            ("written", ", ".join(self.write) or "no"),
            *(("missing", line) for line in self.missing),
            *(("remembered", line) for line in self.remembered),
            *([("note", self.note)] if self.note else []),
        ]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def availability() -> list[Availability]:
    """Availability of all formats."""
    return [_availability(form) for form in FORMATS]


def _availability(form: Format) -> Availability:
    missing = [form.missing(name, RANKS) for name in (*form.reads, *form.writes)]
    if len(form.filters) > 1:
        missing.append(filters_missing())
    return Availability(
        form.name,
        form.suffixes,
        tuple(name for name in form.reads if not form.missing(name, RANKS)),
        tuple(name for name in form.writes if not form.missing(name, RANKS)),
        tuple(dict.fromkeys(line for line in missing if line)),
        tuple(str(winner) for winner in winners() if winner.format == form.name),
        form.note,
    )
