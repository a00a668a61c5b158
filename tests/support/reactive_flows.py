"""Flow files for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from input_values import changed

from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.config.input_file import validated

BASE: dict[str, Any] = {
    "grid": {"cells": [12, 1, 1], "spacing": [0.01, 0.01, 0.01]},
    "chemistry": {
        "primary": ["Ca+2", "H+", "HCO3-", "Tracer"],
        "secondary": ["OH-", "CO2(aq)", "CO3-2", "CaHCO3+", "CaCO3(aq)"],
        "minerals": ["Calcite"],
        "specific_area": {"Calcite": 0.01},
    },
    "water": [
        {
            "name": "resident",
            "species": {
                "H+": {"charge": True},
                "Ca+2": {"mineral": "Calcite"},
                "HCO3-": {"gas": "CO2(g)", "pressure": 1e-3},
                "Tracer": {"total": 1e-9},
            },
        },
        {
            "name": "acid",
            "species": {
                "H+": {"charge": True},
                "Ca+2": {"total": 1e-5},
                "HCO3-": {"gas": "CO2(g)", "pressure": 0.3},
                "Tracer": {"total": 1e-3},
            },
        },
    ],
    "initial": [{"water": "resident", "minerals": {"Calcite": 0.01}}],
    "boundary": [{"side": "x-", "kind": "fixed", "water": "acid"}, {"side": "x+", "kind": "open"}],
    "flow": {"flux": [1e-6, 0.0, 0.0]},
    "time": {"end": 20000.0, "step": 1000.0},
}


def values(**changes: Any) -> dict[str, Any]:
    """BASE with further keys: table__key = value; None removes it."""
    return changed(BASE, changes)


def flow(folder: Path, **changes: Any) -> FlowFile:
    """A flow file in a folder."""
    return validated(FlowFile, values(**changes), folder / "flow.toml")
