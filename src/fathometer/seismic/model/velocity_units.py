"""Units of velocity in model files: m/s, km/s, ft/s, slowness and slowness squared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fathometer.base.errors import InputError
from fathometer.storage.volumes.axis_labels import FOOT, METRES, SECONDS
from fathometer.storage.volumes.volume import VolumeInfo

USUAL = (300.0, 9000.0)  # m/s: of rocks and water
HARD = 3000.0  # m/s: a model with no lower velocity may be in ft/s
OTHERS = '"ft/s", "km/s", or of slowness "s2/km2", "s/km"'

# As files write the units that velocities are made of.
_LENGTHS = {short: [name for name, m in METRES.items() if m == METRES[short]] for short in ("m", "km", "ft")}
_SECONDS = [name for name, s in SECONDS.items() if s == 1.0]


def _known() -> dict[str, str]:
    """As files write units, in lower case without blanks and ^ -> as the survey does."""
    found = {"ft/sec": "ft/s", "fps": "ft/s", "mps": "m/s", "kmps": "km/s"}
    for short, lengths in _LENGTHS.items():
        for length in lengths:
            for second in _SECONDS:
                found |= dict.fromkeys(
                    (f"{length}/{second}", f"{length}.{second}-1", f"{length}{second}-1"), f"{short}/s"
                )
                found |= dict.fromkeys((f"{length}*{second}-1", f"{length}per{second}"), f"{short}/s")
                if short == "km":
                    found |= dict.fromkeys((f"{second}/{length}", f"{second}{length}-1"), "s/km")
                    found |= dict.fromkeys((f"{second}2/{length}2", f"{second}2{length}-2"), "s2/km2")
    return found


UNITS = _known()


def known_units(text: str | None) -> str | None:
    """Units as the survey writes them, of a file's text; None where it is unknown or there is none.

    >>> [known_units(text) for text in ("km s-1", "s^2/km^2", "Feet/second", "furlongs")]
    ['km/s', 's2/km2', 'ft/s', None]
    """
    return UNITS.get("".join((text or "").strip(" ()[]").lower().replace("**", "").replace("^", "").split()))


def units_of(key: str, path: object, info: VolumeInfo, given: str | None) -> str | None:
    """Units of a file's velocities: as the survey's key or an option says, else as the file does, by its unit or its
    feet; None where neither says.

    Args:
        key: "[model] units" or "--units", with the survey's file, for messages. given: its value.

    Raises InputError where the two contradict each other, and for a unit that is unknown where nothing is given.
    """
    said, text = known_units(info.unit), (info.unit or "").strip()
    if given is None:
        if text and said is None:
            raise InputError(f"{key}: missing; needed, since {path} says {text}; known: m/s, km/s, ft/s, s/km, s2/km2")
        return said or ("ft/s" if info.feet else None)
    if said is not None and said != given:
        raise InputError(f"{key}: found {given}, but {path} says {said}; allowed: the same")
    return given


def unit_notes(key: str, path: object, info: VolumeInfo, given: str | None) -> tuple[str, ...]:
    """A note where velocities are in feet by a header that may mean its coordinates alone."""
    if given is not None or not info.feet or known_units(info.unit):
        return ()
    return (f'{key}: {path} is in feet by its binary header: its values are taken as ft/s; "m/s" if they are not',)


def hard_note(key: str, path: object, least: float) -> tuple[str, ...]:
    """A note where the least velocity (m/s) of a file without units is one of hard rock."""
    if not least > HARD:
        return ()
    return (f'{path} has no velocity below {least:g} m/s, and no unit: if its values are in feet, {key} is "ft/s"',)


def unit_doubt(info: VolumeInfo, given: str) -> str:
    """What a message asks about a file's velocities that are none of rocks; given: how its unit is given as a key or an
    option. What the file says itself is obeyed or refused, and nothing overrules it."""
    return f"is {given} right?" if known_units(info.unit) is None else f"the file says {info.unit}: is that right?"


def fitting_units(low: float, high: float, given: str) -> str:
    """The end of a message about velocities from `low` to `high` (m/s) as read in the unit `given`: the units in which
    the same numbers would be velocities of rocks and water; "" where there are none.

    >>> fitting_units(1.5, 4.5, "m/s"), fitting_units(1.5e6, 4.5e6, "km/s"), fitting_units(0.0, 4500.0, "m/s")
    ('; as "km/s" they are 1500 to 4500 m/s', '; as "m/s" they are 1500 to 4500 m/s', '')
    >>> fitting_units(0.16, 0.25, "m/s")
    '; as "s/km" they are 4000 to 6250 m/s; as "s2/km2" they are 2000 to 2500 m/s'
    """
    if not (0 < low <= high < math.inf):
        return ""
    fitting = ""
    ends = [_number_of(value, given) for value in (low, high)]
    for units in ("m/s", "km/s", "ft/s", "s/km", "s2/km2"):
        least, most = sorted(float(metres_per_second(np.float64(end), units)) for end in ends)
        if units != given and USUAL[0] <= least <= most <= USUAL[1]:
            fitting += f'; as "{units}" they are {least:.4g} to {most:.4g} m/s'
    return fitting


def _number_of(velocity: float, units: str) -> float:
    """A velocity (m/s) as the number that it is in a unit."""
    match units:
        case "km/s":
            return velocity / 1000
        case "ft/s":
            return velocity / FOOT
        case "s/km":
            return 1000 / velocity
        case "s2/km2":
            return (1000 / velocity) ** 2
    return velocity


def metres_per_second(values: Any, units: str) -> Any:
    """Velocities (m/s) of an array or a number in `units`, in its dtype and shape; "none": the values themselves."""
    match units:
        case "km/s":
            return 1000 * values
        case "ft/s":
            return FOOT * values
        case "s/km":
            return 1000 / values
        case "s2/km2":
            return 1000 / np.sqrt(values)
        case _:
            return values
