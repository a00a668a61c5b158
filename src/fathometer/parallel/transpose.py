"""Redistribution of an array over ranks: cut into blocks along one named axis before, along another one after.

    transpose = Transpose({"level": 60, "latitude": 96, "wave": 128}, "wave", "level", np.complex128, 2, comm)
    source = np.empty(transpose.source_shape, np.complex128)    # [field, level, latitude, wave]: some waves
    target = np.empty(transpose.target_shape, np.complex128)    # the same order of axes: some levels, all waves
    transpose.forward(source, target)
    transpose.backward(target, source)

METHODS, which all move the same bits:

    alltoallw   MPI_Alltoallw; the messages are MPI subarray datatypes of the arrays, so that MPI copies cells
    alltoallv   MPI_Alltoallv; cells are copied into one buffer and out of another, which hold the messages of all ranks
    pairwise    a message to one rank and from another at a time (MPI_Sendrecv), copied as in alltoallv

A message that is too long for one call goes in parts, in the same number of rounds on all ranks. First the ranks wait
for the last one and agree that all arrays are right: this is idle time and can be interrupted, the calls after it are
communication, copies in and out of buffers computation. Each rank needs cells of all others and has to wait anyway.
`start_forward` and `start_backward` begin a transpose without waiting, by the non-blocking calls of the same kinds
(MPI_Ialltoallw, MPI_Ialltoallv, MPI_Isend and MPI_Irecv), so that work can be done meanwhile.

The pencils of mpi4py-fft (2.0.6) have MPI_Alltoallw on subarray types only, do not cut messages, and refuse ranks
without cells; therefore they are not used here.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import LARGEST_MESSAGE, arrived, together
from fathometer.parallel.decomposition import split
from fathometer.parallel.halo import MOST_NUMBERS, pieces

Region = tuple[slice, ...]
SIDES = ("source", "target")
TAG = MOST_NUMBERS - 1  # the last one that halo exchanges leave to others


@dataclass(frozen=True)
class Side:
    """This rank's array on one side of a transpose.

    Attributes:
        shape: fields, then the axes in their order.
        rounds: for each round of messages, by rank, the cells sent to it, or received from it; they may be none.
        bytes_sent: of the cells for other ranks.
    """

    shape: tuple[int, ...]
    rounds: tuple[tuple[Region, ...], ...]
    bytes_sent: int


def side(whole: Sequence[int], cut: int, shared: int, comm: MPI.Intracomm, itemsize: int, largest: int) -> Side:
    """The side that is cut along one axis and whose cells are shared out along another.

    whole: lengths of all axes, that of fields too. cut, shared: numbers of axes. itemsize: bytes of a cell. largest:
    bytes of a message.
    """
    start, stop = split(whole[cut], comm.size, comm.rank)
    shape = (*whole[:cut], stop - start, *whole[cut + 1 :])
    every = tuple(slice(0, n) for n in shape)
    parts = []
    for rank in range(comm.size):
        cells = (*every[:shared], slice(*split(whole[shared], comm.size, rank)), *every[shared + 1 :])
        parts.append(list(pieces(cells, itemsize, largest)))
    # Ranks whose messages are shorter have no cells in the last rounds, but take part in them.
    longest = [slice(0, -(-n // comm.size) if axis in (cut, shared) else n) for axis, n in enumerate(whole)]
    number = sum(1 for _ in pieces(tuple(longest), itemsize, largest))
    nothing = (slice(0, 0),) * len(whole)
    rounds = tuple(tuple(part[n] if n < len(part) else nothing for part in parts) for n in range(number))
    own = sum(_count(part) for part in parts[comm.rank])
    return Side(shape, rounds, itemsize * (math.prod(shape) - own))


def _lengths(cells: Region) -> tuple[int, ...]:
    return tuple(s.stop - s.start for s in cells)


def _count(cells: Region) -> int:
    return math.prod(_lengths(cells))


class Method(ABC):
    """How cells travel.

    Args:
        comm: the ranks. sides: of SIDES. itemsize: bytes of a cell, whatever they mean.
    """

    function: ClassVar[str]  # of MPI, called without overlap
    one_buffer: ClassVar[bool] = False  # whether all messages of a call lie in one, of `largest` bytes too

    def __init__(self, comm: MPI.Intracomm, sides: tuple[Side, Side], itemsize: int) -> None:
        self.comm, self.sides, self.itemsize = comm, sides, itemsize

    @classmethod
    def calls(cls, ranks: int) -> int:
        """Of the function by each rank, where messages need not be cut."""
        return 1

    @abstractmethod
    def move(self, source: np.ndarray, target: np.ndarray, sender: int) -> None:
        """Collective. Fill the target with cells of the sources of all ranks; both hold plain bytes (dtype "V").

        sender: number of the side that the source is on.
        """

    @abstractmethod
    def start(self, source: np.ndarray, target: np.ndarray, sender: int) -> Moving:
        """Collective. Begin what `move` does; neither array may be touched until it is finished."""

    def close(self) -> None:
        """Free what MPI keeps."""
        return


class Moving:
    """A transpose on its way. MPI moves it on when it is asked to.

    Args:
        requests: of its messages. arrive: copies what has come to where it belongs.
    """

    def __init__(self, comm: MPI.Intracomm, requests: Sequence[MPI.Request], arrive: Callable[[], None]) -> None:
        self._comm, self._requests, self._arrive = comm, list(requests), arrive

    def Test(self) -> bool:
        """Whether all messages have come; has MPI move them on."""
        return MPI.Request.Testall(self._requests)

    def finish(self) -> None:
        """Collective. Wait for all messages, which counts as idle; then the target is filled. Raises KeyboardInterrupt
        while it waits."""
        with ledger.phase("transpose"), arrived(self._comm, lambda: self, os.sched_yield):
            self._arrive()


def _nothing() -> None:
    return


class Alltoallw(Method):
    """Messages are parts of the arrays, in place."""

    function = "MPI_Alltoallw"

    def __init__(self, comm: MPI.Intracomm, sides: tuple[Side, Side], itemsize: int) -> None:
        super().__init__(comm, sides, itemsize)
        self._types: list[MPI.Datatype] = []
        self._item = self._kept(MPI.BYTE.Create_contiguous(itemsize))
        self._messages = [[self._round(one.shape, cells) for cells in one.rounds] for one in sides]

    def _kept(self, datatype: MPI.Datatype) -> MPI.Datatype:
        self._types.append(datatype.Commit())
        return datatype

    def _round(
        self, shape: tuple[int, ...], cells: Sequence[Region]
    ) -> tuple[tuple[list[int], list[int]], list[MPI.Datatype]]:
        """Counts and offsets of the messages of all ranks, and their types."""
        counts = [int(_count(part) > 0) for part in cells]
        types = [MPI.BYTE] * len(cells)  # of no message: there are no subarrays without cells
        for rank, part in enumerate(cells):
            if counts[rank]:
                starts = [s.start for s in part]
                types[rank] = self._kept(self._item.Create_subarray(shape, _lengths(part), starts))
        return (counts, [0] * len(counts)), types

    def move(self, source: np.ndarray, target: np.ndarray, sender: int) -> None:
        """Collective. See `Method.move`."""
        with ledger.communication(bytes=self.sides[sender].bytes_sent):
            for sent, received in zip(self._messages[sender], self._messages[1 - sender], strict=True):
                self.comm.Alltoallw([_bytes(source), *sent], [_bytes(target), *received])

    def start(self, source: np.ndarray, target: np.ndarray, sender: int) -> Moving:
        """Collective. See `Method.start`."""
        with ledger.communication(bytes=self.sides[sender].bytes_sent):
            requests = [
                self.comm.Ialltoallw([_bytes(source), *sent], [_bytes(target), *received])
                for sent, received in zip(self._messages[sender], self._messages[1 - sender], strict=True)
            ]
        return Moving(self.comm, requests, _nothing)

    def close(self) -> None:
        """Free the datatypes."""
        for datatype in self._types:
            datatype.Free()
        self._types.clear()
        self._messages.clear()


class Alltoallv(Method):
    """Messages of all ranks one after the other in a buffer."""

    function = "MPI_Alltoallv"
    one_buffer = True

    def __init__(self, comm: MPI.Intracomm, sides: tuple[Side, Side], itemsize: int) -> None:
        super().__init__(comm, sides, itemsize)
        most = max(sum(map(_count, cells)) for one in sides for cells in one.rounds)
        self._sent, self._received = (np.empty(most, f"V{itemsize}") for _ in range(2))

    def move(self, source: np.ndarray, target: np.ndarray, sender: int) -> None:
        """Collective. See `Method.move`."""
        own = self.comm.rank
        for sent, received in zip(self.sides[sender].rounds, self.sides[1 - sender].rounds, strict=True):
            for cells, message in self._messages(self._sent, sent):
                message[...] = source[cells]
            outgoing = [_count(cells) * self.itemsize for cells in sent]
            incoming = [_count(cells) * self.itemsize for cells in received]
            with ledger.communication(bytes=sum(outgoing) - outgoing[own]):
                self.comm.Alltoallv(
                    [_bytes(self._sent), outgoing, MPI.BYTE], [_bytes(self._received), incoming, MPI.BYTE]
                )
            for cells, message in self._messages(self._received, received):
                target[cells] = message

    def start(self, source: np.ndarray, target: np.ndarray, sender: int) -> Moving:
        """Collective. See `Method.start`. The messages of all rounds have buffers of their own."""
        own = self.comm.rank
        requests, arriving = [], []
        for sent, received in zip(self.sides[sender].rounds, self.sides[1 - sender].rounds, strict=True):
            outgoing = [_count(cells) * self.itemsize for cells in sent]
            incoming = [_count(cells) * self.itemsize for cells in received]
            out, into = (np.empty(sum(sizes) // self.itemsize, f"V{self.itemsize}") for sizes in (outgoing, incoming))
            for cells, message in self._messages(out, sent):
                message[...] = source[cells]
            arriving += list(self._messages(into, received))
            with ledger.communication(bytes=sum(outgoing) - outgoing[own]):
                requests.append(
                    self.comm.Ialltoallv([_bytes(out), outgoing, MPI.BYTE], [_bytes(into), incoming, MPI.BYTE])
                )
        return Moving(self.comm, requests, partial(_arrive, target, arriving))

    @staticmethod
    def _messages(buffer: np.ndarray, parts: Sequence[Region]) -> Iterator[tuple[Region, np.ndarray]]:
        """The cells of each rank, and their message in the buffer."""
        start = 0
        for cells in parts:
            yield cells, _message(buffer[start:], cells)
            start += _count(cells)


class Pairwise(Method):
    """One message at a time in a buffer: to the ranks above, each in turn, and from the ranks below."""

    function = "MPI_Sendrecv"

    @classmethod
    def calls(cls, ranks: int) -> int:
        """See `Method.calls`."""
        return ranks - 1

    def __init__(self, comm: MPI.Intracomm, sides: tuple[Side, Side], itemsize: int) -> None:
        super().__init__(comm, sides, itemsize)
        most = max(_count(part) for one in sides for cells in one.rounds for part in cells)
        self._sent, self._received = (np.empty(most, f"V{itemsize}") for _ in range(2))

    def move(self, source: np.ndarray, target: np.ndarray, sender: int) -> None:
        """Collective. See `Method.move`."""
        rounds = list(zip(self.sides[sender].rounds, self.sides[1 - sender].rounds, strict=True))
        own, size = self.comm.rank, self.comm.size
        for sent, received in rounds:
            target[received[own]] = source[sent[own]]
        for step in range(1, size):
            above, below = (own + step) % size, (own - step) % size
            for sent, received in rounds:
                outgoing, incoming = _message(self._sent, sent[above]), _message(self._received, received[below])
                outgoing[...] = source[sent[above]]
                with ledger.communication(bytes=outgoing.nbytes):
                    self.comm.Sendrecv(
                        [_bytes(outgoing), MPI.BYTE], above if outgoing.size else MPI.PROC_NULL, TAG,
                        [_bytes(incoming), MPI.BYTE], below if incoming.size else MPI.PROC_NULL, TAG,
                    )  # fmt: skip
                target[received[below]] = incoming

    def start(self, source: np.ndarray, target: np.ndarray, sender: int) -> Moving:
        """Collective. See `Method.start`. All messages are on their way at once, each in a buffer of its own."""
        rounds = list(zip(self.sides[sender].rounds, self.sides[1 - sender].rounds, strict=True))
        own, size = self.comm.rank, self.comm.size
        requests, arriving = [], []
        for sent, received in rounds:
            target[received[own]] = source[sent[own]]
        for step in range(1, size):
            above, below = (own + step) % size, (own - step) % size
            for sent, received in rounds:
                outgoing = np.ascontiguousarray(source[sent[above]])
                incoming = np.empty(_lengths(received[below]), f"V{self.itemsize}")
                with ledger.communication(bytes=outgoing.nbytes):
                    if incoming.size:
                        requests.append(self.comm.Irecv([_bytes(incoming), MPI.BYTE], below, TAG))
                        arriving.append((received[below], incoming))
                    if outgoing.size:
                        requests.append(self.comm.Isend([_bytes(outgoing), MPI.BYTE], above, TAG))
        return Moving(self.comm, requests, partial(_arrive, target, arriving))


METHODS: Mapping[str, type[Method]] = MappingProxyType(
    {"alltoallw": Alltoallw, "alltoallv": Alltoallv, "pairwise": Pairwise}
)


def _arrive(target: np.ndarray, messages: Sequence[tuple[Region, np.ndarray]]) -> None:
    for cells, message in messages:
        target[cells] = message


def _message(buffer: np.ndarray, cells: Region) -> np.ndarray:
    """The begin of a buffer in the shape of the cells."""
    return buffer[: _count(cells)].reshape(_lengths(cells))


def _bytes(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


class Transpose:
    """Redistribution of an array from blocks along one axis to blocks along another one, set up once and repeated.

    Arrays are in C order, an axis of fields first. Axes that are neither `from_axis` nor `to_axis` stay as they are:
    where another communicator cuts one, its length here is the same on all ranks of this one. Blocks are those of
    `decomposition.split`; where an axis has fewer cells than there are ranks, some ranks have none.

    Args:
        shape: name and length of each axis, in the arrays' order, over all ranks of the communicator.
        from_axis: that the source is cut along. to_axis: that the target is cut along.
        dtype: of the arrays; any of a fixed size. fields: length of the first axis.
        comm: the ranks; the other arguments are the same on all of them.
        method: one of METHODS. largest: bytes of a message, at most; of a call's messages where they lie in one buffer.

    Attributes:
        source_shape, target_shape: of this rank's arrays.
        forward_bytes, backward_bytes: sent by this rank to others.
    """

    def __init__(
        self,
        shape: Mapping[str, int],
        from_axis: str,
        to_axis: str,
        dtype: npt.DTypeLike,
        fields: int,
        comm: MPI.Intracomm,
        method: str = "alltoallw",
        largest: int = LARGEST_MESSAGE,
    ) -> None:
        self.dtype = _moved_dtype(dtype)
        for axis, length in (("fields", fields), ("largest", largest), *shape.items()):
            if length < 1:
                raise InputError(f"{axis}: found {length}; allowed: at least 1")
        _choose("from_axis", from_axis, list(shape))
        _choose("to_axis", to_axis, [axis for axis in shape if axis != from_axis])
        _choose("method", method, list(METHODS))
        self._comm = comm
        kind = METHODS[method]
        names = ["", *shape]
        before, after = names.index(from_axis), names.index(to_axis)
        size = self.dtype.itemsize
        if kind.one_buffer:
            largest //= comm.size
        whole = [fields, *shape.values()]
        source = side(whole, before, after, comm, size, largest)
        target = side(whole, after, before, comm, size, largest)
        self.source_shape, self.target_shape = source.shape, target.shape
        self.forward_bytes, self.backward_bytes = source.bytes_sent, target.bytes_sent
        self._method = kind(comm, (source, target), size)

    def forward(self, source: np.ndarray, target: np.ndarray) -> None:
        """Collective. Fill the target from the sources of all ranks.

        Raises on all ranks the InputError of the lowest one whose arrays have another shape or dtype, are not in C
        order, share memory, or of which the target is read-only.
        """
        self._move(source, target, 0)

    def backward(self, target: np.ndarray, source: np.ndarray) -> None:
        """Collective. Fill the source from the targets of all ranks; errors as of `forward`."""
        self._move(target, source, 1)

    def start_forward(self, source: np.ndarray, target: np.ndarray) -> Moving:
        """Collective. Begin `forward`, to be finished later; the ranks do not wait for each other here. Neither array
        may be touched until then, and no other transpose of this one be begun.

        Raises the InputError of this rank alone.
        """
        return self._start(source, target, 0)

    def start_backward(self, target: np.ndarray, source: np.ndarray) -> Moving:
        """Collective. Begin `backward`; see `start_forward`."""
        return self._start(target, source, 1)

    def _start(self, read: np.ndarray, written: np.ndarray, sender: int) -> Moving:
        if error := self._error_of(read, written, sender):
            raise InputError(error)
        items = f"V{self.dtype.itemsize}"
        with ledger.phase("transpose"):
            return self._method.start(read.view(items), written.view(items), sender)

    def close(self) -> None:
        """Free what MPI keeps; nothing can be moved any more."""
        self._method.close()

    def _move(self, read: np.ndarray, written: np.ndarray, sender: int) -> None:
        error = self._error_of(read, written, sender)
        with ledger.phase("transpose"), together(self._comm, error):
            items = f"V{self.dtype.itemsize}"
            self._method.move(read.view(items), written.view(items), sender)

    def _error_of(self, read: np.ndarray, written: np.ndarray, sender: int) -> str:
        """What is wrong with two arrays; "" for nothing."""
        error = self._error(read, sender) or self._error(written, 1 - sender, True)
        if not error and np.may_share_memory(read, written):
            error = "source and target: found the same memory; allowed: memory of their own"
        return error

    def _error(self, array: np.ndarray, number: int, written: bool = False) -> str:
        """What is wrong with the array of a side; "" for nothing."""
        name, shape = SIDES[number], self._method.sides[number].shape
        if array.shape != shape or array.dtype != self.dtype:
            return f"{name}: found {array.dtype} of shape {array.shape}; allowed: {self.dtype} of shape {shape}"
        if not array.flags.c_contiguous:
            return f"{name}: found strides of {array.strides} bytes; allowed: C order without gaps"
        if written and not array.flags.writeable:
            return f"{name}: found a read-only array; allowed: one that can be written"
        return ""


def _moved_dtype(dtype: npt.DTypeLike) -> np.dtype:
    try:
        moved = np.dtype(dtype)
    except TypeError:
        raise InputError(f"dtype: found {dtype!r}; allowed: a dtype of NumPy") from None
    if moved.hasobject or moved.itemsize == 0 or moved.subdtype is not None:
        raise InputError(f"dtype: found {moved}; allowed: items of a fixed size, without Python objects")
    return moved


def _choose(name: str, found: str, allowed: Sequence[str]) -> None:
    if found not in allowed:
        raise InputError(f"{name}: found {found}; allowed: {', '.join(allowed)}")
