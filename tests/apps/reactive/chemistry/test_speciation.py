"""Waters from constraints: they are kept, in whatever way a water is given; and what cannot be."""

import json
from collections.abc import Mapping

import numpy as np
import pytest
from pydantic import ValidationError

from fathometer.apps.reactive.chemistry.activity import LN10, MODELS
from fathometer.apps.reactive.chemistry.assembly import system_of
from fathometer.apps.reactive.chemistry.constraints import (
    PH,
    ChargeBalance,
    Constraint,
    ConstraintTable,
    Free,
    Pressure,
    Saturation,
    Total,
)
from fathometer.apps.reactive.chemistry.data_file import read_chemistry
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.chemistry.mass_action import saturation_of, solution_of, totals_of
from fathometer.apps.reactive.chemistry.speciation import residuals_at, water
from fathometer.apps.reactive.chemistry.system import ChemicalSystem
from fathometer.base.errors import InputError

DATA = read_chemistry()
NAMES = ("Ca+2", "Mg+2", "Na+", "Cl-", "H+", "HCO3-", "SO4-2")


def constraints_of(system: ChemicalSystem, u: np.ndarray, way: int) -> dict[str, Constraint]:
    """A given water in one of several ways."""
    solution = solution_of(system, u)
    totals = dict(zip(NAMES, totals_of(system, solution)[0], strict=True))
    index = saturation_of(system.mineral_stoichiometry, system.mineral_log_k, solution)[0] / LN10
    pressure = np.exp(saturation_of(system.gas_stoichiometry, system.gas_log_k, solution)[0])
    acidity = -solution.ln_activity[NAMES.index("H+")] / LN10
    constraints: dict[str, Constraint] = {name: Total(float(total)) for name, total in totals.items()}
    ways: list[Mapping[str, Constraint]] = [
        {},
        {"H+": PH(float(acidity))},
        {"H+": Free(float(np.exp(u[NAMES.index("H+")])))},
        {"Ca+2": Saturation("Calcite", float(index[0]))},
        {"HCO3-": Pressure("CO2(g)", float(pressure[0])), "Ca+2": Saturation("Gypsum", float(index[1]))},
        {"SO4-2": Saturation("Gypsum", float(index[1])), "H+": PH(float(acidity))},
    ]
    return {**constraints, **ways[way]}


@pytest.mark.parametrize("activity", MODELS)
@pytest.mark.parametrize("way", range(6))
def test_a_water_is_found_again(way: int, activity: str) -> None:
    system = system_of(DATA, NAMES, ["Calcite", "Gypsum"], ["CO2(g)"], activity)
    rng = np.random.default_rng(way)
    for _ in range(5):
        u = LN10 * rng.uniform(-6, -1.8, len(NAMES))
        u[NAMES.index("H+")] = -LN10 * rng.uniform(3, 11)
        assert water(system, constraints_of(system, u, way)) == pytest.approx(u, abs=1e-8)


@pytest.mark.parametrize(
    "primary", [("Ca+2", "OH-", "HCO3-"), ("CaHCO3+", "H+", "CO2(aq)"), ("Ca+2", "CO2(aq)", "CO3-2")]
)
def test_totals_below_zero(primary: tuple[str, ...]) -> None:
    """Whatever basis they are counted in, and however many of its totals are negative there."""
    system = system_of(DATA, primary)
    common = system_of(DATA, ("Ca+2", "H+", "HCO3-"))
    rng = np.random.default_rng(7)
    negative = 0
    for _ in range(20):
        start = LN10 * np.array([rng.uniform(-5, -2), rng.uniform(-12, -5), rng.uniform(-6, -2)])
        molalities = describe(common, start)["molalities_mol_per_kg"]
        u = np.log([molalities[name] for name in primary])
        totals, _ = totals_of(system, solution_of(system, u))
        negative += (totals < 0).any()
        constraints = {name: Total(float(total)) for name, total in zip(primary, totals, strict=True)}
        assert water(system, constraints) == pytest.approx(u, abs=1e-7)
    assert negative


