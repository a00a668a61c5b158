"""The pressure's equation, solved directly: the second difference in space of p is given.

Transforms along all axes but the last one turn it into an equation along that axis for each wave number: three
neighbours, solved by elimination (native/flow/flow.hpp). Waves that the sides allow are

    periodic                         exp(2 pi i m (j + 1/2) / n)      discrete Fourier transform
    walls, inflow at both ends       cos(pi m (j + 1/2) / n)          DCT-II
    walls below, outflow above       cos(pi (m + 1/2) (j + 1/2) / n)  DCT-IV; DST-IV the other way round

with eigenvalues -4 sin²(pi m / n) / h², or half of these angles for the others. An axis that is cut among ranks is made
whole by a transpose (parallel/transpose.py): x is whole anyway, y and z may be cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import fft

from fathometer import _native
from fathometer.base import ledger
from fathometer.parallel.decomposition import Index3, split
from fathometer.parallel.fft_threads import make_fft_threads
from fathometer.parallel.transpose import Transpose

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]
PERIODIC = "periodic"


@dataclass(frozen=True)
class Waves:
    """The waves along an axis of n cells: periodic, or signs of p beyond both ends (1: no gradient, -1: zero there).

    Attributes:
        spacing: m.
    """

    n: int
    spacing: float
    ends: tuple[float, float] | None

    @property
    def name(self) -> str:
        """Of their transform."""
        if self.ends is None:
            return PERIODIC
        return {(1.0, 1.0): "dct2", (1.0, -1.0): "dct4", (-1.0, 1.0): "dst4", (-1.0, -1.0): "dst2"}[self.ends]

    def eigenvalues(self, halved: bool) -> Floats:
        """Of minus the second difference, by wave number; halved: of a real array's Fourier transform."""
        n = self.n
        match self.name:
            case "periodic":
                number = np.arange(n // 2 + 1) if halved else np.minimum(np.arange(n), n - np.arange(n))
                angle = np.pi * number / n
            case "dct2":
                angle = np.pi * np.arange(n) / (2 * n)
            case "dst2":
                angle = np.pi * np.arange(1, n + 1) / (2 * n)
            case _:
                angle = np.pi * (np.arange(n) + 0.5) / (2 * n)
        return np.asarray(4 * np.sin(angle) ** 2 / self.spacing**2)

    def forward(self, values: npt.NDArray[Any], axis: int, workers: int) -> npt.NDArray[Any]:
        """The transform along an axis; `values` may be overwritten."""
        if self.name == PERIODIC:
            if np.iscomplexobj(values):
                return np.asarray(fft.fft(values, axis=axis, overwrite_x=True, workers=workers))
            return np.asarray(fft.rfft(values, axis=axis, workers=workers))
        return self._real(values, axis, workers, False)

    def backward(self, waves: npt.NDArray[Any], axis: int, workers: int, real: bool) -> npt.NDArray[Any]:
        """The inverse; real: into a real array."""
        if self.name == PERIODIC:
            if real:
                return np.asarray(fft.irfft(waves, self.n, axis=axis, overwrite_x=True, workers=workers))
            return np.asarray(fft.ifft(waves, axis=axis, overwrite_x=True, workers=workers))
        return self._real(waves, axis, workers, True)

    def _real(self, values: npt.NDArray[Any], axis: int, workers: int, inverse: bool) -> npt.NDArray[Any]:
        """A transform by real waves; complex numbers are pairs of real ones."""
        kind, number = self.name[:3], int(self.name[3])
        call = getattr(fft, ("i" if inverse else "") + kind)
        parts = values.view(np.float64).reshape(*values.shape, -1) if np.iscomplexobj(values) else values
        found = call(parts, type=number, axis=axis, overwrite_x=True, workers=workers)
        return np.asarray(found).reshape(*values.shape[:-1], -1).view(values.dtype).reshape(values.shape)


class PressureSolver:
    """Solves for p on a block [z, y, x] of a grid whose z, or y and z, are cut among ranks.

    Args:
        shape: cells of the whole grid, (z, y, x); one along z in two dimensions. waves: along z, y and x.
        ranks: along z and y. comm: the ranks, z slowest. workers: threads of a transform. dims: 2 or 3.
    """

    def __init__(
        self,
        shape: Index3,
        waves: Sequence[Waves],
        ranks: tuple[int, int],
        comm: MPI.Intracomm,
        workers: int,
        dims: int,
    ) -> None:
        self._workers, self._dims, self._waves = workers, dims, waves
        make_fft_threads(workers)
        z, y = divmod(comm.rank, ranks[1])
        row: Any = comm.Split(z, y)  # ranks with the same z
        column: Any = comm.Split(ranks[0] + y, z)  # with the same y
        self._comms = [row, column]
        nz, ny, nx = shape
        z0, z1 = split(nz, ranks[0], z)
        complex_x = waves[2].name == PERIODIC
        length_x = nx // 2 + 1 if complex_x else nx
        kind: Any = np.complex128 if complex_x else np.float64
        x0, x1 = 0, length_x
        self._steps: list[Transpose | None] = []
        if ranks[1] > 1:
            self._steps.append(Transpose({"z": z1 - z0, "y": ny, "x": length_x}, "y", "x", kind, 1, row))
            x0, x1 = split(length_x, row.size, row.rank)
        else:
            self._steps.append(None)
        y0, y1, halved_y = 0, ny, False
        if dims == 3:
            halved_y = waves[1].name == PERIODIC and not complex_x
            length_y = ny // 2 + 1 if halved_y else ny
            kind = np.complex128 if halved_y else kind
            y1 = length_y
            if ranks[0] > 1:
                self._steps.append(Transpose({"z": nz, "y": length_y, "x": x1 - x0}, "z", "y", kind, 1, column))
                y0, y1 = split(length_y, column.size, column.rank)
            else:
                self._steps.append(None)
        self._halved_y, self._complex_x = halved_y, complex_x
        lambdas = waves[2].eigenvalues(complex_x)[x0:x1]
        if dims == 3:
            lambdas = waves[1].eigenvalues(halved_y)[y0:y1, None] + lambdas
        reals = 2 if kind == np.complex128 else 1
        self._lambdas = np.repeat(lambdas.reshape(-1), reals)

    def close(self) -> None:
        """Free what MPI keeps."""
        for step in self._steps:
            if step is not None:
                step.close()
        for comm in self._comms:
            comm.Free()

    def solve(self, values: Floats) -> Floats:
        """Collective. p of its second difference on this rank's cells (z, y, x); `values` is overwritten."""
        x, y = self._waves[2], self._waves[1]
        with ledger.phase("transforms"):
            found = x.forward(values, 2, self._workers)
        found = self._whole(0, found)
        if self._dims == 3:
            with ledger.phase("transforms"):
                found = y.forward(found, 1, self._workers)
            found = self._whole(1, found)
        with ledger.phase("solve columns"):
            self._solve_columns(found)
        if self._dims == 3:
            found = self._back(1, found)
            with ledger.phase("transforms"):
                found = y.backward(found, 1, self._workers, self._halved_y)
        found = self._back(0, found)
        with ledger.phase("transforms"):
            return x.backward(found, 2, self._workers, self._complex_x)

    def _solve_columns(self, found: npt.NDArray[Any]) -> None:
        waves = self._waves[0 if self._dims == 3 else 1]
        if not found.size:
            return
        columns = found.reshape(-1).view(np.float64).reshape(waves.n, -1)
        ends = waves.ends
        _native.solve_columns(
            x=columns,
            spacing=waves.spacing,
            joined=ends is None,
            sign=list(ends or (1.0, 1.0)),
            lambda_=self._lambdas,
        )

    def _whole(self, number: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The array whole along the next axis."""
        step = self._steps[number]
        if step is None:
            return np.ascontiguousarray(values)
        target = np.empty(step.target_shape, step.dtype)
        step.forward(np.ascontiguousarray(values)[None], target)
        return np.asarray(target[0])

    def _back(self, number: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        step = self._steps[number]
        if step is None:
            return values
        source = np.empty(step.source_shape, step.dtype)
        step.backward(np.ascontiguousarray(values)[None], source)
        return np.asarray(source[0])
