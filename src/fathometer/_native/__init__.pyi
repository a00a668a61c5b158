"""
Kernels of Fathometer: wave propagation, injection, sampling, imaging, time migration, reactive flow,
ocean circulation, threads.
"""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


variant: str = 'native'

class PointsFloat32:
    def __init__(self, *, first: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], shape: Sequence[int], receivers: bool, field: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def __len__(self) -> int: ...

class JobFloat32:
    def __init__(self, *, sources: object | None = None, injected: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, scale: float = 1.0, receivers: object | None = None, recorded: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')] | None = None, active: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None, start: int = 0) -> None: ...

    def add_imaging(self, *, step: int, lo: Sequence[int], hi: Sequence[int], snapshot: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, source: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, image: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, illumination: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')] | None = None) -> None:
        """
        What is done with the field after one of the job's steps, counted from 0.
        """

def zerosFloat32(shape: Sequence[int], stagger: int = 0) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]:
    """
    Zeroed array on huge pages. Arrays that a kernel uses together should differ in `stagger`.
    """

class PointsFloat64:
    def __init__(self, *, first: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], shape: Sequence[int], receivers: bool, field: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def __len__(self) -> int: ...

class JobFloat64:
    def __init__(self, *, sources: object | None = None, injected: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, scale: float = 1.0, receivers: object | None = None, recorded: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None, active: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None, start: int = 0) -> None: ...

    def add_imaging(self, *, step: int, lo: Sequence[int], hi: Sequence[int], snapshot: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, source: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, image: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None, illumination: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None) -> None:
        """
        What is done with the field after one of the job's steps, counted from 0.
        """

def zerosFloat64(shape: Sequence[int], stagger: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None))]:
    """
    Zeroed array on huge pages. Arrays that a kernel uses together should differ in `stagger`.
    """

@overload
def encode_int8(volume: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], encoded: Annotated[NDArray[numpy.int8], dict(shape=(None, None, None), order='C', device='cpu')], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def encode_int8(volume: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], encoded: Annotated[NDArray[numpy.int8], dict(shape=(None, None, None), order='C', device='cpu')], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def decode_int8(encoded: Annotated[NDArray[numpy.int8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], volume: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def decode_int8(encoded: Annotated[NDArray[numpy.int8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], volume: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def encode_float16(volume: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], encoded: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu')], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def encode_float16(volume: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], encoded: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu')], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def decode_float16(encoded: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], volume: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def decode_float16(encoded: Annotated[NDArray[numpy.uint16], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], volume: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def add_exactly(values: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), device='cpu')], second: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), device='cpu')], upper: float, lower: float) -> None: ...

@overload
def add_exactly(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), device='cpu')], second: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), device='cpu')], upper: float, lower: float) -> None:
    """
    first += a, second += b, where values = a upper + b lower + rest by truncation.
    Raises ValueError, the sum being lost, where a value is not finite or not below 2^40 upper.
    """

@overload
def banded(first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], series: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], result: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def banded(first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], series: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], result: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    result[r, j] = sum over t of weights[j, t] series[r, first[j] + t], in float64 in the order of t.
    Nothing lies beyond a series' ends. By the calling thread alone.
    """

@overload
def checksum(values: Annotated[NDArray[numpy.uint32], dict(shape=(None, None, None), device='cpu', writable=False)], shape: Sequence[int], lo: Sequence[int]) -> int: ...

@overload
def checksum(values: Annotated[NDArray[numpy.uint64], dict(shape=(None, None, None), device='cpu', writable=False)], shape: Sequence[int], lo: Sequence[int]) -> int:
    """
    Sum of bits x (2 place + 1) modulo 2^64; lo: place of the first cell in a volume of this shape.
    """

def triad(a: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None:
    """a = b + 3 c: what the memory gives, to measure the kernels by."""

def multiply_adds(rounds: int) -> float:
    """
    Flops of so many rounds of multiply-adds in registers: what the cores give.
    """

def gathers(rounds: int) -> float:
    """
    Numbers of so many rounds of gathers from the first cache: what the cores give.
    """

def trace_words(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], little: bool, places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], kinds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Words of the headers of traces as they lie in a file."""

