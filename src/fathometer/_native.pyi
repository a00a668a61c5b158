"""
Kernels of Fathometer: wave propagation, injection, sampling, imaging, threads.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

class PointsFloat32:
    def __init__(
        self,
        first: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        count: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        weight: Annotated[
            NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    def __len__(self) -> int: ...

class WavefieldFloat32:
    def __init__(
        self,
        *,
        radius: int,
        has_y: bool,
        shape: Sequence[int],
        first: Sequence[int],
        buffers: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")]],
        model: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")]],
        weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        staggered: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        damping: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]],
        free_surface: bool,
    ) -> None: ...
    def add_layer(
        self,
        *,
        axis: int,
        in_row: bool,
        cell_lo: int,
        half_lo: int,
        psi_first: int,
        psi: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
        zeta: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
        psi_gain: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        psi_decay: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        zeta_gain: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        zeta_decay: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    @property
    def level(self) -> int: ...
    @level.setter
    def level(self, arg: int, /) -> None: ...
    def stretch(self, layer: int, lo: int, hi: int) -> None: ...
    def sweep(self, lo: Sequence[int], hi: Sequence[int]) -> None: ...
    def inject(
        self,
        points: PointsFloat32,
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        scale: float,
    ) -> None: ...
    def sample(
        self,
        points: PointsFloat32,
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    def finish_step(self) -> None: ...
    def advance(
        self,
        steps: int,
        sources: PointsFloat32 | None,
        injected: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
        | None,
        scale: float,
        receivers: PointsFloat32 | None,
        recorded: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")] | None,
    ) -> None: ...
    def pressure(
        self,
        lo: Sequence[int],
        hi: Sequence[int],
        out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    ) -> None: ...
    def correlate(
        self,
        lo: Sequence[int],
        hi: Sequence[int],
        snapshot: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
        image: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
        illumination: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    ) -> None: ...
    def first_nonfinite(self) -> int: ...

def zerosFloat32(shape: Sequence[int]) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]:
    """
    Zeroed array on huge pages, first touched by the threads that will use it.
    """

class PointsFloat64:
    def __init__(
        self,
        first: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        count: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        weight: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ],
        column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    def __len__(self) -> int: ...

class WavefieldFloat64:
    def __init__(
        self,
        *,
        radius: int,
        has_y: bool,
        shape: Sequence[int],
        first: Sequence[int],
        buffers: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")]],
        model: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")]],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        staggered: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        damping: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]],
        free_surface: bool,
    ) -> None: ...
    def add_layer(
        self,
        *,
        axis: int,
        in_row: bool,
        cell_lo: int,
        half_lo: int,
        psi_first: int,
        psi: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
        zeta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
        psi_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        psi_decay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        zeta_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        zeta_decay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    @property
    def level(self) -> int: ...
    @level.setter
    def level(self, arg: int, /) -> None: ...
    def stretch(self, layer: int, lo: int, hi: int) -> None: ...
    def sweep(self, lo: Sequence[int], hi: Sequence[int]) -> None: ...
    def inject(
        self,
        points: PointsFloat64,
        values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        scale: float,
    ) -> None: ...
    def sample(
        self,
        points: PointsFloat64,
        values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> None: ...
    def finish_step(self) -> None: ...
    def advance(
        self,
        steps: int,
        sources: PointsFloat64 | None,
        injected: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
        | None,
        scale: float,
        receivers: PointsFloat64 | None,
        recorded: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")] | None,
    ) -> None: ...
    def pressure(
        self,
        lo: Sequence[int],
        hi: Sequence[int],
        out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    ) -> None: ...
    def correlate(
        self,
        lo: Sequence[int],
        hi: Sequence[int],
        snapshot: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
        image: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
        illumination: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    ) -> None: ...
    def first_nonfinite(self) -> int: ...

def zerosFloat64(shape: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None))]:
    """
    Zeroed array on huge pages, first touched by the threads that will use it.
    """

def triad(
    a: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
    b: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    c: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
) -> None:
    """a = b + 3 c: what the memory gives, to measure the kernels by."""

def set_threads(threads: int) -> None: ...
def pin_threads(cpus: Sequence[int]) -> None: ...
def thread_binding() -> list[list[int]]: ...
