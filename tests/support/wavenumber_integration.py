"""Seismograms of a point or line source in a stack of homogeneous layers, by integration over horizontal wavenumbers.

The waves of single wavenumbers are those of layered_kernels. Frequencies have a negative imaginary part, undone in
time, against wrap-around (Bouchon 1981, Bull. Seism. Soc. Am. 71). So the integrand is smooth, and Gauss points as
dense as all waves in the period ask for do, up to a smooth taper. (Equal steps in k, as Bouchon's, err at k = 0 of a
point source: rings of sources focus on the axis.) Azimuths are done with Bessel functions: the field of a plane of
waves at angle s to the receiver's azimuth has powers of cos s and sin s, and

    (1/2pi) int cos^n s exp(i x cos s) ds = (-i)^n J0^(n)(x).

Attenuation: the complex velocities of attenuated_plane_wave, or others that are passed.
SI units, z down; time functions are those of source_functions (their spectra are used). vs = 0: a fluid.
"""

from functools import partial

import numpy as np
from attenuated_plane_wave import complex_velocity
from layered_kernels import cut_at, kernels
from scipy.special import erfc, j0, j1

DAMPING = 11.0  # e-foldings over the period: 2e-5 of what comes later; roundoff grows as much
GL = 16  # Gauss points in a panel of wavenumbers


def _bessel(x):
    """(1/2pi) int cos^n s exp(i x cos s) ds for n = 0 to 3: (4, *x.shape)."""
    small = x < 1e-3
    with np.errstate(divide="ignore", invalid="ignore"):
        second = np.where(small, 3 * x * x / 16 - 0.5, j1(x) / x - j0(x))
        third = np.where(small, 3 * x / 8, j1(x) + (j0(x) - 2 * j1(x) / x) / x)
    return np.array([j0(x) + 0j, 1j * j1(x), -second, 1j * third])


def _point(psv, sh, q, moment, force):
    """Radial, transverse, vertical and pressure sums over wavenumbers; sources in axes radial, transverse, vertical."""
    q0, q1, q2, q3 = q
    (a, b, c, d, e), (s12, s23, s2) = psv[:, 0].T, sh.T
    m, f, across = moment, force, q1 - q3
    radial = a @ (m[0, 0] * q3 + m[1, 1] * across) + b @ q2 * m[0, 2] + c @ q1 * m[2, 2] + d @ q2 * f[0] + e @ q1 * f[2]
    radial += s12 @ across * (m[0, 0] - m[1, 1]) + s23 @ (q0 - q2) * m[0, 2] + s2 @ (q0 - q2) * f[0]
    side = a @ across * 2 * m[0, 1] + b @ (q0 - q2) * m[1, 2] + d @ (q0 - q2) * f[1]
    side += s12 @ (q3 - across) * m[0, 1] + s23 @ q2 * m[1, 2] + s2 @ q2 * f[1]
    even = [m[0, 0] * q2 + m[1, 1] * (q0 - q2), q1 * m[0, 2], q0 * m[2, 2], q1 * f[0], q0 * f[2]]
    return radial, side, *(np.einsum("ks,sk->", psv[:, row], np.array(even)) for row in (1, 2))