def trace_states(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], little: bool, header: int, format: int, states: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Of each trace as it lies in a file: bit 0, some sample is not zero; bit 1, some is no number in float32.
    """

def trace_peaks(rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], little: bool, header: int, format: int, beside: int, peaks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], rest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Of each trace as it lies in a file: the largest magnitude, and that of samples not beside it.
    """

def first_arrivals(speed: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], spacing: Sequence[float], times: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> int:
    """
    Lower the times of nodes until no wave arrives earlier; the sweeps taken. Speeds are of the blocks between.
    """

def set_threads(threads: int) -> None: ...

def threads() -> int: ...

def pin_threads(cpus: Sequence[int]) -> None: ...

def thread_binding() -> list[list[int]]: ...

class WavefieldFloat32:
    def __init__(self, *, radius: int, has_y: bool, shape: Sequence[int], first: Sequence[int], buffers: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]], model: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], staggered: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], damping: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]], free_surface: bool, cut: Sequence[Sequence[bool]], exchanged: int) -> None: ...

    def add_layer(self, *, axis: int, first: bool, in_row: bool, cell_lo: int, half_lo: int, psi_first: int, psi: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], zeta: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], psi_gain: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], psi_decay: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], zeta_gain: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], zeta_decay: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    @property
    def level(self) -> int: ...

    @level.setter
    def level(self, arg: int, /) -> None: ...

    def advance(self, steps: int, job: JobFloat32, tiling: Sequence[int]) -> None: ...

    def advance_inside(self, n: int, steps: int, job: JobFloat32, tiling: Sequence[int], part: int, parts: int) -> None: ...

    def advance_rim(self, n: int, job: JobFloat32, outer: int, inner: int) -> None: ...

    def skew(self, job: JobFloat32) -> int: ...

    def image(self, job: JobFloat32) -> None:
        """What the job does at its imaging steps, with the field as it is now."""

    def first_nonfinite(self) -> int: ...

class WavefieldFloat64:
    def __init__(self, *, radius: int, has_y: bool, shape: Sequence[int], first: Sequence[int], buffers: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]], model: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], staggered: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], damping: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]], free_surface: bool, cut: Sequence[Sequence[bool]], exchanged: int) -> None: ...

    def add_layer(self, *, axis: int, first: bool, in_row: bool, cell_lo: int, half_lo: int, psi_first: int, psi: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], zeta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], psi_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], psi_decay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], zeta_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], zeta_decay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    @property
    def level(self) -> int: ...

    @level.setter
    def level(self, arg: int, /) -> None: ...

    def advance(self, steps: int, job: JobFloat64, tiling: Sequence[int]) -> None: ...

    def advance_inside(self, n: int, steps: int, job: JobFloat64, tiling: Sequence[int], part: int, parts: int) -> None: ...

    def advance_rim(self, n: int, job: JobFloat64, outer: int, inner: int) -> None: ...

    def skew(self, job: JobFloat64) -> int: ...

    def image(self, job: JobFloat64) -> None:
        """What the job does at its imaging steps, with the field as it is now."""

    def first_nonfinite(self) -> int: ...

