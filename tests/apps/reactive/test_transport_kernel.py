"""The kernel of the transport: residual and Jacobian against the plain version, conservation, cuts, mirrors."""

import numpy as np
import pytest
from chemistries import calcite, kernel, reaction_of, totals_of, waters
from plain import TINY, PlainFlow

from fathometer import _native

SCHEMES = ["upwind", "central", "limited"]
# Owned cells, components, axes with ghost cells.
SHAPES = {
    "1D": ((7, 1, 1), 4, "x"),
    "1D along z, ghosts everywhere": ((1, 1, 6), 1, "xyz"),
    "2D": ((5, 4, 1), 2, "xy"),
    "2D, of x and z": ((4, 1, 5), 3, "xz"),
    "3D": ((4, 3, 5), 2, "xyz"),
    "3D, 7 components": ((2, 3, 2), 7, "xyz"),
}
NAMES = ["x", "y", "z"]


def width_of(scheme):
    return 2 if scheme == "limited" else 1


class Problem:
    """A domain of one block: random totals, fluxes and conductances; beyond its faces values, or none (and NaN)."""

    def __init__(self, owned, components, axes, scheme, seed=1, closed=False):
        random = np.random.default_rng(seed)
        self.owned, self.scheme, self.n = owned, scheme, components
        self.low = tuple(width_of(scheme) if axis in axes else 0 for axis in NAMES)
        self.inside = tuple(slice(low, low + n) for low, n in zip(self.low, owned, strict=True))
        ghosted = tuple(n + 2 * low for n, low in zip(owned, self.low, strict=True))
        self.kind = np.full(ghosted, 2, np.uint8)
        self.kind[self.inside] = 0
        for axis in range(3):
            for place in (self.low[axis] - 1, self.low[axis] + owned[axis]):
                if self.low[axis] and not closed:
                    face = (*self.inside[:axis], place, *self.inside[axis + 1 :])
                    self.kind[face] = random.integers(1, 3, self.kind[face].shape)
        self.totals = random.uniform(-1, 1, (*ghosted, components))
        self.totals[self.kind == 2] = np.nan
        self.old, self.reaction = random.uniform(-1, 1, (2, *owned, components))
        self.factor = random.uniform(0.5, 2, owned)
        self.inverse_scale = random.uniform(0.5, 2, components)
        self.balanced = components - 2 if components > 1 else -1
        self.balance = random.uniform(-2, 2, components)
        self.balance[self.balanced] = 0
        faces = [tuple(n + (a == axis) for a, n in enumerate(owned)) for axis in range(3)]
        self.flux = [random.uniform(-1, 1, shape) for shape in faces]
        self.conductance = [random.uniform(0, 1, shape) for shape in faces]
        if closed:
            for array in self.flux + self.conductance:
                axis = next(a for a in range(3) if array.shape[a] != owned[a])
                array[tuple([slice(None)] * axis + [[0, -1]])] = 0

    def faces(self):
        return {f"flux_{a}": x for a, x in zip(NAMES, self.flux, strict=True)} | {
            f"conductance_{a}": x for a, x in zip(NAMES, self.conductance, strict=True)
        }

    def common(self):
        return self.faces() | {
            "totals": self.totals,
            "kind": self.kind,
            "low": self.low,
            "factor": self.factor,
            "scheme": self.scheme,
            "inverse_scale": self.inverse_scale,
            "balance": self.balance,
            "balanced": self.balanced,
        }

    def residual(self, **changed):
        out = np.full(self.old.shape, np.nan)
        _native.reactive_residual(
            **(self.common() | {"old": self.old, "reaction": self.reaction, "out": out} | changed)
        )
        return out

    def jacobian(self, derivative, reaction_derivative, begin=0, end=None, **changed):
        end = self.owned[0] if end is None else end
        rows, entries = max(end - begin, 0) * self.owned[1] * self.owned[2], 13 if self.scheme == "limited" else 7
        columns = np.full((rows, entries), -7, np.int32)
        values = np.full((rows, self.n, entries, self.n), np.nan)
        _native.reactive_jacobian(
            **self.common()
            | {
                "derivative": derivative,
                "reaction_derivative": reaction_derivative,
                "begin": begin,
                "end": end,
                "columns": columns,
                "values": values,
            }
            | changed
        )
        return columns, values

    def plain(self):
        arrays = (self.kind, self.low, self.factor, self.flux, self.conductance, self.scheme, self.inverse_scale)
        return PlainFlow(*arrays, self.balance, self.balanced)


