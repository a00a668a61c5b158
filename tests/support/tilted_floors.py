"""Surveys over a sea floor that is an inclined plane: the program's traces and, in a frame that is turned with the
floor, those of the wavenumber integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from elastic_product import Run
from layered_kernels import Layer
from source_functions import ricker
from wavenumber_integration import seismograms

_PARTS = 8  # of a cell along x and y
_DEEP = 2000.0  # of the floor in the turned frame, m: no surface is there


def cells_above(depth: Any, shape: tuple[int, int, int], sharp: bool) -> np.ndarray:
    """Share of water in cells (nx, ny, nz) over a floor of `depth` (a function of x and y in cells, in cells); sharp: 0
    or 1, by the node."""
    parts = np.zeros(1) if sharp else (np.arange(_PARTS) + 0.5) / _PARTS - 0.5
    x = np.arange(shape[0])[:, None, None, None] + parts[:, None]
    y = np.arange(shape[1])[None, :, None, None] + (parts if shape[1] > 1 else 0.0)
    under = np.broadcast_to(depth(x, y), (*shape[:2], len(parts), len(parts))).reshape(*shape[:2], -1)
    k = np.arange(shape[2])
    if sharp:
        return (under > k).astype(float)
    share = np.zeros(shape)
    for n in range(under.shape[2]):
        share += np.clip(under[:, :, n, None] - k + 0.5, 0, 1) / under.shape[2]
    return share


def model_of(share: np.ndarray, water: tuple[float, float, float], rock: tuple[float, float, float]) -> dict[str, Any]:
    """Means of media in cells: of density arithmetic, of moduli harmonic; no shear where there is water."""
    share = np.where(share < 1e-9, 0, np.where(share > 1 - 1e-9, 1, share))
    density = share * water[2] + (1 - share) * rock[2]
    modulus = 1 / (share / (water[2] * water[0] ** 2) + (1 - share) / (rock[2] * rock[0] ** 2))
    return {"vp": np.sqrt(modulus / density), "vs": np.where(share > 0, 0.0, rock[1]), "density": density}


@dataclass(frozen=True)
class Tilted:
    """A floor that falls by `angle` degrees, water above rock.

    Attributes:
        azimuth: in three dimensions, degrees from x to y, in which it falls; None: along x in two dimensions.
        floor: depth at x = y = 0, m. source: x, y and height above the floor along z, m; below it if negative.
        receivers: (n, 3), the same. force: of the source along x, y, z. tensor: xx, zz, xz, N m. Neither: an explosion.
        sharp: cells are one or the other, else means.
    """

    angle: float
    floor: float
    water: tuple[float, float, float]
    rock: tuple[float, float, float]
    shape: tuple[int, int, int]
    spacing: float
    frequency: float
    source: tuple[float, float, float]
    receivers: Any
    duration: float
    components: tuple[str, ...] = ("vx", "vz")
    force: tuple[float, float, float] | None = None
    tensor: tuple[float, float, float] | None = None
    sharp: bool = False
    azimuth: float | None = None

    @property
    def _direction(self) -> np.ndarray:
        azimuth = np.radians(self.azimuth or 0.0)
        return np.array([np.cos(azimuth), np.sin(azimuth)])

    def depth(self, x: Any, y: Any) -> Any:
        """Of the floor, m."""
        return self.floor + np.tan(np.radians(self.angle)) * (x * self._direction[0] + y * self._direction[1])

    def places(self, some: Any) -> np.ndarray:
        """(n, 3) of places given by x, y and height above the floor."""
        x, y, height = np.atleast_2d(np.asarray(some, float)).T
        return np.stack([x, y, self.depth(x, y) - height], axis=1)

    def found(self, **propagation: Any) -> Any:
        """The program's traces."""
        cell = self.spacing
        share = cells_above(lambda x, y: self.depth(x * cell, y * cell) / cell, self.shape, self.sharp)
        model = model_of(share, self.water, self.rock)
        source: dict[str, Any] = {"kind": "explosion", "moment": 1e9}
        if self.force is not None:
            source = {"kind": "force", "vector": list(self.force)}
        elif self.tensor is not None:
            source = {"kind": "moment-tensor", **dict(zip(("mxx", "mzz", "mxz"), self.tensor, strict=True))}
        return Run(
            shape=self.shape,
            spacing=cell,
            model={name: some[:, 0] if self.shape[1] == 1 else some for name, some in model.items()},
            source_at=tuple(self.places(self.source)[0]),
            receivers=self.places(self.receivers),
            source=source,
            wavelet={"kind": "ricker", "peak_frequency": self.frequency},
            duration=self.duration,
            interval=0.05 / self.frequency,
            components=self.components,
            propagation=propagation,
        )()

    def exact(self, product: Any) -> np.ndarray:
        """The same traces by integration."""
        angle, (dx, dy) = np.radians(self.angle), self._direction
        cosine, sine = np.cos(angle), np.sin(angle)
        # Rows: along the fall, level, away from the floor.
        turn = np.array([[cosine * dx, cosine * dy, sine], [-dy, dx, 0.0], [-sine * dx, -sine * dy, cosine]])

        def turned(places: np.ndarray) -> np.ndarray:
            return (places - [0, 0, self.floor]) @ turn.T + [0, 0, _DEEP]

        layers = (Layer(_DEEP, *self.water), Layer(0, *self.rock))
        keys: dict[str, Any] = {"free_surface": False, "line": self.azimuth is None, "reference": 1.0}
        if self.force is not None:
            keys["force"] = turn @ np.array(self.force)
        elif self.tensor is not None:
            xx, zz, xz = self.tensor
            keys["moment"] = turn @ np.array([[xx, 0, xz], [0, 0, 0], [xz, 0, zz]]) @ turn.T
        else:
            keys["moment"] = 1e9 * np.eye(3)
        order = int(self.force is not None)
        some = [layers, tuple(turned(self.places(self.source))[0]), turned(self.places(self.receivers)),
                product.fine_times, ricker(self.frequency, product.lead), 3.75 * self.frequency]  # fmt: skip
        motion = np.einsum("ij,rit->jrt", turn, seismograms(*some, order=order, **keys))
        values = dict(zip(("vx", "vy", "vz"), motion, strict=True))
        if "pressure" in self.components:
            values["pressure"] = seismograms(*some, order=order - 1, pressure=True, **keys)
        return np.asarray(product.as_recorded(np.array([values[name] for name in self.components])))
