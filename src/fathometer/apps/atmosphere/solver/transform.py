"""Spherical harmonics on ranks: coefficients of some zonal wavenumbers, the grid on some pairs of latitudes.

    coefficients  [row, columns]                    rows of this rank's m (native/atmosphere/atmosphere.hpp)
    rings         [m, pair, hemisphere, columns]    by the Legendre transform; this rank's m, all pairs
                  [m, pair, ...]                    after a transpose: all m, this rank's pairs
    grid          [hemisphere, longitude, columns]  a pair at a time, by the Fourier transform

All numbers of coefficients and rings are complex, those of the grid real. A pair has the latitudes phi and -phi, north
first; pairs go from the poles to the equator. Each m and each pair is computed alike wherever it lies, so that results
have the same bits on any number of ranks and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import fft

from fathometer import _native
from fathometer.base import ledger
from fathometer.parallel.decomposition import split
from fathometer.parallel.transpose import Transpose
from fathometer.parallel.workers import Workers

if TYPE_CHECKING:
    from mpi4py import MPI

Floats = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
KEPT_BYTES = 1 << 25  # arrays of up to so many come and go with each pair; glibc allows no more


@dataclass(frozen=True)
class Grid:
    """Truncation, and the Gaussian grid. latitudes: even."""

    truncation: int
    latitudes: int
    longitudes: int

    @property
    def pairs(self) -> int:
        """Of latitudes."""
        return self.latitudes // 2

    @cached_property
    def sines(self) -> Floats:
        """Of the latitudes of the pairs, north."""
        return np.array(_native.gauss_latitudes(count=self.latitudes)[0])

    @cached_property
    def weights(self) -> Floats:
        """Gauss's, of a latitude of each pair; they add up to 1 in all pairs."""
        return np.array(_native.gauss_latitudes(count=self.latitudes)[1])

    @property
    def cosines(self) -> Floats:
        """Of the latitudes."""
        return np.asarray(np.sqrt((1 - self.sines) * (1 + self.sines)))

    @property
    def longitude(self) -> Floats:
        """Radians."""
        return np.asarray(np.arange(self.longitudes) * (2 * np.pi / self.longitudes))

    @cached_property
    def latitudes_northward(self) -> Floats:
        """Of all latitudes, from south to north, radians."""
        north = np.arctan2(self.sines, self.cosines)
        return np.concatenate([-north, north[::-1]])

    def latitude(self, pair: int) -> Floats:
        """Of the hemispheres, radians."""
        return self.latitudes_northward[[-1 - pair, pair]]


def shared_waves(truncation: int, ranks: int) -> list[list[int]]:
    """Zonal wavenumbers of each rank: dealt out back and forth, since long ones have fewer total wavenumbers; as many
    as `decomposition.split` gives it.

    >>> shared_waves(6, 2)
    [[0, 3, 4], [1, 2, 5, 6]]
    """
    sizes = [stop - start for start, stop in (split(truncation + 1, ranks, rank) for rank in range(ranks))]
    found: list[list[int]] = [[] for _ in range(ranks)]
    forth, waves = list(range(ranks)), iter(range(truncation + 1))
    for turn in range(max(sizes)):
        for rank in forth[:: -1 if turn % 2 else 1]:
            if turn < sizes[rank]:
                found[rank].append(next(waves))
    return found


def rows_of(truncation: int, waves: Iterable[int]) -> int:
    """Rows of coefficients of some zonal wavenumbers (native/atmosphere/atmosphere.hpp)."""
    return sum(truncation + 2 - m for m in waves)


