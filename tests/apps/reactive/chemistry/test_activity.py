"""Activity coefficients."""

import dataclasses
from math import sqrt

import numpy as np
import pytest

from fathometer.apps.reactive.chemistry.activity import LN10, MODELS, ln_gamma
from fathometer.apps.reactive.chemistry.assembly import system_of
from fathometer.apps.reactive.chemistry.data_file import read_chemistry

DATA = read_chemistry()
NAMES = ("Ca+2", "H+", "Tracer")


@pytest.mark.parametrize("strength", [0.0, 1e-4, 0.01, 0.5])
def test_the_laws(strength: float) -> None:
    s = sqrt(strength)
    a, b = DATA.a, DATA.b
    davies = -a * (s / (1 + s) - 0.3 * strength)
    expected = {
        "davies": [4 * davies, davies, 0.1 * strength],
        "debye-hueckel": [
            -a * 4 * s / (1 + b * 5.0 * s) + 0.165 * strength,
            -a * s / (1 + b * 9.0 * s),
            0.1 * strength,
        ],
        "ideal": [0.0, 0.0, 0.0],
    }
    for model in MODELS:
        system = system_of(DATA, NAMES, activity=model, secondary=())
        assert ln_gamma(system, np.array(s))[0] / LN10 == pytest.approx(expected[model], rel=1e-14, abs=1e-300), model


@pytest.mark.parametrize("model", MODELS)
def test_derivatives_against_a_complex_step(model: str) -> None:
    system = system_of(DATA, ("Ca+2", "H+", "HCO3-", "Na+", "SO4-2"), activity=model)
    s = np.array([0.0, 1e-3, 0.1, 0.9])
    _, slope = ln_gamma(system, s)
    assert slope == pytest.approx(ln_gamma(system, s + 1e-30j)[0].imag / 1e-30, rel=1e-14, abs=1e-14)


def test_an_ion_without_a_size_has_the_coefficient_of_davies() -> None:
    """As in PHREEQC; CaOH+ has none in the file."""
    named = ("Ca+2", "H+")
    extended = system_of(DATA, named, activity="debye-hueckel", secondary=["CaOH+"])
    davies = dataclasses.replace(extended, activity="davies")
    s = np.array([0.01, 0.1, 0.7])
    assert ln_gamma(extended, s)[0][:, 2] == pytest.approx(ln_gamma(davies, s)[0][:, 2], rel=1e-13)
    assert abs(ln_gamma(extended, s)[0][:, 0] - ln_gamma(davies, s)[0][:, 0]).min() > 1e-4
