"""The kernels of a graphics card, in CUDA (native/cuda/), by ctypes: an extension that `make cuda` builds.

Plain functions: what goes wrong there comes back as text and is raised here.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import bytes_in_words
from fathometer.base.host import built_library
from fathometer.base.ledger import timed

LIBRARY = "FATHOMETER_CARD_LIBRARY"  # environment variable: another library than the one that was built (tests)
ADVICE = "install CUDA 12 or 13 with nvcc, then `make cuda`"
LEAST_CAPABILITY = 8  # of cards: copies into shared memory beside the threads
ROOM = 1024  # bytes of a text that the library returns

_INT, _LONG, _DOUBLE, _TEXT, _POINTER = (
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_double,
    ctypes.c_char_p,
    ctypes.c_void_p,
)


class Shape(ctypes.Structure):
    """Of a wavefield (native/cuda/wave.hpp, as the other structures here)."""

    _fields_ = [
        ("radius", _LONG),
        ("has_y", _LONG),
        ("fields", _LONG),
        ("free_surface", _LONG),
        ("depth", _LONG),
        ("n", _LONG * 3),
        ("cut", _LONG * 6),
        ("weights", _POINTER),
        ("staggered", _POINTER),
        ("eta_dt", _POINTER * 3),
        ("model", _POINTER * 3),
        ("model_stride", _LONG * 2),
    ]


class LayerShape(ctypes.Structure):
    """Of an absorbing layer."""

    _fields_ = [
        ("axis", _LONG),
        ("cell_lo", _LONG),
        ("cell_hi", _LONG),
        ("half_lo", _LONG),
        ("half_hi", _LONG),
        ("psi_gain", _POINTER),
        ("psi_decay", _POINTER),
        ("zeta_gain", _POINTER),
        ("zeta_decay", _POINTER),
    ]


class ImagingStep(ctypes.Structure):
    """What is done with the pressure after a step."""

    _fields_ = [
        ("step", _LONG),
        ("lo", _LONG * 3),
        ("hi", _LONG * 3),
        ("snapshot", _POINTER),
        ("source", _POINTER),
        ("image", _POINTER),
        ("illumination", _POINTER),
        ("snapshot_of_host", _LONG),
        ("source_of_host", _LONG),
    ]


class StepsOfJob(ctypes.Structure):
    """What happens in some steps beside the equation itself."""

    _fields_ = [
        ("start", _LONG),
        ("steps", _LONG),
        ("sources", _POINTER),
        ("receivers", _POINTER),
        ("injected", _POINTER),
        ("columns", _LONG),
        ("scale", _DOUBLE),
        ("imaging_steps", _LONG),
        ("imaging", ctypes.POINTER(ImagingStep)),
    ]


class CardAccount(ctypes.Structure):
    """Seconds by events of the card, and bytes between it and the host."""

    _fields_ = [("steps", _DOUBLE), ("imaging", _DOUBLE), ("transfers", _DOUBLE), ("transferred", _LONG)]


_LONGS, _ERROR = ctypes.POINTER(_LONG), [_TEXT, _INT]
_INTS = ctypes.POINTER(_INT)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "card_count": (_INT, [_INTS, _INTS, _INTS, *_ERROR]),
    "card_use": (_INT, [_INT, _TEXT, _INT, _LONGS, *_ERROR]),
    "card_allocate": (_POINTER, [_LONG, *_ERROR]),
    "card_free": (None, [_POINTER]),
    "card_allocate_pinned": (_POINTER, [_LONG, *_ERROR]),
    "card_free_pinned": (None, [_POINTER]),
    "card_pin": (_INT, [_POINTER, _LONG, *_ERROR]),
    "card_unpin": (None, [_POINTER]),
    "card_copy": (_INT, [_POINTER, _POINTER, _LONG, _INT, *_ERROR]),
    "card_triad": (_INT, [_LONG, _INT, ctypes.POINTER(_DOUBLE), *_ERROR]),
    "wave_memory": (_LONG, [_LONG, ctypes.POINTER(Shape)]),
    "wave_new": (_POINTER, [_LONG, ctypes.POINTER(Shape), *_ERROR]),
    "wave_delete": (None, [_POINTER]),
    "wave_add_layer": (_INT, [_POINTER, ctypes.POINTER(LayerShape), *_ERROR]),
    "points_new": (_POINTER, [_POINTER, _LONG, _POINTER, _POINTER, _POINTER, _POINTER, _INT, *_ERROR]),
    "points_delete": (None, [_POINTER]),
    "points_add_up": (_INT, [_POINTER, _POINTER, _LONG, *_ERROR]),
    "points_lines": (_INT, [_POINTER, _POINTER, *_ERROR]),
    "wave_reset": (_INT, [_POINTER, _POINTER, _LONG, _LONG, *_ERROR]),
    "wave_advance": (_INT, [_POINTER, ctypes.POINTER(StepsOfJob), *_ERROR]),
    "wave_inside": (_INT, [_POINTER, _LONG, ctypes.POINTER(StepsOfJob), *_ERROR]),
    "wave_rim": (_INT, [_POINTER, _LONG, ctypes.POINTER(StepsOfJob), *_ERROR]),
    "wave_set_level": (None, [_POINTER, _INT]),
    "wave_image": (_INT, [_POINTER, ctypes.POINTER(ImagingStep), *_ERROR]),
    "wave_first_nonfinite": (_INT, [_POINTER, _LONGS, *_ERROR]),
    "wave_copy": (_INT, [_POINTER, _INT, _INT, _LONGS, _LONGS, _POINTER, _INT, _INT, *_ERROR]),
    "wave_copied": (_INT, [_POINTER, _INTS, *_ERROR]),
    "wave_wait_for_copies": (_INT, [_POINTER, *_ERROR]),
    "wave_memories": (_LONG, [_POINTER]),
    "wave_memory_bytes": (_LONG, [_POINTER, _LONG]),
    "wave_copy_memory": (_INT, [_POINTER, _LONG, _POINTER, _INT, *_ERROR]),
    "wave_encode": (_INT, [_POINTER, _POINTER, _LONGS, _INT, _POINTER, _POINTER, *_ERROR]),
    "wave_decode": (_INT, [_POINTER, _POINTER, _POINTER, _LONGS, _INT, _POINTER, *_ERROR]),
    "wave_begin_copy": (_INT, [_POINTER, _LONG, _POINTER, _POINTER, _LONG, _INT, *_ERROR]),
    "wave_await_copy": (_INT, [_POINTER, _LONG, *_ERROR]),
    "wave_used": (_INT, [_POINTER, _LONG, *_ERROR]),
    "wave_settle": (_INT, [_POINTER, *_ERROR]),
    "wave_account": (_INT, [_POINTER, ctypes.POINTER(CardAccount), *_ERROR]),
}


class CardError(FathometerError):
    """What the card, or its driver, reports."""


@cache
def library() -> ctypes.CDLL:
    """The library. Raises InputError where it was not built or cannot be loaded."""
    path = os.environ.get(LIBRARY) or built_library("card")
    if path is None:
        raise InputError(f'processor "gpu": the program was built without its kernels for graphics cards; {ADVICE}')
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise InputError(
            f'processor "gpu": the kernels for graphics cards cannot be loaded ({error}); {ADVICE}'
        ) from None
    return loaded


def call(name: str, *arguments: Any) -> Any:
    """A function of the library that may fail; its result where that is a handle. Raises CardError."""
    text = ctypes.create_string_buffer(ROOM)
    result = getattr(library(), name)(*arguments, text, ROOM)
    if text.value:
        raise CardError(f"graphics card: {text.value.decode(errors='replace')}")
    return result


def longs(values: Sequence[int]) -> Any:
    """As an array of C."""
    return (_LONG * len(values))(*values)


@dataclass(frozen=True)
class Card:
    """A graphics card that this process uses.

    Attributes:
        number: among those that the driver shows. name: of its kind. capability: of its arithmetic, as 9.0.
        multiprocessors: of it. memory_bytes, free_bytes: of its memory, and of that what nobody had when it was opened.
        cache_bytes: of its second-level cache. driver, runtime: versions of CUDA that the driver knows, and that the
            kernels were built with, as 13.0.
    """

    number: int
    name: str
    capability: str
    multiprocessors: int
    memory_bytes: int
    free_bytes: int
    cache_bytes: int
    driver: str
    runtime: str

    def __str__(self) -> str:
        return f"{self.name}, {bytes_in_words(self.free_bytes)} of {bytes_in_words(self.memory_bytes)} free"

    @property
    def in_use(self) -> int:
        """Bytes that others have."""
        return self.memory_bytes - self.free_bytes


def cards() -> int:
    """Number of cards that can be used. Raises InputError where the library, the driver or a card is missing."""
    count, driver, runtime = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    try:
        call("card_count", ctypes.byref(count), ctypes.byref(driver), ctypes.byref(runtime))
    except CardError as error:
        raise InputError(f'processor "gpu": no card can be used ({error}); allowed: "cpu", or another driver') from None
    if driver.value == 0:
        raise InputError('processor "gpu": found no driver of NVIDIA; needed: one, or the processor "cpu"')
    if driver.value // 1000 < runtime.value // 1000:
        raise InputError(
            f'processor "gpu": found a driver for CUDA {_version(driver.value)}; needed: {_version(runtime.value)}, '
            "with which the kernels were built, or kernels built with an older one"
        )
    if count.value == 0:
        raise InputError('processor "gpu": the driver shows no card; needed: one, or the processor "cpu"')
    return count.value


@cache
def open_card(number: int) -> Card:
    """The card of that number, which this process uses from now on. Raises InputError as `cards`, and CardError."""
    count, driver, runtime = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    call("card_count", ctypes.byref(count), ctypes.byref(driver), ctypes.byref(runtime))
    name, numbers = ctypes.create_string_buffer(256), longs([0] * 6)
    call("card_use", number, name, len(name), numbers)
    major, minor, multiprocessors, total, free, cache_bytes = numbers
    if major < LEAST_CAPABILITY:
        raise InputError(
            f'processor "gpu": found {name.value.decode(errors="replace")} of compute capability {major}.{minor}; '
            f"needed: {LEAST_CAPABILITY}.0 or later"
        )
    return Card(
        number,
        name.value.decode(errors="replace"),
        f"{major}.{minor}",
        multiprocessors,
        total,
        free,
        cache_bytes,
        _version(driver.value),
        _version(runtime.value),
    )


def free_bytes(number: int) -> int:
    """Of the card's memory, now."""
    numbers = longs([0] * 6)
    call("card_use", number, ctypes.create_string_buffer(256), 256, numbers)
    return int(numbers[4])


