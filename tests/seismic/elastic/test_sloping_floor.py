"""Next to a sea floor that slopes: its tables' identities, energy, reciprocity, time steps, growth."""

import numpy as np
import pytest
from elastic_seabeds import cut_cells, drawn, energies, energy_of, excite, seabed, state_of
from support import FULL

from fathometer.seismic.elastic.contact_closure import ROCK, STENCIL, WATER, closure
from fathometer.seismic.elastic.fields import fields_of
from fathometer.seismic.elastic.floor_strip import EDGE, LANES, OTHER_INERTIA, PARTS, columns, places, strip
from fathometer.seismic.elastic.points import points_on
from fathometer.seismic.elastic.sloping_floor import SlopingFloor

HARD, SOFT, SOFTEST = (3000.0, 1700.0, 2200.0), (1700.0, 400.0, 1800.0), (1550.0, 100.0, 1500.0)


def sloping(shape, x_degrees, y_degrees=0.0, bend=0.0, spacing=(10.0, 10.0, 10.0), level=0):
    """Depths in cells, 0.3 of a cell below a node in the middle; level: columns at each end that go on as the next."""
    x, y = (np.clip(np.arange(n), level, max(n - level - 1, level)) - n / 2 for n in shape[:2])
    fall = [np.tan(np.radians(d)) * h / spacing[2] for d, h in zip((x_degrees, y_degrees), spacing, strict=False)]
    along = fall[1] * y if shape[1] > 1 else 0.0 * y
    return shape[2] // 2 + 0.3 + fall[0] * x[:, None] + along + bend * np.sin(x / 4)[:, None]


def uniform(depth, shape, rock):
    one = np.ones(shape)
    return cut_cells(depth, (1500 * one, 1000 * one), [value * one for value in rock])


@pytest.mark.parametrize("side", [WATER, ROCK])
def test_derivatives_along_the_strip_are_summed_by_parts(side):
    """Away from the far ends of the tables."""
    some, near, rows = strip(side), closure(side, 0.5), 9
    v, w = np.ones(13), np.ones(14)
    v[: len(near.nodes)], w[: len(near.half_points)] = near.nodes, near.half_points
    edge, first = np.zeros(13), np.zeros(14)
    edge[: len(EDGE)], first[0] = EDGE, 1.0
    both = (v[:, None] * some.to_nodes)[:rows, :rows] + (w[:, None] * some.to_half_points).T[:rows, :rows]
    np.testing.assert_allclose(both, -np.outer(edge, first)[:rows, :rows], atol=1e-12)
    for along, norm, e in ((some.along_nodes, v, edge), (some.along_half_points, w, first)):
        product = norm[:, None] * along
        np.testing.assert_allclose((product + product.T)[:rows, :rows], -np.outer(e, e)[:rows, :rows], atol=1e-12)
    at = {True: np.arange(14.0), False: np.arange(13) + 0.5}
    for along, half in ((some.along_nodes, False), (some.along_half_points, True)):
        np.testing.assert_allclose((along @ at[half])[:rows], 1.0, atol=1e-12)
        np.testing.assert_allclose((along @ np.ones(len(along)))[:rows], 0.0, atol=1e-12)
    for power in range(3):
        slope = power * at[False] ** max(power - 1, 0)
        np.testing.assert_allclose((some.to_nodes @ at[True] ** power)[:rows], slope[:rows], atol=1e-12)


@pytest.mark.parametrize("side", [WATER, ROCK])
@pytest.mark.parametrize("half", [False, True])
def test_columns_interpolate_cubics(side, half):
    """From the moved points to the strip, and to the grid's own depths away from the floor; back over the inertia."""
    part = np.arange(PARTS) / PARTS
    at, (to_strip, to_grid) = places(side, half, part), columns(side, half, False).gather
    own = np.arange(LANES) + (0.0 if half else 0.5)
    shift = (part - 0.5)[:, None] * (1 if side == WATER else -1)
    for power in range(4):
        padded = np.pad(at**power, ((0, 0), (2, 2)))
        bands = np.stack([padded[:, b : b + LANES] for b in range(5)], axis=2)
        strip_values, grid_values = ((weight * bands).sum(axis=2) for weight in (to_strip, to_grid))
        np.testing.assert_allclose(strip_values[:, :12], np.broadcast_to(own**power, at.shape)[:, :12], rtol=1e-12)
        np.testing.assert_allclose(grid_values[:, 2:14], ((own + shift) ** power)[:, 2:14], rtol=1e-12)
    for weighted in (False, True):
        some = columns(side, half, weighted)
        assert some.inertia.min() > 0.3
        assert some.inertia.max() < 1.6
        np.testing.assert_allclose(some.inertia[at > OTHER_INERTIA], 1.0, atol=1e-12)