def problem(name, scheme, **options):
    return Problem(*SHAPES[name], scheme, **options)


def dense(columns, values, cells):
    """The matrix (rows, n, cells of the ghosted block, n) that blocks are put into."""
    rows, n, entries, _ = values.shape
    matrix = np.zeros((rows, n, cells, n))
    for row in range(rows):
        for entry in range(entries):
            if columns[row, entry] >= 0:
                matrix[row, :, columns[row, entry]] += values[row, :, entry]
            else:
                assert not values[row, :, entry].any()
    return matrix


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SHAPES)
def test_the_residual(name, scheme):
    case = problem(name, scheme)
    slow = case.plain()
    right = slow.residual(case.totals.astype(np.longdouble), case.old, case.reaction)
    assert np.abs(case.residual() - right).max() < 1e-14 * 10
    if scheme == "limited" and name == "3D":
        assert {"limited", "upwind", "nothing behind"} == set(slow.terms)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SHAPES)
def test_the_jacobian(name, scheme):
    """Totals and reactions that change with the unknowns by random matrices, against a complex step."""
    case, random = problem(name, scheme), np.random.default_rng(5)
    n, cells, rows = case.n, case.kind.size, int(np.prod(case.owned))
    derivative = random.uniform(-1, 1, (*case.kind.shape, n, n))
    derivative[case.kind != 0] = np.nan
    by_reaction = random.uniform(-1, 1, (*case.owned, n, n))
    columns, values = case.jacobian(derivative, by_reaction)
    numbers = np.arange(cells).reshape(case.kind.shape)[case.inside].ravel()
    assert (columns[:, 0] == numbers).all()
    assert (case.kind.ravel()[columns[columns >= 0]] == 0).all()
    found = dense(columns, values, cells)[:, :, numbers]

    # One direction for each unknown, all of them at once.
    directions = np.zeros((rows, n, rows, n))
    directions[np.arange(rows), :, np.arange(rows), :] = derivative[case.inside].reshape(rows, n, n)
    totals = np.zeros((*case.totals.shape, rows * n), np.clongdouble)
    totals[:] = case.totals[..., None]
    totals[case.inside] += 1j * TINY * directions.reshape(*case.owned, n, rows * n)
    directions[np.arange(rows), :, np.arange(rows), :] = by_reaction.reshape(rows, n, n)
    reaction = case.reaction[..., None] + 1j * TINY * directions.reshape(*case.owned, n, rows * n)
    old = np.broadcast_to(case.old[..., None], reaction.shape)
    right = np.imag(case.plain().residual(totals, old, reaction)) / TINY
    assert np.abs(found - right.reshape(found.shape)).max() < 1e-13


@pytest.mark.parametrize("scheme", SCHEMES)
def test_planes_of_the_jacobian(scheme):
    case, random = problem("3D", scheme), np.random.default_rng(5)
    derivative = random.uniform(-1, 1, (*case.kind.shape, 2, 2))
    by_reaction = random.uniform(-1, 1, (*case.owned, 2, 2))
    whole = case.jacobian(derivative, by_reaction)
    parts = [case.jacobian(derivative, by_reaction, *planes) for planes in [(0, 1), (1, 1), (1, 4)]]
    for array, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        assert np.concatenate(pieces).tobytes() == array.tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", SHAPES)
def test_a_closed_box_keeps_what_it_holds(name, scheme):
    case = problem(name, scheme, closed=True)
    case.factor[:], case.inverse_scale[:] = 1.0, 1.0
    outflow = case.residual(old=np.ascontiguousarray(case.totals[case.inside]), reaction=np.zeros(case.old.shape))
    assert np.abs(outflow).max() > 0.1
    assert np.abs(outflow.sum((0, 1, 2))).max() < 1e-15 * outflow.size


