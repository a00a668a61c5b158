"""Time stepping of an acoustic wavefield on a graphics card: the same steps as Propagator's, bit for bit.

Fields, model and absorbing layers live on the card. What an advance writes and reads there, arrays of the host or of
the card, is the caller's (native/cuda/wave.cu). Steps are begun and not waited for: one advance is under way while the
next one is made ready. `settle` waits for all of it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.grid.arrays import padded
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.seismic.waves.card_library import (
    CardAccount,
    CardMemory,
    CardView,
    ImagingStep,
    LayerShape,
    Pinned,
    PinnedBuffer,
    Shape,
    StepsOfJob,
    call,
    library,
    longs,
)
from fathometer.seismic.waves.layers import Layer, damping_profiles
from fathometer.seismic.waves.points import SincPoints
from fathometer.seismic.waves.propagator import Propagator, State
from fathometer.seismic.waves.recording import Lines, Receivers

STEPS, IMAGING, TRANSFERS = "steps on the card", "imaging on the card", "card transfers"  # in records


class CardPropagator(Propagator):
    """One wavefield on the card that this process has opened; arguments and attributes as of Propagator."""

    tiled = False
    _wave: CardWave

    def _make_wave(self, model: list[np.ndarray], weights: np.ndarray, staggered: np.ndarray) -> CardWave:
        self._job = CardJob
        wave = CardWave(self, model, weights, staggered, damping_profiles(self.grid, self.block, self.scheme))
        for layer in self._layers:
            wave.add_layer(layer)
        self._layers = []  # their memories are on the card
        return wave

    def _native_points(self, points: SincPoints, column: np.ndarray, receivers: bool) -> CardPoints:
        return CardPoints(
            self._wave,
            **self._point_arrays(points, column),
            host=super()._native_points(points, column, True) if receivers else None,
        )

    def samplers(self, points: SincPoints) -> Receivers:
        made = super().samplers(points)
        return Receivers(made.indices, made.native, CardLines(made.exchange, made.native), made.steps)

    def _rest(self) -> None:
        self._wave.reset(self._active)

    def save(self, room: np.ndarray | None = None) -> State:
        room = np.empty(self.state_bytes, np.uint8) if room is None else room
        arrays, at = [], 0
        for shape, bytes in self._parts():
            arrays.append(room[at : at + bytes].view(self.scheme.dtype).reshape(shape))
            at += padded(bytes, 1)
        self._exchange_state(arrays, False)
        return State(self.step, self._wave.level, arrays)

    def restore(self, state: State) -> None:
        self._exchange_state(state.arrays, True)
        self._wave.level = state.level
        self.step = state.step

    def _parts(self) -> list[tuple[tuple[int, ...], int]]:
        """Shape and bytes of what `save` copies: each field's levels, each layer's memories."""
        itemsize = self.scheme.dtype.itemsize
        box = self._own_box
        own = tuple(hi - lo for lo, hi in zip(*box, strict=True))
        fields = [(own, math.prod(own) * itemsize)] * (2 * self.physics.fields)
        layers = [self._wave.memory_bytes(n) for n in range(self._wave.memories)]
        return fields + [((bytes // itemsize,), bytes) for bytes in layers]

    @property
    def _own_box(self) -> tuple[Index3, Index3]:
        """The owned cells and their mirror image above a free surface."""
        above = self.scheme.radius if self.scheme.free_surface and self.block.lo[2] == 0 else 0
        return (0, 0, -above), self.block.local_shape

    def _exchange_state(self, arrays: Sequence[np.ndarray], into_card: bool) -> None:
        count = 2 * self.physics.fields
        for number, array in enumerate(arrays[:count]):
            self._wave.copy(number // 2, number % 2, self._own_box, array, into_card)
        for number, array in enumerate(arrays[count:]):
            self._wave.copy_memory(number, array, into_card)

    @property
    def changing_bytes(self) -> int:
        """Of the host: a second wavefield takes memory of the card."""
        return 0

    @property
    def state_bytes(self) -> int:
        return sum(padded(bytes, 1) for _, bytes in self._parts())

    def fields(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        level = self._wave.level
        now, before = (
            [self._wave.field(field, which) for field in range(self.physics.fields)] for which in (level, 1 - level)
        )
        return now, before

    def settle(self) -> None:
        self._wave.settle()
        self._wave.report()

    def _make_exchanges(self, off_grid: bool) -> list[HaloExchange]:
        nothing = np.empty((0, 0, 0), self.scheme.dtype)
        return [
            CardHaloExchange(
                self,
                level,
                [HaloField(nothing, (0, 0, 0), axes) for axes in self._exchanged_axes(off_grid)],
            )
            for level in (0, 1)
        ]

    def _make_faces(self, fields: tuple[list[int], list[int]]) -> None:
        return None

    def close(self) -> None:
        super().close()
        self._wave.close()


class CardWave:
    """The library's view of a wavefield, with the methods of the processors' one."""

    def __init__(
        self,
        owner: Propagator,
        model: list[np.ndarray],
        weights: np.ndarray,
        staggered: np.ndarray,
        damping: list[np.ndarray],
    ) -> None:
        self.handle: int = 0
        block, scheme = owner.block, owner.scheme
        self._dtype, self._shape = scheme.dtype, block.local_shape
        shape = Shape(
            radius=scheme.radius,
            has_y=not owner.grid.two_dimensional,
            fields=owner.physics.fields,
            free_surface=scheme.free_surface and block.lo[2] == 0,
            depth=owner.halo_depth,
            n=longs(block.local_shape),
            cut=longs([int(side) for sides in owner.cut_sides for side in sides]),
            weights=weights.ctypes.data,
            staggered=staggered.ctypes.data,
            model_stride=longs([stride // scheme.dtype.itemsize for stride in model[0].strides[:2]]),
        )
        for axis, profile in enumerate(damping):
            shape.eta_dt[axis] = profile.ctypes.data
        for number, array in enumerate(model):
            shape.model[number] = array.ctypes.data
        self._level = 0
        self._volumes: dict[int, _Volume] = {}
        self.handle = call("wave_new", scheme.dtype.itemsize, ctypes.byref(shape)) or 0

    def add_layer(self, layer: Layer) -> None:
        """One more side that absorbs."""
        filters = (*layer.psi_filter, *layer.zeta_filter)
        shape = LayerShape(
            axis=layer.axis,
            cell_lo=layer.cell_lo,
            cell_hi=layer.cell_lo + len(layer.zeta_filter[0]),
            half_lo=layer.half_lo,
            half_hi=layer.half_hi,
        )
        for name, values in zip(("psi_gain", "psi_decay", "zeta_gain", "zeta_decay"), filters, strict=True):
            setattr(shape, name, np.ascontiguousarray(values).ctypes.data)
        call("wave_add_layer", self.handle, ctypes.byref(shape))

    @property
    def level(self) -> int:
        """The time level that is now."""
        return self._level

    @level.setter
    def level(self, level: int) -> None:
        library().wave_set_level(self.handle, level)
        self._level = level

    def reset(self, active: np.ndarray | None) -> None:
        """Zero everywhere; active: of ActiveRows.on."""
        rows, stride = (0, 0) if active is None else active.shape[1:]
        call("wave_reset", self.handle, None if active is None else active.ctypes.data, rows, stride)
        self._level = 0

    def advance(self, steps: int, job: CardJob, tiling: Any) -> None:
        """All of some steps. Returns when those of the call before are done, and arrays of the host are complete."""
        with job.on(self, steps) as native:
            call("wave_advance", self.handle, ctypes.byref(native))
        self._level = (self._level + steps) % 2
        self.report()

    def skew(self, job: CardJob) -> int:
        """Nothing: the rim is one part."""
        return 0

    def advance_inside(self, n: int, steps: int, job: CardJob, tiling: Any, part: int, parts: int) -> None:
        """What needs no neighbour's cells, with the first part."""
        if part == 0:
            with job.on(self, 1) as native:
                call("wave_inside", self.handle, n, ctypes.byref(native))

    def advance_rim(self, n: int, job: CardJob, outer: int, inner: int) -> None:
        """The rest of the step."""
        with job.on(self, 1) as native:
            call("wave_rim", self.handle, n, ctypes.byref(native))

    def image(self, job: CardJob) -> None:
        """What the job does at its imaging steps, with the field as it is now."""
        with job.on(self, 0) as native:
            for number in range(native.imaging_steps):
                call("wave_image", self.handle, ctypes.byref(native.imaging[number]))
        self.report()

    def first_nonfinite(self) -> int:
        """Offset of the first owned cell that is not finite, -1 where all are."""
        first = ctypes.c_int64()
        call("wave_first_nonfinite", self.handle, ctypes.byref(first))
        return first.value

    def copy(
        self,
        field: int,
        level: int,
        box: tuple[Sequence[int], Sequence[int]],
        host: np.ndarray,
        into_card: bool,
        wait: bool = True,
    ) -> None:
        """Cells of a field from or to a contiguous array."""
        lo, hi = map(longs, box)
        call("wave_copy", self.handle, field, level, lo, hi, host.ctypes.data, into_card, wait)

    def copied(self) -> bool:
        """Whether copies from the card that were not waited for have ended."""
        all_ended = ctypes.c_int()
        call("wave_copied", self.handle, ctypes.byref(all_ended))
        return bool(all_ended.value)

    def wait_for_copies(self) -> None:
        """Until they have."""
        call("wave_wait_for_copies", self.handle)

    def field(self, field: int, level: int) -> np.ndarray:
        """A copy (nx, ny, nz) of the owned cells."""
        cells = np.empty(self._shape, self._dtype)
        self.copy(field, level, ((0, 0, 0), self._shape), cells, False)
        return cells

    @property
    def memories(self) -> int:
        """Arrays of absorbing layers."""
        return int(library().wave_memories(self.handle))

    def memory_bytes(self, number: int) -> int:
        """Of one of these."""
        return int(library().wave_memory_bytes(self.handle, number))

    def copy_memory(self, number: int, host: np.ndarray, into_card: bool) -> None:
        """One of these from or to an array."""
        call("wave_copy_memory", self.handle, number, host.ctypes.data, into_card)

    def volume(self, host: np.ndarray) -> int:
        """Address on the card of what stands for an array of the host until `settle`."""
        volume = self._volumes.get(id(host))
        if volume is None:
            volume = self._volumes[id(host)] = _Volume(host)
        volume.fetch()
        return volume.card.address

    def encode(self, volume: CardView, bits: int, record: CardView, scales: int) -> None:
        """A snapshot as int8 or float16 cells, and the scales of its blocks, which begin at byte `scales`."""
        shape = longs(volume.shape)
        call("wave_encode", self.handle, volume.address, shape, bits, record.address, record.address + scales)

    def decode(self, record: CardView, scales: int, bits: int, volume: CardView) -> None:
        """The reverse."""
        shape = longs(volume.shape)
        call("wave_decode", self.handle, record.address, record.address + scales, shape, bits, volume.address)

    def begin_copy(self, buffer: int, card: CardView, host: np.ndarray, into_card: bool) -> None:
        """Copy between a buffer of the card, which has a number, and the host, beside the time steps that follow."""
        call("wave_begin_copy", self.handle, buffer, card.address, host.ctypes.data, card.nbytes, into_card)

    def await_copy(self, buffer: int) -> None:
        """What is begun from now on waits for the last copy of a buffer."""
        call("wave_await_copy", self.handle, buffer)

    def used(self, buffer: int) -> None:
        """What was begun before is the last to use a buffer before it is filled again."""
        call("wave_used", self.handle, buffer)

    def settle(self) -> None:
        """Until all is done, and the host's arrays hold what was added to them on the card."""
        call("wave_settle", self.handle)
        for volume in self._volumes.values():
            volume.give_back()

    def report(self) -> None:
        """What the card has done since, to the account of this process."""
        account = CardAccount()
        call("wave_account", self.handle, ctypes.byref(account))
        ledger.beside(STEPS, "compute", account.steps)
        ledger.beside(IMAGING, "compute", account.imaging)
        ledger.beside(TRANSFERS, "communication", account.transfers, account.transferred)

    def close(self) -> None:
        """Free the card's memory."""
        if self.handle:
            for volume in self._volumes.values():
                volume.close()
            self._volumes.clear()
            library().wave_delete(self.handle)
            self.handle = 0

    def __del__(self) -> None:
        self.close()


