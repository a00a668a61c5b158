"""Species, totals and saturations against the equations and complex steps."""

from pathlib import Path

import numpy as np
import pytest

from fathometer.apps.reactive.chemistry import mass_action
from fathometer.apps.reactive.chemistry.activity import LN10, MODELS, ln_gamma
from fathometer.apps.reactive.chemistry.assembly import system_of
from fathometer.apps.reactive.chemistry.data_file import chemistry_of, read_chemistry
from fathometer.apps.reactive.chemistry.mass_action import saturation_of, solution_of, totals_of
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats

NAMES = ("Ca+2", "H+", "HCO3-", "Na+", "Cl-", "SO4-2", "Tracer")


def system(activity: str) -> ChemicalSystem:
    return system_of(read_chemistry(), NAMES, ["Calcite", "Gypsum"], ["CO2(g)"], activity)


def waters(seed: int, cells: int) -> Floats:
    """ln c between 1e-6 and 0.03 mol/kg, pH between 4 and 10."""
    rng = np.random.default_rng(seed)
    ln_c = LN10 * rng.uniform(-6, -1.5, (cells, len(NAMES)))
    ln_c[:, 1] = LN10 * rng.uniform(-10, -4, cells)
    return ln_c


@pytest.mark.parametrize("activity", MODELS)
def test_the_equations_hold(activity: str) -> None:
    """Mass action of each secondary species, activities, and the ionic strength of all species."""
    s = system(activity)
    found = solution_of(s, waters(1, 30))
    c = np.exp(found.ln_molality)
    assert found.strength == pytest.approx(0.5 * (c * s.charge**2).sum(-1), rel=1e-13)
    assert found.ln_activity == pytest.approx(found.ln_molality + ln_gamma(s, np.sqrt(found.strength))[0], abs=1e-12)
    primary = found.ln_activity[:, : len(NAMES)]
    formed = LN10 * s.log_k + primary @ s.stoichiometry.T
    assert found.ln_activity[:, len(NAMES) :] == pytest.approx(formed, rel=1e-13)
    totals, _ = totals_of(s, found)
    assert totals == pytest.approx(c[:, : len(NAMES)] + c[:, len(NAMES) :] @ s.stoichiometry, rel=1e-13, abs=1e-18)


@pytest.mark.parametrize("activity", MODELS)
def test_derivatives_against_complex_steps(activity: str) -> None:
    s = system(activity)
    u = waters(2, 20)
    found = solution_of(s, u)
    _, totals_slope = totals_of(s, found)
    _, index_slope = saturation_of(s.mineral_stoichiometry, s.mineral_log_k, found)
    h = 1e-30
    for k in range(len(NAMES)):
        stepped = solution_of(s, u + 1j * h * np.eye(len(NAMES))[k])
        assert found.molality_slope[..., k] == pytest.approx(stepped.ln_molality.imag / h, rel=1e-11, abs=1e-12)
        assert found.activity_slope[..., k] == pytest.approx(stepped.ln_activity.imag / h, rel=1e-11, abs=1e-12)
        index, _ = saturation_of(s.mineral_stoichiometry, s.mineral_log_k, stepped)
        assert index_slope[..., k] == pytest.approx(index.imag / h, rel=1e-11, abs=1e-12)
        totals, _ = totals_of(s, stepped)
        assert totals_slope[..., k] == pytest.approx(totals.imag / h, rel=1e-10, abs=1e-16)


def test_each_water_is_computed_by_itself() -> None:
    s = system("davies")
    u = waters(3, 12)
    together = solution_of(s, u)
    for cell in range(len(u)):
        assert solution_of(s, u[cell]).ln_activity == pytest.approx(together.ln_activity[cell], rel=1e-13)


def test_where_there_is_no_ionic_strength_results_are_nan() -> None:
    """Davies' coefficients grow without limit: at 40 mol/kg complexes make more ions than their own strength allows."""
    s = system("davies")
    u = np.stack([waters(4, 1)[0], np.full(len(NAMES), np.log(40.0)), np.full(len(NAMES), 1e3)])
    found = solution_of(s, u)
    assert np.isfinite(found.strength).tolist() == [True, False, False]


def test_an_ionic_strength_is_that_of_its_species_or_nan() -> None:
    """From dilute waters to where Davies' law has no solution, closely spaced; no iteration is taken for one."""
    s = system("davies")
    molalities = 10 ** np.linspace(-2, 2, 200)
    u = np.log(molalities[:, np.newaxis] * np.array([1, 1e-6, 1, 1, 1, 1, 1]))
    found = solution_of(s, u)
    known = np.isfinite(found.strength)
    assert known[0]
    assert not known[-1]
    sums = 0.5 * (np.exp(found.ln_molality) * s.charge**2).sum(-1)
    assert found.strength[known] == pytest.approx(sums[known], rel=1e-10)


def test_an_iteration_that_is_not_at_its_end_is_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    s = system("davies")
    monkeypatch.setattr(mass_action, "_MOST_ITERATIONS", 2)
    assert np.isnan(solution_of(s, waters(5, 3)).strength).all()


def test_water_without_primary_ions() -> None:
    """Ions that only uncharged species form, and none at all: the strength is that of what is there."""
    constant = {
        "title": "-",
        "temperature": 25.0,
        "activity": {"a": 0.51, "b": 0.33, "neutral_b": 0.1, "source": "-"},
        "species": [
            {"name": "HX(aq)", "source": "-"},
            {"name": "H2X+", "reaction": "2 HX(aq) = H2X+ + X-", "log_k": -6.0, "source": "-"},
            {"name": "X-", "source": "-"},
            {"name": "Y(aq)", "source": "-"},
        ],
    }
    data = chemistry_of(constant, Path("x.toml"))
    none = system_of(data, ["HX(aq)", "Y(aq)"])
    found = solution_of(none, np.log([[1e-3, 1e-3]]))
    assert found.strength == 0.0
    assert np.all(np.isfinite(found.molality_slope))
    assert totals_of(none, found)[0] == pytest.approx(np.array([[1e-3, 1e-3]]))