def swirl(case, seed=3):
    """Fluxes without divergence, whole numbers: of a stream function in each plane of x and y."""
    stream = np.random.default_rng(seed).integers(-8, 9, (case.owned[0] + 1, case.owned[1] + 1, case.owned[2]))
    case.flux[0][:], case.flux[1][:] = np.diff(stream, axis=1), -np.diff(stream, axis=0)
    case.flux[2][:] = 5.0


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["2D", "3D"])
def test_uniform_water_stays_as_it_is(name, scheme):
    case = problem(name, scheme)
    if not case.low[2]:
        case.flux[2][:] = 0
    swirl(case)
    case.totals[:] = [0.75, -1.5]  # short numbers: products with whole ones are exact
    assert not case.residual(
        old=np.ascontiguousarray(case.totals[case.inside]), reaction=np.zeros(case.old.shape)
    ).any()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_threads_leave_every_bit(scheme):
    case, random = Problem((9, 8, 7), 4, "xyz", scheme), np.random.default_rng(5)
    derivative = random.uniform(-1, 1, (*case.kind.shape, 4, 4))
    by_reaction = random.uniform(-1, 1, (*case.owned, 4, 4))
    before, found = _native.threads(), set()
    try:
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            columns, values = case.jacobian(derivative, by_reaction)
            found.add((case.residual().tobytes(), columns.tobytes(), values.tobytes()))
    finally:
        _native.set_threads(before)
    assert len(found) == 1


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_halves_have_the_bits_of_the_whole(scheme, axis):
    """Each with ghost cells from the other, as two ranks would have them."""
    case, random = Problem((6, 5, 4), 3, "xyz", scheme), np.random.default_rng(5)
    derivative = random.uniform(-1, 1, (*case.kind.shape, 3, 3))
    by_reaction = random.uniform(-1, 1, (*case.owned, 3, 3))
    residual, (columns, values) = case.residual(), case.jacobian(derivative, by_reaction)
    numbers, width = np.arange(case.kind.size).reshape(case.kind.shape), width_of(scheme)
    place = np.arange(residual[..., 0].size).reshape(case.owned)
    for begin, end in [(0, 2), (2, case.owned[axis])]:

        def cut(array, extra, begin=begin, end=end):
            return np.ascontiguousarray(array[tuple([slice(None)] * axis + [slice(begin, end + extra)])])

        half = Problem((2, 2, 2), 3, "xyz", scheme)
        half.owned = tuple(end - begin if a == axis else n for a, n in enumerate(case.owned))
        half.inverse_scale, half.balance = case.inverse_scale, case.balance
        for key in ("totals", "kind"):
            setattr(half, key, cut(getattr(case, key), 2 * width))
        for key in ("old", "reaction", "factor"):
            setattr(half, key, cut(getattr(case, key), 0))
        for key in ("flux", "conductance"):
            setattr(half, key, [cut(array, int(a == axis)) for a, array in enumerate(getattr(case, key))])
        assert half.residual().tobytes() == cut(residual, 0).tobytes()
        own_columns, own_values = half.jacobian(cut(derivative, 2 * width), cut(by_reaction, 0))
        rows = cut(place, 0).ravel()
        assert own_values.tobytes() == values[rows].tobytes()
        own_numbers = np.append(cut(numbers, 2 * width).ravel(), -1)  # the last one for -1
        assert (own_numbers[own_columns] == columns[rows]).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_mirrored_problem_has_the_same_bits(scheme, axis):
    case = problem("3D", scheme)
    right = case.residual()

    def flipped(array):
        return np.ascontiguousarray(np.flip(array, axis))

    for key in ("totals", "kind", "old", "reaction", "factor"):
        setattr(case, key, flipped(getattr(case, key)))
    case.flux = [-flipped(q) if a == axis else flipped(q) for a, q in enumerate(case.flux)]
    case.conductance = [flipped(g) for g in case.conductance]
    assert np.array_equal(flipped(case.residual()), right)


