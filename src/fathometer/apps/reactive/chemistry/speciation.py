"""Speciation of a water: the molalities of its primary species from as many constraints.

Unknowns are u = ln c. Constraints on activities are linear in ln a, such as ln Omega = 0 of a mineral; totals and the
balance of charges are sums of molalities, divided by the sum of their terms' magnitudes. Newton's method with the
derivatives of mass_action.py; steps are at most a factor of e², and halved until the residuals shrink. It begins at pH
7, then, where that leads nowhere, at others, and with less of everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from fathometer.apps.reactive.chemistry.activity import LN10
from fathometer.apps.reactive.chemistry.constraint_checks import ACID, check_constraints, equilibrium_of
from fathometer.apps.reactive.chemistry.constraints import (
    PH,
    ChargeBalance,
    Constraint,
    Free,
    Pressure,
    Saturation,
    Total,
    words_of,
)
from fathometer.apps.reactive.chemistry.mass_action import Solution, saturation_of, solution_of, totals_of
from fathometer.apps.reactive.chemistry.system import ChemicalSystem, Floats
from fathometer.base.errors import InputError, naming

_MOST_ITERATIONS = 200
_MOST_DILUTIONS = 12  # of what is begun with, by 10
_PATIENCE = 40  # iterations in which residuals are halved at least, or it is given up
_LONGEST_STEP = 2.0  # in u
_SETTLED = 1e-13  # residuals below which rounding is all that is left
_ENOUGH = 1e-10  # residuals that count as converged where they shrink no further
_LARGEST_GUESS = 0.1  # mol/kg; beyond some molalities activity coefficients allow no ionic strength
_DILUTIONS = (0.0, 4 * LN10)  # of what is begun with, in u
_STARTS = (7.0, 4.0, 10.0, 1.0, 13.0)  # pH


@dataclass(frozen=True)
class State:
    """Residuals (n,), their derivatives by u (n, n), and what the residuals were divided by (n,)."""

    residual: Floats
    slope: Floats
    scale: Floats


def water(system: ChemicalSystem, constraints: Mapping[str, Constraint], name: str = "water") -> Floats:
    """ln of the molalities of the primary species, (n,).

    constraints: of every primary species. name: of the water, for messages.
    Raises InputError where constraints are missing, for unknown species, minerals or gases, cannot hold or contradict
    each other, and where no water is found, with the constraint that is furthest from being kept.
    """
    with naming(name):
        check_constraints(system, constraints)
        chosen = [constraints[species] for species in system.primary]
        best: tuple[float, State] | None = None
        for dilution, start in product(_DILUTIONS, _STARTS):
            u, state = _newton(system, chosen, _guess(system, chosen, start) - dilution)
            worst = float(np.max(np.abs(state.residual)))
            if worst <= _ENOUGH:
                return u
            if best is None or worst < best[0] or np.isnan(best[0]):
                best = worst, state
        assert best is not None
        raise _failure(system, chosen, best[1])


def _newton(system: ChemicalSystem, chosen: list[Constraint], u: Floats) -> tuple[Floats, State]:
    """Where Newton's method ends, converged or not."""
    state = residuals_at(system, chosen, u)
    for _ in range(_MOST_DILUTIONS):
        if np.all(np.isfinite(state.residual)):
            break
        u = u - LN10  # complexes of these molalities would be more ions than activity coefficients allow
        state = residuals_at(system, chosen, u)
    sizes: list[float] = []
    for _ in range(_MOST_ITERATIONS):
        size = float(np.max(np.abs(state.residual)))
        sizes.append(size)
        if len(sizes) > _PATIENCE and size > 0.5 * sizes[-_PATIENCE]:
            break
        if size <= _SETTLED or not np.all(np.isfinite(state.slope)):
            break
        step = -np.linalg.lstsq(state.slope, state.residual, rcond=None)[0]
        step *= min(1.0, _LONGEST_STEP / max(float(np.max(np.abs(step))), 1e-300))
        before = float(np.linalg.norm(state.residual))
        for _ in range(12):
            # With the scales of before: these change with u, and could shrink or grow residuals by themselves.
            new = residuals_at(system, chosen, u + step)
            after = float(np.linalg.norm(new.residual * new.scale / state.scale))
            if after < before:
                break
            step = step / 2
        else:
            break
        u, state = u + step, new
    return u, state


def residuals_at(system: ChemicalSystem, chosen: list[Constraint], u: Floats) -> State:
    """The residuals at u; NaN where there is no water."""
    solution = solution_of(system, u)
    totals, totals_slope = totals_of(system, solution)
    c = np.exp(np.minimum(solution.ln_molality, 700.0))
    residual, scale = np.empty(len(u)), np.ones(len(u))
    slope = np.zeros((len(u), len(u)))
    for j, constraint in enumerate(chosen):
        match constraint:
            case Total(molality):
                scale[j] = c[j] + np.abs(system.stoichiometry[:, j]) @ c[len(u) :] + abs(molality)
                residual[j], slope[j] = totals[j] - molality, totals_slope[j]
            case ChargeBalance():
                charges = system.charge * c
                scale[j] = np.abs(charges).sum()
                residual[j], slope[j] = charges.sum(), charges @ solution.molality_slope
            case Free(molality):
                residual[j] = u[j] - np.log(molality)
                slope[j, j] = 1.0
            case PH(value):
                residual[j] = solution.ln_activity[j] + LN10 * value
                slope[j] = solution.activity_slope[j]
            case _:
                residual[j], slope[j] = _saturation(system, constraint, solution)
    return State(residual / scale, slope / scale[:, np.newaxis], scale)


def _saturation(system: ChemicalSystem, constraint: Saturation | Pressure, solution: Solution) -> tuple[float, Floats]:
    """ln Omega less its index, or ln p less that of the gas, and the derivatives."""
    row, log_k, wanted = equilibrium_of(system, constraint)
    value, slope = saturation_of(row[np.newaxis], np.array([log_k]), solution)
    return value[0] - LN10 * wanted, slope[0]


def _guess(system: ChemicalSystem, chosen: list[Constraint], acidity: float) -> Floats:
    """Molalities to begin with: what is said of a species; where that tells nothing, as of the total of H+, 10 to the
    power of -acidity, and 1e-3 of others whose molality nothing is said of."""
    u = np.full(len(chosen), np.log(1e-3))
    for j, constraint in enumerate(chosen):
        if isinstance(constraint, Free):
            u[j] = np.log(constraint.molality)
        elif isinstance(constraint, PH):
            u[j] = -LN10 * constraint.value
        elif system.primary[j] == ACID or (isinstance(constraint, Total) and constraint.molality <= 0):
            u[j] = -LN10 * acidity
        elif isinstance(constraint, Total):
            u[j] = np.log(min(constraint.molality, _LARGEST_GUESS))
    return u


def _failure(system: ChemicalSystem, chosen: list[Constraint], state: State) -> InputError:
    """The error of constraints that no water was found for; state: where the residuals were least."""
    size = np.abs(state.residual)
    if not np.all(np.isfinite(size)):
        return InputError(
            f"found no water that keeps the constraints: with activity {system.activity} there is none of that strength"
        )
    missed = [j for j in np.argsort(-size) if size[j] > _ENOUGH]
    found = ", ".join(f"{system.primary[j]} ({words_of(chosen[j])}) by {size[j]:.2g}" for j in missed)
    return InputError(f"found no water that keeps the constraints; missed are {found} where {_ENOUGH:g} is allowed")
