"""Flows to test the solver with: a tracer alone, and calcite in water, in grids with given waters at some sides."""

from dataclasses import replace

import numpy as np
from chemistries import LN10, calcite

from fathometer.apps.reactive.chemistry.system import ChemicalSystem
from fathometer.apps.reactive.solver.flow import CLOSED, SIDES, Flow, Side

AREAS = {"x": (1, 2), "y": (0, 2), "z": (0, 1)}


def tracer_system():
    """One neutral species that does not react."""
    return ChemicalSystem(
        primary=("Tracer",),
        secondary=(),
        minerals=(),
        gases=(),
        stoichiometry=np.zeros((0, 1)),
        log_k=np.zeros(0),
        charge=np.zeros(1),
        ion_size=np.zeros(1),
        ion_b=np.zeros(1),
        mineral_stoichiometry=np.zeros((0, 1)),
        mineral_log_k=np.zeros(0),
        rate_constant=np.zeros(0),
        specific_area=np.zeros(0),
        nucleation_area=np.zeros(0),
        molar_volume=np.zeros(0),
        gas_stoichiometry=np.zeros((0, 1)),
        gas_log_k=np.zeros(0),
        activity="ideal",
        a=0.0,
        b=0.0,
    )


def calcite_system(**changes):
    """Ca+2, H+, HCO3-, a tracer, five secondary species and calcite."""
    arrays = calcite()
    system = ChemicalSystem(
        primary=("Ca+2", "H+", "HCO3-", "Tracer"),
        secondary=("OH-", "CO2", "CO3-2", "CaHCO3+", "CaCO3"),
        minerals=("Calcite",),
        gases=(),
        stoichiometry=arrays["stoichiometry"],
        log_k=arrays["ln_k"] / LN10,
        charge=arrays["charge"],
        ion_size=arrays["ion_size"],
        ion_b=arrays["ion_b"],
        mineral_stoichiometry=arrays["mineral_stoichiometry"],
        mineral_log_k=arrays["mineral_ln_k"] / LN10,
        rate_constant=arrays["rate_constant"],
        specific_area=np.array([1.0]),
        nucleation_area=np.array([0.1]),
        molar_volume=np.array([3.69e-5]),
        gas_stoichiometry=np.zeros((0, 4)),
        gas_log_k=np.zeros(0),
        activity="davies",
        a=arrays["a"],
        b=arrays["b"],
    )
    return replace(system, **changes)


# Near equilibrium with calcite, and acid enough to dissolve it; molalities of the primary species.
RESTING = np.log([5e-4, 10**-8.3, 1e-3, 1e-9])
ACID = np.log([1e-5, 1e-5, 1e-4, 1e-3])


def side(shape, name, kind=CLOSED, water=-1, head=None):
    """A side whose faces are all alike."""
    faces = [shape[axis] for axis in AREAS[name[0]]]
    heads = None if head is None else np.full(faces, float(head))
    return Side(np.full(faces, kind, np.uint8), np.full(faces, water, np.int64), heads)


def flow_of(shape, spacing=(1.0, 1.0, 1.0), sides=None, **changes):
    """A flow in a uniform medium; sides: keywords of `side` by their names, left out: closed."""
    porosity = changes.pop("porosity", 0.25)
    given = {name: side(shape, name, **(sides or {}).get(name, {})) for name in SIDES}
    if changes.get("conductivity") is not None:
        bare = {name: np.full(one.kind.shape, np.nan) for name, one in given.items()}
        given = {name: one if one.head is not None else replace(one, head=bare[name]) for name, one in given.items()}
        changes.setdefault("flux", None)
    values = {
        "shape": shape,
        "spacing": spacing,
        "system": tracer_system(),
        "density": 1000.0,
        "porosity": porosity if callable(porosity) else uniform(porosity),
        "conductivity": None,
        "flux": (0.0, 0.0, 0.0),
        "diffusivity": 1e-9,
        "dispersivity": (0.0, 0.0),
        "sides": given,
        "waters": np.log([[1e-9], [1.0]]),
        "scheme": "central",
    }
    return Flow(**(values | changes))


def uniform(value):
    """A property with one value."""
    return lambda lo, hi: np.full([b - a for a, b in zip(lo, hi, strict=True)], float(value))


def start(solver, ln_c, minerals=()):
    """Give all cells the same state."""
    shape = solver.ln_c.shape[:-1]
    solver.set_state(np.broadcast_to(ln_c, (*shape, len(ln_c))), np.broadcast_to(minerals, (*shape, len(minerals))))
