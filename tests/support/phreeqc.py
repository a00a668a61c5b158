"""PHREEQC through phreeqpython, with the species and constants of a chemistry file: an oracle of speciation.

What PHREEQC does otherwise: the activity of water is 1 - 0.017 times the sum of molalities, not 1; and A and B of the
activity coefficients are its own, which are those of the file to four digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fathometer.apps.reactive.chemistry.data_file import Chemistry, Species
from fathometer.apps.reactive.chemistry.reaction import Reaction

_HEAD = """
SOLUTION_MASTER_SPECIES
H H+ -1.0 H 1.008
H(0) H2 0.0 H
H(1) H+ -1.0 0.0
E e- 0.0 0.0 0.0
O H2O 0.0 O 16.0
O(0) O2 0.0 O
O(-2) H2O 0.0 0.0
"""
_SPECIES = """
SOLUTION_SPECIES
e- = e-
H2O = H2O
2 H2O = O2 + 4 H+ + 4 e-
    log_k -86.08
2 H+ + 2 e- = H2
    log_k -3.15
"""


class Phreeqc:
    """An instance with a database of its own.

    species: of the database, besides those without reactions. Minerals and gases are all of the file that these form.
    """

    def __init__(self, data: Chemistry, species: Iterable[str], activity: str) -> None:
        from phreeqpython.viphreeqc import VIPhreeqc

        self._engine = VIPhreeqc()
        self._data = data
        self._species = [name for name, each in data.species.items() if each.reaction is None or name in set(species)]
        self._masters = [each for each in data.species.values() if each.reaction is None and each.name != "H+"]
        self._engine.load_database_string(self._database(activity))
        assert self._engine.phc_database_error_count == 0, self._engine.get_error_string()

    def water(self, solution: Mapping[str, object], phases: Mapping[str, float] | None = None) -> dict[str, float]:
        """pH, I, totals (of the elements) and ln molalities of a solution, brought into equilibrium with phases.

        solution: lines of SOLUTION, such as {"pH": "7 charge", "Ca": 1e-3}, in mol/kg. phases: saturation indices of
        minerals and log10 of pressures of gases.
        """
        elements = [_element(each) for each in self._masters]
        names = [self._written(name) for name in self._species]
        expressions = [
            '-LA("H+")',
            "MU",
            *(f'TOT("{each}")' for each in elements),
            *(f'LM("{each}")' for each in names),
        ]
        lines = [
            "KNOBS; -convergence_tolerance 1e-12",
            "SELECTED_OUTPUT 1; -reset false; -high_precision true",
            "USER_PUNCH 1",
            f"-headings {' '.join(f'c{number}' for number in range(len(expressions)))}",
            *(f"{10 * number} PUNCH {expression}" for number, expression in enumerate(expressions, 1)),
            "SOLUTION 1; units mol/kgw; temp 25",
            *(f"{name} {value}" for name, value in solution.items()),
        ]
        if phases:
            lines += ["EQUILIBRIUM_PHASES 1", *(f"{name} {index} 10" for name, index in phases.items())]
        self._engine.run_string("\n".join([*lines, "END"]))
        values = self._engine.get_selected_output_array()[-1]
        keys = ["pH", "I", *elements, *(f"log10 {name}" for name in self._species)]
        return dict(zip(keys, values, strict=True))

    def _database(self, activity: str) -> str:
        data = self._data
        master = [f"{_element(each)} {self._written(each.name)} 0.0 {_element(each)} 1.0" for each in self._masters]
        master.append("Alkalinity CO3-2 1.0 Ca0.5(CO3)0.5 50.05")
        blocks = []
        for name in self._species:
            each = data.species[name]
            formation = f"{self._written(name)} = {self._written(name)}"
            if each.reaction is not None:
                formation = f"{self._reaction(each.reaction, name)}\n    log_k {each.reaction.log_k!r}"
            blocks.append(formation)
            if activity == "debye-hueckel" and each.ion_size is not None:
                blocks.append(f"    -gamma {each.ion_size!r} {each.ion_b!r}")
        phases = ["PHASES"]
        for phase in (*data.minerals.values(), *data.gases.values()):
            if set(phase.reaction.names) <= {phase.name, "H2O", *self._species}:
                text = self._phase(phase.reaction, phase.name, _formula(phase.formula.elements))
                phases.append(f"{phase.name}\n{text}\n    log_k {phase.reaction.log_k!r}")
        return "\n".join([_HEAD, *master, _SPECIES, *blocks, *phases, "END"])

    def _reaction(self, reaction: Reaction, first: str) -> str:
        """A reaction with the species that it forms first on the right, where PHREEQC looks for it."""
        net = reaction.net()
        assert net[first] > 0
        right = [first, *(name for name, number in net.items() if number > 0 and name != first)]
        return f"{self._side(name for name in net if net[name] < 0)(net)} = {self._side(right)(net)}"

    def _side(self, names: Iterable[str]) -> Any:
        listed: Sequence[str] = list(names)
        return lambda net: " + ".join(f"{float(abs(net[name])):g} {self._written(name)}" for name in listed)

    def _phase(self, reaction: Reaction, name: str, formula: str) -> str:
        net = reaction.net()
        assert net[name] == -1
        return f"{formula} = {self._side(other for other in net if other != name)(net)}"

    @staticmethod
    def _written(name: str) -> str:
        return re.sub(r"\((aq|g)\)$", "", name)


def _element(species: Species) -> str:
    """The element of which a species without a reaction is the master species."""
    (element,) = (name for name in species.formula.elements if name not in ("H", "O"))
    return element


def _formula(elements: Mapping[str, Fraction]) -> str:
    return "".join(f"{name}{float(atoms):g}" for name, atoms in elements.items())
