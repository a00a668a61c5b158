"""Waters against those of PHREEQC with the same species, constants and activity coefficients."""

from collections.abc import Mapping

import numpy as np
import pytest
from phreeqc import Phreeqc

from fathometer.apps.reactive.chemistry.assembly import system_of
from fathometer.apps.reactive.chemistry.constraints import PH, ChargeBalance, Constraint, Pressure, Saturation, Total
from fathometer.apps.reactive.chemistry.data_file import read_chemistry
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.chemistry.speciation import water
from fathometer.apps.reactive.chemistry.system import ChemicalSystem

pytest.importorskip("phreeqpython", reason="phreeqpython is not installed (dev extras)")

ACTIVITIES = ("davies", "debye-hueckel")
ISSUE = ("OH-", "CO2(aq)", "CO3-2", "CaHCO3+", "CaCO3(aq)")
ALL = ("Ca+2", "Mg+2", "Na+", "K+", "Cl-", "H+", "HCO3-", "SO4-2")
# The activity of water, which PHREEQC lowers by 0.017 times the molalities: less than this in waters below.
CLOSE = 1e-3


def compare(
    system: ChemicalSystem, constraints: Mapping[str, Constraint], found: Mapping[str, float], close: float = CLOSE
) -> None:
    """pH, ionic strength and the molality of each species."""
    described = describe(system, water(system, constraints))
    assert described["pH"] == pytest.approx(found["pH"], abs=close)
    assert described["ionic_strength_mol_per_kg"] == pytest.approx(found["I"], rel=close)
    for name, molality in described["molalities_mol_per_kg"].items():
        assert molality == pytest.approx(10 ** found[f"log10 {name}"], rel=close), name


@pytest.mark.parametrize("activity", ACTIVITIES)
@pytest.mark.parametrize("pressure", [10**-3.5, 1e-3])
def test_calcite_in_equilibrium_with_carbon_dioxide(pressure: float, activity: str) -> None:
    data = read_chemistry()
    primary = ("Ca+2", "H+", "HCO3-", "Tracer")
    system = system_of(data, primary, ["Calcite"], ["CO2(g)"], activity, ISSUE)
    constraints = {
        "Ca+2": Saturation("Calcite"),
        "H+": ChargeBalance(),
        "HCO3-": Pressure("CO2(g)", pressure),
        "Tracer": Total(1e-3),
    }
    oracle = Phreeqc(data, (*primary, *ISSUE), activity)
    found = oracle.water({"pH": 7, "Tracer": 1e-3}, {"Calcite": 0.0, "CO2(g)": np.log10(pressure)})
    described = describe(system, water(system, constraints))
    assert described["totals_mol_per_kg"]["Ca+2"] == pytest.approx(found["Ca"], rel=CLOSE)
    assert described["totals_mol_per_kg"]["HCO3-"] == pytest.approx(found["C"], rel=CLOSE)
    compare(system, constraints, found)


@pytest.mark.parametrize("activity", ACTIVITIES)
@pytest.mark.parametrize("seed", range(6))
def test_waters_of_random_totals(seed: int, activity: str) -> None:
    """All species of the file; pH given, or that of the balance of charges."""
    data = read_chemistry()
    system = system_of(data, ALL, activity=activity)
    rng = np.random.default_rng(seed)
    elements = {"Ca+2": "Ca", "Mg+2": "Mg", "Na+": "Na", "K+": "K", "Cl-": "Cl", "HCO3-": "C", "SO4-2": "S"}
    totals = {name: float(10 ** rng.uniform(-5, -2.3)) for name in elements}
    acidity = float(rng.uniform(4, 10))
    constraints: dict[str, Constraint] = {name: Total(total) for name, total in totals.items()}
    constraints["H+"] = PH(acidity)
    oracle = Phreeqc(data, (*system.primary, *system.secondary), activity)
    solution: dict[str, object] = {elements[name]: repr(total) for name, total in totals.items()}
    compare(system, constraints, oracle.water({"pH": repr(acidity), **solution}))


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_gypsum_and_the_balance_of_charges(activity: str) -> None:
    """Saturated with gypsum and calcite, sodium chloride beside: a strength at which the models differ.

    Two molecules of water take part in gypsum's reaction, so its product goes with the square of water's activity.
    """
    data = read_chemistry()
    system = system_of(
        data, ("Ca+2", "Na+", "Cl-", "H+", "HCO3-", "SO4-2"), ["Gypsum", "Calcite"], ["CO2(g)"], activity
    )
    constraints = {
        "Ca+2": Saturation("Gypsum"),
        "SO4-2": ChargeBalance(),
        "Na+": Total(0.01),
        "Cl-": Total(0.01),
        "H+": Saturation("Calcite"),
        "HCO3-": Pressure("CO2(g)", 1e-3),
    }
    oracle = Phreeqc(data, (*system.primary, *system.secondary), activity)
    found = oracle.water({"pH": 7, "Na": 0.01, "Cl": 0.01}, {"Gypsum": 0.0, "Calcite": 0.0, "CO2(g)": -3.0})
    described = describe(system, water(system, constraints))
    compare(system, constraints, found, 2 * 0.017 * sum(described["molalities_mol_per_kg"].values()))
