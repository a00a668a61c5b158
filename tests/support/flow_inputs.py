"""Input files of incompressible flows for tests."""

from __future__ import annotations

from typing import Any

from input_values import changed

BOX: dict[str, Any] = {
    "grid": {"cells": [8, 6], "size": [1.0, 1.0]},
    "fluid": {"viscosity": 0.01},
    "initial": {"kind": "taylor-green"},
    "time": {"end": 0.1},
}
# Fluid that passes between walls, one of them warm, in three dimensions: all that a flow may have.
CHANNEL: dict[str, Any] = {
    "grid__cells": [12, 10, 8],
    "grid__size": [1.2, 1.0, 0.8],
    "side": [
        {"side": "x-", "kind": "inflow", "velocity": [1.0, 0.0, 0.0], "profile": "parabolic"},
        {"side": "x+", "kind": "outflow"},
        {"side": "y-", "kind": "wall", "temperature": 1.0},
        {"side": "y+", "kind": "wall"},
    ],
    "temperature": {"diffusivity": 0.01, "expansion": 0.1, "gravity": [0.0, -9.81, 0.0]},
    "initial": {"kind": "rest", "noise": 0.05},
    "time__end": 0.2,
    "output": {"every": 0.05, "course_steps": 2, "restart_steps": 3},
}


def box_values(**changes: Any) -> dict[str, Any]:
    """BOX with further keys: table__key = value; None removes it."""
    return changed(BOX, changes)
