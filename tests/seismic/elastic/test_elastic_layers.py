"""Absorbing layers: what comes back from them, and that nothing grows in them."""

import numpy as np
import pytest
from elastic_media import beds, cells, rough, seafloor, share_in, wave_in
from support import FULL, ricker

from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import fields_of
from fathometer.seismic.elastic.layers import multiaxial_share
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.points import sinc_points

SPACING = (10.0, 10.0, 10.0)
WIDTH = 10
MEDIA = {"rock": (3000.0, 1750.0, 2200.0), "soft": (2400.0, 800.0, 2000.0)}  # vp, vs, density


def traces(cells, extra, free_surface, kind):
    """Of a force, at some receivers; extra: cells more on each side that absorbs."""
    nx, nz = cells[0] + 2 * extra, cells[1] + (1 if free_surface else 2) * extra
    shape, top = (nx, 1, nz), 0 if free_surface else extra
    full = [
        np.full(shape, value) for value in {"rock": (3000.0, 1750.0, 2200.0), "soft": (2400.0, 800.0, 2000.0)}[kind]
    ]
    wave = wave_in(*full, SPACING, width=WIDTH, free_surface=free_surface)

    def points(places):
        at = np.array([[x + extra, 0, z + top] for x, z in places], float)
        return [FieldPoints("vz", sinc_points(at), np.arange(len(at)), np.ones(len(at)))]

    steps = 500
    frequency = MEDIA[kind][1] / 90  # nine cells a wavelength
    wavelet = ricker(np.arange(steps) * wave.scheme.dt - 1.2 / frequency, frequency)[:, None]
    edge = WIDTH + 1
    receivers = wave.samplers(points([(cells[0] - 1 - edge, 12), (edge, cells[1] - 1 - edge), (edge, cells[1] // 3)]))
    recorded = np.zeros((steps, 3))
    wave.advance(steps, wave.injectors(points([(cells[0] // 2, 20)])), wavelet, receivers, recorded)
    return recorded


@pytest.mark.parametrize(("kind", "free_surface"), [("rock", False), ("rock", True), ("soft", True)])
def test_little_comes_back(kind, free_surface):
    size = (70, 60)
    small, large = traces(size, 0, free_surface, kind), traces(size, 150, free_surface, kind)
    assert (np.abs(small - large).max(axis=0) <= 0.005 * np.abs(large).max()).all()


def grown(medium, shape, free_surface, steps, width=WIDTH, **keys):
    """Energy of motion after the steps over that at first, largest and last; the medium is continued into the layers.

    keys: of wave_in."""
    edge = width + 2
    inner = [np.clip(np.arange(n), edge, n - edge - 1) if n > 1 else np.arange(1) for n in shape]
    if free_surface:
        inner[2] = np.minimum(np.arange(shape[2]), shape[2] - edge - 1)
    vp, vs, density = (values[np.ix_(*inner)] for values in medium)
    wave = wave_in(
        vp, vs, density, SPACING, share=0.95, width=width, free_surface=free_surface, dtype=np.float32, **keys
    )
    motion = [field.name for field in fields_of(shape[1] == 1) if field.stage == 0]
    middle = [np.exp(-((np.arange(n) - n / 2) ** 2) / 8) if n > 1 else np.ones(1) for n in shape]
    for name in motion:
        wave.field(name)[...] = np.einsum("i,j,k", *middle)
    found = []
    for _ in range(9):
        found.append(sum(float(np.sum(density * np.square(wave.field(name), dtype=float))) for name in motion))
        wave.advance(steps // 8)
    return max(found[1:]) / found[0], found[-1] / found[0]


FLAT, DEEP = (60, 1, 50), (40, 38, 36)


@pytest.mark.verify
@pytest.mark.parametrize("free_surface", [True, False])
@pytest.mark.parametrize(
    ("name", "medium"),
    [
        ("rough", lambda shape, seed: rough(shape, seed)),
        *((f"beds {c}", lambda shape, seed, c=c: beds(shape, seed, c)) for c in (1.2, 1.7, 2.5, 5, 9)),
        *((f"cells {c}", lambda shape, seed, c=c: cells(shape, seed, c)) for c in (1.2, 1.7, 2.5, 5, 9)),
        *((f"sea {c}", lambda shape, seed, c=c: seafloor(shape, seed, c)) for c in (1.7, 5)),
    ],
)
def test_nothing_grows(name, medium, free_surface):
    """With the share of the damping that such a model gets."""
    for seed in range(6 if FULL else 1):
        largest, last = grown(medium(FLAT, seed), FLAT, free_surface, 24_000 if FULL else 4000)
        assert largest < 0.5
        assert last < 0.05


WIDER = (130, 1, 120)


@pytest.mark.verify
@pytest.mark.parametrize("free_surface", [True, False])
@pytest.mark.parametrize(
    ("name", "medium"),
    [
        ("rough", rough),
        ("beds", lambda shape, seed: beds(shape, seed, 5)),
        ("cells", lambda shape, seed: cells(shape, seed, 2.5)),
        ("sea", lambda shape, seed: seafloor(shape, seed, 5)),
    ],
)
def test_nothing_grows_in_wide_layers(name, medium, free_surface):
    """Of as many cells as fine grids get, where each damps less."""
    for seed in range(3 if FULL else 1):
        largest, last = grown(medium(WIDER, seed), WIDER, free_surface, 24_000 if FULL else 4000, width=45)
        assert largest < 0.5
        assert last < 0.05


@pytest.mark.verify
@pytest.mark.skipif(not FULL, reason="full size only (make verify)")
@pytest.mark.parametrize("medium", [rough(DEEP, 1), beds(DEEP, 1, 5), beds(DEEP, 2, 1.7), seafloor(DEEP, 3, 5)])
def test_nothing_grows_in_three_dimensions(medium):
    largest, last = grown(medium, DEEP, True, 20_000)
    assert largest < 0.5
    assert last < 0.05


def test_layers_alone_let_waves_grow():
    """Without that share: what the other tests would see."""
    assert grown(rough(FLAT, 1), FLAT, True, 4000, boundary=MultiaxialPml(WIDTH, multiaxial=0.0))[0] > 1e3


def test_the_share_follows_the_model():
    assert multiaxial_share(1.0, 0) == 0
    assert 0 < multiaxial_share(1.7, 0) < 0.01
    assert multiaxial_share(8.0, 0) == pytest.approx(0.031, abs=1e-3)
    assert multiaxial_share(1.2, 1e-4) == multiaxial_share(1.0, 1e-2) == 0.03
    assert multiaxial_share(8.0, 0.04) == pytest.approx(0.08)
    assert multiaxial_share(1e9, 0.5) == 0.15


def test_wide_layers_beside_beds_have_a_larger_share():
    """In proportion to the changes in their width: as many where cells are half as large and layers as wide in
    metres."""
    assert multiaxial_share(1.7, 0, 0.1, 10) == multiaxial_share(1.7, 0)
    assert multiaxial_share(1.7, 0, 0.1, 30) == pytest.approx(0.085)
    assert multiaxial_share(1.7, 0, 0.05, 50) == pytest.approx(0.085)
    assert multiaxial_share(1.7, 0, 1.0, 100) == 0.3


def test_wide_layers_with_the_share_of_narrow_ones_let_waves_grow():
    medium = beds(WIDER, 1, 5)
    share = share_in(medium[0], medium[1], WIDTH, True)
    assert grown(medium, WIDER, True, 4000, width=45, boundary=MultiaxialPml(45, multiaxial=share))[1] > 1e2
    assert grown(medium, WIDER, True, 4000, width=45)[1] < 0.05
