"""Time steps on a graphics card, or on what stands for one, have the bits of the processors' ones."""

import ctypes
import itertools

import numpy as np
import pytest
from card_support import FOLDER
from support import Medium, heterogeneous, ricker

from fathometer.base.errors import NotFiniteError
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.waves.boundary import Pml, Sponge
from fathometer.seismic.waves.card_memory import card_wavefield_bytes
from fathometer.seismic.waves.cone import ActiveRows
from fathometer.seismic.waves.propagator import Correlation

SPACING, STEPS, IMAGES = 10.0, 18, 3
SHAPES = {"2D": (40, 1, 37), "3D": (11, 10, 21)}
SIDES = {"pml": Pml(6), "sponge": Sponge(6), "none": Pml(0)}


def full_shape(shape, boundary, free):
    x, y, z = (n if n == 1 else n + 2 * boundary.width for n in shape)
    return x, y, z - boundary.width * free


def media(shape, boundary, vti=True, free_surface=False, **more):
    """The same on the processors and on the card."""
    vp, epsilon, delta = heterogeneous(full_shape(shape, boundary, free_surface), 7)
    keys = more | {"boundary": boundary, "free_surface": free_surface}
    for card in (False, True):
        yield Medium(shape, SPACING, vp, *((epsilon, delta) if vti else ()), card=card, **keys)


def points(shape):
    """Sources, two in a cell and one on a cell; receivers on a cell, between cells, and several in a cell."""
    far = SPACING * (np.array(shape) - 1)
    between = np.array([1.3, 0 if shape[1] == 1 else 2.2, 3.1])
    middle = np.floor(far / 2 / SPACING) * SPACING
    sources = np.array([middle, middle + between, middle + 1.3 * between])
    receivers = [
        middle,
        middle - between,
        middle + 2.1 * between,
        middle - 1.1 * between,
        [far[0] - 41.7, middle[1], 45],
    ]
    return sources, np.array(receivers)


def same(one, other):
    """Names of what differs."""
    assert one.keys() == other.keys()
    assert all(np.abs(values).max() > 0 for values in one.values())
    assert all(np.isfinite(values).all() for values in one.values())
    return [name for name in one if one[name].tobytes() != other[name].tobytes()] == []


def fields(p, name):
    now, before = p.fields()
    levels = {"now": now, "before": before}
    return {f"{name} {level}, {n}": f.copy() for level, some in levels.items() for n, f in enumerate(some)}


def everything(medium, shape, active=None):
    """What a propagation leaves in every place where it leaves something."""
    p, dtype = medium.propagator, medium.propagator.scheme.dtype
    sources, receivers = points(shape)
    series = np.random.default_rng(3).standard_normal((STEPS, len(sources)))
    left = {"traces": medium.run(sources, receivers, series, active)} | fields(p, "after a run")
    image, illumination = np.zeros((2, *p.image_shape), dtype)
    snapshots = [np.zeros(p.image_shape, dtype) for _ in range(IMAGES)]
    others = np.random.default_rng(4).standard_normal((IMAGES, *p.image_shape)).astype(dtype)
    correlations = [Correlation(other, image, illumination) for other in others]
    p.advance(3 * IMAGES, snapshots=[snapshots[0], None, snapshots[2]], correlations=correlations)
    p.settle()
    p.advance(IMAGES, correlations=correlations)  # goes on with what the host has
    pressure = np.zeros(p.image_shape, dtype)
    p.pressure(pressure)
    p.correlate(correlations[0])
    p.settle()
    left |= {"image": image, "illumination": illumination, "first snapshot": snapshots[0], "last": snapshots[2]}
    assert not snapshots[1].any()
    state = p.save()
    p.advance(3)
    left |= fields(p, "further")
    p.restore(state)
    p.advance(3)
    again = fields(p, "further")
    assert all(left[name].tobytes() == values.tobytes() for name, values in again.items())
    return left | {"pressure": pressure}


@pytest.mark.parametrize("free", [False, True], ids=["absorbing", "free surface"])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("vti", [False, True], ids=["isotropic", "vti"])
@pytest.mark.parametrize("flat", SHAPES)
def test_the_same_bits(card, flat, vti, side, free):
    shape = SHAPES[flat]
    both = media(shape, SIDES[side], vti=vti, free_surface=free, dtype=np.float32)
    assert same(*(everything(medium, shape) for medium in both))


