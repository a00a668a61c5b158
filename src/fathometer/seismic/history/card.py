"""The history of a source wavefield on a graphics card, or in the host's memory beside it.

card     all records on the card: snapshots never leave it
memory   records in the host's memory, copied beside the time steps; encoded by the card, which makes copies shorter

On disk and in checkpoints they are as without a card.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fathometer.parallel.decomposition import Index3
from fathometer.seismic.history.choice import HistoryChoice, HistoryShare
from fathometer.seismic.history.encoding import EXPECTED, PLAIN, Encoding, relative_errors
from fathometer.seismic.history.schedule import MOST_WORK
from fathometer.seismic.history.store import EXAMINED, History, Source
from fathometer.seismic.history.strategies import (
    CheckpointStore,
    DiskStore,
    HistoryRequest,
    MemoryStore,
    Store,
    all_kept,
    shortfall,
    slab,
)
from fathometer.seismic.survey import HistoryTable
from fathometer.seismic.waves.card import CardPropagator, CardWave
from fathometer.seismic.waves.card_library import CardMemory, CardView, Pinned
from fathometer.seismic.waves.propagator import Propagator
from fathometer.storage.scratch.stack import padded

BITS = {"float16": 16, "int8": 8}  # of a cell, of encodings that the card knows
BUFFERS = 2  # of the card, between it and the host's memory
SNAPSHOTS_BESIDE = 2  # on the card, that a second wavefield writes in turns


class BlockCoder:
    """int8 or float16 cells with a scale for each block, as of encoding.Blocks."""

    def __init__(self, wave: CardWave, name: str, encoding: Encoding, shape: Index3) -> None:
        self._wave, self._bits = wave, BITS[name]
        self._scales = padded(math.prod(shape) * self._bits // 8)
        self.record_bytes = encoding.largest

    def encode(self, snapshot: CardView, record: CardView) -> None:
        self._wave.encode(snapshot, self._bits, record, self._scales)

    def decode(self, record: CardView, snapshot: CardView) -> None:
        self._wave.decode(record, self._scales, self._bits, snapshot)


class CardHistory:
    """All snapshots of a shot as records on the card; see History.

    Args:
        wave: the wavefield's kernels. coder: None: snapshots are kept as they are. snapshots: of a shot.
        shape, dtype: of a snapshot.
    """

    def __init__(
        self, wave: CardWave, coder: BlockCoder | None, snapshots: int, shape: Index3, dtype: np.dtype[Any]
    ) -> None:
        self._wave, self._coder, self._shape, self._dtype = wave, coder, shape, dtype
        self.snapshot_bytes = math.prod(shape) * dtype.itemsize
        self._record_bytes = self.snapshot_bytes if coder is None else coder.record_bytes
        self._each = padded(self._record_bytes)
        self._snapshots, self._pushed, self._count, self._left = snapshots, 0, 0, 0
        self._examine = {snapshots * n // (EXAMINED + 1) for n in range(1, EXAMINED + 1)} if coder else set()
        self._errors = (0.0, 0.0)
        self._plain = None if coder is None else CardMemory(self.snapshot_bytes)
        self._make_room()

    def _make_room(self) -> None:
        self._records = CardMemory(self._snapshots * self._each)

    def begin(self, source: Source) -> None:
        self._count = self._left = 0

    def rooms(self, most: int) -> Sequence[CardView]:
        if self._plain is not None:
            return [self._snapshot]
        return [self._as_snapshot(self._record(self._count + n)) for n in range(most)]

    def push(self, count: int) -> None:
        for _ in range(count):
            if self._coder is not None:
                record = self._record(self._count)
                self._coder.encode(self._snapshot, record)
                if self._pushed in self._examine:
                    self._note_errors(self._coder, record)
            self._pushed += 1
            self._count += 1
            self._left = self._count

    def pop(self, most: int) -> Sequence[CardView]:
        if self._coder is not None:
            self._left -= 1
            self._coder.decode(self._record(self._left), self._snapshot)
            return [self._snapshot]
        count = min(most, self._left)
        self._left -= count
        return [self._as_snapshot(self._record(self._left + n)) for n in reversed(range(count))]

    def rewind(self) -> bool:
        self._left = self._count
        return True

    def close(self) -> None:
        self._records.free()
        if self._plain is not None:
            self._plain.free()

    def statistics(self) -> dict[str, Any]:
        """As StackedHistory's."""
        statistics: dict[str, Any] = {
            "snapshots": self._pushed,
            "logical_bytes": self._pushed * self.snapshot_bytes,
            "stored_bytes": self._pushed * self._record_bytes,
            "held_bytes": self._snapshots * self._each,
            "plain_bytes": 0 if self._plain is None else self.snapshot_bytes,
        }
        if self._coder is not None:
            statistics |= {"relative_l2_error": self._errors[0], "largest_error_of_peak": self._errors[1]}
        return statistics

    @property
    def _snapshot(self) -> CardView:
        """Of an encoding: the plain snapshot in hand."""
        assert self._plain is not None
        return self._plain.view(0, self._shape, self._dtype)

    def _record(self, number: int) -> CardView:
        return self._records.view(number * self._each, (self._record_bytes,), np.dtype(np.uint8))

    def _as_snapshot(self, record: CardView) -> CardView:
        return CardView(record.address, self._shape, self._dtype)

    def _note_errors(self, coder: BlockCoder, record: CardView) -> None:
        """Of the snapshot that was encoded last."""
        self._wave.settle()
        with_errors = CardMemory(self.snapshot_bytes)
        decoded = with_errors.view(0, self._shape, self._dtype)
        coder.decode(record, decoded)
        self._wave.settle()
        both = [np.empty(self._shape, self._dtype) for _ in range(2)]
        for view, array in zip((self._snapshot, decoded), both, strict=True):
            view.copy_to(array)
        with_errors.free()
        l2, largest = relative_errors(*both)
        self._errors = (max(self._errors[0], l2), max(self._errors[1], largest))


