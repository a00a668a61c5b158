"""Volumes and surveys that lie somewhere in the world, and what other libraries read of their place."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import segyio
import zarr
from segy_support import Bytes

from fathometer.storage.traces.segy import GatherWriter

SUFFIXES = (".rsf", ".nc", ".h5", ".zarr", ".blocks")  # of formats with attributes
ORIGIN, AZIMUTH = (451234.5, 6202345.25), 60.0


@dataclass(frozen=True)
class Frame:
    """The transform as the guide has it, in plain numbers."""

    origin: tuple[float, float] = ORIGIN
    azimuth: float = AZIMUTH

    def world(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """X and Y, by the rotation of a complex number."""
        turned = (np.asarray(x) + 1j * np.asarray(y)) * np.exp(1j * math.radians(90.0 - self.azimuth))
        return self.origin[0] + turned.real, self.origin[1] + turned.imag


def attributes(path: Path) -> dict[str, Any]:
    """The attributes of a volume, read without the program's readers; numbers as lists of floats."""
    named = path.stem.replace("-", "_")
    match path.suffix:
        case ".nc":
            with netCDF4.Dataset(path) as file:
                found = {name: file[named].getncattr(name) for name in file[named].ncattrs()}
        case ".h5":
            with h5py.File(path) as file:
                found = dict(file["values"].attrs)
        case ".zarr":
            found = dict(zarr.open_group(path, mode="r")[named].attrs)
        case ".blocks":
            found = json.loads((path / "index.json").read_text())
        case _:
            pairs = [line.partition("=") for line in path.read_text().splitlines()]
            found = {key: value.strip("'\"") for key, _, value in pairs}
            found |= {
                key: [float(number) for number in found[key].split(",")]
                for key in ("world_origin", "azimuth", "world_transform")
                if key in found
            }
    return {key: np.atleast_1d(value).tolist() if not isinstance(value, str) else value for key, value in found.items()}


def cdp(path: Path) -> tuple[np.ndarray, np.ndarray, float]:
    """X and Y of all traces by segyio, m, and the step of the headers' scalar."""
    with segyio.open(path, ignore_geometry=True) as file:
        x, y, scalar, units = (file.attributes(byte)[:] for byte in (181, 185, 71, 89))
        assert (units == 1).all()
        step = np.where(scalar < 0, 1.0 / np.abs(scalar), np.maximum(scalar, 1))
    return x * step, y * step, float(step[0])


def text(path: Path) -> str:
    """The textual header by segyio, its lines without numbers."""
    with segyio.open(path, ignore_geometry=True) as file:
        head = bytes(file.text[0]).decode("latin-1")
    lines = [head[start : start + 80] for start in range(0, len(head), 80)]
    return "\n".join(line[4:].rstrip() for line in lines)


def segy_model(
    path: Path,
    values: np.ndarray,
    spacing: tuple[float, float],
    frame: Frame,
    first: tuple[float, float] = (0.0, 0.0),
    lines: dict[int, str] | None = None,
) -> Path:
    """A SEG-Y of values (nx, ny, nz) or (nx, nz) with world coordinates to a centimetre; `first`: local place of its
    first cell; lines: of the textual header, by number."""
    flat = values.ndim == 2
    nx, ny = values.shape[0], 1 if flat else values.shape[1]
    x, y = np.meshgrid(first[0] + spacing[0] * np.arange(nx), first[1] + spacing[1] * np.arange(ny), indexing="ij")
    east, north = (np.rint(100 * part).astype(int).reshape(-1) for part in frame.world(x, y))
    numbers = {} if flat else {189: 0, 193: 0}
    trace = [
        {
            181: int(east[k]),
            185: int(north[k]),
            71: -100,
            **{byte: 1 + k // ny if byte == 189 else 1 + k % ny for byte in numbers},
        }
        for k in range(nx * ny)
    ]
    Bytes(values.reshape(nx * ny, -1), trace=trace, every={117: 4000}).write(path)
    if lines:
        data = bytearray(path.read_bytes())
        for number, line in lines.items():
            data[80 * (number - 1) : 80 * number] = f"C{number:2d} {line}".ljust(80)[:80].encode("cp037")
        path.write_bytes(data)
    return path


def gathers(path: Path, frame: Frame, sources: np.ndarray, receivers: np.ndarray, samples: int = 60) -> Path:
    """Shots at local sources (n, 3), receivers (m, 3) the same for all, in world coordinates to a centimetre."""
    random = np.random.default_rng(4)

    def placed(points: np.ndarray) -> np.ndarray:
        return np.round(np.stack([*frame.world(points[:, 0], points[:, 1]), points[:, 2]], axis=1), 2)

    with GatherWriter(path, samples, 0.004, len(sources) * len(receivers)) as writer:
        for number, source in enumerate(placed(sources)):
            traces = random.standard_normal((len(receivers), samples)).astype(np.float32)
            writer.write(number * len(receivers), number + 1, source, placed(receivers), traces)
    return path
