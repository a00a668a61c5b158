"""Systems of chosen species: the change of basis, and what cannot be chosen."""

from fractions import Fraction

import numpy as np
import pytest

from fathometer.apps.reactive.chemistry.assembly import Surface, system_of
from fathometer.apps.reactive.chemistry.basis import Equation, basis_of, reduced
from fathometer.apps.reactive.chemistry.constraints import PH, Pressure, Saturation, Total
from fathometer.apps.reactive.chemistry.data_file import read_chemistry
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.chemistry.speciation import water
from fathometer.base.errors import InputError

DATA = read_chemistry()
CARBONATE = ("Ca+2", "H+", "HCO3-", "Tracer")
FIVE = ("OH-", "CO2(aq)", "CO3-2", "CaHCO3+", "CaCO3(aq)")


def test_the_calcite_system() -> None:
    """In terms of HCO3-, where the file has CO3-2: constants of Plummer and Busenberg (1982)."""
    system = system_of(DATA, CARBONATE, ["Calcite"], ["CO2(g)"], "davies", FIVE, {"Calcite": Surface(0.1, 0.02)})
    assert system.stoichiometry.tolist() == [
        [0, -1, 0, 0],
        [0, 1, 1, 0],
        [0, -1, 1, 0],
        [1, 0, 1, 0],
        [1, -1, 1, 0],
    ]
    assert system.log_k.tolist() == [-14.0, 6.352, -10.329, 1.106, -7.105]
    assert system.charge.tolist() == [2, 1, -1, 0, -1, 0, -2, 1, 0]
    assert system.mineral_stoichiometry.tolist() == [[1, -1, 1, 0]]
    assert system.mineral_log_k.tolist() == [1.849]
    assert system.gas_stoichiometry.tolist() == [[0, 1, 1, 0]]
    assert system.gas_log_k.tolist() == [-7.82]
    assert (system.specific_area[0], system.nucleation_area[0]) == (0.1, 0.02)
    assert system.rate_constant[0] == DATA.minerals["Calcite"].rate_constant
    assert system.primary == CARBONATE
    assert system.secondary == FIVE


@pytest.mark.parametrize(
    "primary",
    [
        ("Ca+2", "H+", "CO3-2"),
        ("Ca+2", "OH-", "HCO3-"),
        ("CaHCO3+", "H+", "CO2(aq)"),
        ("CaCO3(aq)", "HCO3-", "CO2(aq)"),
    ],
)
def test_waters_do_not_depend_on_the_basis(primary: tuple[str, ...]) -> None:
    """Equilibrium with calcite, carbon dioxide and a strong acid's pH, from different primary species."""
    system = system_of(DATA, ("Ca+2", "H+", "HCO3-"), ["Calcite"], ["CO2(g)"], "debye-hueckel")
    constraints = {"Ca+2": Saturation("Calcite"), "H+": PH(7.6), "HCO3-": Pressure("CO2(g)", 2e-3)}
    expected = describe(system, water(system, constraints))["molalities_mol_per_kg"]
    other = system_of(DATA, primary, ["Calcite"], ["CO2(g)"], "debye-hueckel")
    found = describe(other, np.log([expected[name] for name in primary]))
    assert found["molalities_mol_per_kg"] == pytest.approx(expected, rel=1e-11)
    assert found["saturation_indices"]["Calcite"] == pytest.approx(0, abs=1e-12)
    assert found["pressures_atm"]["CO2(g)"] == pytest.approx(2e-3, rel=1e-11)
    assert found["pH"] == pytest.approx(7.6, abs=1e-12)
    # Elements are the same sums whatever species they are counted in.
    matrix = np.array([[float(DATA.species[name].formula.elements.get(e, 0)) for e in ("Ca", "C")] for name in primary])
    assert np.array(list(found["totals_mol_per_kg"].values())) @ matrix == pytest.approx(
        [
            sum(c * float(DATA.species[name].formula.elements.get(e, 0)) for name, c in expected.items())
            for e in ("Ca", "C")
        ]
    )


def test_all_species_that_can_be_formed_are_taken() -> None:
    system = system_of(DATA, ("Na+", "Cl-", "H+"))
    assert system.secondary == ("OH-",)
    assert set(system_of(DATA, (*CARBONATE, "Na+")).secondary) == {*FIVE, "CaOH+", "NaCO3-", "NaHCO3(aq)"}