class _Volume:
    """A contiguous array of the host to which is added on the card."""

    def __init__(self, host: np.ndarray) -> None:
        self.host, self._memory = host, CardMemory(host.nbytes)
        self.card = self._memory.view(0, host.shape, host.dtype)
        self._pinned, self._there = Pinned(host), False

    def fetch(self) -> None:
        if not self._there:
            self.card.fill_from(self.host)
            self._there = True

    def give_back(self) -> None:
        if self._there:
            self.card.copy_to(self.host)
            self._there = False

    def close(self) -> None:
        self._pinned.end()
        self._memory.free()


class CardPoints:
    """Points on the card, with the methods of the processors' ones.

    Args:
        first, count, weight, column: as the processors' points have them, indices of the block. host: these, for
            receivers whose lines are added up by the host.
    """

    def __init__(
        self,
        wave: CardWave,
        first: np.ndarray,
        count: np.ndarray,
        weight: np.ndarray,
        column: np.ndarray,
        host: Any,
    ) -> None:
        self.handle: int = 0
        self._wave = wave  # whose stream these are copied in
        self._host, self.on_card = host, host is not None
        self.records = bool(np.any(column >= 0))
        arrays = (array.ctypes.data for array in (first, count, weight, column))
        self.handle = call("points_new", wave.handle, len(column), *arrays, host is not None) or 0

    def lines(self, lines: np.ndarray) -> None:
        """What the steps since the last call have taken, (steps, lines)."""
        call("points_lines", self.handle, lines.ctypes.data)
        self.on_card = False

    def add_up(self, lines: np.ndarray, recorded: np.ndarray) -> None:
        """The receivers' values from lines that are complete, or are on the card alone."""
        if self.on_card:
            call("points_add_up", self.handle, recorded.ctypes.data, recorded.shape[1])
        else:
            self._host.add_up(lines, recorded)
            self.on_card = True

    def __del__(self) -> None:
        if self.handle:
            library().points_delete(self.handle)
            self.handle = 0