class HostedHistory(CardHistory):
    """The same with records in the host's memory, which the card reads and writes by itself, beside the time steps."""

    def _make_room(self) -> None:
        self._host = slab(self._snapshots * self._each)
        self._pinned = Pinned(self._host)
        self._ring = CardMemory(BUFFERS * self._each)
        self._in_hand: int | None = None  # buffer of the snapshot that was popped last
        self._coming = 0  # records that are here or on their way, counted from the first one

    def _buffer(self, number: int) -> CardView:
        return self._ring.view(number % BUFFERS * self._each, (self._record_bytes,), np.dtype(np.uint8))

    def _of_host(self, number: int) -> np.ndarray:
        return self._host[number * self._each : number * self._each + self._record_bytes]

    def rooms(self, most: int) -> Sequence[CardView]:
        if self._coder is not None:
            return [self._snapshot]
        self._wave.await_copy(self._count % BUFFERS)
        return [self._as_snapshot(self._buffer(self._count))]

    def push(self, count: int) -> None:
        assert count == 1
        buffer = self._buffer(self._count)
        if self._coder is not None:
            self._wave.await_copy(self._count % BUFFERS)
            self._coder.encode(self._snapshot, buffer)
            if self._pushed in self._examine:
                self._note_errors(self._coder, buffer)
        self._wave.begin_copy(self._count % BUFFERS, buffer, self._of_host(self._count), False)
        self._pushed += 1
        self._count += 1
        self._left = self._coming = self._count

    def pop(self, most: int) -> Sequence[CardView]:
        if self._in_hand is not None:
            self._wave.used(self._in_hand)
            self._in_hand = None
        self._left -= 1
        while self._coming > max(0, self._left + 1 - BUFFERS):
            self._coming -= 1
            self._wave.begin_copy(self._coming % BUFFERS, self._buffer(self._coming), self._of_host(self._coming), True)
        self._wave.await_copy(self._left % BUFFERS)
        record = self._buffer(self._left)
        if self._coder is None:
            self._in_hand = self._left % BUFFERS
            return [self._as_snapshot(record)]
        self._coder.decode(record, self._snapshot)
        self._wave.used(self._left % BUFFERS)
        return [self._snapshot]

    def rewind(self) -> bool:
        if self._in_hand is not None:
            self._wave.used(self._in_hand)
            self._in_hand = None
        self._left = self._coming = self._count
        return True

    def close(self) -> None:
        self._wave.settle()
        self._pinned.end()
        self._ring.free()
        if self._plain is not None:
            self._plain.free()


