"""The species and reactions of a flow, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChemicalSystem:
    """n primary species, m secondary species, k minerals and g gases. The activity of water is 1.

    Attributes:
        primary, secondary, minerals, gases: names.
        stoichiometry: (m, n), of the primary species in a mole of each secondary one.
        log_k: (m,), log10 of formation: a_i = K_i prod_j a_j^nu_ij.
        charge, ion_size, ion_b: (n + m,), primary species first; elementary charges, ångström, kg/mol.
        mineral_stoichiometry: (k, n), what a mole of each mineral dissolves into.
        mineral_log_k: (k,), log10 of the solubility product: Omega = prod_j a_j^nu / K.
        rate_constant: (k,), mol/(m² s). specific_area: (k,), m²/mol. nucleation_area: (k,), m² for each m³ of bulk,
            where the mineral may begin to grow. molar_volume: (k,), m³/mol.
        gas_stoichiometry: (g, n), what a mole of each gas dissolves into. gas_log_k: (g,), log10: prod_j a_j^nu = K p,
            p in atm.
        activity: "davies", "debye-hueckel" or "ideal". a, b: of these, (kg/mol)^½ and (kg/mol)^½/ångström.
    """

    primary: tuple[str, ...]
    secondary: tuple[str, ...]
    minerals: tuple[str, ...]
    gases: tuple[str, ...]
    stoichiometry: Floats
    log_k: Floats
    charge: Floats
    ion_size: Floats
    ion_b: Floats
    mineral_stoichiometry: Floats
    mineral_log_k: Floats
    rate_constant: Floats
    specific_area: Floats
    nucleation_area: Floats
    molar_volume: Floats
    gas_stoichiometry: Floats
    gas_log_k: Floats
    activity: str
    a: float
    b: float
