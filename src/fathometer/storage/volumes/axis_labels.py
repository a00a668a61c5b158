"""What names of axes mean, and their units: the same for all formats."""

from __future__ import annotations

import re
from collections.abc import Sequence

TIME = "t"  # label of an axis of time, in s; all others are lengths, in m
NAMES = {
    "x": "x,distance,inline,iline,trace,lateral,horizontal,easting,eastings,lon,longitude,range,cdp,cmp,midpoint,nx,"
    "projection x coordinate",
    "y": "y,crossline,xline,cross line,northing,northings,lat,latitude,ny,projection y coordinate",
    "z": "z,depth,depths,elevation,elevations,elev,height,heights,altitude,altitudes,nz",
    "t": "t,t0,time,twt,two way time,two way travel time,two way traveltime,tau,nt,owt,"
    "one way time,one way travel time,one way traveltime",
}
AXIS_OF_NAME = {name: axis for axis, names in NAMES.items() for name in names.split(",")}
WEAK = ("distance", "range", "horizontal", "lateral")  # say less than another word beside them
UPWARD = re.compile(r"elev[a-z]*|heights?|altitudes?|up|upwards?")  # words of what is counted upward
DOWNWARD = ("depth", "depths", "down", "downward", "downwards")
DATUM = ("above", "below", "beneath", "under", "from", "of", "relative")  # words behind them are of the datum
COUNTED = (
    "inline",
    "iline",
    "crossline",
    "xline",
    "cross",
    "line",
    "cdp",
    "cmp",
    "midpoint",
    "midpoints",
    "trace",
)  # words of numbers of lines, traces
CELLS = (
    *("level", "levels", "lev", "ilev", "layer", "layers", "index", "idx", "i", "j", "k", "ix", "iy", "iz"),
    *("row", "rows", "column", "columns", "col", "cols", "cell", "cells", "node", "nodes", "sample", "samples"),
    *("nx", "ny", "nz"),
)  # words of numbers of cells, where these are consecutive
NUMBER = ("number", "numbers", "no", "nr", "index", "id")  # words beside them
VALUE_UNIT = ("units", "unit", "Units", "Unit", "UNITS", "UNIT")  # keys of the unit of values or coordinates
NO_NAME = re.compile(r"(axis|dim|dimension|phony_dim|fakedim)_?\d+", re.IGNORECASE)  # given by libraries
FOOT = 0.3048  # m
METRES = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1.0),
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), 1000.0),
    **dict.fromkeys(("ft", "foot", "feet"), FOOT),
    **dict.fromkeys(("kft", "kilofoot", "kilofeet"), 1000 * FOOT),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 0.01),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 0.001),
}
SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "microsecond", "microseconds"), 1e-6),
}


def axis_of(label: str) -> str:
    """The axis that a label means, "x", "y", "z" or "t"; "": none is known, or it names two.

    >>> [axis_of(label) for label in ("Depth (km)", "cross-line", "x position", "Y distance", "t, s", "foo", "x z")]
    ['z', 'y', 'x', 'y', 't', '', '']
    """
    text = re.sub(r"[(\[].*", "", label.strip().lower())
    words = re.sub(r"[^a-z0-9]+", " ", text).split()
    whole = AXIS_OF_NAME.get(" ".join(words))
    if whole is not None:
        return whole
    strong = {AXIS_OF_NAME[word] for word in words if word in AXIS_OF_NAME and word not in WEAK and word != "s"}
    found = strong or {AXIS_OF_NAME[word] for word in words if word in AXIS_OF_NAME}
    return found.pop() if len(found) == 1 else ""


def nameless(label: str) -> bool:
    """Whether a label says nothing: it is empty, or a number that a library gave."""
    return not label.strip() or NO_NAME.fullmatch(label.strip()) is not None


def upward(label: str) -> bool:
    """Whether a name is that of something that is counted upward."""
    return any(UPWARD.fullmatch(word) for word in _own_words(label))


def downward(label: str) -> bool:
    """Whether a name is that of something that is counted downward.

    >>> upward("Z up"), upward("depth below the sea's height"), downward("depth_below_geoid")
    (True, False, True)
    """
    return any(word in DOWNWARD for word in _own_words(label))


