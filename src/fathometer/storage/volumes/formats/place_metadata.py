"""Attributes of a volume that say where it lies in the world, by the same names in all formats that have attributes.

    world_origin     X0, Y0, m: place of the local point (0, 0)
    azimuth          degrees: direction of the local x axis, clockwise from Y
    world_transform  a, b, c, d, e, f of X = a x + b y + c, Y = d x + e y + f: the same again, for other programs
    crs              name of the coordinate reference system
    vertical_datum   name of the level that depths count from

What names the system in files by others: reference_system.py.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from fathometer.base.errors import InputError, shortened
from fathometer.base.formatting import number_of
from fathometer.storage.traces.reference_system import tidy_crs
from fathometer.storage.volumes.place import Place, World
from fathometer.storage.volumes.survey_grid import FARTHEST

ORIGIN, AZIMUTH, TRANSFORM, CRS, DATUM = "world_origin", "azimuth", "world_transform", "crs", "vertical_datum"
NAMES = (ORIGIN, AZIMUTH, TRANSFORM, CRS, DATUM)
TOLERANCE = 1e-8  # of a transform beside origin and azimuth, relative


def text_of(value: Any) -> str:
    """The text of an attribute; "" of anything else. HDF5 and MATLAB have bytes, and arrays of one text."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, str):  # bytes that are no UTF-8 come as lone surrogates, which no terminal can show
        value = re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value.strip("\0 ") if isinstance(value, str) else ""


def place_attributes(place: Place) -> dict[str, Any]:
    """The attributes: lists of floats, a float, a text. Empty where nothing is known."""
    attributes: dict[str, Any] = {}
    if place.world is not None:
        attributes[ORIGIN] = [float(metres) for metres in place.world.origin]
        attributes[AZIMUTH] = float(place.world.azimuth)
        attributes[TRANSFORM] = list(place.world.transform)
    if place.crs:
        attributes[CRS] = place.crs
    if place.datum:
        attributes[DATUM] = place.datum
    return attributes


def place_of(attributes: Any) -> Place:
    """The place by a volume's attributes, a mapping of names. The transform alone will do; azimuth alone is somebody
    else's word.

    InputError where they are no numbers, one is missing, the transform contradicts the others or is no shift and turn.
    """
    crs, datum = tidy_crs(text_of(attributes.get(CRS))), tidy_crs(text_of(attributes.get(DATUM)))
    there = [name for name in (ORIGIN, TRANSFORM) if attributes.get(name) is not None]
    if not there:
        return Place(None, crs, datum=datum)
    turned = _numbers(attributes, TRANSFORM, 6) if TRANSFORM in there else None
    if ORIGIN not in there:
        assert turned is not None
        return Place(_turn(turned), crs, datum=datum)
    if attributes.get(AZIMUTH) is None:
        raise InputError(f"{ORIGIN}: found without {AZIMUTH}; needed: both")
    x, y = _numbers(attributes, ORIGIN, 2)
    (azimuth,) = _numbers(attributes, AZIMUTH, 1)
    if max(abs(x), abs(y)) > FARTHEST:
        raise InputError(f"{ORIGIN}: found {x:g}, {y:g}; allowed: -{FARTHEST:g} to {FARTHEST:g} m")
    world = World((x, y), azimuth if abs(azimuth) <= 360.0 else azimuth % 360.0)
    if turned is not None and not _same(turned, world.transform):
        raise InputError(
            f"{TRANSFORM} {[float(f'{number:.10g}') for number in turned]} contradicts {ORIGIN} "
            f"{list(world.origin)} and {AZIMUTH} {world.azimuth:g}; allowed: the same place, or only these two"
        )
    return Place(world, crs, datum=datum)


def _turn(transform: list[float]) -> World:
    """A transform as shift and turn."""
    sine, _, x, cosine, _, y = transform
    world = World((x, y), math.degrees(math.atan2(sine, cosine)) % 360.0)
    if not _same(transform, world.transform) or max(abs(x), abs(y)) > FARTHEST:
        raise InputError(
            f"{TRANSFORM} {transform}: allowed: a shift and a turn by an azimuth: sin, -cos, X0, cos, sin, Y0"
        )
    return world


def _numbers(attributes: Any, key: str, count: int) -> list[float]:
    """The finite numbers of an attribute that is there; text of numbers between commas, as in RSF, counts.

    InputError where there are others, or not so many."""
    value = attributes[key]
    if text := text_of(value):
        value = text.split(",")
    numbers: list[float] = []
    with contextlib.suppress(TypeError, ValueError):
        numbers = [float(number) for number in np.asarray(value).reshape(-1)]
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise InputError(f"{key}: found {shortened(str(attributes[key]))}; needed: {number_of(count, 'number')}")
    return numbers


def _same(one: list[float], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and bool(np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE))


def rsf_lines(place: Place) -> list[str]:
    """The attributes as pairs of an RSF header."""
    lines = []
    for key, value in place_attributes(place).items():
        if isinstance(value, str):
            mark = "'" if '"' in value else '"'  # as of WKT
            lines.append(f"{key}={mark}{value.replace(mark, '’')}{mark}")
        else:
            lines.append(f"{key}={','.join(repr(float(number)) for number in np.atleast_1d(value))}")
    return lines


def known_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a file's attributes that say where it lies."""
    return {name: attributes[name] for name in NAMES if name in attributes}
