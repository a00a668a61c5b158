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
LIVELY: dict[str, Any] = {  # further keys: wind, fronts, restoring, a ridge
    "bathymetry": {"kind": "ridge", "height": 150.0, "width": 0.2},
    "rotation": {"f": 1e-4, "beta": 2e-11},
    "mixing": {"viscosity": 1e3, "diffusivity": 100.0, "bottom_drag": "linear", "drag_coefficient": 1e-4},
    "initial": {"temperature": {"surface": {"south": 20.0, "north": 10.0}, "deep": 4.0, "scale": 100.0}},
    "forcing": {
        "wind": {"kind": "double-gyre", "amplitude": 0.1},
        "salinity": {"timescale": 1e6, "target": 36.0},
        "heat_flux": 100.0,
    },
}
SPHERE = {"kind": "sphere", "cells": [36, 30], "spacing": [10.0, 5.0], "origin": [0.0, -75.0], "periodic": True}
SPHERE |= {"levels": [50.0, 100.0, 150.0]}


def ocean_values(**changes: Any) -> dict[str, Any]:
    """BASE with further keys: table__key = value; None removes it."""
    return changed(BASE, changes)


def ocean(folder: Path, **changes: Any) -> OceanFile:
    """An ocean file in a folder."""
    return validated(OceanFile, ocean_values(**changes), folder / "ocean.toml")
