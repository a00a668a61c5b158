"""The pattern `decimated-steps`: the output of a wave run without its waves.

    step    every n-th node of a larger array is copied into a buffer, one for each file
    write   the buffers are appended to their files when they are full, all ranks together
    end     the files are flushed, closed and get their names

A file has the axes step, x, y, z. What it holds is known of every node and step, and verified byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.lab.io.cases import StorageCase, usual_read
from fathometer.lab.io.options import Steps
from fathometer.lab.io.pattern import Expected, Pattern, Piece
from fathometer.lab.io.trial import COPY, PHASES, SPACING, WRITTEN, Bench, Clock, Lost, Sample
from fathometer.storage.volumes.block import TIME, VolumeInfo
from fathometer.storage.volumes.boxes import Box, slabs
from fathometer.storage.volumes.reader import open_shared
from fathometer.storage.volumes.registry import STEPPED
from fathometer.storage.volumes.writer import VolumeWriter

MARKED = 16  # every so many nodes along z one tells its step and file
INTERVAL = 0.01  # s, between the steps that a file speaks of
ITEM_BYTES = 4  # float32
CHUNK_BYTES = 1 << 25  # that a rank reads back at a time


def with_buffers(cases: Sequence[StorageCase], steps: Steps) -> list[StorageCase]:
    """Each case with each buffer; InputError for a format that has no axis of steps."""
    for case in cases:
        if case.form.axes < STEPPED:
            raise InputError(f"--format {case.format}: has no axis of steps; allowed: rsf, npy, nc, h5")
    return [replace(case, buffer=buffer) for case in cases for buffer in steps.buffers]


class StepPattern(Expected):
    """What a file holds from some step on: a volume of which some nodes differ from step to step and file to file."""

    def __init__(self, volume: Pattern, files: int, file: int) -> None:
        self._volume, self._files, self._file = volume, files, file

    def mark(self, values: NDArray[np.float32], step: int, first: int) -> None:
        """Turn the volume's values, [x, (y,) z], with z from node `first` on, into those of a step."""
        marked = values.view(np.uint32)[..., -first % MARKED :: MARKED]
        marked ^= np.uint32((step * self._files + self._file + 1) & 0x3FFFFF)  # digits of a number, not its exponent

    def block(self, lo: Sequence[int], hi: Sequence[int]) -> NDArray[np.float32]:
        """The values of the box [lo, hi) of steps and nodes."""
        volume = self._volume.block(lo[1:], hi[1:])
        values = np.repeat(volume[None], hi[0] - lo[0], axis=0)
        for number, step in enumerate(range(lo[0], hi[0])):
            self.mark(values[number], step, lo[-1])
        return values

    def _pieces(self, lo: Sequence[int], hi: Sequence[int]) -> Iterator[Piece]:
        yield (tuple(lo), tuple(hi)), self.block(lo, hi)


