"""Maps of peak ground velocity: the largest velocities at the nodes of the observed plane, horizontal and vertical.

    horizontal  max over time of sqrt(vx^2 + vy^2)        vertical  max over time of |vz|

In two dimensions a map is one row of nodes along x.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.pictures import sheet
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.exchange import exchange
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.writer import write_volume

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPONENTS = ("horizontal", "vertical")
WIDE, LOW, HIGH = 4.6, 1.2, 7.0  # inches: width of a map; its height at least and at most
BETWEEN = 0.75  # inches between the two maps
BESIDE = 1.1  # inches for the colour bar


class Watching(Protocol):
    """A propagator that keeps peaks: see ElasticPropagator."""

    grid: Grid
    block: Decomposition
    comm: MPI.Intracomm
    peak: tuple[NDArray[Any], NDArray[Any]] | None


def gathered_peaks(propagator: Watching) -> NDArray[np.float32] | None:
    """Collective. The peaks (2, nx, ny) at the model's nodes, horizontal and vertical, on rank 0; None on the others.

    FathometerError, the same on all ranks, where one lacks memory.
    """
    grid, block, comm = propagator.grid, propagator.block, propagator.comm
    have = np.empty((2, 0, 0), np.float32)
    if propagator.peak is not None:
        have = np.stack(propagator.peak).astype(np.float32)
    lo = 0, grid.pad[0][0], grid.pad[1][0]
    hi = 2, lo[1] + grid.shape[0], lo[2] + grid.shape[1]
    peaks = exchange(comm, have, (0, *block.lo[:2]), lo, hi if comm.rank == 0 else lo)
    return peaks if comm.rank == 0 else None


def peak_paths(folder: Path, prefix: str = "peak-velocity") -> dict[str, Path]:
    """The files of a map by kind: a volume for each component, and the picture."""
    files = {f"{prefix} {name}".replace("-", " "): folder / f"{prefix}-{name}.rsf" for name in COMPONENTS}
    return {**files, f"{prefix} picture".replace("-", " "): folder / f"{prefix}.png"}


def write_peaks(
    grid: Grid,
    peaks: NDArray[np.float32],
    folder: Path,
    prefix: str = "peak-velocity",
    title: str = "Peak velocity",
    place: Place | None = None,
) -> dict[str, Path]:
    """On one rank: write the maps of peaks (2, nx, ny), m/s, as volumes of the axes x, y, and draw them.

    place: of the grid's x and y in the world; None: unknown.
    Returns the files as `peak_paths`. Raises FathometerError where one cannot be written.
    """
    files = peak_paths(folder, prefix)
    *volumes, picture = files.values()
    shape, dtype = (grid.shape[0], grid.shape[1]), np.dtype(np.float32)
    info = VolumeInfo(shape, dtype, grid.spacing[:2], grid.origin[:2], ("x", "y"), "m/s", place=place or Place())
    with ledger.file("peak velocities", "write"):
        for path, values in zip(volumes, peaks, strict=True):
            write_volume(path, info, values, (0, 0), MPI.COMM_SELF)
    sheet.save(peaks_figure(grid, peaks, title), picture)
    return files


def peaks_figure(grid: Grid, peaks: NDArray[np.float32], title: str) -> Figure:
    """The figure of both maps, each with its own colours; in two dimensions curves along x."""
    if grid.two_dimensional:
        return _curves(grid, peaks, title)
    (dx, dy, _), (nx, ny, _) = grid.spacing, grid.shape
    edges = (grid.origin[0] - dx / 2, grid.upper[0] + dx / 2, grid.origin[1] - dy / 2, grid.upper[1] + dy / 2)
    depth = min(max(WIDE * (ny * dy) / (nx * dx), LOW), HIGH)
    with sheet.style():
        apart = WIDE + BESIDE + BETWEEN
        height = sheet.TOP + sheet.NAME + depth + sheet.BOTTOM
        figure = sheet.sheet(sheet.LEFT + apart + WIDE + BESIDE + sheet.RIGHT, height, title)
        for number, (name, values) in enumerate(zip(COMPONENTS, peaks, strict=True)):
            left, top = sheet.LEFT + number * apart, sheet.TOP + sheet.NAME
            axes = sheet.place(figure, left, top, WIDE, depth)
            drawn = axes.imshow(
                values.T, cmap="inferno", vmin=0.0, extent=edges, origin="lower", aspect="auto", interpolation="nearest"
            )
            axes.set_title(name, loc="left")
            axes.set_xlabel("x (m)")
            axes.set_ylabel("y (m)" if number == 0 else "")
            bar = sheet.place(figure, left + WIDE + 0.12, top, 0.14, depth)
            figure.colorbar(drawn, cax=bar, label="m/s")
    return figure


def _curves(grid: Grid, peaks: NDArray[np.float32], title: str) -> Figure:
    places = grid.origin[0] + grid.spacing[0] * np.arange(grid.shape[0])
    with sheet.style():
        width, height = 2 * WIDE, LOW * 2
        figure = sheet.sheet(sheet.LEFT + width + sheet.RIGHT, sheet.TOP + sheet.NAME + height + sheet.BOTTOM, title)
        axes = sheet.place(figure, sheet.LEFT, sheet.TOP + sheet.NAME, width, height)
        for name, values, colour in zip(COMPONENTS, peaks, ("#0072b2", "#d55e00"), strict=True):
            axes.plot(places, values[:, 0], color=colour, linewidth=1.2, label=name)
        axes.set_xlim(float(places[0]), float(places[-1]))
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("x (m)")
        axes.set_ylabel("m/s")
        axes.legend(loc="upper right")
    return figure