def triad_bytes_per_second(numbers: int = 1 << 28, runs: int = 10) -> float:
    """Of a = b + 3 c with so many float32 numbers an array, 12 bytes each, on the open card: the best of some runs."""
    seconds = ctypes.c_double()
    call("card_triad", numbers, runs, ctypes.byref(seconds))
    return 12 * numbers / seconds.value


@dataclass(frozen=True)
class CardView:
    """A part of the card's memory, as a contiguous array.

    Attributes:
        address: on the card. shape, dtype: of the array.
    """

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def fill_from(self, host: np.ndarray) -> None:
        """Copy a contiguous array of the host."""
        call("card_copy", self.address, host.ctypes.data, self.nbytes, 1)

    def copy_to(self, host: np.ndarray) -> None:
        """Copy to a contiguous array of the host."""
        call("card_copy", self.address, host.ctypes.data, self.nbytes, 0)


class CardMemory:
    """Memory of the card, zero at first; of so many bytes."""

    def __init__(self, bytes: int) -> None:
        self.nbytes = bytes
        self._address: int = call("card_allocate", max(bytes, 1)) or 0

    def view(self, first: int, shape: Sequence[int], dtype: np.dtype[Any]) -> CardView:
        """An array that begins at byte `first`."""
        return CardView(self._address + first, tuple(shape), np.dtype(dtype))

    def free(self) -> None:
        """Give it back."""
        if self._address:
            library().card_free(self._address)
            self._address = 0

    def __del__(self) -> None:
        self.free()