@pytest.mark.parametrize("flat", SHAPES)
def test_the_same_bits_of_any_reach_and_precision(card, flat):
    shape = SHAPES[flat]
    some = [(1, np.float32), (2, np.float64), (4, np.float64)]
    few = card.parent.name.startswith(FOLDER)
    for reach, dtype in some if few else itertools.product(range(1, 9), (np.float32, np.float64)):
        both = media(shape, Pml(5), vti=bool(reach % 2), order=2 * reach, dtype=dtype)
        assert same(*(everything(medium, shape) for medium in both)), (reach, dtype)


@pytest.mark.parametrize("shape", [(2, 1, 2), (3, 2, 70), (70, 3, 2), (2, 40, 3)])
def test_the_same_bits_where_sides_overlap_and_tiles_are_cut(card, shape):
    """Grids that are thinner than a layer, and longer than a tile."""
    left = []
    for medium in media(shape, Pml(4), dtype=np.float32):
        p = medium.propagator
        state = p.save()
        rng = np.random.default_rng(1)
        for array in state.arrays[:4]:
            array[...] = rng.standard_normal(array.shape)
        p.restore(state)
        p.advance(7)
        left.append(fields(p, "noise"))
    assert same(*left)


@pytest.mark.parametrize("flat", SHAPES)
def test_rows_that_are_left_out(card, flat):
    shape = SHAPES[flat]
    full = full_shape(shape, Pml(5), True)
    rng = np.random.default_rng(3)
    first = rng.integers(-STEPS // 2, STEPS // 3, full[:2])
    last = first + rng.integers(0, 2 * STEPS, full[:2])
    rows = ActiveRows(*(np.clip(end, 0, STEPS + 30).astype(np.int32) for end in (first, last)))
    left = [everything(medium, shape, rows) for medium in media(shape, Pml(5), free_surface=True, dtype=np.float32)]
    assert same(*left)
    all_rows = everything(next(media(shape, Pml(5), free_surface=True, dtype=np.float32)), shape)
    assert all_rows["traces"].tobytes() != left[0]["traces"].tobytes()


def test_a_number_that_is_not_finite_is_found_at_the_same_place(card):
    said = []
    for medium in media((20, 6, 18), Pml(4), dtype=np.float32):
        p = medium.propagator
        source = p.injectors(medium.points([[70.0, 30.0, 90.0]]))
        series = np.zeros((3, 1), np.float32)
        series[1] = np.nan
        p.advance(3, source, series)
        with pytest.raises(NotFiniteError) as caught:
            p.check("shot 1")
        said.append(str(caught.value))
        p.reset()
        p.check("shot 1")
    assert said[0] == said[1]
    assert said[0].startswith("shot 1")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("flat", "vti"), [("2D", False), ("3D", True)])
def test_memory_is_foreseen(card, flat, vti, free, dtype):
    """To the byte."""
    shape = SHAPES[flat]
    _, medium = media(shape, Pml(6), vti=vti, free_surface=free, dtype=dtype)
    p = medium.propagator
    block = Decomposition(medium.grid.full_shape)
    parts = card_wavefield_bytes(p.physics, block, 4, True, Pml(6), medium.grid, np.dtype(dtype))
    fields_and_model = parts["wavefields"] + parts["model"]
    assert call_memory(p) == fields_and_model
    layers = sum(p.wave.memory_bytes(number) for number in range(p.wave.memories))
    assert layers == parts["absorbing layers"] > 0


def call_memory(p):
    """Of a wavefield without layers, from the library."""
    from fathometer.seismic.waves import card_library

    shape = card_library.Shape(radius=p.radius, has_y=not p.grid.two_dimensional, fields=p.physics.fields)
    shape.depth, shape.n = p.halo_depth, card_library.longs(p.block.local_shape)
    return card_library.library().wave_memory(p.itemsize, ctypes.byref(shape))


def test_a_reach_that_was_not_compiled_is_an_error(emulated):
    from fathometer.seismic.waves.card_library import CardError

    with pytest.raises(CardError, match=r"no kernels of the card for a stencil's reach of 8"):
        list(media((20, 1, 20), Pml(4), order=16, dtype=np.float32))


def test_what_was_taken_of_the_card_is_given_back(emulated):
    from fathometer.seismic.waves.card_library import free_bytes

    before = free_bytes(0)
    _, medium = media((20, 1, 20), Pml(4), dtype=np.float32)
    medium.run(*points((20, 1, 20)), ricker(np.linspace(-0.1, 0.1, 20)[:, None] * [1, 1, 1], 20.0))
    assert free_bytes(0) < before
    medium.propagator.close()
    del medium
    assert free_bytes(0) == before
