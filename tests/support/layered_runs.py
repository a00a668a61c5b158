"""Two-dimensional surveys in layers through the product, beside the wavenumber integration."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from elastic_product import Run, columns
from source_functions import ricker
from wavenumber_integration import seismograms


@dataclass(frozen=True)
class Layered:
    """A line source and receivers on `shape` cells of layers (of layered_kernels).

    source: force along x and z, or a moment tensor, N m, or neither: an explosion. at: x and z of the source, m.
    receivers: (n, 2), x and z, m.
    """

    layers: tuple
    shape: tuple[int, int]
    spacing: float
    frequency: float  # peak of the Ricker wavelet, Hz
    at: tuple[float, float]
    receivers: Any
    duration: float
    force: tuple[float, float] | None = None
    components: tuple[str, ...] = ("vx", "vz")
    free_surface: bool = False
    reference: float | None = None  # frequency, Hz
    tensor: Any = None  # xx, zz, xz
    side: float = 0.0  # m: how far from their places receivers are for the integration, to be on one side of a contact

    def found(self, **propagation):
        """The program's traces."""
        vp, vs, density = columns(self.layers, self.shape[1], self.spacing)
        model = {"vp": vp, "vs": vs, "density": density}
        if self.reference is not None:
            model |= {"qp": self.layers[0].qp, "qs": self.layers[0].qs}
        source: dict[str, Any] = {"kind": "explosion", "moment": 1e9}
        if self.force is not None:
            source = {"kind": "force", "vector": [self.force[0], 0.0, self.force[1]]}
        elif self.tensor is not None:
            source = {"kind": "moment-tensor", **dict(zip(("mxx", "mzz", "mxz"), self.tensor, strict=True))}
        return Run(
            shape=(self.shape[0], 1, self.shape[1]),
            spacing=self.spacing,
            model=model,
            source_at=(self.at[0], 0.0, self.at[1]),
            receivers=self._places(),
            source=source,
            wavelet={"kind": "ricker", "peak_frequency": self.frequency},
            duration=self.duration,
            interval=0.05 / self.frequency,
            components=self.components,
            free_surface=self.free_surface,
            reference=self.reference,
            propagation=propagation,
        )()

    def exact(self, product):
        """The same traces by integration."""
        keys = {"free_surface": self.free_surface, "line": True, "reference": self.reference or 1.0}
        if self.force:
            keys |= {"force": [self.force[0], 0, self.force[1]]}
        elif self.tensor is not None:
            xx, zz, xz = self.tensor
            keys |= {"moment": np.array([[xx, 0, xz], [0, 0, 0], [xz, 0, zz]])}
        else:
            keys |= {"moment": 1e9 * np.eye(3)}
        f, t = ricker(self.frequency, product.lead), product.fine_times
        highest, at = 3.75 * self.frequency, (self.at[0], 0, self.at[1])
        order = int(self.force is not None)  # an explosion's wavelet is the moment rate
        places = self._places() + np.array([0, 0, self.side])
        some = [self.layers, at, places, t, f, highest]
        motion = seismograms(*some, order=order, **keys)
        values = dict(zip(("vx", "vy", "vz"), motion.swapaxes(0, 1), strict=True))
        if "pressure" in self.components:
            values["pressure"] = seismograms(*some, order=order - 1, pressure=True, **keys)
        out = [values[name] for name in self.components]
        return product.as_recorded(np.array(out))

    def _places(self):
        at = np.atleast_2d(self.receivers)
        return np.stack([at[:, 0], 0 * at[:, 0], at[:, 1]], 1)
