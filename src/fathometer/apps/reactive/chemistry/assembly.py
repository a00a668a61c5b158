"""The system of chosen species: reactions of the chemistry file in terms of the flow's own primary species."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fathometer.apps.reactive.chemistry.activity import MODELS
from fathometer.apps.reactive.chemistry.basis import Equation, Formation, basis_of
from fathometer.apps.reactive.chemistry.data_file import Chemistry, Mineral, Species
from fathometer.apps.reactive.chemistry.reaction import Reaction
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats
from fathometer.base.errors import InputError, naming, shortened
from fathometer.base.meant import did_you_mean, nearest


@dataclass(frozen=True)
class Surface:
    """The surface at which a mineral reacts.

    Attributes:
        specific_area: m²/mol. nucleation_area: m² for each m³ of bulk, where the mineral may begin to grow.
        rate_constant: mol/(m² s) in place of the chemistry file's; None: that one.
    """

    specific_area: float
    nucleation_area: float = 0.0
    rate_constant: float | None = None


def system_of(
    data: Chemistry,
    primary: Sequence[str],
    minerals: Sequence[str] = (),
    gases: Sequence[str] = (),
    activity: str = "davies",
    secondary: Sequence[str] | None = None,
    surfaces: Mapping[str, Surface] | None = None,
) -> ChemicalSystem:
    """The arrays of a system.

    Args:
        primary: species whose molalities are the unknowns; any between which there is no equilibrium.
        minerals, gases: whose saturation is asked for.
        activity: one of `MODELS`.
        secondary: species in equilibrium with the primary ones; None: all of the file that these can form.
        surfaces: of minerals that react at a rate; the others have rate constants and areas of 0.

    Raises InputError that names the chemistry file, the species, mineral or gas, what was found and what is allowed.
    """
    if activity not in MODELS:
        allowed = " or ".join(MODELS) + did_you_mean(activity, MODELS)
        raise InputError(f'activity: found "{shortened(activity, 40)}"; allowed: {allowed}')
    with naming(str(data.path)):
        if not primary:
            raise InputError("primary species: found none; needed: at least one")
        _check_named("primary species", primary, data.species)
        _check_named("minerals", minerals, data.minerals)
        _check_named("gases", gases, data.gases)
        basis = basis_of(primary, list(data.species), data.equations())
        if basis.dependent:
            raise InputError(
                f"primary species: found {', '.join(basis.dependent)}, between which there is an equilibrium; allowed: "
                "species of which none is formed of the others"
            )
        formed = basis.formations
        if secondary is None:
            secondary = [name for name in data.species if name in formed and name not in primary]
        else:
            _check_named("secondary species", secondary, data.species)
            _check_formed(secondary, primary, formed)
        species = [data.species[name] for name in (*primary, *secondary)]
        dissolved = [_dissolution(name, data.minerals[name].reaction, primary, formed) for name in minerals]
        released = [_dissolution(name, data.gases[name].reaction, primary, formed) for name in gases]
        found = _surfaces(minerals, surfaces or {}, data.minerals)
    sizes = [_size_and_b(each, data, activity) for each in species]
    return ChemicalSystem(
        primary=tuple(primary),
        secondary=tuple(secondary),
        minerals=tuple(minerals),
        gases=tuple(gases),
        stoichiometry=_matrix([formed[name] for name in secondary], primary),
        log_k=_constants([formed[name] for name in secondary]),
        charge=_floats([each.formula.charge for each in species]),
        ion_size=_floats([size for size, _ in sizes]),
        ion_b=_floats([b for _, b in sizes]),
        mineral_stoichiometry=_matrix(dissolved, primary),
        mineral_log_k=_constants(dissolved),
        rate_constant=_floats([surface.rate_constant for surface in found]),
        specific_area=_floats([surface.specific_area for surface in found]),
        nucleation_area=_floats([surface.nucleation_area for surface in found]),
        molar_volume=_floats([data.minerals[name].molar_volume for name in minerals]),
        gas_stoichiometry=_matrix(released, primary),
        gas_log_k=_constants(released),
        activity=activity,
        a=data.a,
        b=data.b,
    )


def _check_named(what: str, names: Sequence[str], known: Mapping[str, object]) -> None:
    """Each is known, and none stands there twice."""
    for place, name in enumerate(names):
        if name not in known:
            near = nearest(name, known, 0.5)
            hint = f"did you mean {near}?" if near else f"allowed: {', '.join(known) or 'none'}"
            raise InputError(f'{what}: found "{shortened(name, 40)}"; {hint}')
        if name in names[:place]:
            raise InputError(f'{what}: found "{name}" twice; allowed: names of which each is used once')


def _check_formed(secondary: Sequence[str], primary: Sequence[str], formed: Mapping[str, Formation]) -> None:
    for name in secondary:
        if name in primary:
            raise InputError(f'secondary species: found "{name}", which is a primary one; allowed: other species')
        if name not in formed:
            raise InputError(
                f'secondary species: found "{name}", which cannot be formed of {", ".join(primary)}; allowed: '
                f"{', '.join(other for other in formed if other not in primary) or 'none'}"
            )


def _dissolution(name: str, reaction: Reaction, primary: Sequence[str], formed: Mapping[str, Formation]) -> Formation:
    """What a mole of a mineral or gas dissolves into: log_k = sum of `terms` times log10 a in equilibrium, the gas's
    partial pressure beside it."""
    equation = Equation.of(reaction)
    equation = equation.scaled(-1 / equation.terms[name])
    terms = dict.fromkeys(primary, Fraction(0))
    log_k = equation.log_k
    for species, number in equation.terms.items():
        if species == name:
            continue
        if species not in formed:
            raise InputError(
                f'{name}: its reaction "{shortened(reaction.text, 100)}" has {species}, which cannot be formed of the '
                f"primary species {', '.join(primary)}"
            )
        log_k -= number * formed[species].log_k
        for other, part in formed[species].terms.items():
            terms[other] += number * part
    return Formation(terms, log_k)


def _surfaces(minerals: Sequence[str], surfaces: Mapping[str, Surface], known: Mapping[str, Mineral]) -> list[Surface]:
    """Of each mineral, with its rate constant; of minerals without one, 0."""
    for name, surface in surfaces.items():
        if name not in minerals:
            allowed = ", ".join(minerals) + did_you_mean(name, minerals)
            raise InputError(f'minerals: found a surface of "{shortened(name, 40)}"; allowed: {allowed}')
        if surface.rate_constant is None and known[name].rate_constant is None:
            raise InputError(
                f"{name}: found no rate_constant for a mineral that is to react at a rate; needed: its rate_constant "
                "and rate_source, mol/(m² s)"
            )
        areas = surface.specific_area, surface.nucleation_area
        if not all(0 <= area < np.inf for area in areas):
            raise InputError(f"{name}: found areas {areas[0]:g} m²/mol and {areas[1]:g} m²/m³; allowed: from 0")
        if surface.rate_constant is not None and not 0 < surface.rate_constant < np.inf:
            raise InputError(f"{name}: found rate_constant {surface.rate_constant:g}; allowed: above 0 mol/(m² s)")
    found = []
    for name in minerals:
        surface = surfaces.get(name, Surface(0.0, 0.0, 0.0))
        constant = known[name].rate_constant if surface.rate_constant is None else surface.rate_constant
        found.append(Surface(surface.specific_area, surface.nucleation_area, constant))
    return found


def _size_and_b(species: Species, data: Chemistry, activity: str) -> tuple[float, float]:
    """Size and b of the extended Debye-Hückel law. It is that of Davies, which ions without a size have, with the size
    1/B and b = 0.3 A z²."""
    if species.ion_size is None and species.formula.charge and activity == "debye-hueckel":
        return 1 / data.b, 0.3 * data.a * species.formula.charge**2
    return species.ion_size or 0.0, species.ion_b


def _matrix(rows: Sequence[Formation], primary: Sequence[str]) -> Floats:
    matrix = np.zeros((len(rows), len(primary)))
    for i, row in enumerate(rows):
        for j, name in enumerate(primary):
            matrix[i, j] = float(row.terms.get(name, Fraction(0)))
    return matrix


def _constants(rows: Sequence[Formation]) -> Floats:
    return _floats([float(row.log_k) for row in rows])


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array(values, dtype=np.float64)