def test_charges_balance_in_every_reaction_of_a_system() -> None:
    primary = ("Ca+2", "Mg+2", "Na+", "K+", "Cl-", "H+", "HCO3-", "SO4-2")
    system = system_of(DATA, primary, list(DATA.minerals), list(DATA.gases))
    n = len(primary)
    assert len(system.secondary) == len(DATA.species) - n - 1
    assert (system.stoichiometry @ system.charge[:n] == system.charge[n:]).all()
    assert (system.mineral_stoichiometry @ system.charge[:n] == 0).all()
    assert (system.gas_stoichiometry @ system.charge[:n] == 0).all()


def test_elimination_is_exact() -> None:
    half = Fraction(1, 2)
    equations = [
        Equation({"A": Fraction(3), "B": half}, Fraction("0.1")),
        Equation({"A": Fraction(1), "C": Fraction(-7)}, Fraction("0.2")),
    ]
    formed = basis_of(["C"], ["A", "B", "C"], equations).formations
    assert formed["A"].terms == {"C": 7}
    assert formed["A"].log_k == Fraction("0.2")
    assert formed["B"].terms == {"C": -42}
    assert formed["B"].log_k == Fraction("-1")
    assert len(reduced([*equations, equations[0].scaled(half)], ["A", "B", "C"])) == 2


WRONG = [
    ({"primary": ("Ca+2", "H+", "HCO3-", "CO3-2")}, "between which there is an equilibrium"),
    ({"primary": ("Ca+2", "H+", "HCO")}, 'primary species: found "HCO"; did you mean HCO3-?'),
    ({"primary": ("Ca+2", "Ca+2")}, 'primary species: found "Ca+2" twice'),
    ({"primary": ()}, "primary species: found none"),
    ({"primary": ("H2O",)}, 'primary species: found "H2O"'),
    (
        {"minerals": ["Gypsum"]},
        'Gypsum: its reaction "Gypsum = Ca+2 + SO4-2 + 2 H2O" has SO4-2, which cannot be formed',
    ),
    ({"minerals": ["Calcit"]}, 'minerals: found "Calcit"; did you mean Calcite?'),
    ({"gases": ["O2(g)"]}, 'gases: found "O2(g)"'),
    ({"secondary": ["MgOH+"]}, 'secondary species: found "MgOH+", which cannot be formed of Ca+2, H+, HCO3-, Tracer'),
    ({"secondary": ["HCO3-"]}, 'secondary species: found "HCO3-", which is a primary one'),
    ({"activity": "pitzer"}, 'activity: found "pitzer"; allowed: davies or debye-hueckel or ideal'),
    (
        {"minerals": ["Aragonite"], "surfaces": {"Aragonite": Surface(1.0)}},
        "Aragonite: found no rate_constant for a mineral that is to react at a rate",
    ),
    ({"minerals": ["Calcite"], "surfaces": {"Gypsum": Surface(1.0)}}, 'found a surface of "Gypsum"; allowed: Calcite'),
    ({"minerals": ["Calcite"], "surfaces": {"Calcite": Surface(-1.0)}}, "Calcite: found areas -1 m²/mol"),
    (
        {"minerals": ["Calcite"], "surfaces": {"Calcite": Surface(1.0, float("nan"))}},
        "found areas 1 m²/mol and nan m²/m³",
    ),
    (
        {"minerals": ["Calcite"], "surfaces": {"Calcite": Surface(1.0, 0.0, 0.0)}},
        "found rate_constant 0; allowed: above 0",
    ),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_what_cannot_be_chosen_is_one_line(given: dict, words: str) -> None:
    with pytest.raises(InputError) as error:
        system_of(DATA, **{"primary": CARBONATE, **given})
    assert words in str(error.value)


def test_a_rate_of_the_flows_own_and_minerals_without_a_surface() -> None:
    surfaces = {"Aragonite": Surface(2.0, 0.0, 1e-7)}
    system = system_of(DATA, CARBONATE, ["Calcite", "Aragonite"], surfaces=surfaces)
    assert system.rate_constant.tolist() == [0.0, 1e-7]
    assert system.specific_area.tolist() == [0.0, 2.0]
    constraints = {"Ca+2": Saturation("Calcite"), "H+": PH(8), "HCO3-": Total(1e-3), "Tracer": Total(1e-6)}
    assert describe(system, water(system, constraints))["saturation_indices"]["Aragonite"] == pytest.approx(-0.144)
