"""Verification 4: <F x, y> = <x, F* y> with F* = F on reversed time, and reciprocity."""

import numpy as np
import pytest
from support import Medium, band_limited, heterogeneous

from fathometer.seismic.traces.dispersion import adjoint_of_inverse, inverse_transform
from fathometer.seismic.waves.boundary import Pml, Sponge

pytestmark = pytest.mark.verify

STEPS = 300
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}


def medium_of(dimensions, physics, boundary, order, dtype, free_surface=False, seed=3):
    shape = (30, 1 if dimensions == 2 else 17, 26)
    pads = [0 if n == 1 else 2 * boundary.width for n in shape]
    if free_surface:
        pads[2] //= 2
    vp, epsilon, delta = heterogeneous([n + pad for n, pad in zip(shape, pads, strict=True)], seed)
    anisotropy = (epsilon, delta) if physics == "vti" else ()
    return Medium(shape, 12.5, vp, *anisotropy, order=order, dtype=dtype, boundary=boundary, free_surface=free_surface)


def places(rng, medium, count, shallow=4.0):
    """Points between the cells, at least the reach of their weights away from the absorbing boundaries."""
    low = np.array([4.0, 4.0, shallow])
    high = np.array(medium.grid.shape) - 5.0
    cells = low + rng.random((count, 3)) * (high - low)
    if medium.grid.two_dimensional:
        cells[:, 1] = 0
    return cells * np.array(medium.grid.spacing)


CASES = [
    (dimensions, physics, boundary, order, free)
    for dimensions in (2, 3)
    for physics in ("isotropic", "vti")
    for boundary in (Pml(8), Sponge(12))
    for order, free in ((2, False), (6, False), (8, False), (8, True), (16, False))
]


def dot_product_error(dimensions, physics, boundary, order, free, dtype):
    """|<F x, y> - <x, F* y>| / (|F x| |y|) for random series x, y and points between the cells."""
    rng = np.random.default_rng(5)
    medium = medium_of(dimensions, physics, boundary, order, dtype, free)
    shallow = 0.4 if free else 4.0
    sources, receivers = places(rng, medium, 3, shallow), places(rng, medium, 5, shallow)
    x, y = (rng.standard_normal((STEPS, n)).astype(dtype) for n in (3, 5))
    forward = medium.run(sources, receivers, x).astype(np.float64)
    adjoint = medium.run(receivers, sources, y[::-1])[::-1].astype(np.float64)
    assert np.abs(forward).max() > 0
    left, right = np.sum(forward * y, dtype=np.float64), np.sum(x * adjoint, dtype=np.float64)
    return abs(left - right) / (np.linalg.norm(forward) * np.linalg.norm(y))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("dimensions", "physics", "boundary", "order", "free"), CASES)
def test_dot_product(dimensions, physics, boundary, order, free, dtype):
    assert dot_product_error(dimensions, physics, boundary, order, free, dtype) <= TOLERANCE[dtype]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-5)])
@pytest.mark.parametrize("free", [False, True])
def test_dot_product_where_the_error_in_time_is_corrected(free, dtype, tolerance):
    """<I F x, y> = <x, F* I* y>: traces are transformed after modelling, and by the transpose before the adjoint."""
    rng, before = np.random.default_rng(9), 40
    medium = medium_of(2, "vti", Pml(8), 8, dtype, free)
    sources, receivers = (places(rng, medium, n, 4.0) for n in (3, 5))
    x, y = (band_limited(rng, n, STEPS).astype(dtype) for n in (3, 5))
    forward = inverse_transform(np.ascontiguousarray(medium.run(sources, receivers, x.T).T), before)
    adjoint = medium.run(receivers, sources, adjoint_of_inverse(y, before)[:, ::-1].T)[::-1].T
    left, right = (np.sum(a.astype(float) * b) for a, b in ((forward, y), (x, adjoint)))
    size = np.linalg.norm(forward.astype(float)) * np.linalg.norm(y)
    assert abs(left) >= 1e-3 * size
    assert abs(left - right) <= tolerance * size


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("boundary", [Pml(8), Sponge(12)])
def test_reciprocity(dimensions, boundary, dtype):
    """Over several draws: rounding in float32 differs between them by more than an order of magnitude, and one in
    sixty passes the tolerance with any order of the additions; their root mean square does not come near half of it."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        medium = medium_of(dimensions, "vti", boundary, 8, dtype)
        a, b = places(rng, medium, 2)
        x, y = rng.standard_normal((2, STEPS, 1)).astype(dtype)
        there, back = (medium.run(p, q, x).astype(np.float64) for p, q in ((a, b), (b, a)))
        difference = abs(np.sum(there * y) - np.sum(back * y))
        errors.append(difference / (np.linalg.norm(there) * np.linalg.norm(y)))
    assert np.sqrt(np.mean(np.square(errors))) <= 0.5 * TOLERANCE[dtype]
