"""The chemistry's kernel (native/reactive/chemistry.hpp) of a system of species."""

from __future__ import annotations

import numpy as np

from fathometer import _native
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats

LN10 = float(np.log(10.0))


def kernel_of(system: ChemicalSystem) -> _native.ReactiveChemistry:
    """The kernel of a system."""

    def numbers(values: Floats) -> Floats:
        return np.ascontiguousarray(values, np.float64)

    return _native.ReactiveChemistry(
        stoichiometry=numbers(system.stoichiometry),
        ln_k=numbers(system.log_k) * LN10,
        charge=numbers(system.charge),
        ion_size=numbers(system.ion_size),
        ion_b=numbers(system.ion_b),
        mineral_stoichiometry=numbers(system.mineral_stoichiometry),
        mineral_ln_k=numbers(system.mineral_log_k) * LN10,
        rate_constant=numbers(system.rate_constant),
        specific_area=numbers(system.specific_area),
        nucleation_area=numbers(system.nucleation_area),
        model=system.activity,
        a=system.a,
        b=system.b,
    )
