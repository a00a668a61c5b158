"""Absorbing layers: what comes back from them, and that nothing grows in them."""

import numpy as np
import pytest
from elastic_media import rough, wave_in
from support import FULL, ricker

from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import fields_of
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


@pytest.mark.parametrize(
    ("kind", "free_surface", "most"), [("rock", False, 0.01), ("rock", True, 0.01), ("soft", True, 0.07)]
)
def test_little_comes_back(kind, free_surface, most):
    cells = (70, 60)
    small, large = traces(cells, 0, free_surface, kind), traces(cells, 150, free_surface, kind)
    assert (np.abs(small - large).max(axis=0) <= most * np.abs(large).max()).all()


@pytest.mark.verify
@pytest.mark.parametrize(("shape", "free_surface"), [((90, 1, 80), True), ((90, 1, 80), False), ((40, 38, 36), True)])
def test_nothing_grows(shape, free_surface):
    """In a medium that differs from cell to cell, with fluid in it, continued into the layers: C-PML alone grows."""
    if shape[1] > 1 and not FULL:
        pytest.skip("full size only (make verify)")
    inner = [np.clip(np.arange(n), 12, n - 13) if n > 1 else np.arange(1) for n in shape]
    if free_surface:
        inner[2] = np.minimum(np.arange(shape[2]), shape[2] - 13)
    vp, vs, density = (values[np.ix_(*inner)] for values in rough(shape, seed=1))
    wave = wave_in(vp, vs, density, SPACING, share=0.95, width=WIDTH, free_surface=free_surface, dtype=np.float32)
    for field in fields_of(shape[1] == 1):
        if field.stage == 0:
            x, y, z = (i - n / 2 for i, n in zip(np.indices(shape), shape, strict=True))
            wave.field(field.name)[...] = np.exp(-(x**2 + (y**2 if shape[1] > 1 else 0) + z**2) / 8)

    def energy():
        return float(
            np.sum(
                [density * np.square(wave.field(f.name), dtype=float) for f in fields_of(shape[1] == 1) if f.stage == 0]
            )
        )

    first = energy()
    wave.advance(20_000 if FULL else 3000)
    assert energy() < 0.5 * first
