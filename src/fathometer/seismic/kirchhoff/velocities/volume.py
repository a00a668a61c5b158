"""A property from a volume over x, y and two-way time, interpolated linearly to the image."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError, naming, shortened
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.checks import check_eta, check_intervals, check_unit, check_velocities
from fathometer.seismic.kirchhoff.velocities.interpolation import along_last, bilinear, needed_box
from fathometer.seismic.kirchhoff.velocities.limits import EDGE, LATEST
from fathometer.seismic.kirchhoff.velocities.picks_columns import other_velocity
from fathometer.seismic.kirchhoff.velocities.places import columns_of, corners_of, place, times_of
from fathometer.seismic.kirchhoff.velocities.source import Columns, Floats
from fathometer.seismic.model.placement import survey_grid_of
from fathometer.seismic.model.property_units import factor_of, per_cent_note
from fathometer.seismic.model.velocity_units import hard_note, metres_per_second, unit_notes, units_of
from fathometer.seismic.shots.rotation import Rotation
from fathometer.storage.volumes.axis_labels import axis_of, listed, nameless
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.survey_grid import SurveyGrid
from fathometer.storage.volumes.volume import open_volume

PARALLEL = 0.7  # least cosine of the angle between a 2D image and the line of a volume


class VolumeSource:
    """A volume's values over the image: v(x, y, t) at its own nodes, linear between them; beyond its first and last
    time the outermost values hold.

    Attributes:
        name: the key with the file, for messages. notes: see Source.
    """

    def __init__(
        self,
        key: str,
        reference: str,
        directory: Path,
        grid: Grid,
        rotation: Rotation | None,
        kind: Literal["velocity", "eta"],
        units: str | None = None,
    ) -> None:
        """key: with the survey's file, for messages. rotation: from the survey's coordinates to the grid's, in which
        the image is; CDP coordinates of SEG-Y are the survey's, and so is what attributes make of other places.
        units: of velocities, as the survey says; None: as the file says, else m/s.

        InputError where the file cannot be opened, its axes are not x, (y and) time, units are unknown or contradict
        each other, or columns of the image lie outside it.
        """
        with naming(key):
            self._volume = open_volume(reference, directory)
        info = self._volume.info
        self.name, self._grid, self._kind = f"{key} ({self._volume.path})", grid, kind
        self.notes: tuple[str, ...] = tuple(f"{self._volume.path}: {note}" for note in info.notes)
        self._units, self._factor = None, 1.0
        if kind == "velocity":
            place = f"{key.removesuffix(' velocity')} units"
            self._check_kind()
            self._units = units_of(place, self._volume.path, info, units)
            self.notes += unit_notes("[time_migration] units", self._volume.path, info, units)
        else:
            self._factor = factor_of(key, kind, self._volume)
        self._axes = self._axes_of_file()
        if reason := info.uneven or info.unplaced:
            raise InputError(f"{self.name}: {reason}; needed: coordinates of equal steps, in m or s of two-way time")
        lengths = dict(zip(self._axes, info.shape, strict=True))
        self._shape = lengths["x"], lengths.get("y", 1)
        self.samples = lengths["t"]
        self._first_time, self._interval = self._times()
        last = self._first_time + (self.samples - 1) * self._interval
        if last <= 0 and self.samples > 1:
            raise InputError(
                f"{self.name}: its times run from {self._first_time:g} to {last:g} s; needed: two-way times, which are "
                "above 0"
            )
        if last > LATEST:
            raise InputError(
                f"{self.name}: its last time is {last:g} s; allowed: up to {LATEST:g} s; is its axis in milliseconds?"
            )
        self.notes += self._continued(last)
        self._place_columns(rotation)
        self._require_columns_inside()

    def _check_kind(self) -> None:
        """InputError where the file calls its velocities others than RMS velocities; a note where a text says so."""
        title = next((title for title in self._volume.info.titles if other_velocity(title)), "")
        if title and isinstance(self._volume, SegyVolume):
            self.notes += (
                f'{self._volume.path} says "{shortened(title)}" in its textual header: its values are taken as RMS '
                "(stacking) velocities",
            )
        elif title:
            raise InputError(
                f'{self.name}: the file calls them "{shortened(title)}"; needed: RMS (stacking) velocities'
            )

    def _continued(self, last: float) -> tuple[str, ...]:
        """Notes where the image begins or ends more than an interval beyond the volume's times. last: of these, s."""
        begin = self._grid.origin[2]
        end = begin + (self._grid.shape[2] - 1) * self._grid.spacing[2]
        beside = (1 + 1e-6) * self._interval
        said = []
        if begin < self._first_time - beside:
            said.append(f"begins at {self._first_time:.6g} s: its first values hold from {begin:.6g} s on")
        if end > last + beside:
            said.append(f"ends at {last:.6g} s: its last values hold to {end:.6g} s")
        return tuple(f"[time_migration] {self._kind}: {self._volume.path} {words}" for words in said)

    @property
    def in_world(self) -> bool:
        """Whether the file says where its places lie in the world."""
        place = self._volume.info.place
        return place.world is not None or (self._volume.info.survey is not None and not place.local)

    def read(self, lo: Columns, hi: Columns) -> Floats:
        """Values (nx, ny, nt) of columns, linear between those of the volume."""
        i, j = self._positions(*columns_of(self._grid, lo, hi))
        (a, b), (a1, b1) = box = needed_box(i, j, self._shape)
        ends = {"x": (a, a1), "y": (b, b1), "t": (0, self.samples)}
        raw = self._in_units(self._volume.read(*([ends[axis][side] for axis in self._axes] for side in (0, 1))))
        order = [self._axes.index(axis) for axis in "xyt" if axis in self._axes]
        nodes = raw.transpose(order).reshape(a1 - a, b1 - b, self.samples)
        self._check(nodes, box[0])
        positions = (times_of(self._grid) - self._first_time) / self._interval
        return bilinear(along_last(nodes, positions), i, j, box[0], self._shape)

    def hard_notes(self) -> tuple[str, ...]:
        """A note where velocities without a unit are so high that they may be in ft/s, or eta so large that it may be
        per cent, by some columns. InputError where these cannot be read."""
        if self._kind == "velocity" and self._units is not None:
            return ()
        least, largest = math.inf, 0.0
        for share in (0.0, 0.5, 1.0):
            place = [round(share * (n - 1)) for n in self._volume.info.shape]
            lo = [0 if axis == "t" else n for axis, n in zip(self._axes, place, strict=True)]
            cells = zip(self._axes, lo, self._volume.info.shape, strict=True)
            column = self._volume.read(lo, [n if axis == "t" else first + 1 for axis, first, n in cells])
            least, largest = min(least, float(column.min())), max(largest, float(np.abs(column).max()))
        if self._kind == "eta":
            return per_cent_note("[time_migration] eta", self._volume, largest)
        return hard_note("[time_migration] units", self._volume.path, least)

    def _in_units(self, values: NDArray[Any]) -> NDArray[Any]:
        """Velocities in m/s; eta as a fraction."""
        if self._kind == "velocity":
            with np.errstate(invalid="ignore", divide="ignore"):  # reported by the checks
                return np.asarray(metres_per_second(values, self._units or "m/s"))
        return values if self._factor == 1.0 else self._factor * values

    def files(self) -> list[Path]:
        """The files of the volume."""
        return self._volume.files()

    def record(self) -> dict[str, Any]:
        """Where they come from, as JSON."""
        return {
            "source": "volume",
            "file": str(self._volume.path),
            "columns": list(self._shape),
            "first_time_seconds": self._first_time,
            "interval_seconds": self._interval,
            "samples": self.samples,
        }

    def _axes_of_file(self) -> str:
        """The file's axes, slowest first: "xt", "xyt", …; an axis y of one cell in 2D is left as y."""
        info, flat = self._volume.info, self._grid.two_dimensional
        labels = [axis_of(label) or "?" for label in info.labels or ()]
        if labels and isinstance(self._volume, SegyVolume):
            labels[-1] = "t"  # the format does not tell time from depth
        if "z" in labels:
            raise InputError(
                f"{self.name}: an axis is labelled {(info.labels or ())[labels.index('z')]}; needed: two-way time "
                '(label "t", in s); velocities over depth are taken from [model]'
            )
        axes = "".join(labels)
        if sorted(axes) not in (["t", "x"], ["t", "x", "y"]):
            axes = self._unlabelled_axes(labels)
        cells = dict(zip(axes, info.shape, strict=True))
        if flat and cells.get("y", 1) != 1:
            raise InputError(f"{self.name}: has {cells['y']} cells along y; needed: none, since the image is 2D")
        if not flat and "y" not in axes:
            raise InputError(f"{self.name}: has two axes; needed: x, y and time, since the image is 3D")
        return axes

    def _unlabelled_axes(self, found: list[str]) -> str:
        """The axes of a file whose labels do not name all: x, (y) and t, or the one that is left. InputError where that
        is unclear."""
        info = self._volume.info
        natural = "xt" if len(info.shape) == 2 else "xyt"
        if all(map(nameless, info.labels or ())):
            cells = " x ".join(map(str, info.shape))
            self.notes += (
                f"{self._volume.path} does not name its axes: {cells} values are taken as {', '.join(natural)}, "
                "slowest first",
            )
            return natural
        left = [axis for axis in natural if axis not in found]
        if found.count("?") == 1 and len(left) == 1:
            return "".join(left[0] if axis == "?" else axis for axis in found)
        if all(axis in ("?", wanted) for axis, wanted in zip(found, natural, strict=True)) and set(found) != {"?"}:
            return natural
        raise InputError(
            f"{self.name}: its axes are labelled {listed(info.labels or ())}, slowest first; needed: x, "
            f"{'y ' * (len(natural) > 2)}and t, two-way time"
        )

    def _times(self) -> tuple[float, float]:
        """First time and interval, s; those of the image where the file has none and as many samples."""
        info, last = self._volume.info, self._axes.index("t")
        if isinstance(self._volume, SegyVolume):
            if self._volume.times is not None:
                return self._volume.times
        elif info.spacing is not None:
            return 0.0 if info.origin is None else info.origin[last], info.spacing[last]
        samples = self._grid.shape[2]
        if self.samples != samples:
            raise InputError(
                f"{self.name}: carries no times and has {self.samples} samples; needed: {samples}, as the image, or a "
                "format with axes, such as .rsf"
            )
        return self._grid.origin[2], self._grid.spacing[2]

    def _place_columns(self, rotation: Rotation | None) -> None:
        """Set the matrix (2, 2) and the offset (2,) from places (m) to positions in cells of the volume, x and y."""
        info = self._volume.info
        if info.survey is not None:
            self._matrix, self._offset = self._placed(info.survey, rotation or Rotation())
            return
        own = rotation or Rotation()
        world, wanted = info.place.world, self._grid.shape[:2]
        if world is not None and (world.origin, world.azimuth) != (own.origin, own.azimuth):
            placed = survey_grid_of(info, self._axes)
            if placed is not None:  # its coordinates are other ones than the image's
                self._matrix, self._offset = self._placed(placed, own)
                return
        if info.spacing is not None:
            spacing = dict(zip(self._axes, info.spacing, strict=True))
            origin = dict(zip(self._axes, info.origin, strict=True)) if info.origin is not None else {}
            step = np.array([spacing["x"], spacing.get("y", 1.0)])
            first = np.array([origin.get("x", 0.0), 0.0 if self._grid.two_dimensional else origin.get("y", 0.0)])
        elif self._shape == wanted:
            step = np.array(self._grid.spacing[:2])
            first = np.array([self._grid.origin[0], 0.0 if self._grid.two_dimensional else self._grid.origin[1]])
        else:
            raise InputError(
                f"{self.name}: carries no places and has {_times(self._shape)} columns; needed: {_times(wanted)}, as "
                "the image, or a format with axes, such as .rsf"
            )
        self._matrix, self._offset = np.diag(1.0 / step), -first / step

    def _placed(self, survey: SurveyGrid, rotation: Rotation) -> tuple[Floats, Floats]:
        """As `_place_columns` sets, of CDP coordinates; of a line the place along it counts."""
        sine, cosine = rotation.direction
        turn = np.array([[sine, cosine], [-cosine, sine]])  # survey to grid
        first = turn @ (np.array(survey.origin) - rotation.origin)
        names = self._axes.replace("t", "")
        azimuths = np.radians(survey.azimuths)
        steps = {
            name: turn @ (metres * np.array([np.sin(azimuth), np.cos(azimuth)]))
            for name, metres, azimuth in zip(names, survey.spacing, azimuths, strict=True)
        }
        along = steps["x"]
        if "y" in steps:
            matrix = np.linalg.inv(np.stack([along, steps["y"]], axis=1))
            return matrix, -matrix @ first
        if abs(along[0]) < PARALLEL * float(np.hypot(*along)):
            raise InputError(
                f"{self.name}: by its CDP coordinates its line runs across the image ({survey}); needed: along x; see "
                "[acquisition] origin and azimuth"
            )
        # The image has y = 0; the place where the line passes its x.
        return np.array([[1.0 / along[0], 0.0], [0.0, 0.0]]), np.array([-first[0] / along[0], 0.0])

    def _positions(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Positions of places (m) in cells of the volume."""
        (xx, xy), (yx, yy) = self._matrix.tolist()
        i = xx * x + xy * y + self._offset[0]
        j = yx * x + yy * y + self._offset[1]
        return i, np.zeros_like(j) if self._grid.two_dimensional else j

    def _require_columns_inside(self) -> None:
        """InputError where a corner of the image, and so any column, lies outside by more than EDGE cells."""
        x, y = corners_of(self._grid)
        i, j = self._positions(x, y)
        for positions, count in ((i, self._shape[0]), (j, self._shape[1])):
            beyond = np.maximum(-positions, positions - (count - 1))
            worst = int(np.argmax(beyond))
            if beyond[worst] > EDGE + 1e-6:
                raise InputError(
                    f"{self.name}: the image's column at {place(self._grid, x[worst], y[worst])} lies outside; "
                    f"allowed: {self._range()} and half a cell around it; see [time_migration] x and y"
                )

    def _range(self) -> str:
        """The places of the volume's corners, in words."""
        if self._grid.two_dimensional:
            ends = [(i - self._offset[0]) / self._matrix[0, 0] for i in (0, self._shape[0] - 1)]
            return f"x from {min(ends):.10g} to {max(ends):.10g} m"
        inverse = np.linalg.inv(self._matrix)
        cells = np.array([(i, j) for i in (0, self._shape[0] - 1) for j in (0, self._shape[1] - 1)], float)
        corners = (cells - self._offset) @ inverse.T
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        return f"x from {x0:.10g} to {x1:.10g} m, y from {y0:.10g} to {y1:.10g} m"

    def _check(self, nodes: NDArray[Any], lo: tuple[int, int]) -> None:
        """InputError where values of the nodes (ni, nj, n) are wrong; lo: the first of them."""

        def where(node: tuple[int, ...]) -> str:
            cell = np.array([node[0] + lo[0], node[1] + lo[1]], float)
            if self._grid.two_dimensional:
                x, y = (cell[0] - self._offset[0]) / self._matrix[0, 0], 0.0
            else:
                x, y = np.linalg.solve(self._matrix, cell - self._offset)
            time = "" if len(node) < 3 else f", t = {self._first_time + self._interval * node[2]:.6g} s"
            return place(self._grid, float(x), float(y)) + time

        missing = self._volume.info.fill_words
        if self._kind == "eta":
            check_eta(self.name, nodes, where, missing)
            return
        check_velocities(self.name, nodes, where, missing)
        if self._units is None:
            check_unit(self.name, nodes, where)
        times = self._first_time + self._interval * np.arange(self.samples, dtype=np.float64)
        check_intervals(self.name, times, nodes, where)


def _times(numbers: tuple[int, ...]) -> str:
    return " x ".join(map(str, numbers))
