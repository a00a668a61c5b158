"""The kernels against steps in NumPy, and against themselves in other tilings and teams of threads."""

import numpy as np
import pytest
from elastic_reference import Reference
from elastic_steps import CASES, STEPS, medium_of, points_of, propagator, run, series

from fathometer.grid.tiling import DIAMONDS, Tiling
from fathometer.grid.tuning import stepping_of
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.elastic.layers import elastic_layers


def add_points(reference, points, stage, values):
    for some in points:
        if (some.field[0] == "v") != (stage == 0):
            continue
        box = some.points
        for p in range(len(box.first)):
            where = tuple(slice(f, f + n) for f, n in zip(box.first[p], box.count[p], strict=True))
            wx, wy, wz = (box.weight[p, axis, : box.count[p, axis]] for axis in range(3))
            weight = wx[:, None, None] * wy[:, None] * wz * some.amplitude[p] * values[some.column[p]]
            if stage == 0:
                weight = weight * reference.medium.buoyancy[some.field][where]
            reference.f[some.field][where] += weight


def sample_points(reference, points, kind, to):
    for some in points:
        if some.field[0] != kind:
            continue
        box = some.points
        for p in range(len(box.first)):
            where = tuple(slice(f, f + n) for f, n in zip(box.first[p], box.count[p], strict=True))
            wx, wy, wz = (box.weight[p, axis, : box.count[p, axis]] for axis in range(3))
            value = np.einsum("i,j,k,ijk", wx, wy, wz, reference.f[some.field][where])
            to[some.column[p]] += some.amplitude[p] * value


def filters_of(wave):
    """Gains, decays and what is kept in the layers, along whole axes."""
    filters = {}
    for layer in elastic_layers(wave.grid, wave.block, wave.scheme):
        for half in (False, True):
            n = wave.grid.shape[layer.axis]
            along = filters.setdefault((layer.axis, half), (np.zeros(n), np.zeros(n), np.ones(n)))
            for whole, part in zip(along, (layer.gain, layer.decay, layer.keep), strict=True):
                whole[layer.lo : layer.hi] = part[half]
    return filters


# Beside CASES rows so short that the layer below follows the free surface's vector.
@pytest.mark.parametrize("shape", [*CASES, (21, 18, 21), (30, 1, 21)])
@pytest.mark.parametrize(("width", "free_surface", "relaxing"), [(6, True, True), (0, True, False), (5, False, False)])
def test_steps_are_those_of_the_equations(shape, width, free_surface, relaxing):
    wave = propagator(shape, np.float64, width, free_surface, relaxing)
    traces, fields, _ = run(wave)
    reference = Reference(
        shape,
        wave.grid.spacing,
        medium_of(shape, np.float64, relaxing=relaxing),
        free_surface,
        filters_of(wave),
    )
    sources, receivers = points_of(shape)
    injected, expected = series(STEPS, 2, np.float64), np.zeros((STEPS, 3))
    for n in range(STEPS):
        sample_points(reference, receivers, "s", expected[n])

        def inject(stage, n=n):
            add_points(reference, sources, stage, injected[n])
            if stage == 0:
                sample_points(reference, receivers, "v", expected[n])

        reference.step(inject)
    for name, field in fields.items():
        largest = np.abs(reference.f[name]).max()
        assert largest > 0
        np.testing.assert_allclose(field, reference.f[name], rtol=0, atol=1e-12 * largest, err_msg=name)
    assert (np.abs(traces - expected) <= 1e-12 * np.abs(expected).max(axis=0)).all()


@pytest.mark.parametrize("off_grid", [False, True])
def test_tiles_know_stages_and_mind_no_points_between_cells(off_grid):
    stepping = stepping_of(propagator(CASES[0], np.float32, off_grid=off_grid), 24, 2)
    assert (stepping.stages, stepping.radius, stepping.reach) == (2, 2, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", CASES)
def test_bits_do_not_depend_on_tiles_and_threads(shape, dtype):
    expected = run(propagator(shape, dtype))
    assert np.isfinite(expected[0]).all()
    for tiling, threads, parts in [
        (Tiling(1, 1, 1, 1), 2, 3),
        (Tiling(4, 3, 5, 1), 1, 1),
        (Tiling(7, 4, 6, 2), 2, 1),
        (Tiling(24, 2, 7, 1), 3, 1),
        (Tiling(3, 5, DIAMONDS, 1), 2, 1),
        (Tiling(5, 2, DIAMONDS, 1), 3, 2),
    ]:
        if shape[1] == 1 and tiling.tile == DIAMONDS:
            continue
        wave = propagator(shape, dtype)
        wave.tiling, wave.threads = tiling, ThreadCounts(threads, threads, 1)
        traces, fields, _ = run(wave, parts=parts)
        assert traces.tobytes() == expected[0].tobytes(), tiling
        for name, field in fields.items():
            assert field.tobytes() == expected[1][name].tobytes(), (tiling, name)