@dataclass
class StepsBench(Bench):
    """As Bench, of files of steps; `pattern` and `ranks` are those of the nodes of a step."""

    steps: Steps = field(default_factory=Steps)
    _fields: list[NDArray[np.float32]] | None = field(default=None, repr=False)

    @property
    def info(self) -> VolumeInfo:
        """What a file says of the volume."""
        step = super().info
        assert step.labels is not None
        few = len(step.shape)
        return VolumeInfo(
            (self.steps.steps, *step.shape),
            step.dtype,
            (INTERVAL, *(SPACING,) * few),
            (0.0,) * (few + 1),
            (TIME, *step.labels),
            step.unit,
        )

    @property
    def step_bytes(self) -> int:
        """Of a step of one file."""
        return super().bytes

    @property
    def bytes(self) -> int:
        """Of all files."""
        return super().bytes * self.steps.steps * self.steps.files

    @property
    def listed_bytes(self) -> int:
        """Of that part of the volume which a list of elements speaks of: a list is that of one step."""
        return self.step_bytes

    @property
    def fields(self) -> list[NDArray[np.float32]]:
        """The arrays that nodes are taken from, one a file, made once."""
        if self._fields is None:
            block, n = self.block, self.steps.every
            with ledger.phase("generate"):
                self._fields = [np.zeros([n * cells for cells in block.shape], np.float32) for _ in range(self.files)]
                for array in self._fields:
                    self._kept(array)[...] = block
        return self._fields

    @property
    def files(self) -> int:
        """How many are written beside each other."""
        return self.steps.files

    def _kept(self, array: NDArray[np.float32]) -> NDArray[np.float32]:
        return array[(slice(None, None, self.steps.every),) * array.ndim]

    def write(self, case: StorageCase) -> Sample:
        """Collective. Write new files step by step, flushed; read them back untimed and remove them."""
        paths = [self.folder / f"{number}-{WRITTEN}.{case.format}" for number in range(self.files)]
        patterns = [StepPattern(self.pattern, self.files, number) for number in range(self.files)]
        clock, lo = Clock("write", (COPY, *PHASES)), self.box(self.comm.rank)[0]
        kept, held = [self._kept(array) for array in self.fields], min(case.buffer, self.steps.steps)
        buffers = [np.empty((held, *part.shape), np.float32) for part in kept]
        begin = self._start()
        with ledger.file("volume", "write"), ExitStack() as opened:
            with clock.phase("open"):
                writers = [
                    opened.enter_context(VolumeWriter(path, self.info, self.comm, case.strategy, errors=False))
                    for path in paths
                ]
            for step in range(self.steps.steps):
                place = step % held
                with clock.phase(COPY):
                    for part, buffer, pattern in zip(kept, buffers, patterns, strict=True):
                        buffer[place] = part
                        pattern.mark(buffer[place], step, lo[-1])
                if place + 1 == held or step + 1 == self.steps.steps:
                    with clock.phase("transfer"):
                        for writer, buffer in zip(writers, buffers, strict=True):
                            writer.write(buffer[: place + 1], (step - place, *lo))
            with clock.phase("flush"):
                for writer in writers:
                    writer.flush()
            with clock.phase("close"):
                opened.close()
        own, seconds = self._ended(clock, begin)
        stored = sum(self._stored(path) for path in paths)
        wrong, error, lost = self._read_back(case, paths, patterns)
        for path in paths:
            self.remove(path)
        return self._sample(
            seconds=seconds,
            clock=clock,
            own=own,
            stored=stored,
            wrong=wrong,
            error=error,
            compression=self._compression(writers, lost, seconds),
        )

    def _read_back(
        self, case: StorageCase, paths: Sequence[Path], patterns: Sequence[StepPattern]
    ) -> tuple[int, float | None, Lost]:
        """Collective. What `_summed` tells of all files, and this rank's errors. They are read in slabs of whole steps,
        ranks in turns, which are contiguous however short the runs of a block are."""
        wrong, deviation, energy, largest, values = 0, 0.0, 0.0, 0.0, 0
        shape = self.info.shape
        all_slabs = list(slabs((0,) * len(shape), shape, CHUNK_BYTES // ITEM_BYTES))
        nothing: Box = (0,) * len(shape), (0,) * len(shape)
        for path, pattern in zip(paths, patterns, strict=True):
            with open_shared(str(path), Path(), self.comm, usual_read(case.form)) as volume, ledger.phase("verify"):
                for first in range(0, len(all_slabs), self.comm.size):
                    mine = first + self.comm.rank
                    box = all_slabs[mine] if mine < len(all_slabs) else nothing
                    found = volume.read(*box)
                    parts: tuple[Any, ...] = self._compared(found, box, case.lossy, pattern)
                    wrong, deviation, energy = wrong + parts[0], deviation + parts[1], energy + parts[2]
                    largest, values = max(largest, parts[3]), values + found.size
        return *self._summed(wrong, deviation, energy, case.lossy), (largest, deviation, values)
