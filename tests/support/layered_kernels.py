"""Waves of wavenumber k and frequency w in a stack of homogeneous layers, of a source in one of them.

Waves exp(i (w t + k x)) in each layer, up- and downgoing P and SV (and SH) ones with exponentials that only decay;
one linear system for all layers per wavenumber (the global matrix of Schmidt & Jensen 1985, J. Acoust. Soc. Am. 77):
displacement and traction are continuous but for the source's jumps, tractions vanish at a free surface. SI units,
z down. vs = 0: a fluid.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Layer:
    """Thickness in m (the last one's does not count), velocities in m/s, density in kg/m^3, quality factors."""

    thickness: float
    vp: float
    vs: float
    density: float
    qp: float = np.inf
    qs: float = np.inf


def cut_at(layers, depth, free_surface):
    """The layers with an interface at the source, their tops and the index of the layer below the source."""
    tops = np.concatenate([[0.0 if free_surface else -np.inf], np.cumsum([one.thickness for one in layers[:-1]])])
    n = int(np.searchsorted(tops, depth, "right")) - 1
    if n < 0:
        raise ValueError("source above the surface")
    layers = [*layers[: n + 1], *layers[n:]]
    return layers, np.concatenate([tops[: n + 1], [depth], tops[n + 1 :]]), n + 1


class Stack:
    """The system of all layers at one frequency and many wavenumbers, P-SV or SH."""

    def __init__(self, layers, tops, free_surface, k, omega, law, shear_only):
        self.tops, self.free, self.k = tops, free_surface, k.astype(complex)
        self.count, self.sh = len(layers), shear_only
        self.parts = []
        for one in layers:
            vp, vs, density = law(one.vp, one.qp, omega), law(one.vs, one.qs, omega), one.density
            square, mu, bulk = (omega / vp) ** 2, density * vs * vs, density * vp * vp
            nu = np.sqrt(k * k - square + 0j)
            if one.vs == 0:
                self.parts.append(
                    (nu, None, mu, density * vp * vp, (omega / vp) ** 2, self._fluid(nu, density * omega**2))
                )
                continue
            gamma = np.sqrt(k * k - (omega / vs) ** 2 + 0j)
            waves = self._horizontal(gamma, mu) if shear_only else self._solid(nu, gamma, mu, (omega / vs) ** 2)
            self.parts.append((nu, gamma, mu, bulk, square, waves))
        self.solid = [part[1] is not None for part in self.parts]
        self.scale = max(abs(part[2]) if part[1] is not None else abs(part[3]) for part in self.parts)

    def _solid(self, nu, gamma, mu, square):
        """Rows u1, u3, s33, s13; columns P down, SV down, P up, SV up: (wavenumbers, 4, 4)."""
        k = self.k
        ik, b = 1j * k, 2 * k * k - square
        rows = [
            [ik, gamma, ik, -gamma],
            [-nu, ik, nu, ik],
            [mu * b, -2j * mu * k * gamma, mu * b, 2j * mu * k * gamma],
            [-2j * mu * k * nu, -mu * b, 2j * mu * k * nu, -mu * b],
        ]
        return np.array(rows).transpose(2, 0, 1)

    def _fluid(self, nu, inertia):
        """The same of a fluid, whose SV columns are not used; s33 = - pressure = - density w^2 potential."""
        ik, none, s33 = 1j * self.k, 0 * nu, 0 * nu - inertia
        rows = [[ik, none, ik, none], [-nu, none, nu, none], [s33, none, s33, none], [none] * 4]
        return np.array(rows).transpose(2, 0, 1)

    def _horizontal(self, gamma, mu):
        """Rows u2, s23; columns SH down, up."""
        one = 1 + 0 * gamma
        return np.array([[one, one], [-mu * gamma, mu * gamma]]).transpose(2, 0, 1)

    def decay(self, n, distance):
        """exp(- vertical wavenumber x distance) for the columns of one direction in layer n."""
        nu, gamma = self.parts[n][:2]
        if self.sh:
            return np.exp(-gamma * distance)[:, None]
        return np.exp(-np.stack([nu, gamma if gamma is not None else nu], 1) * distance)

    def waves(self, n, z):
        """The columns of layer n at depth z: down ones start at its top, up ones at its bottom."""
        half = 1 if self.sh else 2
        out = self.parts[n][-1].copy()
        if n > 0 or self.free:
            out[:, :, :half] *= self.decay(n, z - self.tops[n])[:, None]
        else:
            out[:, :, :half] = 0
        if n < self.count - 1:
            out[:, :, half:] *= self.decay(n, self.tops[n + 1] - z)[:, None]
        else:
            out[:, :, half:] = 0
        return out

    def columns(self, n):
        """Which columns of layer n are unknowns."""
        down, up = n > 0 or self.free, n < self.count - 1
        if self.sh:
            return np.array([down, up]) & self.solid[n]
        return np.array([down, down and self.solid[n], up, up and self.solid[n]])

    def rows(self, solids):
        """Which rows hold at an interface between media that are solid or not (one: a free surface)."""
        both, some = all(solids), any(solids)
        if self.sh:
            return np.array([both and len(solids) > 1, some])
        surface = len(solids) == 1
        return np.array([both and not surface, not surface, True, some])

    def solve(self, source, jumps):
        """Amplitudes (k, layers, columns, sources) for jumps (k, rows, sources) at the top of layer `source`."""
        used = [self.columns(n) for n in range(self.count)]
        start = np.concatenate([[0], np.cumsum([part.sum() for part in used])])
        matrix = np.zeros((len(self.k), start[-1], start[-1]), complex)
        right = np.zeros((len(self.k), start[-1], jumps.shape[2]), complex)
        traction = 1 / (self.scale * abs(self.k))[:, None, None]
        weight = np.ones((len(self.k), 2 if self.sh else 4, 1), complex)
        weight[:, 1 if self.sh else 2 :] = traction
        row = 0
        for n in range(0 if self.free else 1, self.count):
            solids = [self.solid[n]] if n == 0 else [self.solid[n - 1], self.solid[n]]
            keep = self.rows(solids)
            if not keep.any():
                continue
            held = slice(row, row + int(keep.sum()))
            for m, sign in ((n - 1, -1), (n, 1)):
                if m >= 0 and used[m].any():
                    block = sign * weight * self.waves(m, self.tops[n])
                    matrix[:, held, start[m] : start[m + 1]] = block[:, keep][:, :, used[m]]
            if n == source:
                right[:, held] = (weight * jumps)[:, keep]
            row = held.stop
        size = np.abs(matrix).max(1)
        found = np.linalg.solve(matrix / size[:, None], right) / size[:, :, None]
        out = np.zeros((len(self.k), self.count, len(used[0]), jumps.shape[2]), complex)
        for n in range(self.count):
            out[:, n, used[n]] = found[:, start[n] : start[n + 1]]
        return out


def _jumps(stack, source):
    """Of the rows of P-SV at the source for unit m11, m13, m33, f1, f3, or of SH for m12, m23, f2."""
    _, gamma, mu, bulk, _, _ = stack.parts[source]
    ik, none, one = 1j * stack.k, 0 * stack.k, 1 + 0 * stack.k
    if stack.sh:
        rows = [[none, one / mu, none], [ik, none, -one]]
    else:
        u1 = [none, one / mu if gamma is not None else none, none, none, none]
        u3 = [none, none, one / bulk, none, none]
        s13 = [ik, none, -ik * (1 - 2 * mu / bulk), -one, none]
        rows = [u1, u3, [none, none, none, none, -one], s13]
    return np.array(rows).transpose(2, 0, 1)


def kernels(layers, depth, below, free_surface, k, omega, law, ratio=2 / 3):
    """u1, u3, pressure (wavenumbers, 3, 5) of the P-SV sources and u2 (wavenumbers, 3) of the SH ones at a depth.

    Args:
        depth: of the source (m11, m13, m33, f1, f3; m12, m23, f2), below: of the receivers, m. k: real, not 0, 1/m.
        omega: one complex frequency, 1/s. law: law(velocity, quality, omega) -> complex velocity.
        ratio: bulk modulus for the pressure, lambda + ratio mu: 2/3, in two dimensions 1.
    """
    cut, tops, source = cut_at(layers, depth, free_surface)
    n = max(int(np.searchsorted(tops, below, "left" if below <= depth else "right")) - 1, 0)
    stack = Stack(cut, tops, free_surface, k, omega, law, False)
    found = stack.solve(source, _jumps(stack, source))
    waves = stack.waves(n, below)
    _, _, mu, bulk, square = stack.parts[n][:5]
    waves[:, 2] = waves[:, 0] / (1j * k)[:, None] * (bulk - (2 - ratio) * mu) * square  # -K div u: of P potentials
    waves[:, 2, 1::2] = 0
    psv = waves[:, :3] @ found[:, n]
    stack = Stack(cut, tops, free_surface, k, omega, law, True)
    if not stack.solid[source] or not stack.solid[n]:
        return psv, np.zeros((len(k), 3))
    found = stack.solve(source, _jumps(stack, source))
    return psv, (stack.waves(n, below)[:, :1] @ found[:, n])[:, 0]
