"""Conjugate gradients for A x = b with a preconditioner M: three arrangements of the same recursion.

    pcg                 two reductions an iteration (Hestenes & Stiefel 1952, J. Res. NBS 49)
    chronopoulos-gear   one (Chronopoulos & Gear 1989, J. Comput. Appl. Math. 25; D'Azevedo, Eijkhout & Romine 1993,
                        LAPACK Working Note 56)
    pipelined           one, which is under way while M and A are applied (Ghysels & Vanroose 2014, Parallel Comput. 40)

With u = M r: gamma = (r, u), delta = (A u, u), beta = gamma / gamma_old, and (p, A p) = delta - beta gamma / alpha_old.

The pipelined one has recursions for w = A u, s = A p, q = M s and z = A q too, and rounding errors grow in them; every
so many iterations all are computed from x, p and their definitions (residual replacement; Cools et al. 2018, SIAM J.
Matrix Anal. Appl. 39).

Each function starts from x, b as loaded and returns the iterations taken and (r, r) of the recursion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from fathometer.apps.ocean.barotropic.system import PS, RU_RR, RU_WU_RR, M, N, P, Q, R, S, System, U, W, Z


@dataclass(frozen=True)
class Stop:
    """When to stop: (r, r) at most `target`, looked at every `check_every` iterations; or after exactly `iterations`.

    most: iterations. replace_every: iterations of the pipelined solver between replacements of the residual.
    """

    target: float
    iterations: int | None
    check_every: int
    most: int
    replace_every: int

    def now(self, iteration: int, rr: float) -> bool:
        """Whether to stop after so many iterations."""
        if not rr > 0:  # solved exactly, or NaN
            return True
        if self.iterations is not None:
            return iteration >= self.iterations
        return iteration >= self.most or (iteration % self.check_every == 0 and rr <= self.target)


def pcg(system: System, stop: Stop) -> tuple[int, float]:
    """Two reductions an iteration."""
    kernels = system.kernels
    system.residual()
    kernels.precondition(R, U)
    gamma, rr = system.fresh(RU_RR)
    beta, known = 0.0, False
    iteration = 0
    while not stop.now(iteration, rr):
        kernels.pcg_direction(beta)
        system.exchange(P)
        if known:
            kernels.apply(P, S, PS)
            (product,) = system.reduce(PS)
        else:
            kernels.apply(P, S, 0)
            (product,) = system.fresh(PS)
            known = True
        if not (gamma > 0 and product > 0):
            return iteration, _at_breakdown(rr, gamma, product)
        kernels.pcg_update(gamma / product)
        before = gamma
        gamma, rr = system.reduce(RU_RR)
        beta = gamma / before
        iteration += 1
    return iteration, rr


def chronopoulos_gear(system: System, stop: Stop) -> tuple[int, float]:
    """One reduction an iteration."""
    kernels = system.kernels
    system.residual()
    kernels.precondition(R, U)
    system.multiply(U, W)
    gamma, delta, rr = system.fresh(RU_WU_RR)
    beta, product = 0.0, delta
    iteration = 0
    while not stop.now(iteration, rr):
        if not (gamma > 0 and product > 0):
            return iteration, _at_breakdown(rr, gamma, product)
        alpha = gamma / product
        kernels.gear_update(alpha, beta)
        system.exchange(U)
        kernels.apply(U, W, RU_WU_RR)
        before = gamma
        gamma, delta, rr = system.reduce(RU_WU_RR)
        beta = gamma / before
        product = delta - beta * gamma / alpha
        iteration += 1
    return iteration, rr


def pipelined(system: System, stop: Stop) -> tuple[int, float]:
    """One reduction an iteration, behind the preconditioner and the operator; begun anew from x at a breakdown, to
    which rounding errors in the recursions can lead."""
    iteration = 0
    while True:
        begun = iteration
        iteration, rr, broken = _pipelined(system, stop, iteration)
        if not broken or iteration == begun or math.isnan(rr):
            return iteration, rr


def _pipelined(system: System, stop: Stop, iteration: int) -> tuple[int, float, bool]:
    """From x on: also whether it broke down."""
    kernels = system.kernels
    system.residual()
    kernels.precondition(R, U)
    system.multiply(U, W)
    gamma, delta, rr = system.fresh(RU_WU_RR)
    alpha, beta, product = 0.0, 0.0, delta
    under_way = False
    while True:
        kernels.precondition(W, M)
        if under_way:
            system.progress()
        system.exchange(M)
        kernels.apply(M, N, 0)
        if under_way:
            before = gamma
            gamma, delta, rr = system.end_reduce(RU_WU_RR)
            beta = gamma / before
            product = delta - beta * gamma / alpha
        if stop.now(iteration, rr):
            return iteration, rr, False
        if not (gamma > 0 and product > 0):
            return iteration, _at_breakdown(rr, gamma, product), True
        alpha = gamma / product
        kernels.pipelined_update(alpha, beta)
        iteration += 1
        if iteration % stop.replace_every == 0:
            _replace(system)
        system.begin_reduce(RU_WU_RR)
        under_way = True


def _at_breakdown(rr: float, *products: float) -> float:
    """(r, r) where A or M is not positive: they are not, or all but rounding errors is gone from r; NaN after NaN."""
    return rr if all(map(math.isfinite, products)) else math.nan


def _replace(system: System) -> None:
    """Compute what the recursions have by its definition; local sums."""
    kernels = system.kernels
    system.residual()
    kernels.precondition(R, U)
    system.multiply(U, W)
    system.multiply(P, S)
    kernels.precondition(S, Q)
    system.multiply(Q, Z)
    kernels.dot(RU_WU_RR)


SOLVERS: dict[str, Callable[[System, Stop], tuple[int, float]]] = {
    "pcg": pcg,
    "chronopoulos-gear": chronopoulos_gear,
    "pipelined": pipelined,
}