def test_waves_of_two_cells_travel():
    """Down a column, wherever in a cell the floor lies: slow ones would stay near it."""
    lanes, waves = np.arange(LANES), (-1.0) ** np.arange(LANES)
    nodes, half_points = columns(ROCK, False, True), columns(ROCK, True, False)
    along = np.zeros((LANES, LANES))
    along[:13, :14] = strip(ROCK).to_nodes
    grid = sum(weight * np.eye(LANES, k=m - 1) for m, weight in enumerate(STENCIL))

    def banded(weights):
        """Matrices (PARTS, LANES, LANES)."""
        out = np.zeros((PARTS, LANES, LANES))
        for band in range(5):
            to = lanes[(lanes + band - 2 >= 0) & (lanes + band - 2 < LANES)]
            out[:, to, to + band - 2] = weights[:, to, band]
        return out

    parts = zip(nodes.scatter, (along, grid), half_points.gather, strict=True)
    derivative = sum(banded(scatter) @ middle @ banded(gather) for scatter, middle, gather in parts) @ waves
    assert np.abs(derivative[:, 2:12]).min() >= 0.25 * 2 * (9 / 8 + 1 / 24)


@pytest.mark.parametrize(
    ("shape", "degrees", "bend"),
    [((30, 1, 70), (3, 0), 0.0), ((30, 1, 70), (-20, 0), 0.0), ((14, 13, 64), (10, 5), 0.4)],
)
def test_energy_is_kept_over_a_floor_that_slopes(shape, degrees, bend):
    """Rock that differs from cell to cell, water that differs from column to column."""
    bed = seabed(drawn(shape, sloping(shape, *degrees, bend)), (10.0, 11.0, 9.0))
    assert isinstance(bed.floor, SlopingFloor)
    totals = energies(bed, shape)
    assert np.abs(bed.wave.in_floor).max() > 0
    assert np.ptp(totals) <= 1e-12 * totals[0]


def test_energy_is_kept_for_twenty_thousand_steps():
    """Over a rough floor, up to 23 degrees steep, random cells."""
    shape = (60, 1, 70)
    random = np.random.default_rng(4)
    rough = sum(random.standard_normal() * np.sin(0.2 * n * np.arange(60) + n) / n for n in range(1, 8))[:, None]
    bed = seabed(drawn(shape, sloping(shape, 5) + 0.6 * rough), (10.0, 10.0, 10.0))
    assert bed.floor.steepest > 20
    names, total = energy_of(bed, shape)
    excite(bed, names, shape)
    totals = []
    for _ in range(20):
        bed.wave.advance(999)
        before = state_of(bed, names)
        bed.wave.advance(1)
        totals.append(total(before))
    assert np.ptp(totals) <= 1e-10 * totals[0]


@pytest.mark.parametrize(
    ("shape", "degrees", "bend", "rock", "top"),
    [((70, 1, 90), (12, 0), 0.3, HARD, False), ((70, 1, 90), (-15, 0), 0.2, SOFT, True)]
    + [((40, 40, 84), (10, -8), 0.0, HARD, False)] * FULL,
)
def test_nothing_grows_where_a_floor_goes_on_into_layers(shape, degrees, bend, rock, top):
    """It is level in the layers across which it falls. What stays are water that turns and stresses at rest."""
    depth = sloping(shape, *degrees, bend, level=12)
    bed = seabed(uniform(depth, shape, rock), (10.0, 10.0, 10.0), free_surface=top, width=10, dtype=np.float32)
    names = [field.name for field in fields_of(shape[1] == 1)]
    excite(bed, names, shape)
    if top:
        for name in ("sxx", "szz"):
            bed.wave.field(name)[:, :, 0] = 0
    largest = []
    for _ in range(20 if FULL else 6):
        bed.wave.advance(1000)
        largest.append(max(np.abs(bed.wave.field(name)).max() for name in names if name[0] == "v"))
    half = len(largest) // 2
    assert max(largest[half:]) <= 1.3 * max(largest[:half])


@pytest.mark.parametrize("rock", [HARD, SOFTEST])
@pytest.mark.parametrize(
    ("degrees", "spacing"),
    [(0.5, (10, 10, 10)), (20, (10, 10, 10)), (29, (10, 10, 8)), (20, (25, 25, 10)), (29, (10, 10, 20))],
)
def test_the_largest_time_step_is_stable(rock, degrees, spacing):
    shape = (40, 1, 90)
    bed = seabed(uniform(sloping(shape, degrees, spacing=spacing), shape, rock), spacing, share=0.999)
    names = [field.name for field in fields_of(True)]
    excite(bed, names, shape)
    bed.wave.advance(600)
    assert max(np.abs(bed.wave.field(name)).max() for name in ("vx", "vz")) < 100


