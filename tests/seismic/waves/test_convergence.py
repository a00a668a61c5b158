"""Verification 3: the orders of convergence in space and in time (float64)."""

import numpy as np
import pytest
from support import Medium, ricker

pytestmark = pytest.mark.verify


def smooth_step(order, cells):
    """Error of D w from one step with w- = w, which returns w + dt^2 M D w.

    The dt is far too large for a second step, so that w itself does not hide the last digits of D w.
    """
    length = 1000.0
    spacing = length / cells
    medium = Medium((cells, 1, cells), spacing, 1500.0, 0.2, 0.1, order=order, frequency=1.0, share=100)
    p, grid = medium.propagator, medium.grid
    x, z = np.meshgrid(
        *[(np.arange(grid.full_shape[a]) - grid.pad[a][0]) * spacing / length for a in (0, 2)], indexing="ij"
    )

    def u(x, z):
        return np.sin(2 * np.pi * x + 0.7) * np.cos(3 * np.pi * z + 0.6)

    now, before = p.fields()
    for field in (*now, *before):
        field[:, 0, :] = u(x, z)
    p.advance(1)
    stepped = p.fields()[0]
    m11, m12, m22 = (m[0, 0, 0] for m in medium.model)
    h, w = (-((2 * np.pi / length) ** 2) * u(x, z), -((3 * np.pi / length) ** 2) * u(x, z))
    exact = u(x, z) + m11 * h + m12 * w, u(x, z) + m12 * h + m22 * w
    quarter = slice(cells // 4 + grid.pad[0][0], 3 * cells // 4 + grid.pad[0][0])
    errors = [(s[:, 0] - e)[quarter, quarter] / m22 for s, e in zip(stepped, exact, strict=True)]
    return np.sqrt(np.mean(np.square(errors)))


SPACE = [(4, 40, 80), (8, 40, 80), (12, 32, 42)]  # order, cells of the coarse and of the fine grid


def space_order(order, coarse, fine):
    return np.log(smooth_step(order, coarse) / smooth_step(order, fine)) / np.log(fine / coarse)


@pytest.mark.parametrize(("order", "coarse", "fine"), SPACE)
def test_space_operator_has_its_nominal_order(order, coarse, fine):
    assert space_order(order, coarse, fine) == pytest.approx(order, abs=0.3)


def time_order(vti):
    """Order of the whole scheme in time: traces at dt, dt/2, dt/4 on one grid, sampled at common times."""
    frequency, steps = 10.0, 240
    traces = []
    for refinement in (1, 2, 4):
        anisotropy = (0.2, 0.1) if vti else ()
        medium = Medium((60, 1, 60), 12.5, 2000.0, *anisotropy, share=0.8 / refinement, frequency=frequency)
        t = -0.15 + medium.dt * np.arange(steps * refinement + 1)
        trace = medium.run([200.0, 0, 210.0], [560.0, 0, 430.0], ricker(t, frequency))[:, 0]
        traces.append(trace[::refinement])
    return np.log2(np.linalg.norm(traces[0] - traces[1]) / np.linalg.norm(traces[1] - traces[2]))


@pytest.mark.parametrize("vti", [False, True])
def test_the_whole_scheme_is_of_second_order_in_time(vti):
    assert time_order(vti) == pytest.approx(2, abs=0.1)
