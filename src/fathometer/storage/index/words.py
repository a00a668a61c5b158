"""Trace header words that an index reads: the standard's fields, or others that a user names.

source_x=73:i4                  first byte (from 1) and type
shot=FieldRecord                segyio's name of a standard field
coordinate_scalar=none          no word: 0, which for a scalar means 1
shot=file+FieldRecord           equal numbers in different files are different shots
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import segyio

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.storage.traces.headers import FIELDS, HEADER

# In the order of WordKind in native/core/traces.hpp.
TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")
BY_FILE = "file+"


@dataclass(frozen=True)
class Word:
    """A trace header word: first byte (from 1; 0: no word) and type. by_file: numbers count within their file."""

    place: int  # first byte, from 1
    type: str
    by_file: bool = False

    def __str__(self) -> str:
        return BY_FILE * self.by_file + (f"{self.place}:{self.type}" if self.place else "none")


NO_WORD = Word(0, "i4")

# Words that an index reads of each trace, and their meaning. Source z is source_depth - source_elevation, receiver z is
# receiver_depth - receiver_elevation, both positive down.
MEANINGS = MappingProxyType(
    {
        "shot": "number of the shot",
        "channel": "number of the trace within the shot",
        "source_x": "source, first coordinate",
        "source_y": "source, second coordinate",
        "source_depth": "source, depth below its surface, positive down",
        "source_elevation": "surface at the source, positive up",
        "receiver_x": "receiver, first coordinate",
        "receiver_y": "receiver, second coordinate",
        "receiver_depth": "receiver, depth, positive down",
        "receiver_elevation": "receiver, elevation, positive up",
        "coordinate_scalar": "of the four coordinates: negative divides, 0 is 1",
        "elevation_scalar": "of depths and elevations, likewise",
        "coordinate_units": "1 lengths; 2, 3, 4 angles",
        "kind": "trace identification code: 0, 1, 11, 12 are seismic data, all others dead",
        "delay": "time of the first sample, ms",
        "time_scalar": "of the delay, from revision 1 on",
        "samples": "sample count, compared with the file's",
        "interval": "sample interval, µs, compared with the file's",
    }
)
_STANDARD = {"shot": "ffid", "receiver_x": "group_x", "receiver_y": "group_y"}
DEFAULTS = MappingProxyType(
    {name: Word(*FIELDS[_STANDARD.get(name, name)]) if name != "receiver_depth" else NO_WORD for name in MEANINGS}
)


def words_of(assignments: Iterable[str]) -> dict[str, Word]:
    """The words of all names: the standard's, replaced by assignments NAME=WORD.

    >>> str(words_of(["channel=TraceNumber", "shot=17:i4"])["shot"])
    '17:i4'

    InputError: no such name, field or type; a place outside the header.
    """
    words = dict(DEFAULTS)
    for text in assignments:
        name, equals, word = text.partition("=")
        if not equals or name not in MEANINGS:
            hint = did_you_mean(name, MEANINGS) if equals else ""
            raise InputError(f"--word {text}: allowed: NAME=WORD, NAME one of {', '.join(MEANINGS)}{hint}")
        by_file = name == "shot" and word.startswith(BY_FILE)
        chosen = word_of(word.removeprefix(BY_FILE) if by_file else word, f"--word {text}")
        words[name] = replace(chosen, by_file=True) if by_file else chosen
    return words


def word_of(text: str, option: str) -> Word:
    """The word given by BYTE:TYPE, a field's name, or none; InputError, which begins with `option`, where invalid."""
    if text == "none":
        return NO_WORD
    place, colon, type_ = text.partition(":")
    if colon:
        if type_ not in TYPES:
            raise InputError(f"{option}: found type {type_}; allowed: {', '.join(TYPES)}{did_you_mean(type_, TYPES)}")
        last = HEADER + 1 - np.dtype(type_).itemsize
        if not (place.isascii() and place.isdecimal() and 1 <= int(place[:9]) <= last):
            raise InputError(f"{option}: found byte {place}; allowed for {type_}: 1 to {last}")
        return Word(int(place), type_)
    fields = {name.lower(): place for name, place in segyio.tracefield.keys.items()}
    if text.lower() not in fields:
        hint = did_you_mean(text, segyio.tracefield.keys)
        raise InputError(
            f"{option}: {text or 'nothing'} is no word; allowed: BYTE:TYPE such as 9:i4, a field of segyio's "
            f"TraceField such as FieldRecord, or none{hint}"
        )
    first = int(fields[text.lower()])
    if first == DEFAULTS["samples"].place:
        return DEFAULTS["samples"]  # unsigned: counts reach 65535
    following = min((int(position) for position in fields.values() if int(position) > first), default=HEADER + 1)
    return Word(first, "i4" if following - first >= 4 else "i2")
