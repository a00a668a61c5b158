"""What the examples in the docstrings of the Python interface work on, and a small survey as dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from cli_support import INTERVAL, NX, RECEIVERS, SAMPLES, SOURCE, SPACING, inputs
from mpi4py import MPI
from report_support import a_record

from fathometer.record.envelope import write_record
from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.writer import write_volume

SURVEY: dict[str, Any] = {
    "model": {"vp": "vp.npy", "spacing": (SPACING, SPACING)},
    "acquisition": {"sources": {"x": SOURCE[0], "z": SOURCE[2]}, "receivers": {"x": [0.0, 390.0, 10.0], "z": 20.0}},
    "wavelet": {"kind": "ricker", "peak_frequency": np.float64(15.0)},
    "propagation": {"duration": 0.2, "boundary": {"kind": "pml", "width": 10}},
    "output": {"directory": Path("out")},
}
MIGRATION: dict[str, Any] = {
    **SURVEY,
    "acquisition": {"gathers": "recorded.segy"},
    "propagation": {"boundary": {"kind": "pml", "width": 10}},
}
__all__ = ["INTERVAL", "MIGRATION", "NX", "RECEIVERS", "SAMPLES", "SURVEY", "documented", "inputs", "written"]


def written(path: Path, values: np.ndarray, place: Place | None = None, strategy: str = "auto") -> Path:
    """A volume of steps 10, 20 and 5 m along x, y and z, or of 10 and 5 m along x and z."""
    flat = values.ndim == 2
    spacing, labels = ((10.0, 5.0), ("x", "z")) if flat else ((10.0, 20.0, 5.0), ("x", "y", "z"))
    origin = (0.0,) * values.ndim
    info = VolumeInfo(values.shape, values.dtype, spacing, origin, labels, "m/s", place=place or Place())
    write_volume(path, info, values, (0,) * values.ndim, MPI.COMM_SELF, Strategy.of(strategy))
    return path


def documented(folder: Path) -> None:
    """The files that the docstrings name."""
    written(folder / "image.rsf", np.arange(24, dtype=np.float32).reshape(6, 4))
    receivers = np.array([[25.0, 0.0, 0.0], [50.0, 0.0, 0.0], [75.0, 0.0, 0.0]])
    with GatherWriter(folder / "shots.segy", 11, 0.004, 6) as writer:
        for shot in (1, 2):
            source = np.array([100.0 * shot, 0.0, 5.0])
            traces = np.arange(33, dtype=np.float32).reshape(3, 11) + 100 * shot
            writer.write(3 * (shot - 1), shot, source, source + receivers, traces)
    write_record(folder / "run.json", a_record())