def test_a_larger_time_step_is_not():
    """The limit is no more than a tenth too small where it is the floor that sets it."""
    shape = (40, 1, 80)
    bed = seabed(uniform(sloping(shape, 10), shape, SOFTEST), (10.0,) * 3, share=1.1)
    excite(bed, ["vx", "vz", "sxx", "szz", "sxz"], shape)
    bed.wave.advance(600)
    assert not np.abs(bed.wave.field("vz")).max() < 1e4


def test_the_fall_along_y_is_that_along_x():
    """The same waves where x and y change places, with other roundings."""
    shape = (15, 13, 64)

    def stepped(turned):
        names = {"vx": "vy", "vy": "vx", "sxx": "syy", "syy": "sxx", "sxz": "syz", "syz": "sxz"} if turned else {}
        depth = sloping(shape, 12, 5, bend=0.4)
        model = [np.swapaxes(some, 0, 1) if turned else some for some in uniform(depth, shape, HARD)]
        bed = seabed([np.ascontiguousarray(some) for some in model], (10.0, 10.0, 9.0))
        fields = [field.name for field in fields_of(False)]
        excite(bed, fields, bed.wave.field("vx").shape)
        for n, name in enumerate(fields):
            start = np.random.default_rng(n).standard_normal(shape) * (1.0 if name[0] == "v" else 2e6)
            if name[0] == "s" and name[1] != name[2]:
                start[:, :, :40] = 0  # nothing in the water
            elif name[0] == "s":
                start[:] = np.random.default_rng(99).standard_normal(shape) * 2e6
            bed.wave.field(names.get(name, name))[...] = np.swapaxes(start, 0, 1) if turned else start
        bed.wave.advance(30)
        out = {name: bed.wave.field(names.get(name, name)).copy() for name in fields}
        return {name: np.swapaxes(some, 0, 1) if turned else some for name, some in out.items()}

    one, other = stepped(False), stepped(True)
    for name in one:
        np.testing.assert_allclose(one[name], other[name], atol=1e-9 * np.abs(one[name]).max())


PLACES = {"water": -17.0, "water on the floor": -1.0, "rock on the floor": 1.0, "rock": 14.0}


@pytest.mark.parametrize(
    ("one", "other"),
    [(("vz", "water on the floor"), ("vx", "rock on the floor")), (("vx", "rock"), ("vz", "water")),
     (("vx", "water on the floor"), ("vz", "water on the floor")), (("vz", "rock on the floor"), ("vx", "water"))],
)  # fmt: skip
def test_force_and_velocity_change_places(one, other):
    """Between cells near the floor: what stands in a force's sum over columns is what a receiver's has."""
    shape, steps = (60, 1, 80), 160
    depth = sloping(shape, 12, bend=0.3)

    def recorded(source, receiver):
        bed = seabed(uniform(depth, shape, HARD), (10.0, 10.0, 10.0))
        x = {source: 243.0, receiver: 331.0} if source == one else {source: 331.0, receiver: 243.0}
        points = []
        for (name, where), column in ((source, True), (receiver, False)):
            at = x[name, where] / 10
            under = bed.floor.below(np.array([at]), np.zeros(1))[0]
            cells = np.array([[at, 0.0, under + PLACES[where] / 10]])
            points.append(points_on(name, cells, np.zeros(1, np.int64), np.ones(1), free_surface=False,
                                    injecting=column, floor=bed.floor))  # fmt: skip
        sources, receivers = bed.wave.injectors(points[0]), bed.wave.samplers(points[1])
        pulse = np.exp(-(((np.arange(steps) - 25) / 8) ** 2))[:, None] * 1e6
        values = np.zeros((steps, 1))
        bed.wave.advance(steps, sources, pulse, receivers, values)
        return values[:, 0]

    there, back = recorded(one, other), recorded(other, one)
    assert np.abs(there).max() > 0
    np.testing.assert_allclose(there, back, atol=1e-10 * np.abs(there).max())


@pytest.mark.parametrize("fall", [0.3, 0.47, 0.55])
def test_the_largest_time_step_is_stable_over_a_zigzag(fall):
    """Of two columns, in softer rock than there is."""
    shape = (40, 1, 70)
    depth = 35.2 + fall / 2 * (-1.0) ** np.arange(40)[:, None] + np.zeros(shape[:2])
    bed = seabed(uniform(depth, shape, (1450.0, 60.0, 1100.0)), (10.0,) * 3, share=0.999)
    assert fall - 0.07 < bed.floor.fall < fall + 0.01
    excite(bed, ["vx", "vz", "sxx", "szz", "sxz"], shape)
    bed.wave.advance(2000)
    assert max(np.abs(bed.wave.field(name)).max() for name in ("vx", "vz")) < 1000
