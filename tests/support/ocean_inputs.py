"""Ocean files for tests."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from fathometer.apps.ocean.ocean_file import OceanFile, ocean_of

BASE: dict[str, Any] = {
    "grid": {"cells": [12, 8], "spacing": [1e4, 2e4], "levels": [50.0, 100.0, 150.0]},
    "bathymetry": {"kind": "flat"},
    "time": {"step": 600.0, "steps": 10},
}
SPHERE = {"kind": "sphere", "cells": [36, 30], "spacing": [10.0, 5.0], "origin": [0.0, -75.0], "periodic": True}
SPHERE |= {"levels": [50.0, 100.0, 150.0]}


def ocean_values(**changes: Any) -> dict[str, Any]:
    """BASE with further keys: table__key = value; None removes it."""
    found = copy.deepcopy(BASE)
    for name, value in changes.items():
        table, _, key = name.partition("__")
        if not key:
            found[table] = value
            continue
        entry = found.setdefault(table, {})
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = value
    return {name: value for name, value in found.items() if value is not None}


def ocean(folder: Path, **changes: Any) -> OceanFile:
    """An ocean file in a folder."""
    return ocean_of(ocean_values(**changes), folder / "ocean.toml")
