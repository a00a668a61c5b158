"""Scaling over processors: speed-up, efficiency, serial fraction.

    speed-up         S = T(base) / T(p), a ratio within rounds
    efficiency       E = S / q,    q = p / base
    serial fraction  e = (1/S - 1/q) / (1 - 1/q)    (Karp & Flatt 1990, Communications of the ACM 33(5))

All are monotone in S, so their intervals are those of S, carried over. A serial fraction that rises with p is overhead;
one that stays is work that is not parallel. Where the base is not one processor, e is the share of the base's time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fathometer.base.errors import InputError
from fathometer.lab.statistics.interval import Estimate


@dataclass(frozen=True)
class ScalingPoint:
    """A number of processors.

    Attributes:
        serial_fraction: None at the base.
        super_linear: whether the speed-up is beyond the ideal one, with its whole interval.
    """

    processors: int
    speed_up: Estimate
    efficiency: Estimate
    serial_fraction: Estimate | None
    super_linear: bool


def scaling(speed_ups: Mapping[int, Estimate], base: int = 1) -> list[ScalingPoint]:
    """The points of a scaling, by rising numbers of processors.

    speed_ups: of each number of processors over `base` (`ratio` of the base's seconds over its own). Raises InputError
    for numbers below the base, and for a base below 1.
    """
    if base < 1:
        raise InputError(f"scaling: found a base of {base} processors; allowed: 1 or more")
    if wrong := [number for number in speed_ups if number < base]:
        raise InputError(f"scaling: found {wrong[0]} processors; allowed: the base, {base}, or more")
    return [_point(number, number / base, speed_ups[number]) for number in sorted(speed_ups)]


def _point(processors: int, times: float, speed_up: Estimate) -> ScalingPoint:
    def serial_fraction(value: float) -> float:
        return (1 / value - 1 / times) / (1 - 1 / times)

    return ScalingPoint(
        processors,
        speed_up,
        speed_up.mapped(lambda value: value / times),
        speed_up.mapped(serial_fraction) if times > 1 else None,
        times > 1 and speed_up.low > times,
    )
