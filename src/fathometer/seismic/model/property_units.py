"""Units of what a model file holds beside velocities: density, Thomsen's parameters, quality factors."""

from __future__ import annotations

from fathometer.base.errors import InputError
from fathometer.storage.volumes.volume import Volume

NONE = ("", "1", "-", "none", "dimensionless", "unitless", "fraction", "ratio")
KILOGRAMS = ("kg/m3", "kg/m^3", "kg/m**3", "kg m-3", "kg.m-3", "kg m^-3", "kg/cubic metre", "kg/cubic meter")
GRAMS = ("g/cm3", "g/cm^3", "g/cm**3", "g cm-3", "g.cm-3", "g cm^-3", "g/cc", "gm/cc", "g/ml", "t/m3", "t/m^3")
PER_CENT = ("%", "percent", "per cent", "pct")
FACTORS = {
    "density": {**dict.fromkeys(("", *KILOGRAMS), 1.0), **dict.fromkeys(GRAMS, 1000.0)},
    "epsilon": {**dict.fromkeys(NONE, 1.0), **dict.fromkeys(PER_CENT, 0.01)},
    "qp": dict.fromkeys(NONE, 1.0),
}
LARGE = 0.5  # epsilon, delta, eta: hardly any rock has more
SAME = {"delta": "epsilon", "eta": "epsilon", "qs": "qp"}
NEEDED = {"density": "kg/m3 or g/cm3", "epsilon": "none, or percent", "qp": "none"}


def factor_of(key: str, name: str, volume: Volume) -> float:
    """What a property's values in a file are times to be in SI units; key: for messages.

    Raises InputError for a unit that is unknown.
    """
    kind = SAME.get(name, name)
    text = (volume.info.unit or "").strip()
    factor = FACTORS[kind].get(text.lower())
    if factor is None:
        raise InputError(f"{key}: {volume.path} says that its values are in {text}; known: {NEEDED[kind]}")
    return factor


def per_cent_note(key: str, volume: Volume, largest: float) -> tuple[str, ...]:
    """A note where values of epsilon, delta or eta without a unit are so large that they may be per cent.

    largest: magnitude of what is read of them.
    """
    if (volume.info.unit or "").strip() or not largest > LARGE:
        return ()
    return (
        f"{key}: {volume.path} has values up to {largest:.3g} in magnitude, and no unit: they are taken as fractions; "
        "per cent have the unit % in the file",
    )
