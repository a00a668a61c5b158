"""Plane waves in a medium of constant Q: complex velocities and seismograms over a distance.

Kjartansson (1979), J. Geophys. Res. 84: the velocity c = c0 (i w / w_ref)^g, g = atan(1/Q) / pi, has the same Q at all
frequencies and a phase velocity that grows as w^g: by about ln(w / w_ref) / (pi Q) of itself.
"""

import numpy as np

DAMPING = 14.0  # e-foldings over the period, against wrap-around


def complex_velocity(velocity, quality, omega, reference):
    """At angular frequencies in 1/s (also complex, Im < 0); `velocity` is the phase velocity at `reference` in Hz."""
    g = np.arctan(1 / quality) / np.pi
    return velocity * np.cos(np.pi * g / 2) * (1j * omega / (2 * np.pi * reference)) ** g


def attenuated_plane_wave(f, distance, velocity, quality, reference, t, highest):
    """The plane wave f(t - x / velocity), attenuated, at x = `distance` from where it is f(t): (times,).

    Args:
        f: of source_functions; its spectrum is used up to `highest` in Hz. distance: m. velocity: m/s, at `reference`
            in Hz. quality: Q. t: s, from 0 on.
    """
    period = 1.3 * np.max(t)
    omega = 2 * np.pi / period * np.arange(int(np.ceil(highest * period)) + 1) - 1j * DAMPING / period
    wave = f.spectrum(omega) * np.exp(-1j * omega * distance / complex_velocity(velocity, quality, omega, reference))
    wave *= np.where(omega.real == 0, 1, 2) / period
    return (np.exp(1j * np.asarray(t, float)[:, None] * omega) @ wave).real
