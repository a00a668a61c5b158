"""Plane waves on the staggered grid in a medium whose cells take turns with three moduli, from one eigenvalue problem.

In such a medium, of moduli that repeat with i + j + k mod 3, a wave has three wavenumbers along each axis: its own and
those 2 pi / 3 a cell further. Unknowns are a velocity of each component and wavenumber. Spacing, density: 1.
"""

import numpy as np

TURNS = np.arange(3)
FOURIER = np.exp(2j * np.pi * np.outer(TURNS, TURNS) / 3)  # [place, wavenumber]


def derivative(wavenumber, forward):
    """Of order 4, at half points (forward) or at nodes, as a diagonal matrix over the three wavenumbers."""
    theta = wavenumber + 2 * np.pi * TURNS / 3
    step = np.exp(1j * theta)
    symbol = 9 / 8 * (step - 1) - (step**2 - 1 / step) / 24
    return np.diag(symbol if forward else symbol / step)


def operator(wavenumbers, p, mu):
    """Accelerations by velocities, (3 axes, 3 axes) complex; p, mu: (3,) moduli by turn."""
    axes = range(len(wavenumbers))
    forward, back = ([derivative(k, way) for k in wavenumbers] for way in (True, False))
    p, lame, mu = (FOURIER.conj().T @ np.diag(m) @ FOURIER / 3 for m in (p, p - 2 * mu, mu))
    none = np.zeros((3, 3))
    strains, forces = [], []
    for a in axes:
        strains.append([(p if a == b else lame) @ back[b] for b in axes])
        forces.append([forward[a] if a == b else none for b in axes])
    for a in axes:
        for b in axes:
            if a < b:
                strains.append([mu @ forward[b] if c == a else mu @ forward[a] if c == b else none for c in axes])
                forces.append([back[b] if c == a else back[a] if c == b else none for c in axes])
    return sum(np.vstack(force) @ np.hstack(strain) for force, strain in zip(forces, strains, strict=True))


def wavenumber(direction, polarisation, omega, p, mu, first):
    """Complex wavenumber at the frequency omega (radians a cell's time) of the wave with this polarisation.

    direction, polarisation: unit vectors. first: a wavenumber nearby."""
    wanted = np.kron(polarisation, [1, 0, 0])

    def mismatch(k):
        values, vectors = np.linalg.eig(operator(k * np.asarray(direction), p, mu))
        n = np.argmax(np.abs(wanted @ vectors) / np.linalg.norm(vectors, axis=0))
        return values[n] + omega**2

    k = complex(first)
    for _ in range(8):
        step = 1e-5 * abs(k)
        k -= mismatch(k) * 2 * step / (mismatch(k + step) - mismatch(k - step))
    return k
