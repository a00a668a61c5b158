"""The chemistry file that is given, users' own files, and what is wrong in them."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

from fathometer.apps.reactive.chemistry.data_file import GIVEN, chemistry_of, read_chemistry
from fathometer.apps.reactive.chemistry.keys import ChemistryFile
from fathometer.base.errors import InputError
from fathometer.config.reference import with_reference

OWN = """
title = "A weak acid"
temperature = 25.0
[activity]
a = 0.5
b = 0.33
neutral_b = 0.0
source = "round numbers"
[[species]]
name = "H+"
ion_size = 9.0
source = "-"
[[species]]
name = "Ac-"
source = "-"
[[species]]
name = "HAc(aq)"
reaction = "HAc(aq) = H+ + Ac-"
log_k = -4.76
source = "-"
"""


def test_the_file_that_is_given_is_whole() -> None:
    """What the issue's case needs is there, with a source for everything."""
    data = read_chemistry()
    assert {"Ca+2", "H+", "HCO3-", "Tracer", "OH-", "CO2(aq)", "CO3-2", "CaHCO3+", "CaCO3(aq)"} <= set(data.species)
    assert data.minerals["Calcite"].rate_constant == pytest.approx(10**-5.81, rel=1e-3)
    assert data.minerals["Calcite"].molar_volume == 36.9e-6
    assert {"activity", *data.species, *data.minerals, *data.gases} <= set(data.sources)
    rated = [name for name, mineral in data.minerals.items() if mineral.rate_constant is not None]
    assert all(f"{name} rate" in data.sources for name in rated)
    assert data.species["Tracer"].ion_b == data.neutral_b


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "acid.toml"
    path.write_text(OWN)
    data = read_chemistry(path)
    assert list(data.species) == ["H+", "Ac-", "HAc(aq)"]
    assert data.species["HAc(aq)"].formula.elements == {"H": 1, "Ac": 1}
    assert data.species["Ac-"].ion_size is None


def test_a_file_that_is_missing_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot read the chemistry file: no such file"):
        read_chemistry(tmp_path / "none.toml")


def table(values: dict[str, Any], name: str) -> dict[str, Any]:
    """The table of a species, mineral or gas."""
    return next(each for kind in ("species", "mineral", "gas") for each in values[kind] if each["name"] == name)


def change(name: str, **keys: object) -> Callable[[dict[str, Any]], object]:
    """Sets keys of a table; None: takes them out."""

    def apply(values: dict[str, Any]) -> None:
        for key, value in keys.items():
            if value is None:
                del table(values, name)[key]
            else:
                table(values, name)[key] = value

    return apply