class CardLines:
    """The exchange of lines with other ranks, for which they leave the card."""

    def __init__(self, exchange: Lines, points: CardPoints) -> None:
        self._exchange, self._points, self.lines = exchange, points, exchange.lines

    @property
    def alone(self) -> bool:
        """Whether no lines travel between ranks."""
        return self._exchange.alone

    def complete(self, lines: np.ndarray) -> None:
        """As LineExchange's."""
        if self.alone and self._points.records:  # nothing leaves the card but the receivers' values
            return
        self._points.lines(lines)
        self._exchange.complete(lines)


class CardJob:
    """What happens in some steps beside the equation itself, with the arguments of the processors' jobs.

    Arrays of snapshots, sources and lines are of the host or of the card; images are of the host, and stand for arrays
    of the card until CardWave.settle.
    """

    def __init__(
        self,
        sources: CardPoints | None = None,
        injected: np.ndarray | None = None,
        scale: float = 0.0,
        receivers: CardPoints | None = None,
        lines: np.ndarray | None = None,
        active: np.ndarray | None = None,
        start: int = 0,
    ) -> None:
        self._sources, self._injected, self._scale, self._receivers = sources, injected, scale, receivers
        self._start = start
        self._imaging: list[dict[str, Any]] = []

    def add_imaging(self, **at: Any) -> None:
        """step, lo, hi; snapshot: written; source, image, illumination: of a correlation."""
        self._imaging.append(at)

    @contextmanager
    def on(self, wave: CardWave, steps: int) -> Iterator[StepsOfJob]:
        """As the library takes it."""
        imaging = (ImagingStep * len(self._imaging))()
        for native, at in zip(imaging, self._imaging, strict=True):
            native.step, native.lo, native.hi = at["step"], longs(at["lo"]), longs(at["hi"])
            for name in ("snapshot", "source"):
                array = at.get(name)
                if isinstance(array, CardView):
                    setattr(native, name, array.address)
                elif array is not None:
                    setattr(native, name, array.ctypes.data)
                    setattr(native, f"{name}_of_host", 1)
            for name in ("image", "illumination"):
                if at.get(name) is not None:
                    setattr(native, name, wave.volume(at[name]))
        injected = self._injected
        if injected is not None and not injected.flags.c_contiguous:
            injected = np.ascontiguousarray(injected)
        yield StepsOfJob(
            start=self._start,
            steps=steps,
            sources=None if self._sources is None else self._sources.handle,
            receivers=None if self._receivers is None else self._receivers.handle,
            injected=None if injected is None else injected.ctypes.data,
            columns=0 if injected is None else injected.shape[1],
            scale=self._scale,
            imaging_steps=len(imaging),
            imaging=imaging,
        )


