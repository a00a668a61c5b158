"""RMS velocities and effective eta of a depth model, vp(z), epsilon, delta of each column.

Vertical two-way time from the datum, NMO velocity and the anelliptic parameter of an interval (Alkhalifah & Tsvankin
1995, Geophysics 60(5)):

    t(z) = 2 int dz / vp,   v_nmo = vp sqrt(1 + 2 delta),   eta_int = (epsilon - delta) / (1 + 2 delta)

    v_rms(t)^2 = 1/t int v_nmo^2 dt
    eta(t) = 1/8 { 1/(t v_rms^4) int v_nmo^4 (1 + 8 eta_int) dt - 1 }

The integrals are sums of trapezia over the model's samples in depth, so that an interface lies midway between two of
them. eta(t) is above 0 in layers without anisotropy too: it holds what of their moveout is not hyperbolic. Below the
model's last depth its last values hold, above its first the first.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.checks import check_thomsen, check_velocities
from fathometer.seismic.kirchhoff.velocities.interpolation import bilinear, needed_box
from fathometer.seismic.kirchhoff.velocities.limits import EDGE
from fathometer.seismic.kirchhoff.velocities.places import columns_of, corners_of, place, times_of
from fathometer.seismic.kirchhoff.velocities.source import Columns, Floats
from fathometer.seismic.model.earth import EarthFiles

FLAT = 1e-9  # eta below which it is rounding


class DepthModel:
    """The columns of [model] under an image, linear between the model's own columns.

    Attributes:
        earth: the open files. datum: depth from which times count, m. name: of the survey's file, for messages.
    """

    def __init__(self, name: str, earth: EarthFiles, grid: Grid, datum: float) -> None:
        """InputError where columns of the image lie outside the model by more than EDGE cells, or one is 2D and the
        other 3D."""
        self.name, self.earth, self.datum, self._grid = name, earth, datum, grid
        self._model, self._checked = earth.grid, False
        if self._model.two_dimensional != grid.two_dimensional:
            image = 2 if grid.two_dimensional else 3
            raise InputError(f"{name}: [model]: is {earth.dimension}D, and the image is {image}D; needed: the same")
        self._require_columns_inside()
        depths = self._model.origin[2] + self._model.spacing[2] * np.arange(self._model.shape[2], dtype=np.float64)
        self._above = int(np.count_nonzero(depths <= datum + 1e-9 * self._model.spacing[2]))
        self.depths = np.concatenate([[datum], depths[self._above :]])  # of the nodes, m; the first is the datum

    def properties(self, lo: Columns, hi: Columns) -> dict[str, Floats]:
        """vp (m/s), and where the model is VTI epsilon and delta, at the nodes of the columns in the half-open box
        [lo, hi): (columns, nodes) each. InputError for values that are not finite or no velocities."""
        self._check_order()
        i, j = self._positions(*columns_of(self._grid, lo, hi))
        shape = self._model.shape[:2]
        (a, b), (a1, b1) = needed_box(i, j, shape)
        cells = self.earth.cells((a, b, 0), (a1, b1, self._model.shape[2]))

        def where(cell: tuple[int, ...]) -> str:
            numbers = (cell[0] + a, cell[1] + b, cell[2])
            x, y, z = (o + n * d for o, n, d in zip(self._model.origin, numbers, self._model.spacing, strict=True))
            return f"{place(self._grid, x, y)}, z = {z:.10g} m"

        for name, values in cells.items():
            check = check_velocities if name == "vp" else check_thomsen
            check(self.earth.source(name), values, where, self.earth.missing(name))
        return {
            name: self._from_datum(bilinear(values, i, j, (a, b), shape)).reshape(i.size, -1)
            for name, values in cells.items()
        }

    def _check_order(self) -> None:
        if not self._checked:
            self.earth.check_order()
            self._checked = True

    def times(self, vp: Floats) -> Floats:
        """Vertical two-way times (columns, nodes), s, from the datum; vp: (columns, nodes), m/s."""
        return integrals(self.depths, 2.0 / vp)

    def _from_datum(self, values: Floats) -> Floats:
        """Values (…, nz) at the model's depths as those at the nodes."""
        k = self._above
        if k == 0:
            first = values[..., :1]
        elif k == values.shape[-1]:
            first = values[..., -1:]
        else:
            above = self._model.origin[2] + (k - 1) * self._model.spacing[2]
            weight = max((self.datum - above) / self._model.spacing[2], 0.0)
            first = values[..., k - 1 : k] * (1.0 - weight) + values[..., k : k + 1] * weight
        return np.concatenate([first, values[..., k:]], axis=-1)

    def _positions(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Places (m) in cells of the model."""
        i = (x - self._model.origin[0]) / self._model.spacing[0]
        j = (y - self._model.origin[1]) / self._model.spacing[1]
        return i, np.zeros_like(j) if self._grid.two_dimensional else j

    def _require_columns_inside(self) -> None:
        x, y = corners_of(self._grid)
        for positions, count in zip(self._positions(x, y), self._model.shape[:2], strict=True):
            beyond = np.maximum(-positions, positions - (count - 1))
            worst = int(np.argmax(beyond))
            if beyond[worst] > EDGE + 1e-6:
                (x0, y0, _), (x1, y1, _) = self._model.origin, self._model.upper
                along_y = "" if self._grid.two_dimensional else f", y from {y0:.10g} to {y1:.10g} m"
                raise InputError(
                    f"{self.name}: [time_migration]: the image's column at {place(self._grid, x[worst], y[worst])} "
                    f"lies outside [model]; allowed: x from {x0:.10g} to {x1:.10g} m{along_y}"
                )


class ModelSource:
    """RMS velocities and effective eta over the image.

    Attributes: as of Source.
    """

    def __init__(self, model: DepthModel, grid: Grid) -> None:
        self._model, self._grid = model, grid
        self.notes = model.earth.notes
        self.samples = len(model.depths)

    def read(self, lo: Columns, hi: Columns) -> tuple[Floats, Floats]:
        """RMS velocities (m/s) and eta, (nx, ny, nt) each, of the columns in the half-open box [lo, hi)."""
        rms, eta = rms_and_eta(self._model, self._model.properties(lo, hi), self._grid)
        shape = hi[0] - lo[0], hi[1] - lo[1], self._grid.shape[2]
        return rms.reshape(shape), eta.reshape(shape)

    def hard_notes(self) -> tuple[str, ...]:
        """Notes where the model is so fast that it may be in ft/s, or epsilon and delta so large that they may be per
        cent, by some of its rows."""
        earth, notes = self._model.earth, tuple[str, ...]()
        if earth.hard_notes(math.inf):  # else the files say their unit
            rows, _ = earth.sample(["vp"])
            notes += earth.hard_notes(float(rows[0].min()))
        thomsen = ("epsilon", "delta")
        if earth.per_cent_notes(dict.fromkeys(thomsen, math.inf)):
            rows, _ = earth.sample(thomsen)
            notes += earth.per_cent_notes(
                {name: float(np.abs(row).max()) for name, row in zip(thomsen, rows, strict=True)}
            )
        return notes

    def files(self) -> dict[str, list[Path]]:
        """All files of the model, by its properties."""
        return self._model.earth.inputs()

    def record(self) -> dict[str, Any]:
        """Where the values come from, as JSON."""
        return {
            "source": "model",
            "files": [str(path) for path in self._model.earth.paths],
            "datum_metres": self._model.datum,
        }


def integrals(depths: Floats, values: Floats) -> Floats:
    """Integrals over depth from the first node to each: values (…, n) at depths (n,), by trapezia."""
    steps = 0.5 * np.diff(depths) * (values[..., :-1] + values[..., 1:])
    total = np.zeros_like(values)
    np.cumsum(steps, axis=-1, out=total[..., 1:])
    return total


def rms_and_eta(model: DepthModel, properties: dict[str, Floats], grid: Grid) -> tuple[Floats, Floats]:
    """RMS velocities (m/s) and effective eta at the image's times, (columns, nt) each, of properties at nodes."""
    vp = properties["vp"]
    delta = properties.get("delta", np.zeros(1))
    anelliptic = (properties.get("epsilon", delta) - delta) / (1.0 + 2.0 * delta)
    square = vp**2 * (1.0 + 2.0 * delta)
    fourth = square**2 * (1.0 + 8.0 * anelliptic)
    nodes = model.times(vp)
    second_moment = integrals(model.depths, square * (2.0 / vp))
    fourth_moment = integrals(model.depths, fourth * (2.0 / vp))
    times = times_of(grid)
    last = last_nodes(nodes, grid)
    seconds = _in_time(nodes, second_moment, square[:, -1:], times, last)
    fourths = _in_time(nodes, fourth_moment, fourth[:, -1:], times, last)
    begun = times > 1e-9  # at the datum itself the integrals' limits hold
    divisor = np.where(begun, times, 1.0)
    squares = np.where(begun, seconds / divisor, square[:, :1])
    fourth_means = np.where(begun, fourths / divisor, fourth[:, :1])
    eta = (fourth_means / squares**2 - 1.0) / 8.0
    return np.sqrt(squares), np.where(np.abs(eta) < FLAT, 0.0, eta)


def last_nodes(nodes: Floats, grid: Grid) -> NDArray[np.int64]:
    """The last node not later than each of the image's times: (columns, nt), -1 where there is none.

    nodes: (columns, n), s, ascending. With a grid in depth and nodes in m the same of depths.
    """
    columns, samples = len(nodes), grid.shape[2]
    first = np.ceil((nodes - grid.origin[2]) / grid.spacing[2])  # the first sample not before a node
    sample = np.clip(first, 0, samples).astype(np.int64) + (samples + 1) * np.arange(columns)[:, None]
    counts = np.bincount(sample.reshape(-1), minlength=columns * (samples + 1)).reshape(columns, samples + 1)
    return np.asarray(np.cumsum(counts[:, :-1], axis=1) - 1)


def _in_time(nodes: Floats, moment: Floats, below: Floats, times: Floats, last: NDArray[np.int64]) -> Floats:
    """A moment (columns, n) at nodes, s, as that at times (nt,): linear, and below the last node by its slope there."""
    steps = np.diff(nodes)
    slopes = np.concatenate([np.diff(moment) / np.where(steps > 0, steps, 1.0), below], axis=1)
    begin, value, slope = (np.take_along_axis(array, last, axis=1) for array in (nodes, moment, slopes))
    return np.asarray(value + slope * (times - begin))
