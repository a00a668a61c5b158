"""Records of a journal, a restart file or a finished task: JSON objects with their version first and a checksum of all
else last.

A line is read only if it is, byte by byte, what `sealed` wrote; a record of several lines (survey.json) if its contents
are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fathometer.record.envelope import plain
from fathometer.storage.fingerprint import hash_of

CHECKSUM_KEY = "checksum"


@dataclass(frozen=True)
class Kind:
    """Of what a record is.

    Attributes:
        key: under which it has its version, before all else. version: of what the files hold, and how.
    """

    key: str
    version: int


JOURNAL = Kind("journal", 2)


class BrokenSealError(ValueError):
    """A record is not what was written, or of another version.

    Attributes:
        version: of an intact or unprotected record of another version, else None.
    """

    def __init__(self, reason: str, version: Any = None) -> None:
        super().__init__(reason)
        self.version = version


def sealed(entries: Mapping[str, Any], kind: Kind = JOURNAL) -> str:
    """A record as one line of JSON, ASCII, without the line's end."""
    text = json.dumps({kind.key: kind.version} | plain(entries))
    return f'{text[:-1]}, "{CHECKSUM_KEY}": "{_checksum(text)}"}}'


def unsealed(line: str, kind: Kind = JOURNAL) -> dict[str, Any]:
    """The entries of a line that `sealed` wrote. Raises BrokenSealError for any other line."""
    start = line.rfind(f', "{CHECKSUM_KEY}": "')
    if start < 0:
        raise BrokenSealError("it has no checksum")
    text = line[:start] + "}"
    if f'{text[:-1]}, "{CHECKSUM_KEY}": "{_checksum(text)}"}}' != line:
        raise BrokenSealError("its checksum is wrong")
    entries: dict[str, Any] = json.loads(text)
    if (version := entries.pop(kind.key, None)) != kind.version:
        raise BrokenSealError(f"it is of another version of the {kind.key}", version)
    return entries


def with_seal(entries: Mapping[str, Any]) -> dict[str, Any]:
    """A record with version and checksum, to be written in any layout."""
    record: dict[str, Any] = {JOURNAL.key: JOURNAL.version} | plain(entries)
    return record | {CHECKSUM_KEY: _checksum(_canonical(record))}


def without_seal(record: object) -> dict[str, Any]:
    """The entries of a record that `with_seal` made, as read from JSON. Raises BrokenSealError for any other value."""
    if not isinstance(record, dict) or JOURNAL.key not in record:
        raise BrokenSealError("it is not the record of a journal")
    entries: dict[str, Any] = dict(record)
    checksum = entries.pop(CHECKSUM_KEY, None)
    if checksum is None and entries[JOURNAL.key] != JOURNAL.version:
        raise BrokenSealError("it has no checksum", entries[JOURNAL.key])
    if checksum != _checksum(_canonical(entries)):
        raise BrokenSealError("its checksum is wrong")
    version = entries.pop(JOURNAL.key)
    if version != JOURNAL.version:
        raise BrokenSealError(f"it is of version {version}", version)
    return entries


def _canonical(record: Mapping[str, Any]) -> str:
    return json.dumps(record, sort_keys=True)


def _checksum(text: str) -> str:
    return hash_of(text.encode())