class CardHaloExchange(HaloExchange):
    """Halos of a time level, which leave the card and come to it through memory that it reads by itself.

    start: the card packs faces once they are computed. wait: they travel, and are unpacked beside the inner cells.
    """

    def __init__(self, owner: CardPropagator, level: int, fields: Sequence[HaloField]) -> None:
        self._wave, self._level, self._under_way = owner.wave, level, False
        self._faces: list[tuple[int, tuple[slice, ...], bool, PinnedBuffer]] = []
        super().__init__(owner.comm, owner.block, fields, owner.halo_depth)

    def _message(self, number: int, field: HaloField, cells: tuple[slice, ...], halo: bool) -> list[Any]:
        buffer = PinnedBuffer(math.prod(s.stop - s.start for s in cells), field.array.dtype)
        self._faces.append((number, cells, halo, buffer))
        return [buffer.array, MPI._typedict[buffer.array.dtype.char]]

    def start(self) -> None:
        self._copy(False)
        self._under_way = False

    def test(self) -> None:
        """The messages begin once the faces are here."""
        if self._under_way:
            super().test()
        elif self._wave.copied():
            super().start()
            self._under_way = True

    def wait(self) -> None:
        if not self._under_way:
            with ledger.idle("wait for the card"):
                self._wave.wait_for_copies()
            super().start()
            self._under_way = True
        super().wait()
        self._copy(True)

    def _copy(self, halo: bool) -> None:
        for number, cells, of_halo, buffer in self._faces:
            if of_halo == halo:
                box = [s.start for s in cells], [s.stop for s in cells]
                self._wave.copy(number, self._level, box, buffer.array, halo, wait=False)

    def close(self) -> None:
        super().close()
        self._faces.clear()
