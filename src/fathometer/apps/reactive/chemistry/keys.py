"""The tables of the chemistry file: the only definition of its keys."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le, MinLen

from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile
from fathometer.config.table import Table, key
from fathometer.config.types import Loose

Text = Annotated[str, MinLen(1), Allowed("a text of at least one letter")]
LogK = Annotated[float, Ge(-1000), Le(1000)]
Factor = Annotated[float, Ge(-100), Le(100)]  # kg/mol, of an ionic strength


class ActivityTable(Table):
    """Coefficients of the activity models."""

    a: Annotated[float, Ge(1e-3), Le(100)] = key("Debye and Hückel's A, for log10", "(kg/mol)^½")
    b: Annotated[float, Ge(1e-3), Le(100)] = key("their B, by which ion sizes are multiplied", "(kg/mol)^½/ångström")
    neutral_b: Factor = key("log10 of the activity coefficient of an uncharged species, by ionic strength", "kg/mol")
    source: Text = key("where the numbers come from")


class SpeciesTable(Table):
    """An aqueous species."""

    name: Text = key("also its formula, where that has no key of its own; the charge at its end: Ca+2, HCO3-")
    formula: Text | None = key("of which elements it consists, and its charge", default=None)
    reaction: Text | None = key("in which it takes part; left out: others are formed of it", default=None)
    log_k: LogK | None = key("log10 of the reaction's equilibrium constant, as it is written", default=None)
    ion_size: Annotated[float, Ge(0.01), Le(1000)] | None = key(
        "in the extended Debye-Hückel law; left out: this species' coefficient is that of Davies", "ångström", None
    )
    ion_b: Factor | None = key(
        "factor of the ionic strength in that law; left out: 0 of an ion, neutral_b of an uncharged species",
        "kg/mol",
        None,
    )
    source: Text = key("where the numbers come from")


class MineralTable(Table):
    """A mineral."""

    name: Text = key("by which its reaction and flows name it")
    formula: Text = key("of which elements it consists")
    reaction: Text = key("in which it dissolves into species")
    log_k: LogK | None = key("log10 of the reaction's equilibrium constant, as it is written", default=None)
    molar_volume: Annotated[float, Ge(1e-9), Le(1)] = key("volume of a mole", "m³/mol")
    rate_constant: Annotated[float, Ge(1e-40), Le(1e10)] | None = key(
        "R = rate_constant · area · (1 - Omega); left out: no flow can have it react at a rate", "mol/(m² s)", None
    )
    rate_source: Text | None = key("where the rate constant comes from", default=None)
    source: Text = key("where the other numbers come from")


class GasTable(Table):
    """A gas."""

    name: Text = key("also its formula, where that has no key of its own: CO2(g)")
    formula: Text | None = key("of which elements it consists", default=None)
    reaction: Text = key("in which it dissolves; its activity is its partial pressure in atm")
    log_k: LogK | None = key("log10 of the reaction's equilibrium constant, as it is written", default=None)
    source: Text = key("where the numbers come from")


class ChemistryFile(InputFile):
    """Species, minerals and gases at one temperature."""

    title: Text = key("for people")
    temperature: Annotated[float, Ge(-273.15), Le(5000)] = key("for which all constants hold", "°C")
    activity: ActivityTable = key("coefficients of the activity models")
    species: Annotated[tuple[SpeciesTable, ...], Loose, MinLen(1)] = key("aqueous species, in any order")
    mineral: Annotated[tuple[MineralTable, ...], Loose] = key("minerals", default=())
    gas: Annotated[tuple[GasTable, ...], Loose] = key("gases", default=())