def test_limited_fluxes_are_exact_in_smooth_places():
    """A straight line between its ends: face values are the means there."""
    case = Problem((8, 1, 1), 1, "x", "limited")
    case.kind[:] = 0
    case.kind[[0, 1, -2, -1]] = 1
    case.totals[:, 0, 0, 0] = np.arange(-2.0, 10) + 0.5
    case.totals[1], case.totals[-2] = 0.0, 8.0  # at the faces
    case.factor[:], case.inverse_scale[:], case.conductance[0][:] = 1, 1, 0
    zeros = np.zeros(case.old.shape)
    for flux in (0.7, -0.7):
        case.flux = [np.full(q.shape, flux if axis == 0 else 0.0) for axis, q in enumerate(case.flux)]
        rise = case.residual(old=np.ascontiguousarray(case.totals[case.inside]), reaction=zeros)[:, 0, 0, 0]
        ends = np.ones(8)  # where water leaves, a face has the cell's own value, half a step before
        ends[-1 if flux > 0 else 0] = 0.5
        assert np.abs(rise - flux * ends).max() < 2e-15


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", ["davies", "debye-hueckel", "ideal"])
def test_the_jacobian_of_a_whole_step(model, scheme):
    """Chemistry, mineral and transport together, against differences of sixth order."""
    case, chemistry = Problem((4, 2, 1), 4, "x", scheme), kernel(calcite(model))
    dt, share = 1e4, np.full(8, 1e2)
    ln_c = waters(case.kind.size, seed=2)
    ln_c[:, :3] = np.log([1e-3, 1e-8, 1e-3]) + 0.3 * np.random.default_rng(2).normal(size=(len(ln_c), 3))
    amounts = np.random.default_rng(4).uniform(0, 2, (8, 1))
    case.inverse_scale = 1 / np.array([1e-3, 1e-3, 1e-3, 1e-3])
    case.kind[case.kind == 2] = 1
    fixed, _ = totals_of(chemistry, ln_c)
    inside = np.arange(case.kind.size).reshape(case.kind.shape)[case.inside].ravel()

    def residual(unknowns):
        moved = ln_c.copy()
        moved[inside] = unknowns
        totals, _ = totals_of(chemistry, moved)
        totals[case.kind.ravel() == 1] = fixed[case.kind.ravel() == 1]
        case.totals = totals.reshape(case.totals.shape)
        _, reaction, _ = reaction_of(chemistry, unknowns, amounts, dt, share)
        return case.residual(reaction=reaction.reshape(case.old.shape)).reshape(8, 4)

    start = np.ascontiguousarray(ln_c[inside])
    _, reaction, by_reaction = reaction_of(chemistry, start, amounts, dt, share)
    assert (reaction[:, 0] > 0).any()
    assert (reaction[:, 0] < 0).any()
    residual(start)
    _, derivative = totals_of(chemistry, ln_c)
    found = dense(
        *case.jacobian(derivative.reshape(*case.kind.shape, 4, 4), by_reaction.reshape(*case.owned, 4, 4)),
        case.kind.size,
    )[:, :, inside]
    step, right = 2e-4, np.zeros(found.shape)
    for cell, j in np.ndindex(8, 4):
        for distance, weight in [(1, 3 / 4), (2, -3 / 20), (3, 1 / 60)]:
            for sign in (1, -1):
                moved = start.copy()
                moved[cell, j] += sign * distance * step
                right[:, :, cell, j] += sign * weight / step * residual(moved)
    assert np.abs(found - right).max() < 1e-8 * np.abs(found).max()


def test_arrays_that_do_not_fit_are_refused():
    case = problem("3D", "upwind")
    wrong = {
        "kind": np.zeros((3, 3, 3), np.uint8),
        "low": (1, 1, 9),
        "old": np.zeros((4, 3, 5, 3)),
        "reaction": np.zeros((4, 3, 4, 2)),
        "flux_x": np.zeros((4, 3, 5)),
        "conductance_z": np.zeros((4, 3, 5)),
        "scheme": "quick",
        "inverse_scale": np.ones(3),
        "balance": np.zeros(4),
        "balanced": 3,
        "out": np.zeros((5, 3, 5, 2)),
        "totals": np.zeros((6, 5, 7, 17)),
    }
    for key, value in wrong.items():
        with pytest.raises(ValueError, match=r"shape|scheme|component|lies in|ghost cells"):
            case.residual(**{key: value})
    with pytest.raises(ValueError, match="lies in"):
        case.residual(low=(-1, 1, 1))
    with pytest.raises(ValueError, match="as many as the scheme reads"):
        case.residual(scheme="limited")
    wide = problem("3D", "limited")
    for low in [(1, 2, 2), (3, 2, 2)]:
        with pytest.raises(ValueError, match="as many as the scheme reads"):
            wide.residual(low=low)
    with pytest.raises(TypeError):
        case.residual(totals=case.totals.astype(np.float32))
    blocks = np.zeros((*case.kind.shape, 2, 2)), np.zeros((*case.owned, 2, 2))
    for begin, end in [(-1, 2), (3, 2), (0, 5)]:
        with pytest.raises(ValueError, match="planes"):
            case.jacobian(*blocks, begin, end)
    with pytest.raises(ValueError, match="columns has the shape"):
        case.jacobian(*blocks, columns=np.zeros((60, 13), np.int32))
    with pytest.raises(ValueError, match="values has the shape"):
        case.jacobian(*blocks, values=np.zeros((60, 2, 13, 2)))