def add(**keys: object) -> Callable[[dict[str, Any]], object]:
    return lambda values: values["species"].append({"source": "-", **keys})


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "unbalanced in hydrogen and charge": (
        change("CaHCO3+", reaction="Ca+2 + CO3-2 = CaHCO3+"),
        '[[species]] CaHCO3+: reaction: found "Ca+2 + CO3-2 = CaHCO3+" with charge 0 on the left and 1 on the right, H '
        "0 on the left and 1 on the right; allowed: reactions that balance in each element and in charge",
    ),
    "unbalanced mineral": (
        change("Gypsum", formula="CaSO4"),
        '[[mineral]] Gypsum: reaction: found "Gypsum = Ca+2 + SO4-2 + 2 H2O" with O 4 on the left and 6 on the right',
    ),
    "unbalanced gas": (change("CO2(g)", formula="CO"), "[[gas]] CO2(g): reaction: found"),
    "unknown species": (
        change("CaHCO3+", reaction="Ca+2 + Bicarbonate = CaHCO3+"),
        '[[species]] CaHCO3+: reaction: found "Bicarbonate" in "Ca+2 + Bicarbonate = CaHCO3+"; allowed: the names of',
    ),
    "no reaction": (change("CaHCO3+", reaction="Ca+2"), "[[species]] CaHCO3+: reaction: found"),
    "without itself": (change("CaHCO3+", reaction="H2O = OH- + H+"), "without CaHCO3+; needed: it takes part"),
    "missing constant": (
        change("CaHCO3+", log_k=None),
        "[[species]] CaHCO3+: log_k: missing; needed: log10 of the equilibrium constant of",
    ),
    "missing constant of a mineral": (change("Calcite", log_k=None), "[[mineral]] Calcite: log_k: missing"),
    "constant without reaction": (change("OH-", reaction=None), "[[species]] OH- log_k: found -14 without a reaction"),
    "twice": (add(name="CO3-2"), '[[species]] 26 name: found "CO3-2", which is the name of [[species]] 7 too'),
    "twice as gas": (add(name="CO2(g)"), '[[gas]] 1 name: found "CO2(g)", which is the name of [[species]] 26 too'),
    "water": (add(name="H2O"), 'name: found "H2O", which is water itself too'),
    "the same equilibrium twice": (
        change("CO3-2", reaction="HCO3- = H+ + CO3-2", log_k=-10.3),
        '[[species]] HCO3- reaction: found "CO3-2 + H+ = HCO3-", which follows from the reactions before it',
    ),
    "formula": (change("Calcite", formula="CaC(O3"), '[[mineral]] 1 formula: found "CaC(O3"; allowed: elements'),
    "charged mineral": (change("Calcite", formula="CaCO3+"), 'Calcite: found the formula "CaCO3+" with a charge'),
    "control character": (add(name="Ca\x1b"), "with the control character U+001B"),
    "negative volume": (
        change("Calcite", molar_volume=-1.0),
        "[[mineral]] 1 molar_volume: found -1.0; allowed: a number",
    ),
    "zero rate": (
        change("Calcite", rate_constant=0.0),
        "[[mineral]] 1 rate_constant: found 0.0; allowed: a number from 1e-40 to 1e+10",
    ),
    "zero size": (
        change("K+", ion_size=0.0),
        "[[species]] 5 ion_size: found 0.0; allowed: a number from 0.01 to 1000 (ångström)",
    ),
    "infinite constant": (change("OH-", log_k=float("inf")), "[[species]] 10 log_k: found inf; allowed: a number from"),
    "rate without source": (change("Calcite", rate_source=None), "[[mineral]] Calcite rate_source: missing"),
    "no source": (change("K+", source=None), "[[species]] 5 source: missing"),
    "b without size": (change("K+", ion_size=None), "[[species]] K+ ion_b: found 0.015 without ion_size"),
    "unknown key": (change("K+", ion_sizes=1.0), "[[species]] 5 ion_sizes: unknown key; did you mean ion_size?"),
    "zero A": (lambda values: values["activity"].update(a=0.0), "[activity] a: found 0.0; allowed: a number from"),
    "no species": (lambda values: values.update(species=[]), "[species]: found []"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_line_with_its_place(case: str) -> None:
    values = tomllib.loads(GIVEN.read_text(encoding="utf-8"))
    alter, words = WRONG[case]
    alter(values)
    with pytest.raises(InputError) as error:
        chemistry_of(values, Path("mine.toml"))
    assert str(error.value).startswith("mine.toml: ")
    assert words in str(error.value)


def test_the_guide_has_all_keys() -> None:
    page = ROOT / "docs" / "guide" / "reactive-chemistry.md"
    assert with_reference(page.read_text(), "page", ChemistryFile) == page.read_text(), "run make docs"


def test_the_example_of_the_guide_is_read(tmp_path: Path) -> None:
    """With the species that it leaves out for shortness."""
    text = (ROOT / "docs" / "guide" / "reactive-chemistry.md").read_text(encoding="utf-8")
    path = tmp_path / "example.toml"
    others = "".join(f'[[species]]\nname = "{name}"\nsource = "-"\n' for name in ("H+", "Ca+2", "CO2(aq)"))
    path.write_text(text.split("```toml\n")[1].split("```")[0] + others)
    assert set(read_chemistry(path).minerals) == {"Calcite"}
