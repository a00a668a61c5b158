"""Which formats can be read and written here, by which strategies, and how to install what is missing: the work of
`fathometer info --formats`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fathometer.storage.volumes.formats.hdf5 import filters_missing
from fathometer.storage.volumes.registry import FORMATS, Format
from fathometer.storage.volumes.strategy_cache import winners

SEVERAL = 2  # ranks


@dataclass(frozen=True)
class Availability:
    """One format on this machine; a list of strategies is empty where it cannot be read, or written."""

    format: str
    suffixes: tuple[str, ...]
    read: tuple[str, ...]
    write: tuple[str, ...]
    missing: tuple[str, ...]  # one line each: what, and how to install it
    remembered: tuple[str, ...]  # one line each: what `auto` is on some file system
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
    """All formats."""
    return [_availability(form) for form in FORMATS]


def _availability(form: Format) -> Availability:
    lacking = [form.missing(name, SEVERAL) for name in (*form.reads, *form.writes)]
    if len(form.filters) > 1:
        lacking.append(filters_missing())
    return Availability(
        form.name,
        form.suffixes,
        tuple(name for name in form.reads if not form.missing(name, SEVERAL)),
        tuple(name for name in form.writes if not form.missing(name, SEVERAL)),
        tuple(dict.fromkeys(line for line in lacking if line)),
        tuple(str(one) for one in winners() if one.format == form.name),
        form.note,
    )