def _own_words(label: str) -> list[str]:
    """The words of a name before those that tell the datum."""
    words = re.sub(r"[^a-z]+", " ", label.lower()).split()
    return words[: next((place for place, word in enumerate(words) if word in DATUM), len(words))]


def unit_of_axis(unit: str, label: str) -> tuple[float | None, bool]:
    """Metres or seconds in a unit of an axis, None where it is neither; and whether it is of time.

    Without a unit that in the label's brackets counts; without any an axis of time is in s, any other in m.
    """
    unit, time = unit.strip(" ()[]").lower().rstrip(".") or unit_in(label), axis_of(label) == TIME
    if unit in SECONDS or (unit == "" and time):
        return SECONDS.get(unit, 1.0), True
    return (None, False) if time else (METRES.get(unit) if unit else 1.0, False)


def unit_in(label: str) -> str:
    """The unit of an axis in the brackets of its label, in lower case; "": none that is known, or the (s) of a plural.

    >>> [unit_in(label) for label in ("Depth (km)", "Depth[kft]", "time (ms)", "Trace(s)", "Depth (TVD)")]
    ['km', 'kft', 'ms', '', '']
    """
    if axis_of(label) != TIME:
        label = re.sub(r"(?<=\w)\(s\)", "", label, flags=re.IGNORECASE)
    texts = (text.strip().lower().rstrip(".") for text in re.findall(r"[(\[]([^)\]]*)", label))
    return next((text for text in texts if text in METRES or text in SECONDS), "")


def unit_of_values(label: str) -> str:
    """What the brackets of a label of values say, where that can be a unit; "" where it cannot.

    >>> [unit_of_values(label) for label in ("Velocity (ft/s)", "Density [g cm-3]", "Epsilon (%)", "Velocity (Vp)")]
    ['ft/s', 'g cm-3', '%', '']
    """
    texts = [text.strip() for text in re.findall(r"[(\[]([^)\]]*)", label)]
    return next((text for text in texts if re.search(r"[/%]|-[123]", text)), "")


def names_in(text: str, count: int) -> list[str]:
    """The names of `count` axes in one text, with commas, colons, blanks or, of one letter each, nothing between; none
    where it does not name them all.

    >>> names_in("z (km), x (km)", 2), names_in("z:x", 2), names_in("zx", 2), names_in("z x", 3), names_in("rock, x", 2)
    (['z (km)', 'x (km)'], ['z', 'x'], ['z', 'x'], [], [])
    """
    text = text.strip()
    for parts in (re.split("[,;:]", text), text.split(), list(text)):
        names = [name.strip() for name in parts]
        if len(names) == count and all(axis_of(name) for name in names):
            return names
    return []


def counted(label: str) -> bool:
    """Whether a label says that the axis counts lines or traces.

    >>> [counted(label) for label in ("Inline", "cross-line number", "xline_no", "CDP X", "inline distance", "x")]
    [True, True, True, False, False, False]
    """
    words = re.sub(r"[^a-z]+", " ", re.sub(r"[(\[].*", "", label.lower())).split()
    return any(word in COUNTED for word in words) and all(word in COUNTED + NUMBER for word in words)


def counts_cells(label: str) -> bool:
    """Whether a label says that consecutive whole numbers along the axis are those of cells, if it has no unit.

    >>> [counts_cells(label) for label in ("level", "k", "x index", "Row No.", "dim_0", "depth level", "z", "")]
    [True, True, True, True, True, False, False, False]
    """
    words = re.sub(r"[^a-z]+", " ", re.sub(r"[(\[].*", "", label.lower())).split()
    of_cells = any(word in CELLS for word in words) and all(word in (*CELLS, *NUMBER, "x", "y", "z") for word in words)
    return of_cells or NO_NAME.fullmatch(label.strip()) is not None


def one_way(label: str) -> bool:
    """Whether a label is that of one-way time."""
    words = re.sub(r"[^a-z0-9]+", " ", label.lower())
    return "owt" in words.split() or re.search(r"\b(one|1) ?way\b", words) is not None


def listed(labels: Sequence[str]) -> str:
    """Labels for messages."""
    return ", ".join(f'"{label}"' for label in labels)
