"""One operation of one strategy, timed in its phases; the result is verified outside the timed part.

    barrier · open · transfer · flush · close · barrier

The effective time is rank 0's, from barrier to barrier. Before a read the file is dropped from the page cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.ledger import now
from fathometer.lab.io.cases import StorageCase, source_of, usual_read
from fathometer.lab.io.page_cache import drop, stored_bytes
from fathometer.lab.io.pattern import Expected, Pattern
from fathometer.parallel.collectives import allgather, allreduce, barrier, collective_errors
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.record.ranks import compression_figures
from fathometer.storage import atomic
from fathometer.storage.reading import reading
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.boxes import Box, widened
from fathometer.storage.volumes.reader import open_shared
from fathometer.storage.volumes.registry import remove_volume
from fathometer.storage.volumes.writer import VolumeWriter

if TYPE_CHECKING:
    from mpi4py import MPI


PHASES = ("open", "transfer", "flush", "close")
COPY = "copy"  # a phase more, where what is written is taken from a larger array
MOST_RESIDENT = 0.01  # share of a file in memory up to which it counts as dropped from the page cache
WRITTEN = "written"  # name, without suffix, of a file that a write creates
_WRITTEN = re.compile(rf"(?:\d+-)?{WRITTEN}\.\w+@?")  # of several by their numbers; with an RSF's values
SPACING = 10.0  # m, of the cells of a made volume
CLOCKS = 1000  # times a reading of the clock that a sample lasts at least
READINGS = 100  # of the clock, of which the mean distance is taken

Lost = tuple[float, float, int]  # largest error, sum of squares, of how many values


@dataclass(frozen=True)
class Sample:
    """One repetition.

    Attributes:
        seconds: from barrier to barrier on rank 0.
        phases: of each rank, seconds.
        done: when each rank was done, in seconds after the first barrier, its waiting for others left out.
        stored_bytes: of all files.
        wrong: cells that were not as they should be, of all ranks.
        error: relative L2 of what lost digits by intent; None: nothing did.
        compression: what it took, saved and lost (record/ranks.py); None: nothing was compressed, or it was read.
        resident: share of a file in memory before it was read.
        shifted: whether each rank read another one's block.
    """

    seconds: float
    phases: list[dict[str, float]]
    done: list[float]
    stored_bytes: int
    wrong: int
    error: float | None
    resident: float
    shifted: bool
    compression: dict[str, Any] | None = None


def least_seconds() -> float:
    """How long a sample lasts at least, so that the clock is no part of what it says."""
    begin = now()
    for _ in range(READINGS):
        end = now()
    return CLOCKS * (end - begin) / READINGS


class Clock:
    """The phases of one operation on one rank."""

    def __init__(self, operation: str, phases: Sequence[str] = PHASES) -> None:
        self._operation = operation
        self.seconds = dict.fromkeys(phases, 0.0)
        self.idle = 0.0
        self.start = 0.0  # of the first phase

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """One phase, of the ledger too."""
        title, account = f"{self._operation}: {name}", ledger.current()
        before = account.seconds(title, "idle") if account is not None else 0.0
        begin = now()
        self.start = self.start or begin
        with ledger.phase(title):
            yield
        self.seconds[name] += now() - begin
        self.idle += account.seconds(title, "idle") - before if account is not None else 0.0


@dataclass
class Bench:
    """A volume cut into blocks, one a rank, which is written and read.

    Attributes:
        pattern: what the volume holds.
        ranks: along x, y, z.
        halo: cells that a rank reads beyond its block on each side.
        rank_shift: ranks on this rank's host: where files stay in memory, each rank reads the block of the one that is
            so many ranks further.
    """

    folder: Path
    comm: MPI.Intracomm
    pattern: Pattern
    ranks: Index3
    halo: int
    rank_shift: int
    _block: NDArray[np.float32] | None = field(default=None, repr=False)

    @property
    def info(self) -> VolumeInfo:
        """What a file says of the volume."""
        shape = self.pattern.shape
        labels = ("x", "y", "z") if len(shape) == 3 else ("x", "z")
        few = len(shape)
        return VolumeInfo(shape, np.dtype(np.float32), (SPACING,) * few, (0.0,) * few, labels, "m/s")

    @property
    def bytes(self) -> int:
        """Of the volume."""
        return int(np.prod(self.pattern.shape, dtype=np.int64)) * 4

    @property
    def listed_bytes(self) -> int:
        """Of that part of the volume which a list of elements speaks of."""
        return self.bytes

    def box(self, rank: int) -> Box:
        """The block of a rank."""
        shape = self.pattern.shape
        axes = (0, 1, 2) if len(shape) == 3 else (0, 2)
        solid = (shape[0], shape[1] if len(shape) == 3 else 1, shape[-1])
        part = Decomposition(solid, self.ranks, rank)
        return tuple(part.lo[a] for a in axes), tuple(part.hi[a] for a in axes)

    @property
    def block(self) -> NDArray[np.float32]:
        """This rank's, made once."""
        if self._block is None:
            with ledger.phase("generate"):
                self._block = self.pattern.block(*self.box(self.comm.rank))
        return self._block

    def write(self, case: StorageCase) -> Sample:
        """Collective. Write a new file, flushed; read it back untimed and remove it."""
        path = self.folder / f"{WRITTEN}.{case.format}"
        clock = Clock("write")
        block, lo = self.block, self.box(self.comm.rank)[0]
        begin = self._start()
        with ledger.file("volume", "write"):
            with clock.phase("open"):
                writer = VolumeWriter(path, self.info, self.comm, case.strategy, errors=False)
            with clock.phase("transfer"):
                writer.write(block, lo)
            with clock.phase("flush"):
                writer.flush()
            with clock.phase("close"):
                writer.close()
        own, seconds = self._ended(clock, begin)
        stored = self._stored(path)
        box = self.box((self.comm.rank + 1) % self.comm.size)
        with open_shared(str(path), Path(), self.comm, usual_read(case.form)) as volume, ledger.phase("verify"):
            values = volume.read(*box)
        wrong, error, lost = self._verified(values, box, case.lossy)
        self.remove(path)
        return self._sample(
            seconds=seconds,
            clock=clock,
            own=own,
            stored=stored,
            wrong=wrong,
            error=error,
            compression=self._compression([writer], lost, seconds),
        )

    def _start(self) -> float:
        """Collective. The time when all ranks had come, taken before any of them goes on."""
        barrier(self.comm)
        begin = now()
        barrier(self.comm)
        return begin

    def _ended(self, clock: Clock, begin: float) -> tuple[float, float]:
        """Collective, after the last phase. This rank's seconds without its waiting for others, and those from `begin`
        until all ranks had ended."""
        own = now() - clock.start - clock.idle
        barrier(self.comm)
        return own, now() - begin

    def source(self, case: StorageCase) -> Path:
        """Collective. The file that is read, written where it is not there yet."""
        own = case.strategy
        kind = "-".join(map(str, (own.filter, own.bits, own.levels, *own.shares)))
        name = "x".join(map(str, self.pattern.shape)) + f"-{kind}"
        path = self.folder / f"{name}.{case.format}"
        there = self.comm.bcast(path.exists() if self.comm.rank == 0 else None)
        if not there:
            strategy = source_of(case, self.comm.size)
            with ledger.phase("prepare"), VolumeWriter(path, self.info, self.comm, strategy) as writer:
                writer.write(self.block, self.box(self.comm.rank)[0])
                writer.flush()
        return path

    def read(self, case: StorageCase) -> Sample:
        """Collective. Read each rank's block, with halo, of a file dropped from the page cache; verify every byte.

        Where it cannot be dropped, each rank reads the block of one on the next host, if there is one.
        """
        path = self.source(case)
        kept = self.drop_caches(path)
        shifted = kept > MOST_RESIDENT and self.comm.size > 1
        other_rank = (self.comm.rank + (self.rank_shift if shifted else 0)) % self.comm.size
        box = widened(*self.box(other_rank), self.halo, self.pattern.shape)
        clock = Clock("read")
        begin = self._start()
        with ledger.file("volume", "read"), ExitStack() as opened:
            with clock.phase("open"):
                volume = opened.enter_context(open_shared(str(path), Path(), self.comm, case.strategy))
            with clock.phase("transfer"):
                values = volume.read(*box)
            with clock.phase("close"):
                opened.close()
        own, seconds = self._ended(clock, begin)
        wrong, error, _ = self._verified(values, box, case.lossy)
        stored = self._stored(path)
        return self._sample(
            seconds=seconds,
            clock=clock,
            own=own,
            stored=stored,
            wrong=wrong,
            error=error,
            resident=kept,
            shifted=shifted,
        )

    def drop_caches(self, path: Path) -> float:
        """Collective. Drop a file from the page caches of all hosts; the largest share that stayed in memory."""
        barrier(self.comm)
        with ledger.phase("drop caches"):
            with collective_errors(self.comm), atomic.writing(path):
                kept = drop(path)
            return float(allreduce(self.comm, kept, "MAX"))

    def _stored(self, path: Path) -> int:
        """Collective. Bytes of all files of a volume."""
        with collective_errors(self.comm), reading(path):
            size = stored_bytes(path) if self.comm.rank == 0 else 0
        return int(self.comm.bcast(size))

    def remove_written(self) -> None:
        """Collective. Remove what a failed write has left."""
        barrier(self.comm)
        if self.comm.rank == 0:
            atomic.remove_parts(self.folder, _WRITTEN)
            for left_behind in self.folder.iterdir():
                if _WRITTEN.fullmatch(left_behind.name):
                    remove_volume(left_behind, self.folder)

    def remove(self, path: Path) -> None:
        """Collective. Remove a volume."""
        barrier(self.comm)
        if self.comm.rank == 0:
            remove_volume(path, self.folder)
        barrier(self.comm)

    def _verified(self, values: NDArray[Any], box: Box, lossy: bool) -> tuple[int, float | None, Lost]:
        """Collective. As `_summed`, of one array, and this rank's errors."""
        with ledger.phase("verify"):
            wrong, deviation, energy, largest = self._compared(values, box, lossy, self.pattern)
        return *self._summed(wrong, deviation, energy, lossy), (largest, deviation, values.size)

    def _compression(self, writers: Sequence[VolumeWriter], lost: Lost, seconds: float) -> dict[str, Any] | None:
        """Collective. What compression took of the seconds, and saved and lost, of all ranks and files; None: nothing
        was compressed. lost: this rank's errors."""
        own = ledger.FileAccount()
        for writer in writers:
            if writer.compression is not None:
                own.compress(writer.compression.numbers())
        if own.compression:
            own.compress({"largest_error": lost[0], "squared_error": lost[1], "values": lost[2]})
        ranks = allgather(self.comm, own.compression)
        return compression_figures(ranks, float(self.comm.bcast(seconds))) if any(ranks) else None

    def _compared(
        self, values: NDArray[Any], box: Box, lossy: bool, pattern: Expected
    ) -> tuple[int, float, float, float]:
        """Collective. Cells of this rank that are wrong, of lossy formats those that are no number; sums of squares of
        the deviations that are there by intent, and of what should be there; the largest of these deviations."""
        with collective_errors(self.comm):
            if not lossy:
                return pattern.differing(values, box[0]), 0.0, 0.0, 0.0
            return int(np.count_nonzero(~np.isfinite(values))), *pattern.error(values, box[0])

    def _summed(self, wrong: int, deviation: float, energy: float, lossy: bool) -> tuple[int, float | None]:
        """Collective. Wrong cells of all ranks, and the relative error of lossy formats."""
        wrong = int(allreduce(self.comm, wrong, "SUM"))
        if not lossy:
            return wrong, None
        deviation, energy = (float(allreduce(self.comm, part, "SUM")) for part in (deviation, energy))
        return wrong, (deviation / energy) ** 0.5 if energy else 0.0

    def _sample(
        self,
        seconds: float,
        clock: Clock,
        own: float,
        stored: int,
        wrong: int,
        error: float | None,
        resident: float = 0.0,
        shifted: bool = False,
        compression: dict[str, Any] | None = None,
    ) -> Sample:
        ranks = allgather(self.comm, (clock.seconds, own))
        effective_seconds: float = self.comm.bcast(seconds)
        phases, done = [phase_seconds for phase_seconds, _ in ranks], [own_seconds for _, own_seconds in ranks]
        return Sample(effective_seconds, phases, done, stored, wrong, error, resident, shifted, compression)