def _wave_of(request: HistoryRequest) -> CardWave:
    assert isinstance(request.wavefield, CardPropagator)
    wave: CardWave = request.wavefield.wave
    return wave


def _coder_of(request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None) -> BlockCoder | None:
    if encoding is None:
        return None
    return BlockCoder(_wave_of(request), choice.encoding, encoding, request.wavefield.image_shape)


class CardStore(MemoryStore):
    """All snapshots on the card."""

    def fit(
        self,
        wanted: HistoryTable,
        snapshots: int,
        shares: Sequence[HistoryShare],
        encoding: str,
        most_work: float = MOST_WORK,
    ) -> HistoryChoice | str:
        """Whether all records fit there."""
        if encoding in EXPECTED:
            return f"card: {encoding} is not known there"
        plain = [s.snapshot if encoding != PLAIN else 0 for s in shares]
        needs = [snapshots * s.records[encoding] + beside for s, beside in zip(shares, plain, strict=True)]
        too_little = shortfall(f"card with {encoding}", "the card's memory", needs, [s.card for s in shares])
        return too_little or all_kept(
            "card", encoding, snapshots, memory_bytes=0, card_bytes=max(needs), place="on the card"
        )

    def open(
        self, request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None
    ) -> tuple[History, Propagator | None]:
        """Take the card's memory."""
        shape, dtype = request.wavefield.image_shape, request.dtype
        coder = _coder_of(request, choice, encoding)
        return CardHistory(_wave_of(request), coder, request.snapshots, shape, dtype), None


class HostedStore(MemoryStore):
    """All snapshots in the host's memory; what the card does not encode, the host does."""

    def open(
        self, request: HistoryRequest, choice: HistoryChoice, encoding: Encoding | None
    ) -> tuple[History, Propagator | None]:
        """Reserve the memory."""
        if choice.encoding in EXPECTED:
            return super().open(request, choice, encoding)
        shape, dtype = request.wavefield.image_shape, request.dtype
        coder = _coder_of(request, choice, encoding)
        return HostedHistory(_wave_of(request), coder, request.snapshots, shape, dtype), None

    def waiting_seconds(self, moved: float, rate: float, computing: float) -> float:
        """What copies take longer than the time steps beside which they move; rate: of the disk, of no use here."""
        return 2 * max(0.0, moved / COPIES - computing)


COPIES = 20e9  # bytes a second between card and host: what is planned for (PCI Express 4 or later)


class CardCheckpointStore(CheckpointStore):
    """As without a card; the second wavefield is on the card."""

    def fit(
        self,
        wanted: HistoryTable,
        snapshots: int,
        shares: Sequence[HistoryShare],
        encoding: str,
        most_work: float = MOST_WORK,
    ) -> HistoryChoice | str:
        """Whether the card has room for a second wavefield, and the host for the rest."""
        needs = [float(s.card_twin + SNAPSHOTS_BESIDE * s.snapshot) for s in shares]
        too_little = shortfall(
            "checkpoint", "the card's memory for a second wavefield", needs, [s.card for s in shares]
        )
        return too_little or super().fit(wanted, snapshots, shares, encoding, most_work)


CARD_STORES: Mapping[str, Store] = {
    "card": CardStore(),
    "memory": HostedStore(),
    "disk": DiskStore(),
    "checkpoint": CardCheckpointStore(),
}
