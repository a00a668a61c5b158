"""Which formats can be read and written here, by which strategies, and how to install what is missing: the work of
`fathometer info --formats`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fathometer.storage.formats import FORMATS, Format
from fathometer.storage.hdf5 import filters_missing
from fathometer.storage.strategy import ROOT

SEVERAL = 2  # ranks


@dataclass(frozen=True)
class Availability:
    """One format on this machine; a list of strategies is empty where it cannot be read, or written."""

    format: str
    suffixes: tuple[str, ...]
    read: tuple[str, ...]
    write: tuple[str, ...]
    missing: tuple[str, ...]  # one line each: what, and how to install it
    note: str

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of each line of a table."""
        return [
            ("suffixes", ", ".join(self.suffixes)),
            ("read", ", ".join(self.read) or "no"),
            ("written", ", ".join(self.write) or "no"),
            *(("missing", line) for line in self.missing),
            *([("note", self.note)] if self.note else []),
        ]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def availability() -> list[Availability]:
    """All formats."""
    return [_availability(form) for form in FORMATS]


def _availability(form: Format) -> Availability:
    missing = {direction: form.missing(direction, SEVERAL) for direction in ("read", "write")}
    alone = {direction: form.missing(direction, 1) for direction in ("read", "write")}

    def usable(names: tuple[str, ...], direction: str) -> tuple[str, ...]:
        if alone[direction]:
            return ()
        # What several ranks lack, the root alone, or one rank, has not got to have.
        return names if not missing[direction] else tuple(name for name in names if name == ROOT)

    lines = [*missing.values(), *(filters_missing() for _ in form.filters[1:2])]
    return Availability(
        form.name,
        form.suffixes,
        usable(form.reads, "read"),
        usable(form.writes, "write"),
        tuple(dict.fromkeys(line for line in lines if line)),
        form.note,
    )
