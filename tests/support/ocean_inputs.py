"""Ocean files for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from input_values import changed

from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.config.input_file import validated

BASE: dict[str, Any] = {
    "grid": {"cells": [12, 8], "spacing": [1e4, 2e4], "levels": [50.0, 100.0, 150.0]},
    "bathymetry": {"kind": "flat"},
    "time": {"step": 600.0, "steps": 10},
}
SPHERE = {"kind": "sphere", "cells": [36, 30], "spacing": [10.0, 5.0], "origin": [0.0, -75.0], "periodic": True}
SPHERE |= {"levels": [50.0, 100.0, 150.0]}


def ocean_values(**changes: Any) -> dict[str, Any]:
    """BASE with further keys: table__key = value; None removes it."""
    return changed(BASE, changes)


def ocean(folder: Path, **changes: Any) -> OceanFile:
    """An ocean file in a folder."""
    return validated(OceanFile, ocean_values(**changes), folder / "ocean.toml")
