"""Reactive flow written down plainly, in extended precision, to compare the kernels with.

Everything takes complex numbers as well, so that derivatives follow from one evaluation: d f / d x = Im f(x + i h) / h,
without a difference and its rounding (Squire & Trapp 1998, SIAM Review 40).
"""

from dataclasses import dataclass, field

import numpy as np

LN10 = np.log(np.longdouble(10))
TINY = np.longdouble(1e-40)  # the step of a derivative


def real(value):
    return np.real(np.asarray(value)).astype(np.longdouble)


@dataclass(frozen=True)
class PlainChemistry:
    """The arrays of a ChemicalSystem, with natural logarithms. A cell at a time."""

    stoichiometry: np.ndarray
    ln_k: np.ndarray
    charge: np.ndarray
    ion_size: np.ndarray
    ion_b: np.ndarray
    mineral_stoichiometry: np.ndarray
    mineral_ln_k: np.ndarray
    rate_constant: np.ndarray
    specific_area: np.ndarray
    nucleation_area: np.ndarray
    model: str
    a: float
    b: float

    def ln_gamma(self, strength):
        """Of all species."""
        root, values = np.sqrt(strength), []
        for z, size, b in zip(self.charge, self.ion_size, self.ion_b, strict=True):
            if self.model == "ideal":
                log = 0 * root
            elif z == 0:
                log = b * strength
            elif self.model == "davies":
                log = -self.a * z**2 * (root / (1 + root) - np.longdouble(0.3) * strength)
            else:
                log = -self.a * z**2 * root / (1 + np.longdouble(self.b) * size * root) + b * strength
            values.append(LN10 * log)
        return np.array(values)

    def molalities(self, ln_c, strength):
        """Of all species, by the law of mass action at a given ionic strength."""
        n, ln_gamma = len(ln_c), self.ln_gamma(strength)
        ln_secondary = [
            ln_k + sum(nu * (u + g) for nu, u, g in zip(row, ln_c, ln_gamma[:n], strict=True)) - ln_gamma[n + i]
            for i, (row, ln_k) in enumerate(zip(self.stoichiometry, self.ln_k, strict=True))
        ]
        return np.exp(np.array([*ln_c, *ln_secondary]))

    def strength(self, ln_c):
        """The least ionic strength that is consistent with itself: bisection, then steps with a fixed slope, which also
        give its imaginary part."""

        def excess(strength, u):
            return strength - (self.charge**2 * self.molalities(u, strength)).sum() / 2

        u = real(ln_c)
        low = (self.charge[: len(u)] ** 2 * np.exp(u)).sum() / 2
        if self.model == "ideal":
            return (self.charge**2 * self.molalities(ln_c, low)).sum() / 2
        step, high = low / 8 + np.longdouble(1e-30), low
        while excess(high, u) < 0:
            low, high, step = high, high + step, step * 1.1
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle, u) < 0 else (low, middle)
        if high == 0:
            return 0 * ln_c[0]
        nearby = high * np.longdouble(1e-8)
        slope = (excess(high + nearby, u) - excess(high - nearby, u)) / (2 * nearby)
        strength = high + 0 * ln_c[0]
        for _ in range(6):
            strength = strength - excess(strength, ln_c) / slope
        return strength

    def totals(self, ln_c):
        c, n = self.molalities(ln_c, self.strength(ln_c)), len(ln_c)
        return c[:n] + np.array([sum(row[j] * c[n + i] for i, row in enumerate(self.stoichiometry)) for j in range(n)])

    def largest_terms(self, ln_c):
        """Of what is added up in the totals: what their rounding is to be compared with."""
        c, n = self.molalities(ln_c, self.strength(ln_c)), len(ln_c)
        return np.array([max([c[j], *(abs(self.stoichiometry[:, j]) * c[n:])]) for j in range(n)])

    def omega(self, ln_c):
        ln_activity = ln_c + self.ln_gamma(self.strength(ln_c))[: len(ln_c)]
        return np.array(
            [
                np.exp(sum(nu * a for nu, a in zip(row, ln_activity, strict=True)) - ln_k)
                for row, ln_k in zip(self.mineral_stoichiometry, self.mineral_ln_k, strict=True)
            ]
        )

    def rates(self, ln_c, old, dt):
        """Amounts after a step, and rates."""
        amounts, rates = [], []
        for omega, amount, k, s, s0 in zip(
            self.omega(ln_c), old, self.rate_constant, self.specific_area, self.nucleation_area, strict=True
        ):
            dt = np.longdouble(dt)
            if real(omega) < 1:
                after = amount / (1 + dt * k * s * (1 - omega))
                rate = k * s * after * (1 - omega)
            else:
                rate = k * (s * amount + s0) * (1 - omega)
                after = amount - dt * rate
            amounts.append(after)
            rates.append(rate)
        return np.array(amounts), np.array(rates)

    def derivative(self, function, ln_c):
        """d function / d ln_c: (..., n)."""
        columns = []
        for j in range(len(ln_c)):
            moved = ln_c.astype(np.clongdouble)
            moved[j] += 1j * TINY
            columns.append(np.imag(function(moved)) / TINY)
        return np.stack(columns, axis=-1)


