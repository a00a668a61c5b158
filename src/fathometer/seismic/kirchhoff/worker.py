"""How a group of ranks migrates blocks of traces: each rank its tile of the image, all of them every trace.

A block's traces come in batches: while one is summed, the next is read, conditioned and filtered beside it, each rank
of the group its share; then the ranks exchange their shares. What a block adds to an image does not depend on batches,
tiles or ranks: at every sample the block's traces are added in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.progress import Progress
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import barrier, collective_errors
from fathometer.parallel.decomposition import Decomposition, Index3, split
from fathometer.parallel.threads import ThreadCounts
from fathometer.runs.contributions import Window
from fathometer.seismic.kirchhoff.operator import TileOperator, at_samples, nodes, segments
from fathometer.seismic.kirchhoff.series import FINER
from fathometer.seismic.kirchhoff.time_layout import TimeLayout, tiles
from fathometer.seismic.setup.fingerprint import task_hash, traces_hash
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.shots.trace_hashes import TraceHashes
from fathometer.storage.hashing import PHASE

BATCH_TRACES = 256
STEPS = 100  # of a block, for the display of progress

Part = tuple[Shot, npt.NDArray[np.int64]]  # some receivers of a shot


@dataclass(frozen=True)
class Batch:
    """Some traces of a block: parts of shots, their geometry (n, 5) and images (n,)."""

    parts: tuple[Part, ...]
    geometry: npt.NDArray[np.float64]
    images: npt.NDArray[np.int32]


@dataclass
class BlockCounts:
    """What a rank has done: samples that it computed, traces that it summed (with its group)."""

    samples: int = 0
    traces: int = 0


@dataclass
class _Tile:
    """A rank's part of the window of a block: columns lo to hi of the whole image, operator, sums."""

    grid: Grid  # of the window
    start: Index3  # of this rank's tile in the window
    operator: TileOperator
    image: npt.NDArray[np.float32]
    fold: npt.NDArray[np.float32]


