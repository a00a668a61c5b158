"""Verification 2: travel times in homogeneous VTI media against the exact group velocity."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from support import Medium, ricker, times

pytestmark = pytest.mark.verify

VP, FREQUENCY = 2000.0, 12.0
SPACING = np.array([12.5, 1.0, 10.0])  # differs, so that an axis taken for another shows


MEDIA = [(0.2, 0.1), (0.25, 0.0), (0.15, 0.15), (0.1, -0.1), (0.0, 0.0)]  # epsilon, delta


def phase_velocity(angle, epsilon, delta):
    """Fast branch of omega^4 - omega^2 Vp^2 [(1+2e) kx^2 + kz^2] + 2 Vp^4 kx^2 kz^2 (e-d) = 0, angle from vertical."""
    a, b = np.sin(angle) ** 2, np.cos(angle) ** 2
    trace = VP**2 * ((1 + 2 * epsilon) * a + b)
    return np.sqrt((trace + np.sqrt(trace**2 - 8 * VP**4 * a * b * (epsilon - delta))) / 2)


def group_velocity(direction, epsilon, delta):
    """Ray velocity along a direction from vertical: the wavefront is the envelope of plane waves, so
    1 / V(psi) = max over theta of cos(theta - psi) / v(theta)."""
    slowness = minimize_scalar(
        lambda theta: -np.cos(theta - direction) / phase_velocity(theta, epsilon, delta),
        bounds=(direction - 1.0, direction + 1.0),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return -1 / slowness.fun


def first_break(trace, t, distance):
    """Time of the first extremum that stands out of the noise, to a fraction of a sample.

    Searched up to half a period after the latest P wave that these media allow: the slow false shear wave that a source
    in a VTI medium sends out comes later.
    """
    window = np.abs(trace[t <= distance / (0.93 * VP) + 0.5 / FREQUENCY])
    i = int(np.argmax(window > 0.15 * window.max()))
    while window[i + 1] > window[i]:
        i += 1
    a, b, c = window[i - 1 : i + 2]
    return t[i] + 0.5 * (a - c) / (a - 2 * b + c) * (t[1] - t[0])


def velocity_errors(epsilon, delta):
    """Relative errors of the velocity in twelve directions.

    From the travel time over a further stretch of path: the pulse's shape and the near field drop out of it.
    """
    cells = (200, 1, 250)
    medium = Medium(cells, tuple(SPACING), VP, epsilon, delta, share=0.3, frequency=FREQUENCY)
    centre = np.array(cells) // 2 * SPACING
    angles = np.radians(np.linspace(0, 180, 12))
    near, far = 500.0, 1150.0
    directions = np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    t = times(-1.5 / FREQUENCY, far / VP + 2.0 / FREQUENCY, medium.dt)
    receivers = np.concatenate([centre + near * directions, centre + far * directions])
    traces = medium.run(centre, receivers, ricker(t, FREQUENCY))
    errors = []
    for n, angle in enumerate(angles):
        late, early = first_break(traces[:, 12 + n], t, far), first_break(traces[:, n], t, near)
        errors.append((far - near) / (late - early) / group_velocity(angle, epsilon, delta) - 1)
    return np.array(errors)


@pytest.mark.parametrize(("epsilon", "delta"), MEDIA)
def test_group_velocity_in_twelve_directions(epsilon, delta):
    assert np.abs(velocity_errors(epsilon, delta)).max() <= 0.005
