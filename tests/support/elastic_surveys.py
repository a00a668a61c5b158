"""Small elastic surveys in a folder, run in this process or as processes of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from cli_support import survey

N, SPACING = 26, 20.0
KEYS = {
    "model.vp": "vp.npy",
    "model.vs": "vs.npy",
    "model.density": 2200.0,
    "model.spacing": [SPACING] * 3,
    "acquisition.sources": {"x": [140.0, 240.0, 100.0], "y": 230.0, "z": 130.0},
    "acquisition.receivers": {"x": [50.0, 450.0, 50.0], "y": 260.0, "z": 0.0},
    "acquisition.components": ["vx", "vz", "sxx"],
    "source.kind": "double-couple",
    "source.strike": 20.0,
    "source.dip": 50.0,
    "source.rake": 70.0,
    "source.moment": 1e12,
    "wavelet.kind": "ricker",
    "wavelet.peak_frequency": 6.0,
    "propagation.physics": "elastic",
    "propagation.top": "free-surface",
    "propagation.duration": 0.15,
    "snapshots.every_steps": 10,
}


IN_2D = {
    "model__vp": "line.npy",
    "model__vs": 1100.0,
    "model__spacing": [SPACING] * 2,
    "acquisition__sources": {"x": [140.0, 340.0, 100.0], "z": 130.0},
    "acquisition__components": ["vx", "vz"],
    "acquisition__receivers": {"x": [50.0, 450.0, 50.0], "z": 0.0},
    "source__strike": 90.0,
}


def elastic_survey(folder: Path, name: str = "elastic.toml", **changes: Any) -> Path:
    """Model files and survey; changes: keys with __ for the point, None leaves one out."""
    z = np.arange(N, dtype=np.float32)
    vp = np.broadcast_to(1800 + 30 * z, (N, N, N))
    np.save(folder / "vp.npy", vp)
    np.save(folder / "line.npy", vp[:, 0])
    np.save(folder / "vs.npy", (vp / 1.8).astype(np.float32))
    return survey(folder, KEYS | {key.replace("__", "."): value for key, value in changes.items()}, name)


def samples(folder: Path) -> dict[str, bytes]:
    """The bytes of all traces, snapshots and maps of a folder of results, by file."""
    names = [path for path in folder.iterdir() if path.suffix == ".segy" or path.name.endswith(".rsf@")]
    return {path.name: path.read_bytes() for path in names}
