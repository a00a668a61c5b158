"""The record of a run that is profiled (`fathometer profile`), left beside what the profile counts: both accounts then
stand on one page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.record.envelope import write_record

FOLDER = "FATHOMETER_PROFILE"  # a variable: where the ranks of a program that is profiled write
OPTIONS = "FATHOMETER_PROFILE_OPTIONS"  # a variable: what is counted on request
HIDE = "hide-arguments"  # one of these: of commands only the program is kept
OWN_RECORD = "own-record.json"


def leave_record(record: Mapping[str, Any]) -> None:
    """Write a run's record into the profile's folder, where there is a profile.

    Raises FathometerError where it cannot be written.
    """
    if folder := os.environ.get(FOLDER):
        if HIDE in os.environ.get(OPTIONS, "").split(","):
            record = {**record, "command": record["command"][:1]}
        write_record(Path(folder) / OWN_RECORD, record)