def test_the_jacobian_of_the_constraints() -> None:
    """Each kind of constraint against central differences of its residual, its scale left out."""
    system = system_of(DATA, NAMES, ["Calcite"], ["CO2(g)"])
    constraints = [Saturation("Calcite"), Free(1e-3), ChargeBalance(), Total(0.02), PH(7.0), Pressure("CO2(g)", 0.01)]
    chosen: list[Constraint] = [*constraints, Total(0.003)]
    u = LN10 * np.array([-3.0, -4.0, -2.5, -2.0, -7.2, -2.7, -3.1])
    state = residuals_at(system, chosen, u)
    step = 1e-5
    for k in range(len(NAMES)):
        ahead, behind = (residuals_at(system, chosen, u + sign * step * np.eye(len(NAMES))[k]) for sign in (1, -1))
        differences = (ahead.residual * ahead.scale - behind.residual * behind.scale) / (2 * step)
        assert state.slope[:, k] * state.scale == pytest.approx(differences, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("ion", ["H+", "Na+", "Cl-"])
def test_the_balance_of_charges(ion: str) -> None:
    """By acid or base, and by an ion that there is too little of."""
    system = system_of(DATA, NAMES)
    few = {"Na+": 0.002, "Cl-": 0.03} if ion != "Cl-" else {"Na+": 0.03, "Cl-": 0.002}
    constraints: dict[str, Constraint] = {name: Total(few.get(name, 1e-3)) for name in NAMES}
    constraints["H+"] = PH(7.5)
    constraints[ion] = ChargeBalance()
    described = describe(system, water(system, constraints))
    assert abs(described["charge_eq_per_kg"]) < 1e-13 * described["ionic_strength_mol_per_kg"] * 10
    for name, total in described["totals_mol_per_kg"].items():
        if isinstance(constraint := constraints[name], Total):
            assert total == pytest.approx(constraint.molality, rel=1e-12)


def test_pure_water_is_neutral() -> None:
    system = system_of(DATA, ["H+"])
    described = describe(system, water(system, {"H+": ChargeBalance()}))
    assert described["pH"] == pytest.approx(7.0, abs=1e-12)
    assert described["ionic_strength_mol_per_kg"] == pytest.approx(1e-7, rel=1e-3)


def test_a_water_described_is_json() -> None:
    system = system_of(DATA, ("Ca+2", "H+", "HCO3-"), ["Calcite"], ["CO2(g)"])
    constraints = {"Ca+2": Saturation("Calcite", 0.3), "H+": PH(7.25), "HCO3-": Pressure("CO2(g)", 0.01)}
    described = describe(system, water(system, constraints))
    assert json.loads(json.dumps(described)) == described
    assert described["pH"] == pytest.approx(7.25)
    assert described["saturation_indices"]["Calcite"] == pytest.approx(0.3)
    assert described["pressures_atm"]["CO2(g)"] == pytest.approx(0.01)
    assert set(described["molalities_mol_per_kg"]) == {*system.primary, *system.secondary}
    assert describe(system_of(DATA, ["Tracer"]), np.log([1e-3]))["pH"] is None


GOOD: dict[str, Constraint] = {"Ca+2": Total(1e-3), "H+": PH(7.0), "HCO3-": Total(1e-3)}
WRONG: list[tuple[dict[str, Constraint | None], str]] = [
    ({"Ca+2": None}, "Ca+2: found no constraint; needed: one of total, free, pH, charge, mineral, gas"),
    ({"Na+": Total(1.0)}, 'found a constraint on "Na+"; allowed: on the primary species Ca+2, H+, HCO3-'),
    ({"Ca+2": Total(0.0)}, "Ca+2: found total 0 mol/kg; allowed: above 0"),
    ({"Ca+2": Total(float("nan"))}, "Ca+2: found total nan mol/kg"),
    ({"Ca+2": Free(-1.0)}, "Ca+2: found free -1 mol/kg; allowed: above 0"),
    ({"Ca+2": PH(7.0)}, "Ca+2: found pH 7; allowed: of H+ only"),
    ({"Ca+2": Saturation("Gypsum")}, 'Ca+2: found mineral "Gypsum"; allowed: Calcite, Aragonite'),
    ({"Ca+2": Pressure("CO2(g)", 1.0)}, "Ca+2: found gas CO2(g), in which there is no Ca+2"),
    ({"HCO3-": Pressure("CO2(g)", 0.0)}, "HCO3-: found gas CO2(g) at 0 atm; allowed: above 0"),
    (
        {"Ca+2": ChargeBalance(), "HCO3-": ChargeBalance()},
        "found charge balance of Ca+2 and of HCO3-; allowed: of one ion",
    ),
    (
        {"Ca+2": Saturation("Aragonite"), "HCO3-": Saturation("Calcite")},
        "found constraints that contradict each other or say the same: Ca+2 (mineral Aragonite), H+ (pH 7), ",
    ),
    ({"Ca+2": ChargeBalance(), "H+": PH(2.0)}, "found no water that keeps the constraints; missed are "),
    ({"Ca+2": Total(50.0)}, "found no water that keeps the constraints; missed are Ca+2 (total 50 mol/kg) by "),
]


@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_what_cannot_be_a_water_is_one_line(changes: dict[str, Constraint | None], words: str) -> None:
    system = system_of(DATA, ("Ca+2", "H+", "HCO3-"), ["Calcite", "Aragonite"], ["CO2(g)"])
    constraints = {name: each for name, each in {**GOOD, **changes}.items() if each is not None}
    with pytest.raises(InputError) as error:
        water(system, constraints, "[[water]] rain")
    assert str(error.value).startswith("[[water]] rain: ")
    assert words in str(error.value)


def test_an_uncharged_species_balances_nothing() -> None:
    system = system_of(DATA, ("H+", "Tracer"))
    with pytest.raises(InputError, match="Tracer: found charge balance; allowed: of an ion"):
        water(system, {"H+": PH(7.0), "Tracer": ChargeBalance()})


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"total": 1e-3}, Total(1e-3)),
        ({"total": -1e-3}, Total(-1e-3)),
        ({"free": 1e-3}, Free(1e-3)),
        ({"pH": 7}, PH(7)),
        ({"charge": True}, ChargeBalance()),
        ({"mineral": "Calcite"}, Saturation("Calcite", 0.0)),
        ({"mineral": "Calcite", "saturation_index": 0.5}, Saturation("Calcite", 0.5)),
        ({"gas": "CO2(g)", "pressure": 0.01}, Pressure("CO2(g)", 0.01)),
        ({}, "found none; allowed: one of total, free"),
        ({"total": 1.0, "free": 1.0}, "found total, free; allowed: one of"),
        ({"gas": "CO2(g)"}, "found one of gas and pressure; needed: both"),
        ({"total": 1.0, "pressure": 1.0}, "found one of gas and pressure; needed: both"),
        ({"total": 1.0, "saturation_index": 1.0}, "saturation_index: found without mineral; needed: both"),
    ],
)
def test_a_constraint_of_an_input_file(keys: dict, expected: Constraint | str) -> None:
    table = ConstraintTable.model_validate(keys)
    if not isinstance(expected, str):
        assert table.constraint() == expected
        return
    with pytest.raises(InputError) as error:
        table.constraint()
    assert expected in str(error.value)


def test_charge_is_true_or_left_out() -> None:
    with pytest.raises(ValidationError):
        ConstraintTable.model_validate({"charge": False})
