"""Lamb's problem: forces on the surface of a homogeneous half space, receivers on the surface, any Poisson ratio.

With a = 1/vp, b = 1/vs, e_c = sqrt(p^2 + 1/c^2), B = 2 p^2 + b^2 and R = B^2 - 4 p^2 e_a e_b the Laplace transform of
the surface's displacement is an integral over the horizontal slowness p, e.g. vertical for a vertical force F

    u(s) = F s / (2 pi mu) int_0^inf p g(p) J0(s p r) dp,    g = b^2 e_a / R.

Turned to p = i q (Cagniard and de Hoop; Aki & Richards 2002, chapter 6; Lamb 1904) it is one over q of Im g(i q), with
the Rayleigh pole as a principal value (and its residue where g is real beyond b), times functions of time in closed
form. In two dimensions (line forces) these are f(t - q x). `lamb_step` is the closed form of Kausel (2012), Proc. R.
Soc. A 469, of the vertical displacement alone, `garvin` a line of explosions below the surface (Garvin 1956).

SI units, z down. Time functions are those of source_functions and vanish before t = 0.
"""

import numpy as np
from scipy.optimize import brentq

GL = 60  # Gauss points in a panel


def rayleigh_slowness(solid):
    """1 / (velocity of Rayleigh waves), s/m."""
    a, b = 1 / solid.vp, 1 / solid.vs

    def wave(q):
        return (2 * q * q - b * b) ** 2 - 4 * q * q * np.sqrt(q * q - a * a) * np.sqrt(q * q - b * b)

    return brentq(wave, b, 1.2 * b, xtol=1e-16 * b, rtol=1e-14)


def _kernels(solid, q):
    """At p = i q + 0: g of zz, xx in the plane of P and SV, transverse, and p times that of x for a vertical force."""
    a, b, p = 1 / solid.vp, 1 / solid.vs, 1j * q
    ea, eb = (np.where(q > c, 1j, 1) * np.sqrt(abs(q * q - c * c)) for c in (a, b))
    big = 2 * p * p + b * b
    rayleigh = big**2 - 4 * p * p * ea * eb
    return np.array([b * b * ea / rayleigh, b * b * eb / rayleigh, 1 / eb, (big - 2 * ea * eb) / rayleigh])


def _panels(low, high, count):
    """Gauss points and weights on `count` equal panels."""
    x, w = np.polynomial.legendre.leggauss(GL)
    edges = np.linspace(low, high, count + 1)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (x + 1)).ravel(), (half * w).ravel()