def seismograms(
    layers,
    source,
    receivers,
    t,
    f,
    highest,
    *,
    moment=None,
    force=None,
    order=1,
    free_surface=True,
    reference=1.0,
    line=False,
    period=None,
    law=None,
    slowest=None,
    pressure=False,
):
    """Motion by a moment tensor (3, 3) in N m and a force (3,) in N, both times f(t): (receivers, 3, times).

    Args:
        layers: from the top; without a free surface the first one goes on upwards. source: (3,), receivers: (n, 3), m.
        t: s, from 0 to at most 0.9 period. f: its spectrum is used up to the frequency `highest` in Hz.
        order: 0 displacement in m, 1 velocity in m/s. reference: frequency in Hz at which the velocities hold.
        line: in two dimensions: sources along y, per metre; x and z components, y is 0.
        period: s, of the calculation; 1.2 times the last time if None.
        law: law(velocity, quality, omega) -> complex velocity instead of that of constant Q.
        slowest: horizontal velocity, m/s, of the slowest waves to keep; 0.8 of the slowest layer's if None.
        pressure: the pressure, minus the mean stress (in two dimensions of xx and zz), in Pa instead: (receivers,
            times); `order` 1 is its rate.

    Within 1e-4 of full-space, Lamb's and Garvin's solutions where the spectrum has died out at `highest`.
    """
    moment, force = (np.zeros(s) if v is None else np.asarray(v, float) for v, s in ((moment, (3, 3)), (force, 3)))
    ratio = 1 if line else 2 / 3
    law = law or partial(complex_velocity, reference=reference)
    cut, _, at = cut_at(layers, source[2], free_surface)
    if cut[at].vs == 0 and (np.any(force[:2]) or not np.allclose(moment, moment[2, 2] * np.eye(3))):
        raise ValueError("in a fluid only explosions and vertical forces")
    t, offset = np.asarray(t, float), np.atleast_2d(receivers) - np.asarray(source, float)
    r = abs(offset[:, 0]) if line else np.hypot(offset[:, 0], offset[:, 1])
    period = period or 1.2 * t.max()
    omega = 2 * np.pi / period * np.arange(int(np.ceil(highest * period)) + 1) - 1j * DAMPING / period
    step = 2 * np.pi / (1.1 * max(one.vp for one in layers) * period + 2 * r.max())
    slowest = slowest or 0.8 * min(one.vs or one.vp for one in layers)
    out = np.zeros((len(offset), 4, len(omega)), complex)
    for depth in np.unique(offset[:, 2]):
        here = np.flatnonzero(offset[:, 2] == depth)
        margin = 150 / max(r[here].min(), 1e-9)
        margin = min(margin, 40 / abs(depth)) if depth else margin
        k, share = _points(step, omega.real.max() / slowest + margin)
        bases = [np.exp(1j * k * offset[n, 0]) if line else _bessel(k * r[n]) for n in here]
        for w, frequency in enumerate(omega):
            middle = frequency.real / slowest + margin / 2
            count = int(np.searchsorted(k, middle + margin / 2))
            some = k[:count]
            weight = share[:count] * erfc(8 * (some - middle) / margin) / 2
            psv, sh = kernels(layers, source[2], source[2] + depth, free_surface, some, frequency, law, ratio)
            for n, basis in zip(here, bases, strict=True):
                out[n, :, w] = (_on_line if line else _at_azimuth)(
                    psv, sh, basis[..., :count], some, weight, offset[n], moment, force
                )
    out *= f.spectrum(omega) * (1j * omega) ** order * np.where(omega.real == 0, 1, 2) / period
    out = out[:, 3] if pressure else out[:, :3]
    return (out @ np.exp(1j * omega[:, None] * t)).real


def _points(step, last):
    """Gauss points up to `last` and weights, on the whole 2/3 `step` apart."""
    x, w = np.polynomial.legendre.leggauss(GL)
    width = GL * step * 2 / 3
    starts = width * np.arange(int(last / width) + 1)[:, None]
    return (starts + width * (x + 1) / 2).ravel(), np.tile(w * width / 2, len(starts))


def _at_azimuth(psv, sh, q, k, weight, offset, moment, force):
    """x, y, z, pressure at a receiver of a point source."""
    r = np.hypot(offset[0], offset[1])
    c, s = (offset[0] / r, offset[1] / r) if r else (1.0, 0.0)
    turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])
    weight = weight * k / (2 * np.pi)
    *moved, pressure = _point(psv, sh, q * weight, turn @ moment @ turn.T, turn @ force)
    return np.append(turn.T @ np.array(moved), pressure)


def _on_line(psv, sh, wave, k, weight, offset, moment, force):
    """x, y = 0, z, pressure at a receiver of a line source; wavenumbers -k by symmetry."""
    strength = np.array([moment[0, 0], moment[0, 2], moment[2, 2], force[0], force[2]])
    mirror = np.array([-1, 1, -1, 1, -1])  # of u1 when k turns its sign; the others have the opposite one
    weight = weight / (2 * np.pi)
    u1, u3, pressure = (
        (psv[:, row] @ strength * wave + sign * (psv[:, row] @ (mirror * strength)) / wave) @ weight
        for row, sign in ((0, 1), (1, -1), (2, -1))
    )
    return u1, 0, u3, pressure