class ElasticFloat32:
    def __init__(self, *, has_y: bool, shape: Sequence[int], first: Sequence[int], fields: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]], model: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]], weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], closure: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], free_surface: bool, cut: Sequence[Sequence[bool]], exchanged: int, zeta: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]], decay: Sequence[float], mechanism: int) -> None: ...

    def add_layer(self, *, axis: int, lo: int, hi: int, memory: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]], gain: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]], decay: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]], keep: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]]) -> None: ...

    def watch_peaks(self, plane: int, horizontal: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], vertical: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Keep the largest velocities of the nodes of a plane from now on."""

    @property
    def level(self) -> int: ...

    @level.setter
    def level(self, arg: int, /) -> None: ...

    def advance(self, steps: int, job: JobFloat32, tiling: Sequence[int]) -> None: ...

    def advance_inside(self, n: int, steps: int, job: JobFloat32, tiling: Sequence[int], part: int, parts: int) -> None: ...

    def advance_rim(self, n: int, job: JobFloat32, outer: int, inner: int) -> None: ...

    def skew(self, job: JobFloat32) -> int: ...

    def image(self, job: JobFloat32) -> None:
        """What the job does at its imaging steps, with the field as it is now."""

    def first_nonfinite(self) -> int: ...

class ElasticFloat64:
    def __init__(self, *, has_y: bool, shape: Sequence[int], first: Sequence[int], fields: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]], model: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], closure: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], free_surface: bool, cut: Sequence[Sequence[bool]], exchanged: int, zeta: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]], decay: Sequence[float], mechanism: int) -> None: ...

    def add_layer(self, *, axis: int, lo: int, hi: int, memory: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]], gain: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]], decay: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]], keep: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]]) -> None: ...

    def watch_peaks(self, plane: int, horizontal: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], vertical: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Keep the largest velocities of the nodes of a plane from now on."""

    @property
    def level(self) -> int: ...

    @level.setter
    def level(self, arg: int, /) -> None: ...

    def advance(self, steps: int, job: JobFloat64, tiling: Sequence[int]) -> None: ...

    def advance_inside(self, n: int, steps: int, job: JobFloat64, tiling: Sequence[int], part: int, parts: int) -> None: ...

    def advance_rim(self, n: int, job: JobFloat64, outer: int, inner: int) -> None: ...

    def skew(self, job: JobFloat64) -> int: ...

    def image(self, job: JobFloat64) -> None:
        """What the job does at its imaging steps, with the field as it is now."""

    def first_nonfinite(self) -> int: ...

KIRCHHOFF_SEGMENT: int = 16

MOST_BANK_ROWS: int = 25

def bank_length(rows: int, samples: int, unit: int) -> int: ...

def bank_row(length: float) -> int: ...

class TimeOperator:
    def __init__(self, *, slowness2: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, first: Sequence[int], origin: Sequence[float], spacing: Sequence[float], weights: int, scale: float, aperture: float, tan_dip: float, taper: float, alias: Sequence[float], rows: int, unit: int) -> None: ...

    def migrate(self, *, traces: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], geometry: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], volume: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: float, interval: float, image: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], fold: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')] | None, workspace: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], plainly: bool) -> int: ...

    def demigrate(self, *, image: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order='C', device='cpu')], geometry: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], volume: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: float, interval: float, traces: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], workspace: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

MOST_PRIMARY_SPECIES: int = 16

MOST_SECONDARY_SPECIES: int = 48

MOST_MINERALS: int = 16

class ReactiveChemistry:
    def __init__(self, stoichiometry: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ln_k: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], charge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ion_size: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ion_b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mineral_stoichiometry: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mineral_ln_k: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rate_constant: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], specific_area: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nucleation_area: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], model: str, a: float, b: float) -> None: ...

    def totals(self, ln_c: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], derivative: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None) -> None:
        """Total molalities, mol/kg, and d totals_j / d ln c_k."""

    def rates(self, ln_c: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], old: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dt: float, new: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], rate: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], derivative: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None) -> None:
        """
        Amounts of minerals after a step of dt s, mol/m3, rates of dissolution, mol/(m3 s), and d rate / d ln c.
        """

    def reaction(self, ln_c: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], old: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dt: float, share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], new: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], reaction: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], derivative: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')] | None = None) -> None:
        """
        The same, with share sum_k nu_kj rate_k, share (cells), and d reaction_j / d ln c_l (cells, n, n).
        """

    def species(self, ln_c: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ln_activity: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], strength: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], ln_molality: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None:
        """Of all species, primary ones first; ionic strength in mol/kg."""

def reactive_residual(*, totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], low: Sequence[int], old: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], reaction: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_z: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], conductance_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], conductance_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], conductance_z: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scheme: str, inverse_scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], balance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], balanced: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
    """
    The balance of every cell and component after a step, see native/reactive/transport.hpp.
    """

def reactive_jacobian(*, totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], low: Sequence[int], derivative: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None, None), order='C', device='cpu', writable=False)], reaction_derivative: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None, None), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_z: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], conductance_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], conductance_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], conductance_z: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scheme: str, inverse_scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], balance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], balanced: int, begin: int, end: int, columns: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
    """
    Blocks of the residual's derivative by ln c, of the cells in planes of x. columns (cells, entries): the cell,
    its neighbours at -x, +x, -y, +y, -z, +z, with "limited" those behind them; numbers of the ghosted block or -1.
    values (cells, n, entries, n).
    """

