"""The chemistry file: species, minerals and gases with their reactions, constants and sources.

    data = read_chemistry(None)                      the file that is given with the program
    system = system_of(data, ["Ca+2", ...], ...)     assembly.py

keys.py has its tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fathometer.apps.reactive.chemistry.basis import WATER, Equation, reduced
from fathometer.apps.reactive.chemistry.formula import Formula, parse_formula
from fathometer.apps.reactive.chemistry.keys import ChemistryFile, GasTable, MineralTable, SpeciesTable
from fathometer.apps.reactive.chemistry.reaction import Reaction, check_balance, parse_reaction
from fathometer.base.errors import InputError, naming, shortened
from fathometer.base.names import control_problem
from fathometer.config.input_file import read_toml, validated

GIVEN = Path(__file__).with_name("chemistry.toml")


@dataclass(frozen=True)
class Species:
    """ion_size: ångström, None where the file says none. ion_b: kg/mol. reaction: None where there is none."""

    name: str
    formula: Formula
    ion_size: float | None
    ion_b: float
    reaction: Reaction | None


@dataclass(frozen=True)
class Mineral:
    """molar_volume: m³/mol. rate_constant: mol/(m² s), None where the file says none."""

    name: str
    formula: Formula
    reaction: Reaction
    molar_volume: float
    rate_constant: float | None


@dataclass(frozen=True)
class Gas:
    name: str
    formula: Formula
    reaction: Reaction


@dataclass(frozen=True)
class Chemistry:
    """The contents of a chemistry file, checked.

    path: for messages. temperature: °C. a, b, neutral_b: as in `ActivityTable`. species, minerals, gases: by name.
    sources: of every number, by what it belongs to.
    """

    path: Path
    title: str
    temperature: float
    a: float
    b: float
    neutral_b: float
    species: Mapping[str, Species]
    minerals: Mapping[str, Mineral]
    gases: Mapping[str, Gas]
    sources: Mapping[str, str]

    def equations(self) -> list[Equation]:
        """The reactions among species, from which a basis is chosen."""
        return [Equation.of(species.reaction) for species in self.species.values() if species.reaction is not None]


def read_chemistry(path: Path | None = None) -> Chemistry:
    """The chemistry in a file; None: the one that is given with the program.

    Raises InputError of one line for what is wrong in it: keys, formulas, reactions that do not balance or follow from
    others, names that are unknown or used twice, missing constants.
    """
    path = GIVEN if path is None else path
    return chemistry_of(read_toml(path, "the chemistry file"), path)


def chemistry_of(values: dict[str, Any], path: Path) -> Chemistry:
    """As read_chemistry, of values that were read; path: for messages."""
    file = validated(ChemistryFile, values, path)
    with naming(str(path)):
        _check_names(file)
        formulas = _formulas(file)
        sources = {"activity": file.activity.source} | {table.name: table.source for _, table in _tables(file)}
        chemistry = Chemistry(
            path=path,
            title=file.title,
            temperature=file.temperature,
            a=file.activity.a,
            b=file.activity.b,
            neutral_b=file.activity.neutral_b,
            species=MappingProxyType({table.name: _species(table, file, formulas) for table in file.species}),
            minerals=MappingProxyType({table.name: _mineral(table, file, formulas) for table in file.mineral}),
            gases=MappingProxyType({table.name: _gas(table, file, formulas) for table in file.gas}),
            sources=MappingProxyType(
                sources | {f"{m.name} rate": m.rate_source for m in file.mineral if m.rate_source}
            ),
        )
        _check_independent(chemistry)
    return chemistry


def _check_names(file: ChemistryFile) -> None:
    seen = {WATER: "water itself"}
    for where, table in _tables(file):
        if problem := control_problem(table.name):
            raise InputError(f"{where} name: {problem}")
        if table.name in seen:
            raise InputError(
                f'{where} name: found "{shortened(table.name, 40)}", which is {seen[table.name]} too; allowed: names '
                "of which each is used once"
            )
        seen[table.name] = f"the name of {where}"


def _tables(file: ChemistryFile) -> Iterable[tuple[str, SpeciesTable | MineralTable | GasTable]]:
    """All tables with their places."""
    for number, species in enumerate(file.species, 1):
        yield f"[[species]] {number}", species
    for number, mineral in enumerate(file.mineral, 1):
        yield f"[[mineral]] {number}", mineral
    for number, gas in enumerate(file.gas, 1):
        yield f"[[gas]] {number}", gas


def _formulas(file: ChemistryFile) -> dict[str, Formula]:
    """The formulas of water and of everything in the file, by name."""
    found = {WATER: parse_formula(WATER)}
    for where, table in _tables(file):
        with naming(f"{where} {'name' if table.formula is None else 'formula'}"):
            found[table.name] = parse_formula(table.formula or table.name)
        if not isinstance(table, SpeciesTable) and found[table.name].charge:
            raise InputError(
                f'{where} {table.name}: found the formula "{table.formula or table.name}" with a charge; allowed: one '
                "without"
            )
    return found


def _species(table: SpeciesTable, file: ChemistryFile, formulas: Mapping[str, Formula]) -> Species:
    formula = formulas[table.name]
    if table.reaction is None and table.log_k is not None:
        raise InputError(f"[[species]] {table.name} log_k: found {table.log_k:g} without a reaction; needed: both")
    if formula.charge and table.ion_size is None and table.ion_b is not None:
        raise InputError(f"[[species]] {table.name} ion_b: found {table.ion_b:g} without ion_size; needed: both")
    reaction = None
    if table.reaction is not None:
        reaction = _reaction("species", table.name, table.reaction, table.log_k, file, formulas)
    size = table.ion_size if formula.charge else None
    neutral_b = 0.0 if formula.charge else file.activity.neutral_b
    return Species(table.name, formula, size, neutral_b if table.ion_b is None else table.ion_b, reaction)


def _mineral(table: MineralTable, file: ChemistryFile, formulas: Mapping[str, Formula]) -> Mineral:
    if table.rate_constant is not None and table.rate_source is None:
        raise InputError(f"[[mineral]] {table.name} rate_source: missing; needed: where its rate constant comes from")
    reaction = _reaction("mineral", table.name, table.reaction, table.log_k, file, formulas)
    return Mineral(table.name, formulas[table.name], reaction, table.molar_volume, table.rate_constant)


def _gas(table: GasTable, file: ChemistryFile, formulas: Mapping[str, Formula]) -> Gas:
    reaction = _reaction("gas", table.name, table.reaction, table.log_k, file, formulas)
    return Gas(table.name, formulas[table.name], reaction)


def _reaction(
    kind: str, name: str, text: str, log_k: float | None, file: ChemistryFile, formulas: Mapping[str, Formula]
) -> Reaction:
    """The reaction of a table: it balances, the table's own name takes part, all others are species or water."""
    with naming(f"[[{kind}]] {name}"):
        if log_k is None:
            raise InputError(f'log_k: missing; needed: log10 of the equilibrium constant of "{shortened(text, 100)}"')
        reaction = parse_reaction(text, log_k)
        species = {WATER, name, *(table.name for table in file.species)}
        for other in reaction.names:
            if other not in species:
                raise InputError(
                    f'reaction: found "{shortened(other, 40)}" in "{shortened(text, 100)}"; allowed: the names of '
                    f"{WATER}, of species of this file and {name} itself"
                )
        if name not in reaction.net():
            raise InputError(f'reaction: found "{shortened(text, 100)}" without {name}; needed: it takes part')
        check_balance(reaction, formulas)
    return reaction


def _check_independent(chemistry: Chemistry) -> None:
    """Two reactions for one equilibrium would contradict each other, or say the same twice."""
    equations: list[Equation] = []
    for species in chemistry.species.values():
        if species.reaction is None:
            continue
        equations.append(Equation.of(species.reaction))
        if len(reduced(equations, list(chemistry.species))) < len(equations):
            raise InputError(
                f'[[species]] {species.name} reaction: found "{shortened(species.reaction.text, 100)}", which follows '
                "from the reactions before it; allowed: reactions of which none follows from others"
            )
