"""Units of an ocean's values as files state them."""

from __future__ import annotations

from fathometer.base.errors import InputError
from fathometer.storage.volumes.axis_labels import FOOT

ZERO_CELSIUS = 273.15  # K
_CELSIUS = ("degc", "deg_c", "celsius", "degrees_celsius", "degree_celsius", "degreec", "°c", "deg c", "c")
_SALINITY = ("1", "psu", "pss", "pss-78", "g/kg", "g kg-1", "0.001", "1e-3", "‰", "ppt", "none", "dimensionless")
_METRES = ("m", "meter", "meters", "metre", "metres")
# By quantity: a factor and what is added then, by unit; without a unit values are as the ocean file has them.
SCALES: dict[str, dict[str, tuple[float, float]]] = {
    "temperature": {**dict.fromkeys(_CELSIUS, (1.0, 0.0)), **dict.fromkeys(("k", "kelvin"), (1.0, -ZERO_CELSIUS))},
    "salinity": dict.fromkeys(_SALINITY, (1.0, 0.0)),
    "length": {
        **dict.fromkeys(_METRES, (1.0, 0.0)),
        "cm": (0.01, 0.0),
        **dict.fromkeys(("km", "kilometers", "kilometres"), (1000.0, 0.0)),
        **dict.fromkeys(("ft", "feet"), (FOOT, 0.0)),
    },
    "stress": {
        **dict.fromkeys(("n/m2", "n m-2", "n/m^2", "n m^-2", "n/m**2", "pa", "pascal"), (1.0, 0.0)),
        **dict.fromkeys(("dyn/cm2", "dyn cm-2", "dyne/cm2", "dyne cm-2", "dyne/cm^2"), (0.1, 0.0)),
    },
    "flux": dict.fromkeys(("w/m2", "w m-2", "w/m^2", "w m^-2", "w/m**2", "watt/m2"), (1.0, 0.0)),
    "mask": dict.fromkeys(("1", "none", "dimensionless"), (1.0, 0.0)),
}
WORDS = {
    "temperature": "degC, K",
    "salinity": "1, psu, g/kg",
    "length": "m, cm, km, ft",
    "stress": "N/m2, Pa, dyn/cm2",
    "flux": "W/m2",
    "mask": "1",
}


def scale_of(place: str, quantity: str, unit: str | None) -> tuple[float, float]:
    """What values in a file's unit are times, and what is added then; (1, 0) without a unit.

    place: for messages. quantity: a key of SCALES. Raises InputError for a unit that is unknown.
    """
    text = (unit or "").strip()
    found = SCALES[quantity].get(text.lower()) if text else (1.0, 0.0)
    if found is None:
        raise InputError(f"{place}: found values in {text}; allowed: {WORDS[quantity]}")
    return found
