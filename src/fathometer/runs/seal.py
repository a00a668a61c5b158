"""Records of a journal: JSON objects with the version of the journal first and a checksum of all else last.

A line is read only if it is, byte by byte, what `sealed` wrote; a record of several lines (survey.json) if its contents
are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fathometer.record.envelope import plain
from fathometer.storage.fingerprint import hash_of

VERSION = 2  # of the journal: what its files hold, and how
VERSION_KEY, CHECKSUM_KEY = "journal", "checksum"


class BrokenSealError(ValueError):
    """A record is not what was written, or of another version of the journal.

    Attributes:
        version: of an intact or unprotected record of another version, else None.
    """

    def __init__(self, reason: str, version: Any = None) -> None:
        super().__init__(reason)
        self.version = version


def sealed(entries: Mapping[str, Any]) -> str:
    """A record as one line of JSON, ASCII, without the line's end."""
    text = json.dumps({VERSION_KEY: VERSION} | plain(entries))
    return f'{text[:-1]}, "{CHECKSUM_KEY}": "{_checksum(text)}"}}'


def unsealed(line: str) -> dict[str, Any]:
    """The entries of a line that `sealed` wrote. Raises BrokenSealError for any other line."""
    start = line.rfind(f', "{CHECKSUM_KEY}": "')
    text = line[:start] + "}"
    if start < 0 or f'{text[:-1]}, "{CHECKSUM_KEY}": "{_checksum(text)}"}}' != line:
        raise BrokenSealError("its checksum is wrong")
    entries: dict[str, Any] = json.loads(text)
    if entries.pop(VERSION_KEY, None) != VERSION:
        raise BrokenSealError("it is of another version of the journal")
    return entries


def with_seal(entries: Mapping[str, Any]) -> dict[str, Any]:
    """A record with version and checksum, to be written in any layout."""
    record: dict[str, Any] = {VERSION_KEY: VERSION} | plain(entries)
    return record | {CHECKSUM_KEY: _checksum(_canonical(record))}


def without_seal(record: object) -> dict[str, Any]:
    """The entries of a record that `with_seal` made, as read from JSON. Raises BrokenSealError for any other value."""
    if not isinstance(record, dict) or VERSION_KEY not in record:
        raise BrokenSealError("it is not the record of a journal")
    entries: dict[str, Any] = dict(record)
    checksum = entries.pop(CHECKSUM_KEY, None)
    if checksum is None and entries[VERSION_KEY] != VERSION:
        raise BrokenSealError("it has no checksum", entries[VERSION_KEY])
    if checksum != _checksum(_canonical(entries)):
        raise BrokenSealError("its checksum is wrong")
    version = entries.pop(VERSION_KEY)
    if version != VERSION:
        raise BrokenSealError(f"it is of version {version}", version)
    return entries


def _canonical(record: Mapping[str, Any]) -> str:
    return json.dumps(record, sort_keys=True)


def _checksum(text: str) -> str:
    return hash_of(text.encode())
