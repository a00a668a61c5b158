"""How ranks share the distribution function, as GYRO and CGYRO have it (Candy, Belova & Bravenec 2016).

P = P1 x P2 ranks; the P2 ranks with the same velocities differ in their ky, the P1 ranks with the same ky in their
velocities. Three layouts of one array:

    lines        [ky, velocity, theta kx]   own ky, own velocities              streaming, drift
    velocities   [ky, velocity, theta kx]   own ky, all velocities, own places  fields, mirror force, collisions
    modes        [ky, velocity theta, kx]   all ky, own rows                    the bracket

The first two are a transpose over the P1 ranks apart, the first and the last one over the P2 ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.base import ledger
from fathometer.parallel.collectives import synchronised
from fathometer.parallel.decomposition import split
from fathometer.parallel.gather import Gather
from fathometer.parallel.transpose import Moving, Transpose

if TYPE_CHECKING:
    from mpi4py import MPI

Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True)
class Share:
    """Sizes of a rank's part of the array. modes, velocities, points, waves: of all; ky, velocity, theta, kx.

    ranks: P1, P2. at: this rank's place among these.
    """

    modes: int
    velocities: int
    points: int
    waves: int
    ranks: tuple[int, int]
    at: tuple[int, int]

    @property
    def places(self) -> int:
        """Of a field line: theta and kx."""
        return self.points * self.waves

    @property
    def own_modes(self) -> slice:
        """Of ky."""
        return slice(*split(self.modes, self.ranks[1], self.at[1]))

    @property
    def own_velocities(self) -> slice:
        """In the layouts of lines and of modes."""
        return slice(*split(self.velocities, self.ranks[0], self.at[0]))

    @property
    def own_places(self) -> slice:
        """In the layout of velocities."""
        return slice(*split(self.places, self.ranks[0], self.at[0]))

    @property
    def own_rows(self) -> slice:
        """In the layout of modes, of the rows of the own velocities."""
        own = self.own_velocities
        return slice(*split((own.stop - own.start) * self.points, self.ranks[1], self.at[1]))


class Turn:
    """Two layouts of an array, and the way from one to the other: a transpose, or none where they are the same.

    Args:
        near, far: shapes of this rank's arrays. transpose: None: both are the same array.
        overlap: whether a transpose is only begun when it is asked for, and finished when its result is needed.
    """

    def __init__(self, near: tuple[int, ...], far: tuple[int, ...], transpose: Transpose | None, overlap: bool) -> None:
        self.near, self.far, self._transpose, self._overlap = near, far, transpose, overlap
        self._moving: Moving | None = None
        self._buffers = () if transpose is None else tuple(np.empty(far, np.complex128) for _ in range(2))

    @property
    def moves(self) -> bool:
        """Whether the layouts differ."""
        return self._transpose is not None

    def begin_out(self, array: Complex) -> Complex:
        """Collective. The array in the far layout, once `finish` has been called."""
        if self._transpose is None:
            return array.reshape(self.far)
        target = self._buffers[0]
        source = array.reshape(self._transpose.source_shape)
        if self._overlap:
            self._moving = self._transpose.start_forward(source, target[None])
        else:
            self._transpose.forward(source, target[None])
        return target

    def result(self, home: Complex) -> Complex:
        """Where what goes back to `home`, an array in the near layout, is to be written in the far one."""
        return home.reshape(self.far) if self._transpose is None else self._buffers[1]

    def begin_back(self, home: Complex) -> None:
        """Collective. Bring `result` to an array in the near layout, once `finish` has been called."""
        if self._transpose is None:
            return
        target = home.reshape(self._transpose.source_shape)
        if self._overlap:
            self._moving = self._transpose.start_backward(self._buffers[1][None], target)
        else:
            self._transpose.backward(self._buffers[1][None], target)

    def progress(self) -> None:
        """Have MPI move on what is on its way."""
        if self._moving is not None:
            self._moving.Test()

    def finish(self) -> None:
        """Collective. Wait for what is on its way."""
        moving, self._moving = self._moving, None
        if moving is not None:
            moving.finish()

    def close(self) -> None:
        """Free what MPI keeps."""
        if self._transpose is not None:
            self._transpose.close()


class Layouts:
    """The communicators of a rank, and what moves arrays between the layouts.

    Args:
        share: this rank's. comm: P1 x P2 ranks, the P2 ranks of a group next to each other. method: of METHODS of
            parallel/transpose.py. overlap: as of Turn. nonlinear: whether there is a bracket.

    Attributes:
        velocities, modes: turns to these layouts from that of lines.
        gather_places: [fields, own ky, places] from the own places. gather_modes: [fields, ky, places] from the own ky.
    """

    def __init__(
        self, share: Share, comm: MPI.Intracomm, method: str, overlap: bool, nonlinear: bool, fields: int
    ) -> None:
        self.share, self.comm = share, comm
        (p1, p2), (one, two) = share.ranks, share.at
        with synchronised(comm), ledger.communication():
            velocity_comm: Any = comm.Split(two, one)  # P1 ranks with the same ky
            mode_comm: Any = comm.Split(p2 + one, two)  # P2 ranks with the same velocities
        self._comms: list[Any] = [velocity_comm, mode_comm]
        modes, velocities, places, rows = map(
            _length, (share.own_modes, share.own_velocities, share.own_places, share.own_rows)
        )
        over_velocities = over_modes = None
        if p1 > 1:
            shape = {"ky": modes, "velocity": share.velocities, "place": share.places}
            over_velocities = Transpose(shape, "velocity", "place", np.complex128, 1, velocity_comm, method)
        if p2 > 1 and nonlinear:
            shape = {"ky": share.modes, "row": velocities * share.points, "kx": share.waves}
            over_modes = Transpose(shape, "ky", "row", np.complex128, 1, mode_comm, method)
        lines = (modes, velocities, share.points, share.waves)
        self.lines = lines
        self.velocities = Turn(lines, (modes, share.velocities, places), over_velocities, overlap)
        self.modes = Turn(lines, (share.modes, rows, share.waves), over_modes, overlap)
        self.gather_places = Gather((fields, modes, share.places), 2, np.complex128, velocity_comm)
        self.gather_modes = Gather((fields, share.modes, share.places), 1, np.complex128, mode_comm)
        self._gather_own = [
            Gather((modes, share.velocities, _native.PLASMA_LINE_SUMS), 1, np.float64, velocity_comm),
            Gather((share.modes, share.velocities, _native.PLASMA_LINE_SUMS), 0, np.float64, mode_comm),
        ]

    def gather_lines(self, own: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Collective. [ky, velocity, sums] of all ranks, of this rank's."""
        for gather in self._gather_own:
            own = gather(own)
        return own

    def close(self) -> None:
        """Collective. Free what MPI keeps."""
        self.velocities.close()
        self.modes.close()
        for comm in self._comms:
            comm.Free()


def _length(cells: slice) -> int:
    return int(cells.stop - cells.start)


def share_of(sizes: tuple[int, int, int, int], ranks: tuple[int, int], rank: int) -> Share:
    """That of a rank; sizes: modes, velocities, points, waves."""
    return Share(*sizes, ranks, divmod(rank, ranks[1]))
