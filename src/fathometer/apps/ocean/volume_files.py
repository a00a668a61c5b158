"""Values of an ocean from files: 2D volumes over x, y and 3D ones over x, y, z, whatever the order of their axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fathometer.apps.ocean.grid import Floats, OceanGrid
from fathometer.apps.ocean.value_units import scale_of
from fathometer.base.errors import InputError, naming
from fathometer.storage.volumes.volume import Volume, open_volume

LABELS = {  # as ocean models and their tools name axes
    "x": ("x", "lon", "longitude", "nlon", "i", "xc", "xt_ocean", "xh"),
    "y": ("y", "lat", "latitude", "nlat", "j", "yc", "yt_ocean", "yh"),
    "z": ("z", "depth", "lev", "level", "k", "z_t", "deptht", "st_ocean", "zl"),
}
AXIS_OF_LABEL = {label: axis for axis, labels in LABELS.items() for label in labels}
SAME_SPACING = 1e-4  # relative
LARGEST = 1e6


class GridVolume:
    """A volume with a value for each cell of a grid, or for each column.

    place: of its key in the ocean file, for errors. axes: slowest first; None: by its labels, else x, y, (z).
    quantity: what its values are, a key of value_units.SCALES.
    Raises InputError: see open_volume; another shape than the grid's; labels or spacings that contradict; a unit that
    is unknown.
    """

    def __init__(
        self,
        place: str,
        reference: str,
        directory: Path,
        axes: str | None,
        shape: Sequence[int],
        spacing: Sequence[float],
        quantity: str,
    ) -> None:
        self.place = f"{place}: {reference}"
        with naming(place):
            self._volume: Volume = open_volume(reference, directory)
        info, natural = self._volume.info, "xyz"[: len(shape)]
        self._factor, self._added = scale_of(self.place, quantity, info.unit)
        labelled = axes_of_labels(info.labels)
        if axes is not None and labelled is not None and axes != labelled:
            raise InputError(
                f'{self.place}: found axes = "{axes}", but the file labels them "{labelled}"; allowed: that'
            )
        self.axes = axes or labelled or natural
        needed = [shape["xyz".index(axis)] for axis in self.axes] if sorted(self.axes) == sorted(natural) else None
        if needed is None or list(info.shape) != needed:
            found = f"{' x '.join(map(str, info.shape))} values ({', '.join(self.axes[: len(info.shape)])})"
            told = "" if axes or labelled else ", or axes for another order"
            cells = f"{' x '.join(map(str, shape))} ({', '.join(natural)})"
            raise InputError(f"{self.place}: found {found}; needed: {cells}, as the grid has cells{told}")
        for axis, size in zip("xy", spacing, strict=False):
            found_size = None if info.spacing is None else info.spacing[self.axes.index(axis)]
            if found_size is not None and not math.isclose(found_size, size, rel_tol=SAME_SPACING):
                raise InputError(
                    f"{self.place}: found a spacing of {found_size:g} m along {axis}; needed: {size:g} m, the grid's"
                )

    def read(self, lo: Sequence[int], hi: Sequence[int]) -> Floats:
        """Values of the cells lo to hi of x, y, (z), in this order."""
        order = ["xyz".index(axis) for axis in self.axes]
        values = self._volume.read([lo[n] for n in order], [hi[n] for n in order])
        back = [self.axes.index(axis) for axis in "xyz"[: len(order)]]
        found = np.ascontiguousarray(values.transpose(back), np.float64)
        if (self._factor, self._added) == (1.0, 0.0):
            return found
        return found * self._factor + self._added

    def files(self) -> list[Path]:
        """The files that it is in."""
        return self._volume.files()

    def close(self) -> None:
        """Close it."""
        self._volume.close()


def plane(
    place: str,
    reference: str,
    directory: Path,
    axes: str | None,
    grid: tuple[int, int],
    spacing: Sequence[float],
    quantity: str,
) -> Floats:
    """All values (nx, ny) of a 2D volume; arguments and errors as of GridVolume."""
    volume = GridVolume(place, reference, directory, axes, grid, spacing, quantity)
    try:
        return volume.read((0, 0), grid)
    finally:
        volume.close()


def check_values(
    place: str, values: Floats, wet: npt.NDArray[np.bool_], what: str, most: float = LARGEST, lo: Sequence[int] = (0, 0)
) -> Floats:
    """The values where it is wet, 0 elsewhere.

    Raises InputError where one is not finite or larger than `most`; what: that they are, with the unit. lo: their first
    cell.
    """
    bad = wet & ~(np.abs(values) <= most)
    if bad.any():
        first = tuple(int(n) for n in np.argwhere(bad)[0])
        cell = ", ".join(str(n + start) for n, start in zip(first, (*lo, 0), strict=False))
        count = int(bad.sum())
        cells = "1 cell" if count == 1 else f"{count} cells, the first of them"
        raise InputError(
            f"{place}: found {values[first]:g} in {cells} {cell} ({', '.join('xyz'[: len(first)])}); allowed: {what}, "
            f"up to {most:g}"
        )
    return np.where(wet, values, 0.0)


def spacing_of(grid: OceanGrid) -> tuple[float, ...]:
    """The spacing along x and y that files of a plane must have; those of a sphere carry none in m."""
    return () if grid.spherical else (float(grid.dx[0]), grid.dy)


def axes_of_labels(labels: Sequence[str] | None) -> str | None:
    """The axes that labels name, as "yx"; None where they do not name them all, each once."""
    axes = "".join(AXIS_OF_LABEL.get(label.strip().lower(), "?") for label in labels or "?")
    return None if "?" in axes or len(set(axes)) != len(axes) else axes
