"""The timed loops of messages, in C++ (native/messages/): MPI is called there, never from Python while time is taken.

The library is built where MPI's headers are, and must be linked with the MPI that mpi4py has loaded: both are asked for
their version, and communicators are handed over by address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.host import built_library

ADVICE = "install MPI's headers (Debian: apt-get install libopenmpi-dev), then `make build`"
ROOM = 4096  # bytes of a text that the library returns

_INT, _LONG, _DOUBLE, _TEXT, _POINTER = (
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_double,
    ctypes.c_char_p,
    ctypes.c_void_p,
)
_DOUBLES = ctypes.POINTER(ctypes.c_double)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "version": (_INT, [_TEXT, _INT]),
    "clock": (None, [_DOUBLES, _DOUBLES]),
    "now": (_DOUBLE, []),
    "can_flush": (_INT, []),
    "open": (_POINTER, [_POINTER, _TEXT, _TEXT, _TEXT, _LONG, _LONG, _INT, ctypes.c_uint64, _TEXT, _INT]),
    "close": (None, [_POINTER]),
    "bytes": (_LONG, [_POINTER]),
    "prepare": (_INT, [_POINTER, ctypes.c_uint64, _TEXT, _INT]),
    "wrong": (_LONG, [_POINTER, _TEXT, _INT]),
    "series": (_DOUBLE, [_POINTER, _POINTER, _LONG, _TEXT, _INT]),
    "each": (_INT, [_POINTER, _POINTER, _LONG, _DOUBLES, _TEXT, _INT]),
    "windows": (_INT, [_POINTER, *[_DOUBLE] * 5, _LONG, _DOUBLES, _TEXT, _INT]),
    "offset": (_INT, [_POINTER, _INT, _INT, _DOUBLES, _DOUBLES, _DOUBLES, _TEXT, _INT]),
    "round_trip": (_DOUBLE, [_POINTER, _INT, _DOUBLE, _LONG, _LONG, _TEXT, _INT]),
    "is_eager": (_INT, [_POINTER, _LONG, _DOUBLE, _TEXT, _INT]),
    "choices": (_INT, [_TEXT, _TEXT, _INT, _TEXT, _INT]),
    "get_variable": (_INT, [_TEXT, _TEXT, _INT, _TEXT, _INT]),
    "set_variable": (_INT, [_TEXT, _TEXT, _TEXT, _INT]),
}


@dataclass(frozen=True)
class Clock:
    """Of the timed loops, s: the smallest difference that is seen, and what a reading takes."""

    resolution: float
    cost: float


@dataclass(frozen=True)
class Offset:
    """Bounds of what rank 0's clock is ahead of this rank's, s, at a reading of this rank's clock, s."""

    low: float
    high: float
    reading: float

    @property
    def middle(self) -> float:
        """Half way between the bounds."""
        return (self.low + self.high) / 2

    @property
    def error(self) -> float:
        """The offset is the middle, plus or minus this."""
        return (self.high - self.low) / 2


@cache
def library() -> ctypes.CDLL:
    """The library; raises InputError where it was not built, or is linked with another MPI than mpi4py has loaded."""
    path = built_library("messages")
    if path is None:
        raise InputError(f"messages: the program was built without its loops for MPI; {ADVICE}")
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise InputError(f"messages: the loops for MPI cannot be loaded ({error}); {ADVICE}") from None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, f"messages_{name}")
        function.restype, function.argtypes = result, arguments
    text = ctypes.create_string_buffer(1 << 14)
    loaded.messages_version(text, len(text))
    linked = text.value.decode(errors="replace")
    if linked != MPI.Get_library_version().rstrip("\0"):
        raise InputError(
            f"messages: the loops for MPI are linked with {first_words(linked)}, and mpi4py has loaded "
            f"{first_words(MPI.Get_library_version())}; {ADVICE}, with the mpicxx of that MPI first in PATH"
        )
    return loaded


def first_words(version: str) -> str:
    """The name and number of an MPI in the text that describes it."""
    return version.split(",")[0].strip().splitlines()[0] if version.strip() else "an unnamed MPI"


def calibrated_clock() -> Clock:
    """Resolution and cost of the clock of the timed loops."""
    resolution, cost = ctypes.c_double(), ctypes.c_double()
    library().messages_clock(ctypes.byref(resolution), ctypes.byref(cost))
    return Clock(resolution.value, cost.value)


def now() -> float:
    """Seconds on the clock of the timed loops."""
    return float(library().messages_now())


def can_flush() -> bool:
    """Whether this processor can put messages out of its caches: cold buffers."""
    return bool(library().messages_can_flush())