class BlockWorkers:
    """A group's work on blocks (runs/tasks.TaskWorker)."""

    beside: ThreadPoolExecutor | None = None

    def __init__(self, layout: TimeLayout, ranks: MPI.Intracomm, threads: ThreadCounts) -> None:
        self._layout, self._ranks, self._threads = layout, ranks, threads
        self._series = layout.series
        self._tile: _Tile | None = None
        self._box: object = None
        self._reader: ThreadPoolExecutor | None = None
        self._counts = BlockCounts()

    def prepare(self, task: int, tasks: int) -> None:
        """The tile of the block's window; the present one serves where it is the same."""
        layout = self._layout
        lo, hi = layout.window(layout.blocks[task])
        if (lo, hi) == self._box:
            return
        self._tile, self._box = None, None  # its memory is needed for the next
        with ledger.phase("read velocities"), collective_errors(self._ranks):
            shape = (hi[0] - lo[0], hi[1] - lo[1], layout.grid.shape[2])
            block = Decomposition(shape, tiles(shape, self._ranks.size), self._ranks.rank)
            first = (lo[0] + block.lo[0], lo[1] + block.lo[1])
            velocities = layout.velocities.read(first, (lo[0] + block.hi[0], lo[1] + block.hi[1]))
            operator = TileOperator(
                layout.settings,
                layout.grid,
                first,
                velocities.rms,
                velocities.eta,
                self._series,
                layout.acquisition.start,
            )
            nx, ny, nt = block.local_shape
            columns = (nx, ny, segments(nt))
            self._tile = _Tile(
                self._window(lo, shape),
                block.lo,
                operator,
                np.empty((len(layout.volumes) - 1, *columns), np.float32),
                np.empty((nx, ny, nodes(nt)), np.float32),
            )
        self._box = (lo, hi)

    def _window(self, lo: tuple[int, int], shape: Index3) -> Grid:
        grid = self._layout.grid
        x, y, t = grid.origin
        origin = (x + lo[0] * grid.spacing[0], y + lo[1] * grid.spacing[1], t)
        return Grid(shape, grid.spacing, origin, first=(lo[0], lo[1], 0), vertical="time")

    def expect(self, task: int) -> None:
        """Nothing."""

    def work(self, task: int, progress: Progress, written: Callable[[], None]) -> Window:
        """Sum the block's traces."""
        tile, layout = self._tile, self._layout
        assert tile is not None
        shots = layout.blocks[task]
        hashes = {shot.index: TraceHashes(len(shot.receivers)) for shot in shots}
        batches = list(self._batches(shots))
        tile.image.fill(0.0)
        tile.fold.fill(0.0)
        self._threads.use(self._threads.propagate)
        done = 0
        with self._threads.background_thread("traces") as self._reader:
            coming = self._read(batches[0], hashes) if batches else None
            for number, batch in enumerate(batches):
                assert coming is not None
                fine = self._whole(coming, batch)
                coming = self._read(batches[number + 1], hashes) if number + 1 < len(batches) else None
                with ledger.phase("migrate"):
                    computed = tile.operator.migrate(fine, batch.geometry, batch.images, tile.image, tile.fold)
                    ledger.work(points=computed)
                self._counts.samples += computed
                steps = STEPS * (number + 1) // len(batches)
                progress.advance(steps - done)
                done = steps
        self._counts.traces += sum(len(batch.images) for batch in batches) if self._ranks.rank == 0 else 0
        with ledger.phase(PHASE):
            input = task_hash([hashes[shot.index].combined(self._ranks) for shot in shots])
        samples = layout.grid.shape[2]
        images = [np.ascontiguousarray(values[:, :, :samples]) for values in tile.image]
        volumes = dict(zip(layout.volumes, [*images, at_samples(tile.fold, samples)], strict=True))
        return Window(tile.grid, tile.start, volumes, input)

    def _batches(self, shots: tuple[Shot, ...]) -> Iterator[Batch]:
        """The block's traces that belong to an image, in their order."""
        waiting: list[Part] = []
        traces = 0
        for shot in shots:
            used = np.flatnonzero(self._layout.images(shot) >= 0)
            while len(used):
                part, used = used[: BATCH_TRACES - traces], used[BATCH_TRACES - traces :]
                waiting.append((shot, part))
                traces += len(part)
                if traces == BATCH_TRACES:
                    yield self._batch(waiting)
                    waiting, traces = [], 0
        if waiting:
            yield self._batch(waiting)

    def _batch(self, parts: list[Part]) -> Batch:
        layout = self._layout
        geometry = np.concatenate([layout.geometry(shot, receivers) for shot, receivers in parts])
        images = np.concatenate([layout.images(shot)[receivers] for shot, receivers in parts])
        return Batch(tuple(parts), geometry, images)

    def _read(self, batch: Batch, hashes: dict[int, TraceHashes]) -> Future[npt.NDArray[np.float32]]:
        """Begin to read this rank's share of a batch."""
        assert self._reader is not None
        share = split(len(batch.images), self._ranks.size, self._ranks.rank)

        def filtered() -> npt.NDArray[np.float32]:
            traces, weights = [np.empty((0, self._series.samples), np.float32)], [np.empty(0, np.float32)]
            begin = 0
            for shot, receivers in batch.parts:
                a, b = (min(max(end - begin, 0), len(receivers)) for end in share)
                begin += len(receivers)
                if a < b:
                    with ledger.phase("read traces"), ledger.file("traces", "read"):
                        traces.append(self._layout.acquisition.traces(shot, receivers[a:b], hashes[shot.index]))
                    if self._layout.weighted:
                        weights.append(self._layout.shares.traces[shot.index][receivers[a:b]])
            with ledger.phase("filter traces"):
                fine = self._series(np.concatenate(traces))
                return fine * np.concatenate(weights)[:, None] if self._layout.weighted else fine

        return self._reader.submit(ledger.carried(filtered))

    def _whole(self, coming: Future[npt.NDArray[np.float32]], batch: Batch) -> npt.NDArray[np.float32]:
        """The whole batch, filtered, on all ranks of the group."""
        ranks = self._ranks
        own = np.empty((0, 0), np.float32)
        with ledger.phase("wait for traces"), collective_errors(ranks):
            own = ledger.awaited(coming)
        if ranks.size == 1:
            return own
        length = FINER * self._series.samples
        with ledger.phase("exchange traces"):
            barrier(ranks)
            fine = np.empty((len(batch.images), length), np.float32)
            shares = [split(len(batch.images), ranks.size, rank) for rank in range(ranks.size)]
            counts = [(b - a) * length for a, b in shares]
            with ledger.communication(bytes=own.nbytes):
                ranks.Allgatherv(own, [fine, counts])
        return fine

    def reset(self) -> None:
        """Nothing: the next block begins with empty sums."""

    def input_of(self, task: int) -> str:
        """The hash of the block's traces."""
        layout = self._layout
        with ledger.phase(PHASE):
            return task_hash([traces_hash(layout.survey, layout.acquisition, shot) for shot in layout.blocks[task]])

    def close(self) -> None:
        """Free the tile."""
        self._tile, self._box = None, None

    def abandon(self) -> None:
        """Nothing: the thread that reads has ended with the work on its block."""

    def figures(self) -> BlockCounts:
        """What this rank has done."""
        return self._counts
