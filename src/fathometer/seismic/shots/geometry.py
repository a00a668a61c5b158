"""Shots of a synthetic acquisition geometry, given by ranges of source and receiver positions."""

import numpy as np
import numpy.typing as npt

from fathometer.seismic.shots.shot import Shot, frozen
from fathometer.seismic.survey import ReceiversTable, SourcesTable


def shots_of_ranges(sources: SourcesTable, receivers: ReceiversTable) -> tuple[Shot, ...]:
    """One shot for each source position, numbered along x first, then y; FFID and channels count from 1.

    All shots share one array of fixed receivers. Relative receivers are offset from each source in x and y; their
    depth is absolute. Positions are in m.
    """
    spread = _product(receivers.x, receivers.y, receivers.z)
    channel = frozen(np.arange(1, len(spread) + 1, dtype=np.int64))
    frozen(spread)
    shots = []
    for index, source in enumerate(_product(sources.x, sources.y, sources.z)):
        positions = spread
        if receivers.relative:
            positions = frozen(spread + np.array([source[0], source[1], 0.0]))
        shots.append(Shot(index, index + 1, frozen(source.copy()), positions, channel))
    return tuple(shots)


def coordinates(values: float | tuple[float, float, float] | None) -> npt.NDArray[np.float64]:
    """Coordinates (n,), float64, m, of a range (first, last, step), last included; of a number; of None: 0."""
    if values is None:
        return np.zeros(1)
    if isinstance(values, float | int):
        return np.array([values], dtype=np.float64)
    first, last, step = values
    count = round((last - first) / step) + 1
    return first + step * np.arange(count, dtype=np.float64)


def _product(
    x: float | tuple[float, float, float], y: float | tuple[float, float, float] | None, z: float
) -> npt.NDArray[np.float64]:
    """Positions (n, 3), float64, m, of all pairs of x and y at depth z, x fastest."""
    along_y, along_x = np.meshgrid(coordinates(y), coordinates(x), indexing="ij")
    return np.stack([along_x.ravel(), along_y.ravel(), np.full(along_x.size, z)], axis=1)
