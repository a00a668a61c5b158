"""Plasma files for tests."""

from __future__ import annotations

from typing import Any

from input_values import changed

IONS = {"name": "ions", "density_gradient": 2.22, "temperature_gradient": 6.92}
LINEAR: dict[str, Any] = {
    "velocities": {"energies": 3, "cosines": 4},
    "modes": {"kind": "chain", "ky": [0.2, 0.3], "turns": 3, "theta": 8},
    "species": [IONS],
    "time": {"end": 2.0},
}
BOX: dict[str, Any] = {
    "velocities": {"energies": 3, "cosines": 4},
    "modes": {"kind": "box", "theta": 8, "ky_number": 4, "ky_least": 0.2, "kx_number": 9, "twist": 2},
    "species": [IONS],
    "initial": {"kind": "noise", "amplitude": 2.0},
    "time": {"end": 1.0},
    "numerics": {"damping": 0.1},
    "output": {"every": 0.25, "course_steps": 2, "restart_steps": 3},
}


def linear_values(**changes: Any) -> dict[str, Any]:
    """LINEAR with further keys: table__key = value; None removes it."""
    return changed(LINEAR, changes)


def box_values(**changes: Any) -> dict[str, Any]:
    """BOX with further keys."""
    return changed(BOX, changes)
