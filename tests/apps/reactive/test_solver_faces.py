"""Flux and conductance of faces; flow from heads."""

import numpy as np
import pytest
from mpi4py import MPI
from solver_support import flow_of, uniform

from fathometer.apps.reactive.solver.distributed_grid import layout_of
from fathometer.apps.reactive.solver.faces import faces_of
from fathometer.apps.reactive.solver.flow import CLOSED, FIXED, INFLOW, OPEN
from fathometer.base.errors import InputError

pytest.importorskip("petsc4py", reason="PETSc is not installed (tools/petsc.sh)")

SPACING = (2.0, 3.0, 5.0)
AREA = (15.0, 10.0, 6.0)
COMM = MPI.COMM_SELF


def faces(flow):
    return faces_of(flow, layout_of(flow.shape, flow.scheme, COMM))


def layered(axis, values):
    """A property with a value for each layer of cells along an axis."""

    def block(lo, hi):
        shape = [1, 1, 1]
        shape[axis] = -1
        layers = np.asarray(values, float)[lo[axis] : hi[axis]].reshape(shape)
        return np.broadcast_to(layers, [b - a for a, b in zip(lo, hi, strict=True)]).copy()

    return block


def test_a_given_flux_goes_through_all_faces_but_closed_ones():
    sides = {"x-": {"kind": INFLOW, "water": 1}, "x+": {"kind": OPEN}}
    flow = flow_of((4, 3, 2), SPACING, sides, flux=(1e-6, 0.0, 0.0))
    q = faces(flow).flux
    assert [part.shape for part in q] == [(5, 3, 2), (4, 4, 2), (4, 3, 3)]
    np.testing.assert_array_equal(q[0], 1e-6 * AREA[0])
    assert not q[1].any()
    assert not q[2].any()
    flow.sides["x-"].kind[1, 0] = CLOSED
    q = faces(flow).flux
    assert q[0][0, 1, 0] == 0
    assert np.count_nonzero(q[0] == 0) == 1


def test_conductance_is_that_of_two_half_cells_in_series():
    porosity = [0.1, 0.2, 0.4]
    sides = {"y-": {"kind": FIXED, "water": 0}, "y+": {"kind": FIXED, "water": 0}, "x-": {"kind": INFLOW, "water": 0}}
    flow = flow_of((2, 3, 1), SPACING, sides, porosity=layered(1, porosity), diffusivity=1e-9)
    g = faces(flow).conductance
    half = [1.5 / (p * 1e-9 * AREA[1]) for p in porosity]  # resistances
    expected = [1 / half[0], 1 / (half[0] + half[1]), 1 / (half[1] + half[2]), 1 / half[2]]
    np.testing.assert_allclose(g[1], np.broadcast_to(np.reshape(expected, (1, 4, 1)), (2, 4, 1)), rtol=1e-14)
    np.testing.assert_allclose(g[0][1, :, 0], np.array(porosity) * 1e-9 * AREA[0] / 2.0, rtol=1e-14)
    assert not g[0][[0, 2]].any()  # inflow and closed: no diffusion
    assert not g[2].any()


def test_dispersion_along_and_across_the_flow():
    ends = {"x-": {"kind": FIXED, "water": 0}, "x+": {"kind": FIXED, "water": 0}}
    flow = flow_of((3, 3, 3), SPACING, ends, flux=(2e-6, 0.0, 0.0), diffusivity=1e-9, dispersivity=(0.5, 0.1))
    velocity = 2e-6 / 0.25
    g = faces(flow).conductance
    np.testing.assert_allclose(g[0][1:3], 0.25 * (1e-9 + 0.5 * velocity) * AREA[0] / SPACING[0], rtol=1e-14)
    np.testing.assert_allclose(g[0][[0, 3]], 0.25 * (1e-9 + 0.5 * velocity) * AREA[0] / SPACING[0] * 2, rtol=1e-14)
    np.testing.assert_allclose(g[1][:, 1:3], 0.25 * (1e-9 + 0.1 * velocity) * AREA[1] / SPACING[1], rtol=1e-14)
    np.testing.assert_allclose(g[2][:, :, 1:3], 0.25 * (1e-9 + 0.1 * velocity) * AREA[2] / SPACING[2], rtol=1e-14)


