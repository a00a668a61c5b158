"""Absorbing layers against the scheme written out in numpy, and the half points that threads and tiles share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import ORDERS, Medium, heterogeneous, second_derivative

from fathometer import _native
from fathometer.grid.stencil import staggered_weights
from fathometer.grid.tiling import PLAIN, Tiling
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.layers import depth_inside

SPACING, STEPS = 10.0, 4


@pytest.fixture(autouse=True)
def _threads():
    yield
    _native.set_threads(2)


class WrittenOut:
    """The equations of native/acoustic/pml.hpp on a whole grid, every memory at every point of it."""

    def __init__(self, medium):
        scheme, full = medium.propagator.scheme, medium.grid.full_shape
        self.model, self.radius = [m[..., : full[2]] for m in medium.model], scheme.radius
        self.weights = staggered_weights((self.radius + 1) // 2) / SPACING
        self.layers = []  # axis, psi with its filter, zeta with its filter
        for axis in medium.grid.axes:
            for side in (0, 1):
                memories = []
                for count, shift in ((full[axis] - 1, 0.5), (full[axis], 0.0)):
                    depth = depth_inside(np.arange(count) + shift, side, full[axis], scheme.boundary.width)
                    filters = scheme.boundary.recursion(depth, SPACING, scheme.vmax, scheme.frequency, scheme.dt)
                    shape = [count if a == axis else n for a, n in enumerate(full)]
                    column = [-1 if a == axis else 1 for a in range(3)]
                    memories.append((np.zeros(shape), [f.reshape(column) for f in filters]))
                self.layers.append((axis, *memories))

    def difference(self, values, axis, lost):
        """d across every second kind of points: zeros outside, of n points n - 1 (lost 1) or n + 1 (lost -1)."""
        p, n = len(self.weights), values.shape[axis]
        wide = np.pad(values, [(p, p) if a == axis else (0, 0) for a in range(3)])
        first = p + (1 if lost > 0 else 0)  # of the upper one of the nearest two

        def at(start):
            return wide[tuple(slice(start, start + n - lost) if a == axis else slice(None) for a in range(3))]

        return sum(w * (at(first + m) - at(first - 1 - m)) for m, w in enumerate(self.weights))

    def derivative(self, field, axis):
        total = second_derivative(field, axis, SPACING, self.radius)
        curvature = total.copy()
        for along, (psi, (psi_gain, psi_decay)), (zeta, (gain, decay)) in self.layers:
            if along == axis:
                psi[...] = psi_decay * psi + psi_gain * self.difference(field, axis, 1)
                slope = self.difference(psi, axis, -1)
                zeta[...] = decay * zeta + gain * (curvature + slope)
                total += slope + zeta
        return total

    def step(self, now, before, flat):
        h = self.derivative(now[0], 0) + (0 if flat else self.derivative(now[0], 1))
        v = self.derivative(now[-1], 2)
        if len(now) == 1:
            force = [self.model[0] * (h + v)]
        else:
            m11, m12, m22 = self.model
            force = [m11 * h + m12 * v, m12 * h + m22 * v]
        return [2 * w - old + f for w, old, f in zip(now, before, force, strict=True)]


def noise(propagator):
    """Two time levels without any smoothness, put into the propagator."""
    rng = np.random.default_rng(3)
    propagator.reset()
    state = propagator.save()
    for array in state.arrays[: 2 * propagator.field_count]:
        array[...] = rng.standard_normal(array.shape)
    propagator.restore(state)
    return [[field.copy() for field in fields] for fields in propagator.fields()]


@settings(max_examples=20)
@given(data=st.data())
def test_layers_do_what_their_equations_say(data):
    """Any order, physics and width, in grids of which layers that overlap may be all; threads share tiles or not."""
    draw = data.draw
    flat, vti = draw(st.booleans(), "2D"), draw(st.booleans(), "VTI")
    order, width = draw(st.sampled_from(ORDERS), "order"), draw(st.integers(2, 9), "width")
    shape = tuple(1 if flat and axis == 1 else draw(st.integers(2, 20), "xyz"[axis]) for axis in range(3))
    full = [n if n == 1 else n + 2 * width for n in shape]
    vp, epsilon, delta = heterogeneous(full, 4)
    medium = Medium(shape, SPACING, vp, *((epsilon, delta) if vti else ()), order=order, boundary=Pml(width))
    p, written_out = medium.propagator, WrittenOut(medium)
    depth, block, tile = (draw(st.integers(1, most), name) for name, most in (("depth", 4), ("block", 9), ("tile", 12)))
    threads = draw(st.integers(1, 3), "threads")
    team = draw(st.sampled_from([n for n in range(1, threads + 1) if threads % n == 0]), "team")
    p.tiling = Tiling(depth, block, tile, team)
    _native.set_threads(threads)
    now, before = noise(p)
    p.advance(STEPS)
    for _ in range(STEPS):
        now, before = written_out.step(now, before, flat), now
    for one, other in zip(now, p.fields()[0], strict=True):
        assert np.abs(one - other).max() < 1e-11 * np.abs(one).max()


@pytest.mark.parametrize("order", sorted({2, 6, 8, 16} & set(ORDERS)))
def test_half_points_at_the_borders_of_threads(order):
    """Threads whose shares are a few rows or none, across planes and across rows: the same bits as one thread's."""
    threads, width = 3, 5
    for shape in ((2, 9, 9), (20, 1, 9), (4, 2, 18)):
        full = [n if n == 1 else n + 2 * width for n in shape]
        medium = Medium(shape, SPACING, *heterogeneous(full, 1), order=order, dtype=np.float32, boundary=Pml(width))
        p = medium.propagator

        def left(tiling, count, p=p):
            _native.set_threads(count)
            p.tiling = tiling
            noise(p)
            p.advance(3)
            return [np.ascontiguousarray(field).tobytes() for level in p.fields() for field in level]

        wanted = left(PLAIN, 1)
        for tiling in (PLAIN, Tiling(3, 4, 5, threads), Tiling(6, 50, 50, threads)):
            assert left(tiling, threads) == wanted, (shape, tiling)
