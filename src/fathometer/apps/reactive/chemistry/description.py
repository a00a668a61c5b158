"""A water in numbers, for records and for people."""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer.apps.reactive.chemistry.activity import LN10
from fathometer.apps.reactive.chemistry.constraint_checks import ACID
from fathometer.apps.reactive.chemistry.mass_action import saturation_of, solution_of, totals_of
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats


def describe(system: ChemicalSystem, ln_c: Floats) -> dict[str, Any]:
    """What a water is, JSON-ready: pH (None without H+), ionic strength, charge (eq/kg), totals, molalities, saturation
    indices log10 Omega of the minerals, and pressures of the gases, by name. ln_c: (n,)."""
    solution = solution_of(system, ln_c)
    species = (*system.primary, *system.secondary)
    molality = np.exp(solution.ln_molality)
    index, _ = saturation_of(system.mineral_stoichiometry, system.mineral_log_k, solution)
    pressure, _ = saturation_of(system.gas_stoichiometry, system.gas_log_k, solution)
    return {
        "pH": -float(solution.ln_activity[species.index(ACID)] / LN10) if ACID in species else None,
        "ionic_strength_mol_per_kg": float(solution.strength),
        "charge_eq_per_kg": float(system.charge @ molality),
        "totals_mol_per_kg": _by_name(system.primary, totals_of(system, solution)[0]),
        "molalities_mol_per_kg": _by_name(species, molality),
        "saturation_indices": _by_name(system.minerals, index / LN10),
        "pressures_atm": _by_name(system.gases, np.exp(pressure)),
    }


def _by_name(names: tuple[str, ...], values: Floats) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}