@dataclass
class PlainFlow:
    """A block of cells and its faces, as the kernel is given them."""

    kind: np.ndarray
    low: tuple[int, int, int]
    factor: np.ndarray
    flux: list[np.ndarray]
    conductance: list[np.ndarray]
    scheme: str
    inverse_scale: np.ndarray
    balance: np.ndarray
    balanced: int
    terms: list[str] = field(default_factory=list)  # cases of the limited scheme that were met

    def kind_at(self, cell):
        if any(not 0 <= i < n for i, n in zip(cell, self.kind.shape, strict=True)):
            return 2
        return int(self.kind[cell])

    def outflow(self, totals, left, right, axis, q, g):
        """F towards larger coordinates, of the face between two cells of the ghosted block."""
        kinds = self.kind_at(left), self.kind_at(right)
        if 2 in kinds:
            return q * totals[left if kinds[1] == 2 else right]
        diffusive = -g * (totals[right] - totals[left])
        here, there = (left, right) if q >= 0 else (right, left)
        value = totals[here]
        if kinds == (0, 0) and self.scheme == "central":
            value = (totals[left] + totals[right]) / 2
        elif kinds == (0, 0) and self.scheme == "limited":
            behind = list(here)
            behind[axis] += -1 if q >= 0 else 1
            behind = tuple(behind)
            if self.kind_at(behind) < 2:
                distance = 1 if self.kind_at(behind) == 0 else np.longdouble(0.5)
                upwards = (totals[here] - totals[behind]) / distance
                downwards = totals[there] - totals[here]
                r = upwards / np.where(real(downwards) == 0, 1, downwards)
                size = np.where(real(r) < 0, -r, r)
                limited = np.where(real(downwards) == 0, 0, (r + size) / (1 + size))
                self.terms += ["limited" if x else "upwind" for x in (real(limited) > 0).ravel()]
                added = limited / 2 * downwards
                if self.balanced >= 0:
                    factors = self.balance.reshape(-1, *[1] * (added.ndim - 1))
                    added[self.balanced] = (factors * added).sum(axis=0)
                value = value + added
            else:
                self.terms.append("nothing behind")
        return q * value + diffusive

    def residual(self, totals, old, reaction):
        """totals: ghosted; the others: owned. Axes after the first three take part element by element, if the fourth,
        the components, is theirs too."""
        result = np.zeros(old.shape, np.result_type(totals.dtype, np.longdouble))
        scale = self.inverse_scale.reshape(-1, *[1] * (totals.ndim - 4))
        for place in np.ndindex(*old.shape[:3]):
            cell = tuple(i + n for i, n in zip(place, self.low, strict=True))
            out = 0
            for axis in range(3):
                for side in (0, 1):
                    neighbour, face = list(cell), list(place)
                    neighbour[axis] += 1 if side else -1
                    face[axis] += side
                    pair = (cell, tuple(neighbour)) if side else (tuple(neighbour), cell)
                    q, g = (np.longdouble(x[axis][tuple(face)]) for x in (self.flux, self.conductance))
                    out = out + (1 if side else -1) * self.outflow(totals, *pair, axis, q, g)
            change = totals[cell] - old[place] + self.factor[place] * out - reaction[place]
            result[place] = change * scale
        return result
