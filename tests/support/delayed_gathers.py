"""Shots whose traces begin at times of their own, as the trials write them, and images of such files."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from cli_support import INTERVAL, MIGRATE, RECEIVERS, here, survey

from fathometer.storage.traces.segy import GatherWriter


def write(path: Path, ffid: int, source: float, traces: np.ndarray, delays: np.ndarray, scalar: int = 0) -> None:
    """One shot whose samples begin at delays (receivers,), in ms, with a scalar in units of 1 ms over it."""
    with GatherWriter(path, traces.shape[1], INTERVAL, len(RECEIVERS)) as writer:
        writer.write(0, ffid, (source, 0.0, 20.0), RECEIVERS, traces)
    data = bytearray(path.read_bytes())
    for trace, delay in enumerate(delays.tolist()):
        head = 3600 + trace * (240 + 4 * traces.shape[1])
        struct.pack_into(">h", data, head + 108, delay)
        struct.pack_into(">h", data, head + 214, -scalar)
    path.write_bytes(data)


def image(folder: Path, name: str, files: str) -> np.ndarray:
    """The image of a migration into the folder NAME."""
    keys = MIGRATE | {"acquisition.gathers": files, "output.directory": name}
    done = here("migrate", survey(folder, keys, f"{name}.toml"))
    assert done.code == 0, done.err
    return np.fromfile(folder / name / "image.rsf@", np.float32)