OCEAN_HALO: int = 3

class OceanKernel:
    def __init__(self, *, extents: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], levels_u: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], dx: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dx_u: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tan_over_radius: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], thickness: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dy: float, curvature: float, gravity: float, density: float, viscosity: float, diffusivity: float, vertical_viscosity: float, vertical_diffusivity: float, convective_diffusivity: float, drag: int, drag_coefficient: float, state_equation: int, expansion: float, contraction: float, reference_temperature: float, reference_salinity: float, advect_momentum: bool) -> None:
        """
        The blocks of a rank, halos included (native/ocean/grid.hpp), and the numbers of Physics; curvature = 1/R².
        """

    def pressure(self, tracers: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
        """
        Hydrostatic pressure over the density of reference, m²/s², of owned cells and those east and north.
        """

    def momentum(self, *, dt: float, theta: float, weights: Sequence[float], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], stress_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], stress_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], tendencies: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None, None), order='C', device='cpu')]], u_next: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], v_next: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], transport_u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], transport_v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], shift_u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], shift_v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
        """Provisional velocity after dt s, see native/ocean/momentum.hpp."""

    def correct(self, *, dt: float, theta: float, d: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], shift_u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], shift_v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
        """
        Takes dt theta g grad d from u and v, and what follows from it from the shift.
        """

    def fluxes(self, *, dt: float, u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], shift_u: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], shift_v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], flux_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], eta_next: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
        """
        Volume fluxes through faces, m³/s, and the surface height after dt s, see native/ocean/fluxes.hpp.
        """

    def courant(self, *, dt: float, flux_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], flux_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> tuple[float, float, bool]:
        """
        The largest lateral and vertical Courant number of owned cells; whether all is finite.
        """

    def surface_flux(self, tracers: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None, None), order='C', device='cpu', writable=False)], given: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], rate: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
        """
        Flux into the sea, tracer times m/s: what is given and rate dz_0 (target - tracer).
        """

    def tracers(self, *, dt: float, x_first: bool, tracers: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None, None), order='C', device='cpu', writable=False)], eta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], eta_next: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], flux_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], flux_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], surface_flux: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu', writable=False)], tracers_next: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None, None), order='C', device='cpu')]) -> None:
        """Tracers of owned cells after dt s, see native/ocean/tracers.hpp."""

def ocean_density(temperature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], salinity: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pressure: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], density: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Density of sea water, kg/m³, of potential temperature in °C and pressure in Pa (Wright 1997).
    """

class BlockHaloCopies:
    def __init__(self, *, arrays: Sequence[Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]], sent: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], received: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], moved: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], send_buffer: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], receive_buffer: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def pack(self) -> None:
        """Cells that are sent to the buffer; cells of own blocks to halos."""

    def unpack(self) -> None:
        """What was received to halos."""

class SurfaceGradients:
    def __init__(self, *, extents: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], wet: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], depth: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], area: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ratio_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ratio_y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tile: int, exact: bool, vectors: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], limbs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def scale(self, k: float) -> None:
        """The factor of the operator, m2; the preconditioner is made."""

    def surface(self, eta: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None:
        """Depth at corners, from the height of cells."""

    def load(self, b: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None:
        """Right-hand side and start."""

    def unload(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
        """The solution, on cells of water."""

    def apply(self, of: int, into: int, sums: int) -> None:
        """into = A of; local sums."""

    def residual(self) -> None:
        """r = b - A x."""

    def precondition(self, of: int, into: int) -> None:
        """into = M of."""

    def dot(self, sums: int) -> None:
        """Local sums."""

    def largest(self, sums: int) -> None:
        """Largest terms on this rank, in place of sums."""

    def set_limits(self, sums: int) -> None:
        """Limits of exact sums from the largest terms."""

    def values(self, sums: int, again: bool) -> bool:
        """Exact sums from limbs; whether they are valid."""

    def pcg_update(self, alpha: float) -> None: ...

    def pcg_direction(self, beta: float) -> None: ...

    def gear_update(self, alpha: float, beta: float) -> None: ...

    def pipelined_update(self, alpha: float, beta: float) -> None: ...
