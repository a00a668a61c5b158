"""Species, totals and saturations of water from the molalities of its primary species; in NumPy, with derivatives.

Mass action with u = ln c of the primary species gives ln c of the secondary ones,

    ln c_i = ln K_i + sum_j nu_ij (u_j + ln gamma_j) - ln gamma_i,

the activity of water being 1. The ionic strength that the activity coefficients need depends on all molalities: s =
sqrt(I) solves F(s) = s² - 1/2 sum z² c(u, s) = 0 within each evaluation, and ds/du_k = (1/2 sum z² dc/du_k) / F'(s), so
that everything is a function of u alone, whose derivatives are exact. Totals are Psi_j = c_j + sum_i nu_ij c_i.

This is what waters are computed with, a few at a time; the flow's cells have the same in C++ (`native/reactive/`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.reactive.chemistry.activity import LN10, ln_gamma
from fathometer.apps.reactive.chemistry.system import ChemicalSystem

Array = npt.NDArray[Any]  # real, or complex for derivatives by a complex step
_MOST_ITERATIONS = 100  # of the ionic strength; Newton's method needs about five


@dataclass(frozen=True)
class Solution:
    """Of waters with cells (...): n primary and m secondary species, primary first.

    Attributes:
        ln_molality, ln_activity: (..., n + m). strength: (...), I in mol/kg; NaN where there is none.
        molality_slope, activity_slope: (..., n + m, n), derivatives of these by u.
    """

    ln_molality: Array
    ln_activity: Array
    strength: Array
    molality_slope: Array
    activity_slope: Array


def solution_of(system: ChemicalSystem, ln_c: Array) -> Solution:
    """ln_c: (..., n), u. Where no ionic strength fits, or numbers overflow, results are NaN or infinite."""
    u = np.asarray(ln_c)
    with np.errstate(all="ignore"):
        s = _root(system, u)
        gamma, slope = ln_gamma(system, s)
        n = len(system.primary)
        molality = _ln_molality(system, u, gamma)
        by_s = _molality_by_s(system, slope)
        weight = 0.5 * system.charge**2 * np.exp(molality)
        by_u = np.concatenate([np.eye(n), system.stoichiometry])  # at constant s
        below = 2 * s - (weight * by_s).sum(-1)
        above = weight @ by_u
        ds = np.where((weight.sum(-1) == 0)[..., np.newaxis], 0.0, above / below[..., np.newaxis])
        molality_slope = by_u + by_s[..., np.newaxis] * ds[..., np.newaxis, :]
        activity_slope = molality_slope + slope[..., np.newaxis] * ds[..., np.newaxis, :]
    return Solution(molality, molality + gamma, s * s, molality_slope, activity_slope)


def totals_of(system: ChemicalSystem, solution: Solution) -> tuple[Array, Array]:
    """Psi, (..., n), mol/kg, and dPsi_j/du_k, (..., n, n)."""
    n = len(system.primary)
    with np.errstate(over="ignore"):
        c = np.exp(solution.ln_molality)
    parts = np.concatenate([np.eye(n), system.stoichiometry])  # of each species in each total
    return c @ parts, np.einsum("...i,ij,...ik->...jk", c, parts, solution.molality_slope)


def saturation_of(stoichiometry: Array, log_k: Array, solution: Solution) -> tuple[Array, Array]:
    """ln Omega, (..., k), and its derivatives by u, (..., k, n); of gases ln p, p in atm.

    stoichiometry, log_k: `mineral_stoichiometry` and `mineral_log_k` of the system, or those of its gases.
    """
    n = stoichiometry.shape[1]
    value = solution.ln_activity[..., :n] @ stoichiometry.T - LN10 * log_k
    return value, np.einsum("kj,...jl->...kl", stoichiometry, solution.activity_slope[..., :n, :])


def _ln_molality(system: ChemicalSystem, u: Array, gamma: Array) -> Array:
    n = len(system.primary)
    formed = LN10 * system.log_k + (u + gamma[..., :n]) @ system.stoichiometry.T - gamma[..., n:]
    return np.concatenate([u, formed], axis=-1)


def _molality_by_s(system: ChemicalSystem, slope: Array) -> Array:
    """d ln c/ds at constant u."""
    n = len(system.primary)
    return np.concatenate([0 * slope[..., :n], slope[..., :n] @ system.stoichiometry.T - slope[..., n:]], axis=-1)


def _root(system: ChemicalSystem, u: Array) -> Array:
    """s by Newton's method to rounding, from the ions of the primary species; where these are none, of all species."""
    half_z2 = 0.5 * system.charge**2
    n = len(system.primary)
    s = np.sqrt(np.exp(u) @ half_z2[:n])
    formed = np.sqrt(np.exp(_ln_molality(system, u, np.zeros_like(system.charge))) @ half_z2)
    s = np.where(s == 0, np.where(formed.real < 1, formed, 1), s)
    for _ in range(_MOST_ITERATIONS):
        gamma, slope = ln_gamma(system, s)
        part = half_z2 * np.exp(_ln_molality(system, u, gamma))
        strength = part.sum(-1)
        below = 2 * s - (part * _molality_by_s(system, slope)).sum(-1)
        newton = s - (s * s - strength) / below
        # Where F falls, or the step is long, the next s is that of the present molalities, or its bound.
        new = np.where((below.real > 0) & np.isfinite(newton), newton, np.sqrt(strength))
        new = np.where(new.real > 4 * s.real + 1e-30, 4 * s, np.where(new.real < s.real / 4, s / 4, new))
        change = np.abs(new - s)
        s = new
        if not np.any(change > 1e-14 * np.abs(s)):
            return s
    return np.where(change > 1e-12 * np.abs(s), np.nan, s)
