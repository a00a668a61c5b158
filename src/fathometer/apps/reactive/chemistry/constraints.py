"""Constraints by which a water is given, one a primary species."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le

from fathometer.base.errors import InputError
from fathometer.config.table import Table, key

KINDS = ("total", "free", "pH", "charge", "mineral", "gas")  # keys of which a constraint has one
Index = Annotated[float, Ge(-50), Le(50)]
Molality = Annotated[float, Ge(1e-60), Le(1000)]  # mol/kg
SignedMolality = Annotated[float, Ge(-1000), Le(1000)]  # mol/kg
PartialPressure = Annotated[float, Ge(1e-60), Le(1e6)]  # atm


@dataclass(frozen=True)
class Total:
    """The sum over all species of the primary species in them, mol/kg; that of H+ may be 0 or below."""

    molality: float


@dataclass(frozen=True)
class Free:
    """The molality of the species itself, mol/kg."""

    molality: float


@dataclass(frozen=True)
class PH:
    """-log10 of the activity of H+."""

    value: float


@dataclass(frozen=True)
class ChargeBalance:
    """As much of the ion as makes the charges of all species sum to 0."""


@dataclass(frozen=True)
class Saturation:
    """Equilibrium with a mineral, or log10 Omega = index."""

    mineral: str
    index: float = 0.0


@dataclass(frozen=True)
class Pressure:
    """Equilibrium with a gas of this partial pressure, atm."""

    gas: str
    pressure: float


Constraint = Total | Free | PH | ChargeBalance | Saturation | Pressure


class ConstraintTable(Table):
    """What is known of a primary species in a water: one of total, free, pH, charge, mineral and gas."""

    total: SignedMolality | None = key("sum over all species that contain it", "mol/kg", None)
    free: Molality | None = key("of the species itself", "mol/kg", None)
    pH: Annotated[float, Ge(-5), Le(20)] | None = key("of H+: -log10 of its activity", "", None)
    charge: Literal[True] | None = key("as much as makes the charges sum to 0", default=None)
    mineral: str | None = key("with which the water is in equilibrium", default=None)
    saturation_index: Index | None = key("log10 Omega of that mineral in place of 0", "", None)
    gas: str | None = key("with which the water is in equilibrium", default=None)
    pressure: PartialPressure | None = key("partial pressure of that gas", "atm", None)

    def constraint(self) -> Constraint:
        """The constraint. Raises InputError where the table has none, several, or parts of one."""
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            raise InputError(f"found {', '.join(given) or 'none'}; allowed: one of {', '.join(KINDS)}")
        if self.saturation_index is not None and self.mineral is None:
            raise InputError("saturation_index: found without mineral; needed: both")
        if (self.pressure is None) != (self.gas is None):
            raise InputError("found one of gas and pressure; needed: both")
        if self.total is not None:
            return Total(self.total)
        if self.free is not None:
            return Free(self.free)
        if self.pH is not None:
            return PH(self.pH)
        if self.mineral is not None:
            return Saturation(self.mineral, self.saturation_index or 0.0)
        if self.gas is not None and self.pressure is not None:
            return Pressure(self.gas, self.pressure)
        return ChargeBalance()


def words_of(constraint: Constraint) -> str:
    """The constraint for a message.

    >>> words_of(Pressure("CO2(g)", 10**-3.5))
    'gas CO2(g) at 0.000316228 atm'
    """
    match constraint:
        case Total(molality):
            return f"total {molality:g} mol/kg"
        case Free(molality):
            return f"free {molality:g} mol/kg"
        case PH(value):
            return f"pH {value:g}"
        case ChargeBalance():
            return "charge balance"
        case Saturation(mineral, index):
            return f"mineral {mineral}" + (f" at saturation index {index:g}" if index else "")
        case Pressure(gas, pressure):
            return f"gas {gas} at {pressure:g} atm"
