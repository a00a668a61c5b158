"""Reading and checking records; the error of a damaged, foreign or newer one is one line that says what is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.record.envelope import RECORD, SCHEMA_VERSION, UNFINISHED
from fathometer.record.schema import problem_of
from fathometer.storage.json_text import json_values
from fathometer.storage.reading import readable, reading

NAMES = (RECORD, UNFINISHED)  # in a folder of results; the first that exists is read
RECORD_KEYS = {"schema_version", "application", "ledger", "validity"}  # by which a record is recognised


@dataclass(frozen=True)
class Run:
    """A record and the path of its file."""

    path: Path
    record: dict[str, Any]

    @property
    def finished(self) -> bool:
        """Whether the run came to its end."""
        return bool(self.record["validity"]["finished"])


def read_record(place: Path) -> Run:
    """The record in a file, or in a folder of results.

    Raises InputError, in one line: no such file; no JSON (damaged); no record of this program (foreign); of another
    version; a record in which something is missing or is not what it must be (damaged).
    """
    path = _file_of(place)
    with reading(path):
        data = readable(path).read_bytes()
    try:
        value = json_values(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: damaged or no record: not text in UTF-8 (byte {error.start}); allowed: {_allowed()}"
        ) from None
    except ValueError as error:
        raise InputError(f"{path}: damaged or no record: not valid JSON: {error}; allowed: {_allowed()}") from None
    if not isinstance(value, dict) or not value.keys() >= RECORD_KEYS:
        found = (
            f"an object without {', '.join(sorted(RECORD_KEYS - value.keys()))}"
            if isinstance(value, dict)
            else "no object"
        )
        raise InputError(f"{path}: not a record of Fathometer: found {found}; allowed: {_allowed()}")
    _check_version(path, value["schema_version"])
    if wrong := problem_of(value):
        raise InputError(f"{path}: damaged: {wrong}")
    return Run(path, value)


def _file_of(place: Path) -> Path:
    if not place.is_dir():
        return place
    for name in NAMES:
        if (place / name).exists():
            return place / name
    raise InputError(f"{place}: a folder without a record; allowed: one with {' or '.join(NAMES)}, or the file itself")


def _check_version(path: Path, version: object) -> None:
    if version == SCHEMA_VERSION and not isinstance(version, bool):
        return
    if isinstance(version, int) and not isinstance(version, bool):
        relation = "newer" if version > SCHEMA_VERSION else "older"
        hint = "; a later Fathometer reads it" if version > SCHEMA_VERSION else "; run again to have a new one"
        raise InputError(
            f"{path}: found schema_version {version}, {relation} than this program's; allowed: {SCHEMA_VERSION}{hint}"
        )
    raise InputError(f"{path}: damaged: schema_version: found {version!r}; allowed: {SCHEMA_VERSION}")


def _allowed() -> str:
    return "a run.json of this program"