def _quadrature(solid, last, panels):
    """Slownesses up to `last`, and Im g at them times weights: (points,), (4, points); the last point is Rayleigh's."""
    a, b, pole = 1 / solid.vp, 1 / solid.vs, rayleigh_slowness(solid)
    s, w = _panels(0, np.pi / 2, max(panels // 4, 1))
    q, weight = [a + (b - a) * np.sin(s) ** 2], [w * (b - a) * np.sin(2 * s)]  # square roots at both ends
    s, w = _panels(0, 1, max(panels // 8, 1))
    for sign in (-1, 1):  # a principal value: points opposite each other
        q.append(pole + sign * (pole - b) * (1 - (1 - s) ** 2))
        weight.append(w * (pole - b) * 2 * (1 - s))
    s, w = _panels(0, np.log(max((last - pole) / (pole - b), 1.0001)), panels)
    q.append(pole + (pole - b) * np.exp(s))
    weight.append(w * (pole - b) * np.exp(s))
    q = np.concatenate(q)
    values = _kernels(solid, q).imag * np.concatenate(weight)
    values[3, q > b] = 0  # real but for the pole
    h = 1e-4 * (pole - b)
    near = _kernels(solid, pole + h * np.array([-2, -1, 1, 2]))[3].real * h * np.array([-2, -1, 1, 2])
    residue = (4 * (near[1] + near[2]) - (near[0] + near[3])) / 6  # of an even function of h, order 4
    return np.append(q, pole), np.column_stack([values, [0, 0, 0, np.pi * residue]])


def lamb(solid, f, distance, t, order=0, panels=8, points=400):
    """Displacement by a point force f(t) in N, order 1: velocity; distance in m, times in s: (4, times) in m or m/s.

    The four: vertical of a vertical force, radial of a vertical force (positive outwards, the force down), radial of a
    force along the radius, transverse of one across it. By reciprocity the vertical of a radial force is minus the
    second. Of a function of width w, `points` (of the convolution) > 2 t / w and 25 `panels` > t / w do.
    """
    t = np.asarray(t, float)
    q, weight = _quadrature(solid, t.max() / distance, panels)
    out = np.zeros((4, len(t)))
    for slowness, (zz, xx, tt, xz) in zip(q, weight.T, strict=True):
        x = slowness * distance
        if x >= t.max():
            continue
        y = np.linspace(0, np.sqrt(t.max() - x), points)  # the delay is x cosh(angle) = x + y^2
        dy = y[1] * np.where(y == 0, 0.5, 1.0)
        rate, delay = f(t[:, None] - x - y * y, 1 + order), x + y * y
        k0 = rate @ (2 / np.sqrt(2 * x + y * y) * dy)
        k1 = rate @ (2 / np.sqrt(2 * x + y * y) * delay / x * dy)
        k1_x = rate @ (2 * y * y * np.sqrt(2 * x + y * y) / x**2 * dy)
        out[0] -= slowness * zz * k0
        out[1] -= slowness**2 * xz * k1
        out[2] -= slowness * (xx * (k0 + k1_x) - tt * k1_x)
        out[3] -= slowness * (tt * (k0 + k1_x) - xx * k1_x)
    return out / (np.pi**2 * solid.shear)


def lamb_line(solid, f, distance, t, order=0, panels=8):
    """The same in two dimensions by a line force f(t) in N/m, P and SV waves: vertical of a vertical force, along x of
    a vertical one (positive away from it, the force down), along x of a force along x: (3, times)."""
    t = np.asarray(t, float)
    q, weight = _quadrature(solid, t.max() / distance, panels)
    moved = f(t[:, None] - q * distance, order)
    zz, xx, _, xz = weight
    return -np.array([moved @ zz, moved @ (q * xz), moved @ xx]) / (np.pi * solid.shear)


def lamb_step(solid, distance, t):
    """Vertical displacement by a force of 1 N down that sets in at t = 0 and stays: (times,) in m, infinite at the
    Rayleigh wave. Kausel (2012): mu r u is a sum over the roots of the Rayleigh polynomial."""
    ratio = (solid.vs / solid.vp) ** 2
    roots = np.roots([16 * (1 - ratio), -8 * (3 - 2 * ratio), 8, -1]).astype(complex)  # of x = (slowness vs)^2
    first = np.argmax(np.where(abs(roots.imag) < 1e-9, roots.real, 0))
    x, now = np.roll(roots, -first), np.asarray(t, float) * solid.vs / distance
    between = np.array([(x[j] - x[j - 1]) * (x[j] - x[j - 2]) for j in range(3)])
    amplitude = (x - 0.5) ** 2 * np.sqrt(ratio - x + 0j) / between
    with np.errstate(divide="ignore", invalid="ignore"):
        every = sum(amplitude[j] / np.sqrt(now**2 - x[j] + 0j) for j in range(3)).real
        last = (amplitude[0] / np.sqrt(now**2 - x[0] + 0j)).real
    out = np.select([now < np.sqrt(ratio), now < 1, now < np.sqrt(x[0].real)], [0 * now, (1 - every) / 2, 1 - last], 1)
    poisson = solid.lame / (2 * (solid.lame + solid.shear))
    return out * (1 - poisson) / (2 * np.pi * solid.shear * distance)


def garvin(solid, f, depth, offset, t, order=0, points=4000):
    """Displacement of the surface in two dimensions by a line of explosions f(t) in N m / m: (2, times), x and z, in m.

    The line lies `depth` m deep, the receiver `offset` m from above it along x.
    """
    a, b, t = 1 / solid.vp, 1 / solid.vs, np.asarray(t, float)
    r2 = offset**2 + depth**2
    start = a * np.sqrt(r2)
    y = np.linspace(0, np.sqrt(max(t.max() - start, 1e-9)), points)[1:]
    y, dy = y - y[0] / 2, y[0]  # the delay is start + y^2
    delay = start + y * y
    root = y * np.sqrt(2 * start + y * y)
    p, slope = (1j * offset * delay + depth * root) / r2, (1j * offset + depth * delay / root) / r2
    ea, eb, big = np.sqrt(p * p + a * a), np.sqrt(p * p + b * b), 2 * p * p + b * b
    rayleigh = big**2 - 4 * p * p * ea * eb
    kernels = np.array([4j * p * b * b * eb, 2 * b * b * big]) / rayleigh * slope
    weight = 2 * kernels.real * 2 * y * dy / (4 * np.pi * solid.density * solid.vp**2)
    return -(weight @ f(t - delay[:, None], 1 + order))
