"""Direct waves along an absorbing top: in a grid whose top is far away, and with a layer next to them."""

from __future__ import annotations

import numpy as np
from support import Medium, ricker, times

from fathometer.seismic.waves.boundary import Pml

FREQUENCY, SPACING = 8.0, 10.0  # Hz, m
TOP, BOTTOM = 1500.0, 2000.0  # m/s, of the gradient
DEPTH, FIRST = 20.0, 200.0  # m: of source and receivers; of the source from the side
CELLS = 130  # along z
WIDEST = Pml(40)  # of the reference


def traces(offsets: np.ndarray, boundary: Pml, bottom: float, above: int = 0, beside: int = 0) -> np.ndarray:
    """Traces (samples, receivers) at offsets in m, under a gradient from TOP to `bottom`; above, beside: further cells
    of the model."""
    across = round((FIRST + offsets.max()) / SPACING) + 40 + beside
    down = CELLS + above
    full = (across + 2 * boundary.width, 1, down + 2 * boundary.width)
    z = (np.arange(full[2]) - boundary.width - above) / CELLS
    velocity = np.broadcast_to(TOP + (bottom - TOP) * np.clip(z, 0.0, 1.0), full)
    medium = Medium((across, 1, down), SPACING, velocity, boundary=boundary, frequency=FREQUENCY, dtype=np.float32,
                    share=0.9)  # fmt: skip
    t = times(-1.5 / FREQUENCY, offsets.max() / TOP + 0.7, medium.dt)
    depth = DEPTH + above * SPACING
    return medium.run([(FIRST, 0, depth)], [(FIRST + one, 0, depth) for one in offsets], ricker(t, FREQUENCY))


def errors(offsets: np.ndarray, boundaries: list[Pml], bottom: float = BOTTOM) -> np.ndarray:
    """Relative L2 errors (boundaries, offsets) of the traces."""
    # Nothing comes back from a top so far above before the traces end.
    above = round(0.35 * offsets.max() / SPACING) + 200
    reference = traces(offsets, WIDEST, bottom, above, 60)
    norms = np.linalg.norm(reference, axis=0)
    return np.array([np.linalg.norm(traces(offsets, one, bottom) - reference, axis=0) / norms for one in boundaries])
