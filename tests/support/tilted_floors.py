"""Surveys over a sea floor that is an inclined plane, in two dimensions: the program's traces and, in a frame that is
turned with the floor, those of the wavenumber integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from elastic_product import Run
from layered_kernels import Layer
from source_functions import ricker
from wavenumber_integration import seismograms

_PARTS = 16  # of a cell along x
_DEEP = 2000.0  # of the floor in the turned frame, m: no surface is there


def cells_above(depth: Any, shape: tuple[int, int], sharp: bool) -> np.ndarray:
    """(nx, nz) share of water in cells over a floor of `depth` (a function of x in cells, in cells); sharp: 0 or 1, by
    the node."""
    x = np.arange(shape[0])[:, None] + (0.0 if sharp else (np.arange(_PARTS) + 0.5) / _PARTS - 0.5)
    under = np.atleast_2d(depth(x))
    share = np.clip(under[:, None, :] - np.arange(shape[1])[:, None] + 0.5, 0, 1).mean(axis=2)
    return np.where(under.mean(axis=1)[:, None] > np.arange(shape[1]), 1.0, 0.0) if sharp else share


def model_of(share: np.ndarray, water: tuple[float, float, float], rock: tuple[float, float, float]) -> dict[str, Any]:
    """Means of media in cells: of density arithmetic, of moduli harmonic; no shear where there is water."""
    share = np.where(share < 1e-9, 0, share)
    density = share * water[2] + (1 - share) * rock[2]
    modulus = 1 / (share / (water[2] * water[0] ** 2) + (1 - share) / (rock[2] * rock[0] ** 2))
    return {"vp": np.sqrt(modulus / density), "vs": np.where(share > 0, 0.0, rock[1]), "density": density}


@dataclass(frozen=True)
class Tilted:
    """A floor that falls by `angle` degrees along x, water above rock.

    Attributes:
        floor: depth at x = 0, m. source: x and height above the floor along z, m; below it if negative.
        receivers: (n, 2), the same. force: of the source, along x and z; None: an explosion.
        sharp: cells are one or the other, else means.
    """

    angle: float
    floor: float
    water: tuple[float, float, float]
    rock: tuple[float, float, float]
    shape: tuple[int, int]
    spacing: float
    frequency: float
    source: tuple[float, float]
    receivers: Any
    duration: float
    components: tuple[str, ...] = ("vx", "vz")
    force: tuple[float, float] | None = None
    sharp: bool = False

    @property
    def fall(self) -> float:
        return float(np.tan(np.radians(self.angle)))

    def places(self, some: Any) -> np.ndarray:
        """(n, 3) of places given by x and height above the floor."""
        x, height = np.atleast_2d(np.asarray(some, float)).T
        return np.stack([x, 0 * x, self.floor + self.fall * x - height], axis=1)

    def found(self, **propagation: Any) -> Any:
        """The program's traces."""
        cell = self.spacing
        share = cells_above(lambda x: self.floor / cell + self.fall * x, self.shape, self.sharp)
        source: dict[str, Any] = {"kind": "explosion", "moment": 1e9}
        if self.force is not None:
            source = {"kind": "force", "vector": [self.force[0], 0.0, self.force[1]]}
        return Run(
            shape=(self.shape[0], 1, self.shape[1]),
            spacing=cell,
            model=model_of(share, self.water, self.rock),
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
        angle = np.radians(self.angle)
        cosine, sine = np.cos(angle), np.sin(angle)

        def turned(places: np.ndarray) -> np.ndarray:
            x, z = places[:, 0], places[:, 2] - self.floor
            return np.stack([x * cosine + z * sine, 0 * x, _DEEP - x * sine + z * cosine], axis=1)

        layers = (Layer(_DEEP, *self.water), Layer(0, *self.rock))
        keys: dict[str, Any] = {"free_surface": False, "line": True, "reference": 1.0}
        if self.force is not None:
            fx, fz = self.force
            keys["force"] = [fx * cosine + fz * sine, 0, fz * cosine - fx * sine]
        else:
            keys["moment"] = 1e9 * np.eye(3)
        order = int(self.force is not None)
        t = product.fine_times
        some = [layers, tuple(turned(self.places(self.source))[0]), turned(self.places(self.receivers)), t,
                ricker(self.frequency, product.lead), 3.75 * self.frequency]  # fmt: skip
        along, _, down = seismograms(*some, order=order, **keys).swapaxes(0, 1)
        values = {"vx": along * cosine - down * sine, "vz": along * sine + down * cosine}
        if "pressure" in self.components:
            values["pressure"] = seismograms(*some, order=order - 1, pressure=True, **keys)
        return np.asarray(product.as_recorded(np.array([values[name] for name in self.components])))