def copy_bytes_per_second(into_card: bool, bytes: int = 1 << 28, runs: int = 5) -> float:
    """Of copies between memory of the host that the card reads and writes by itself and the open card: the best of some
    runs."""
    card, host = CardMemory(bytes), PinnedBuffer(bytes, np.dtype(np.uint8))
    host.array[:] = 1
    view = card.view(0, (bytes,), host.array.dtype)
    copy = partial(view.fill_from if into_card else view.copy_to, host.array)
    least = min(timed(copy) for _ in range(runs))
    card.free()
    host.free()
    return bytes / least


class Pinned:
    """Has the card copy from and to an array of the host at full speed, until `end`; else copies are slower."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self._address = array, array.ctypes.data
        try:
            call("card_pin", self._address, max(array.nbytes, 1))
        except CardError:
            self._address = 0

    def end(self) -> None:
        """Let go of the array."""
        if self._address:
            library().card_unpin(self._address)
            self._address = 0


class PinnedBuffer:
    """Memory of the host that the card reads and writes by itself; `array` (numbers,) of dtype."""

    def __init__(self, numbers: int, dtype: np.dtype[Any]) -> None:
        bytes = max(numbers, 1) * np.dtype(dtype).itemsize
        self._address: int = call("card_allocate_pinned", bytes) or 0
        memory = (ctypes.c_char * bytes).from_address(self._address)
        self.array: np.ndarray = np.frombuffer(memoryview(memory), dtype, numbers)

    def free(self) -> None:
        """Give the memory back; `array` is no more."""
        if self._address:
            library().card_free_pinned(self._address)
            self._address = 0

    def __del__(self) -> None:
        self.free()


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