def clock_offset(comm: MPI.Intracomm, other: int, round_trips: int) -> Offset:
    """Of rank 0 and `other`, called by both: the bounds, on `other`; zeros on rank 0."""
    low, high, reading = ctypes.c_double(), ctypes.c_double(), ctypes.c_double()
    places = (ctypes.byref(value) for value in (low, high, reading))
    _call("offset", _address(comm), other, round_trips, *places)
    return Offset(low.value, high.value, reading.value)


def round_trip(pair: MPI.Intracomm, count: int, delay: float, length: int, repetitions: int = 1) -> float:
    """Collective over two ranks. Seconds of `count` messages of `length` bytes, each `delay` seconds after the last,
    and one back, the mean of `repetitions` of these; on rank 0, else 0."""
    return float(_call("round_trip", _address(pair), count, delay, length, repetitions))


def is_eager(pair: MPI.Intracomm, length: int, patience: float) -> bool:
    """Collective over two ranks. Whether a message leaves rank 0 within `patience` seconds although rank 1 has not
    asked for it."""
    return bool(_call("is_eager", _address(pair), length, patience))


def variable_choices(name: str) -> list[str]:
    """The values of a control variable of MPI that have names. Raises FathometerError where there is no such one."""
    text = ctypes.create_string_buffer(ROOM)
    _call("choices", name.encode(), text, ROOM)
    return [choice for choice in text.value.decode().split(",") if choice]


def get_variable(name: str) -> str:
    """The value of a control variable of MPI, by its name where it has one."""
    text = ctypes.create_string_buffer(ROOM)
    _call("get_variable", name.encode(), text, ROOM)
    return text.value.decode()


def set_variable(name: str, value: str) -> None:
    """Set a control variable of MPI; FathometerError where there is none of that name or it has no such value."""
    _call("set_variable", name.encode(), value.encode())


class Exchange:
    """One exchange, open between `opened` and its end. All methods are collective over its communicator."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @property
    def bytes_sent(self) -> int:
        """By this rank in one exchange."""
        return int(library().messages_bytes(self._handle))

    def prepare(self, series: int) -> None:
        """Contents of a new series; what will be received is overwritten with what no message holds."""
        _call("prepare", self._handle, series)

    def series(self, start: MPI.Intracomm, repetitions: int) -> float:
        """Seconds of so many exchanges together, after a barrier over `start`, a communicator of all that exchange at
        the same time."""
        return float(_call("series", self._handle, _address(start), repetitions))

    def each(self, start: MPI.Intracomm, repetitions: int) -> NDArray[np.float64]:
        """Seconds of each of so many exchanges, with one reading of the clock each."""
        seconds = np.empty(repetitions)
        _call("each", self._handle, _address(start), repetitions, _doubles(seconds))
        return seconds

    def windows(
        self, first: float, window: float, offset: float, drift: float, origin: float, repetitions: int
    ) -> NDArray[np.float64]:
        """Ends of exchanges that begin every `window` seconds from `first` on, from their begin by rank 0's clock; -1
        where this rank came too late for it. offset, drift, origin: what rank 0's clock is ahead of this rank's is
        offset + drift × (reading - origin)."""
        ends = np.empty(repetitions)
        _call("windows", self._handle, first, window, offset, drift, origin, repetitions, _doubles(ends))
        return ends

    def wrong(self) -> int:
        """Bytes received in the last series that are not those that were sent."""
        return int(_call("wrong", self._handle))


@contextmanager
def opened(
    comm: MPI.Intracomm,
    pattern: str,
    protocol: str,
    direction: str,
    length: int,
    packet: int,
    slots: int,
    seed: int,
) -> Iterator[Exchange]:
    """Collective. An exchange with its buffers; FathometerError where MPI or memory refuses it.

    Args:
        pattern, protocol, direction: as native/messages/ names them. length: bytes of a message; packet: at most in one
        call. slots: places in the buffers; above 1 they are put out of the caches before they are used. seed: of the
        contents.
    """
    words = (pattern.encode(), protocol.encode(), direction.encode())
    handle = _call("open", _address(comm), *words, length, packet, slots, seed)
    yield Exchange(handle)
    library().messages_close(handle)  # collective: not after an error, which other ranks may not have


def _address(comm: MPI.Intracomm) -> int:
    return MPI._addressof(comm)


def _doubles(array: NDArray[np.float64]) -> Any:
    return array.ctypes.data_as(_DOUBLES)


def _call(name: str, *arguments: Any) -> Any:
    """The result of a function of the library; FathometerError with what it says went wrong."""
    error = ctypes.create_string_buffer(ROOM)
    result = getattr(library(), f"messages_{name}")(*arguments, error, ROOM)
    if error.value:
        raise FathometerError(f"messages: {error.value.decode(errors='replace')}")
    return result


def words_of(names: Sequence[str]) -> str:
    """Names for a message: a, b or c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
