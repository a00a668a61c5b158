"""A shot: one source with its receivers."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", np.float64, np.int64)


@dataclass(frozen=True, eq=False)
class Shot:
    """A shot of a survey: one source with its receivers.

    Coordinates are in m, in the order x, y, z (z down); y is 0 in a 2D survey. Arrays are read-only.
    """

    index: int  # number in the survey, from 0
    ffid: int  # field record number
    source: npt.NDArray[np.float64]  # (3,)
    receivers: npt.NDArray[np.float64]  # (n, 3)
    channel: npt.NDArray[np.int64]  # (n,)

    @property
    def offsets(self) -> npt.NDArray[np.float64]:
        """Horizontal distances (n,) of the receivers from the source, m."""
        difference = self.receivers[:, :2] - self.source[:2]
        return np.asarray(np.sqrt(difference[:, 0] ** 2 + difference[:, 1] ** 2))

    @property
    def distances(self) -> npt.NDArray[np.float64]:
        """Distances (n,) of the receivers from the source, m."""
        return np.asarray(np.sqrt(np.square(self.receivers - self.source).sum(axis=1)))

    @property
    def midpoints(self) -> npt.NDArray[np.float64]:
        """(n, 2) half way between the source and the receivers, m."""
        return np.asarray(0.5 * (self.source[:2] + self.receivers[:, :2]))

    @property
    def name(self) -> str:
        """Name of the shot in messages."""
        return f"shot {self.index + 1} (FFID {self.ffid})"


def frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """The same array, marked read-only, because shots share arrays."""
    array.flags.writeable = False
    return array
