"""Waves of a point force and a point moment tensor in a homogeneous full space, with all near and far terms.

Axes x, y, z with z down; with x = north and y = east they are those of Aki & Richards (2002), Quantitative Seismology.
Their Green's tensor (eq. 4.23, 4.29) is written with the two potentials F_c = f^(-2)(t - r/c) / r, f^(-2) the second
integral of the time function:

    4 pi rho G_ip * f = delta_ip f(t - r/b) / (b^2 r) - d_i d_p (F_b - F_a)

so that a moment tensor, - M_pq d_q G_ip, and stresses take one more derivative each, all in closed form.
SI units. Time functions are those of source_functions: f(t, order). No attenuation.
"""

from dataclasses import dataclass

import numpy as np

DELTA = np.eye(3)


@dataclass(frozen=True)
class Solid:
    """A homogeneous medium: velocities of P and S waves in m/s, density in kg/m^3."""

    vp: float
    vs: float
    density: float

    @property
    def shear(self):
        """mu, Pa."""
        return self.density * self.vs**2

    @property
    def lame(self):
        """lambda, Pa."""
        return self.density * (self.vp**2 - 2 * self.vs**2)


def double_couple(strike, dip, rake, moment=1.0):
    """The moment tensor (3, 3) of slip on a fault, in N m; angles in degrees, strike clockwise from x towards y.

    M0 (slip normal + normal slip), with the vectors of Aki & Richards (2002), eq. 4.88 and 4.89.
    """
    s, d, r = np.radians([strike, dip, rake])
    normal = np.array([-np.sin(d) * np.sin(s), np.sin(d) * np.cos(s), -np.cos(d)])
    slip = np.cos(r) * np.array([np.cos(s), np.sin(s), 0])
    slip = slip + np.sin(r) * np.array([np.cos(d) * np.sin(s), -np.cos(d) * np.cos(s), -np.sin(d)])
    return moment * (np.outer(slip, normal) + np.outer(normal, slip))


def _radial(f, c, r, t, n, shift):
    """((1/r) d/dr)^n of f^(shift)(t - r/c) / r."""
    terms = {(0, 1): 1.0}  # of (derivative of f, power of 1/r)
    for _ in range(n):
        step = {}
        for (m, p), a in terms.items():
            step[m + 1, p + 1] = step.get((m + 1, p + 1), 0) - a / c
            step[m, p + 2] = step.get((m, p + 2), 0) - p * a
        terms = step
    late = t - r / c
    return sum(a * f(late, m + shift) / r**p for (m, p), a in terms.items())


def _gradients(f, c, x, t, n, shift):
    """All n-th derivatives along x (receivers, 3) of f^(shift)(t - r/c) / r: (receivers, 3, ..., 3, times)."""
    r = np.linalg.norm(x, axis=1)[:, None]
    d = [_radial(f, c, r, t, k, shift) for k in range(n + 1)]
    names = "ijkl"[:n]
    out = 0.0
    for pairs in _pairings(names):
        single = [a for a in names if not any(a in pair for pair in pairs)]
        order = len(pairs) + len(single)
        what = [*pairs, *("n" + a for a in single), "nt"]
        factors = [*([DELTA] * len(pairs)), *([x] * len(single)), d[order]]
        out = out + np.einsum(",".join(what) + "->n" + names + "t", *factors)
    return out


def _pairings(names):
    """All ways to take disjoint pairs out of names."""
    if len(names) < 2:
        return [()]
    first, rest = names[0], names[1:]
    out = _pairings(rest)
    for other in rest:
        out = out + [(first + other, *more) for more in _pairings(rest.replace(other, ""))]
    return out


def _green(solid, f, x, t, n, shift):
    """n-th derivatives along x of G_ip * f^(shift): (receivers, i, p, 3, ..., 3, times)."""
    double = _gradients(f, solid.vs, x, t, n + 2, shift - 2) - _gradients(f, solid.vp, x, t, n + 2, shift - 2)
    single = _gradients(f, solid.vs, x, t, n, shift)[:, None, None] / solid.vs**2
    single = single * DELTA.reshape((1, 3, 3) + (1,) * (n + 1))
    return (single - double) / (4 * np.pi * solid.density)


def _stress(solid, gradient):
    """Of the gradient d_j u_i, (receivers, i, j, times)."""
    volume = np.einsum("niit->nt", gradient)[:, None, None] * DELTA[None, :, :, None]
    return solid.lame * volume + solid.shear * (gradient + gradient.swapaxes(1, 2))


def force_motion(solid, force, f, source, receivers, t, order=0):
    """Displacement of the force vector (3,) in N times f(t): (receivers, 3, times) in m.

    Args:
        source: (3,) in m. receivers: (n, 3) in m. t: (times,) in s. order: 1 for velocity in m/s, -1 of a force rate.
    """
    x, t = np.atleast_2d(receivers) - np.asarray(source, float), np.asarray(t, float)
    return np.einsum("nipt,p->nit", _green(solid, f, x, t, 0, order), force)


def force_stress(solid, force, f, source, receivers, t):
    """Stress of such a force, positive in tension: (receivers, 3, 3, times) in Pa."""
    x, t = np.atleast_2d(receivers) - np.asarray(source, float), np.asarray(t, float)
    return _stress(solid, np.einsum("nipjt,p->nijt", _green(solid, f, x, t, 1, 0), force))


def moment_motion(solid, tensor, f, source, receivers, t, order=0):
    """Displacement of the moment tensor (3, 3) in N m times f(t), f the moment: (receivers, 3, times) in m.

    Args:
        source: (3,) in m. receivers: (n, 3) in m. t: (times,) in s.
        order: 1 for velocity in m/s; 0 with a moment rate as f gives velocity too.
    """
    x, t = np.atleast_2d(receivers) - np.asarray(source, float), np.asarray(t, float)
    return -np.einsum("nipqt,pq->nit", _green(solid, f, x, t, 1, order), tensor)


def moment_stress(solid, tensor, f, source, receivers, t, order=0):
    """Stress of such a moment tensor, positive in tension: (receivers, 3, 3, times) in Pa (order 1: in Pa/s)."""
    x, t = np.atleast_2d(receivers) - np.asarray(source, float), np.asarray(t, float)
    return _stress(solid, -np.einsum("nipqjt,pq->nijt", _green(solid, f, x, t, 2, order), tensor))


def line_source(motion, speed, source, receivers, t, points=400):
    """The field of a line of such sources along y, whose strength is per metre, at receivers with the line's y: in 2D.

    Args:
        motion: motion(receivers, t) -> (receivers, ..., times) of the point source at `source` (3,).
        speed: vp, m/s. The time function must be 0 before t = 0, and smooth (the trapezoidal rule over y).
    """
    t, fields = np.asarray(t, float), []
    for receiver in np.atleast_2d(receivers):
        r = np.hypot(*(receiver - source)[[0, 2]])
        angle = np.linspace(0, np.arccosh(max(t.max() * speed / r, 1) + 1e-9), points)
        y = r * np.sinh(angle)
        weight = r * np.cosh(angle) * angle[1] * np.where(np.arange(points) % (points - 1) == 0, 0.5, 1.0)
        beside = np.stack([[receiver[0], receiver[1] + side * value, receiver[2]] for side in (-1, 1) for value in y])
        fields.append(np.tensordot(np.concatenate([weight, weight]), motion(beside, t), 1))
    return np.array(fields)
