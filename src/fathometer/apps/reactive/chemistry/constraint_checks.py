"""Whether the constraints of a water can be kept, as far as that shows without looking for it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fathometer.apps.reactive.chemistry.constraints import (
    KINDS,
    PH,
    ChargeBalance,
    Constraint,
    Free,
    Pressure,
    Saturation,
    Total,
    words_of,
)
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats
from fathometer.base.errors import InputError, naming
from fathometer.base.meant import did_you_mean

ACID = "H+"


def check_constraints(system: ChemicalSystem, constraints: Mapping[str, Constraint]) -> None:
    """Raises InputError unless each primary species has a constraint that it can have and none follows from others."""
    for species in constraints:
        if species not in system.primary:
            raise InputError(
                f'found a constraint on "{species}"; allowed: on the primary species {", ".join(system.primary)}'
                f"{did_you_mean(species, system.primary)}"
            )
    for j, species in enumerate(system.primary):
        if species not in constraints:
            raise InputError(
                f"{species}: found no constraint; needed: one of {', '.join(KINDS)} on each "
                f"primary species: {', '.join(system.primary)}"
            )
        with naming(species):
            _check_one(system, j, constraints[species])
    _check_pairs(system, constraints)


def _check_one(system: ChemicalSystem, j: int, constraint: Constraint) -> None:
    species = system.primary[j]
    found = f"found {words_of(constraint)}"
    match constraint:
        case Total(molality):
            signs = system.stoichiometry[:, j]
            if not np.isfinite(molality) or (molality <= 0 and not (signs < 0).any()):
                raise InputError(f"{found}; allowed: above 0, since no species has it with a negative number")
        case Free(molality) if not 0 < molality < np.inf:
            raise InputError(f"{found}; allowed: above 0")
        case PH(value):
            if species != ACID:
                raise InputError(f"{found}; allowed: of {ACID} only")
            if not np.isfinite(value):
                raise InputError(f"{found}; allowed: a number")
        case ChargeBalance() if system.charge[j] == 0:
            raise InputError(f"{found}; allowed: of an ion")
        case Saturation(mineral, index):
            _check_known("mineral", mineral, system.minerals, system.mineral_stoichiometry, j, species)
            if not np.isfinite(index):
                raise InputError(f"{found}; allowed: a number")
        case Pressure(gas, pressure):
            _check_known("gas", gas, system.gases, system.gas_stoichiometry, j, species)
            if not 0 < pressure < np.inf:
                raise InputError(f"{found}; allowed: above 0")


def _check_known(kind: str, name: str, known: tuple[str, ...], stoichiometry: Floats, j: int, species: str) -> None:
    if name not in known:
        allowed = f"{', '.join(known) or f'none, the flow names no {kind}'}{did_you_mean(name, known)}"
        raise InputError(f'found {kind} "{name}"; allowed: {allowed}')
    if stoichiometry[known.index(name), j] == 0:
        raise InputError(f"found {kind} {name}, in which there is no {species}; allowed: a {kind} that contains it")


def _check_pairs(system: ChemicalSystem, constraints: Mapping[str, Constraint]) -> None:
    """Constraints on activities whose equations depend on each other contradict each other, or say the same."""
    rows: list[Floats] = []
    names: list[str] = []
    balanced = ""
    for j, species in enumerate(system.primary):
        constraint = constraints[species]
        if isinstance(constraint, ChargeBalance):
            if balanced:
                raise InputError(f"found charge balance of {balanced} and of {species}; allowed: of one ion")
            balanced = species
        if isinstance(constraint, Total | ChargeBalance):
            continue
        row = np.eye(len(system.primary))[j]
        if isinstance(constraint, Saturation | Pressure):
            row = equilibrium_of(system, constraint)[0]
        rows.append(row)
        names.append(f"{species} ({words_of(constraint)})")
        if np.linalg.matrix_rank(np.array(rows)) < len(rows):
            raise InputError(
                f"found constraints that contradict each other or say the same: {', '.join(names)}; allowed: "
                "constraints of which none follows from the others"
            )


def equilibrium_of(system: ChemicalSystem, constraint: Saturation | Pressure) -> tuple[Floats, float, float]:
    """The mineral's or gas's stoichiometry, log10 K, and log10 of Omega or of the pressure."""
    if isinstance(constraint, Saturation):
        k = system.minerals.index(constraint.mineral)
        return system.mineral_stoichiometry[k], float(system.mineral_log_k[k]), constraint.index
    k = system.gases.index(constraint.gas)
    return system.gas_stoichiometry[k], float(system.gas_log_k[k]), float(np.log10(constraint.pressure))