def test_dispersion_of_a_flow_across_axes():
    every = {name: {"kind": OPEN, "water": 0} for name in ("x-", "x+", "y-", "y+", "z-", "z+")}
    flux = np.array([1e-6, -2e-6, 2e-6])
    flow = flow_of((3, 3, 3), SPACING, every, flux=tuple(flux), diffusivity=0.0, dispersivity=(0.5, 0.1))
    v = flux / 0.25
    speed = np.linalg.norm(v)
    g = faces(flow).conductance
    for axis in range(3):
        spread = (0.5 * v[axis] ** 2 + 0.1 * (speed**2 - v[axis] ** 2)) / speed
        np.testing.assert_allclose(g[axis][1, 1, 1], 0.25 * spread * AREA[axis] / SPACING[axis], rtol=1e-13)


def heads(shape, low, high, conductivity, **changes):
    """A flow along x between two heads."""
    ends = {"x-": {"kind": FIXED, "water": 0, "head": high}, "x+": {"kind": OPEN, "water": 0, "head": low}}
    return flow_of(shape, SPACING, ends, conductivity=conductivity, **changes)


def divergence(q):
    return sum(np.diff(part, axis=axis) for axis, part in enumerate(q))


@pytest.mark.parametrize("level", [0.0, 1e4])
@pytest.mark.parametrize("options", [(), (("heads_pc_type", "gamg"),)])
def test_a_linear_head_gives_the_exact_flux(level, options):
    from fathometer.apps.reactive.solver.petsc import set_options

    set_options(options)
    flow = heads((20, 4, 3), level, level + 1.0, uniform(1e-5))
    q = faces(flow).flux
    exact = 1e-5 * 1.0 / (20 * SPACING[0]) * AREA[0]
    np.testing.assert_allclose(q[0], exact, rtol=1e-13 * (1 + level))  # the given heads' own digits
    assert np.abs(q[1]).max() <= 1e-14 * exact
    assert np.abs(divergence(q)).max() <= 16 * np.finfo(float).eps * exact


def test_layers_in_series_have_the_harmonic_mean():
    conductivity = np.array([1e-5] * 5 + [1e-8] * 5)
    flow = heads((10, 2, 2), 0.0, 3.0, layered(0, conductivity))
    exact = 3.0 / np.sum(SPACING[0] / conductivity) * AREA[0]
    np.testing.assert_allclose(faces(flow).flux[0], exact, rtol=1e-12)


def test_layers_side_by_side_each_have_their_own_flux():
    conductivity = np.array([1e-5, 1e-5, 1e-8])
    flow = heads((10, 2, 3), 0.0, 3.0, layered(2, conductivity))
    q = faces(flow).flux
    exact = conductivity * 3.0 / (10 * SPACING[0]) * AREA[0]
    np.testing.assert_allclose(q[0], np.broadcast_to(exact, (11, 2, 3)), rtol=1e-9)
    assert np.abs(q[2]).max() < 1e-13 * exact[0]


def test_flow_through_a_random_medium_neither_gains_nor_loses_water():
    random = np.random.default_rng(3)
    values = 10.0 ** random.uniform(-9, -4, (12, 9, 7))

    def conductivity(lo, hi):
        return values[tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))]

    q = faces(heads((12, 9, 7), 0.0, 1.0, conductivity)).flux
    assert np.abs(divergence(q)).max() <= 16 * np.finfo(float).eps * max(np.abs(part).max() for part in q)
    assert q[0].sum(axis=(1, 2)) == pytest.approx(np.full(13, q[0][0].sum()), rel=1e-12)
    assert not any(part.any() for part in (q[1][:, 0], q[1][:, -1], q[2][..., 0], q[2][..., -1]))


def test_equal_heads_are_no_flow():
    assert not any(part.any() for part in faces(heads((5, 2, 2), 7.0, 7.0, uniform(1e-5))).flux)


def test_flow_from_heads_needs_one():
    flow = flow_of((5, 1, 1), conductivity=uniform(1e-5))
    with pytest.raises(InputError, match="found no side with a head"):
        faces(flow)


def test_water_that_flows_in_needs_a_composition():
    flow = heads((5, 3, 2), 0.0, -1.0, uniform(1e-5))  # against x
    flow.sides["x+"].water[2, 1] = -1
    with pytest.raises(InputError, match=r"the side x\+ at cell y 2, z 1: found .* that flow in through an open side"):
        faces(flow)