class Transform:
    """Transforms of a rank.

    Args:
        method: of transposes (parallel/transpose.py). workers: threads.

    Attributes:
        waves: m of this rank. order: all m, as ranks have them one after the other. pairs: of this rank.
        rows: of coefficients on this rank. sphere: kernels.
    """

    def __init__(self, grid: Grid, comm: MPI.Intracomm, method: str, workers: int) -> None:
        self.grid, self.comm, self._method = grid, comm, method
        shares = shared_waves(grid.truncation, comm.size)
        self.waves, self.order = np.array(shares[comm.rank], np.int64), np.concatenate(shares).astype(np.int64)
        self.pairs = slice(*split(grid.pairs, comm.size, comm.rank))
        self.sphere = _native.AtmosphereSphere(truncation=grid.truncation, waves=self.waves, latitudes=grid.latitudes)
        self.rows: int = self.sphere.rows
        self.workers = Workers(workers)
        self._transposes: dict[int, Transpose] = {}
        self._buffers: dict[tuple[int, str], Complex] = {}
        _native.keep_freed_memory(KEPT_BYTES)

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """n of each row."""
        begin = self.sphere.begin
        counts = np.diff(begin)
        return np.asarray(np.arange(self.rows) - np.repeat(begin[:-1], counts) + np.repeat(self.waves, counts))

    @property
    def orders(self) -> npt.NDArray[np.int64]:
        """m of each row."""
        return np.repeat(self.waves, np.diff(self.sphere.begin))

    def empty(self, columns: int) -> Complex:
        """Coefficients of so many columns, all zero."""
        return np.zeros((self.rows, columns), np.complex128)

    def through_grid(self, coefficients: Complex, columns: int, work: Callable[[int, Floats, Floats], None]) -> Complex:
        """Collective. Coefficients of what `work` makes of others on the grid.

        columns: of the result. work: called with the number of each pair of this rank, among all, the grid
        [hemisphere, longitude, columns] of the coefficients there, and where to put the result, alike.
        """
        far = self._to_rings(coefficients)
        back = self._buffer(columns, "far")

        def pair(number: int) -> None:
            result = np.empty((2, self.grid.longitudes, columns))
            work(self.pairs.start + number, self._to_longitudes(far[:, number]), result)
            self._to_waves(result, back[:, number])

        with ledger.phase("grid"):
            for _ in self.workers.map(pair, range(far.shape[1])):
                pass
        return self._from_rings(back, columns)

    def to_grid(self, coefficients: Complex) -> Floats:
        """Collective. [pair, hemisphere, longitude, columns] of this rank's pairs."""
        far = self._to_rings(coefficients)
        result = np.empty((far.shape[1], 2, self.grid.longitudes, coefficients.shape[1]))

        def pair(number: int) -> None:
            result[number] = self._to_longitudes(far[:, number])

        with ledger.phase("grid"):
            for _ in self.workers.map(pair, range(far.shape[1])):
                pass
        return result

    def from_grid(self, columns: int, work: Callable[[int, Floats], None]) -> Complex:
        """Collective. Coefficients of what `work` puts onto the grid, called with the number of a pair among all, and
        [hemisphere, longitude, columns]."""
        back = self._buffer(columns, "far")
        with ledger.phase("grid"):
            for number in range(back.shape[1]):
                values = np.empty((2, self.grid.longitudes, columns))
                work(self.pairs.start + number, values)
                self._to_waves(values, back[:, number])
        return self._from_rings(back, columns)

    def _to_rings(self, coefficients: Complex) -> Complex:
        """[m, pair, hemisphere, columns] of all m and this rank's pairs."""
        columns = coefficients.shape[1]
        near = self._buffer(columns, "near")
        with ledger.phase("Legendre"):
            self.sphere.synthesise(coefficients=coefficients.view(np.float64), rings=near.view(np.float64))
        far = self._buffer(columns, "far")
        if self.comm.size > 1:
            self._transpose(columns).forward(_flat(near), _flat(far))
        return far

    def _from_rings(self, far: Complex, columns: int) -> Complex:
        near = self._buffer(columns, "near")
        if self.comm.size > 1:
            self._transpose(columns).backward(_flat(far), _flat(near))
        result = np.empty((self.rows, columns), np.complex128)
        with ledger.phase("Legendre"):
            self.sphere.analyse(rings=near.view(np.float64), coefficients=result.view(np.float64))
        return result

    def _to_longitudes(self, rings: Complex) -> Floats:
        """[hemisphere, longitude, columns] of [m, hemisphere, columns]."""
        padded = np.zeros((2, self.grid.longitudes // 2 + 1, rings.shape[2]), np.complex128)
        padded[:, self.order] = rings.transpose(1, 0, 2)
        return np.asarray(fft.irfft(padded, self.grid.longitudes, axis=1, norm="forward"))

    def _to_waves(self, values: Floats, rings: Complex) -> None:
        found = fft.rfft(values, axis=1, norm="forward")
        rings[...] = found[:, self.order].transpose(1, 0, 2)

    def _buffer(self, columns: int, side: str) -> Complex:
        """Rings, "near": of this rank's m; "far": of its pairs; the same memory on a single rank."""
        side = "near" if self.comm.size == 1 else side
        if (columns, side) not in self._buffers:
            own = self.pairs.stop - self.pairs.start
            waves, pairs = (len(self.waves), self.grid.pairs) if side == "near" else (len(self.order), own)
            self._buffers[columns, side] = np.empty((waves, pairs, 2, columns), np.complex128)
        return self._buffers[columns, side]

    def _transpose(self, columns: int) -> Transpose:
        if columns not in self._transposes:
            shape = {"wave": len(self.order), "pair": self.grid.pairs, "column": 2 * columns}
            self._transposes[columns] = Transpose(shape, "wave", "pair", np.complex128, 1, self.comm, self._method)
        return self._transposes[columns]

    def close(self) -> None:
        """Free what MPI keeps, and end the threads."""
        for transpose in self._transposes.values():
            transpose.close()
        self.workers.close()


def _flat(rings: Complex) -> Complex:
    """As a transpose has it: [1, m, pair, columns]."""
    return rings.reshape(1, *rings.shape[:2], -1)
