"""What elastic waves must do: converge with the order of the scheme, keep their energy, be reciprocal."""

import numpy as np
import pytest
from elastic_media import attenuating_wave, medium_at, rough, wave_in
from support import FULL, ricker

from fathometer.seismic.elastic.closure import norms
from fathometer.seismic.elastic.field_points import FieldPoints
from fathometer.seismic.elastic.fields import BY_NAME, fields_of
from fathometer.seismic.waves.points import sinc_points


def plane_wave_error(cells, kind):
    """Of a wave across all three axes of a cube with four wavelengths along its diagonal, in its middle, which the
    sides do not reach in the time that it takes; the time step falls as the square of the spacing."""
    length, vp, vs, density = 1000.0, 3000.0, 1700.0, 2000.0
    h = length / cells
    shape = (cells, cells, cells)
    full = [np.full(shape, value) for value in (vp, vs, density)]
    wave = wave_in(*full, (h, h, h), share=0.9 * 16 / cells)
    dt = wave.scheme.dt
    direction = np.array([2.0, 1.0, -1.5]) / np.linalg.norm([2.0, 1.0, -1.5])
    if kind == "P":
        speed, motion = vp, direction
    else:
        speed, motion = vs, np.cross(direction, [0.0, 0.0, 1.0])
        motion /= np.linalg.norm(motion)
    k = 2 * np.pi / 400.0
    lame, mu = density * (vp**2 - 2 * vs**2), density * vs**2
    strain = -(np.outer(motion, direction) + np.outer(direction, motion)) / (2 * speed)
    stress = lame * np.trace(strain) * np.eye(3) + 2 * mu * strain

    def exact(name, time):
        at = np.indices(shape) + np.array(BY_NAME[name].offset)[:, None, None, None]
        phase = k * (np.tensordot(direction, at * h, 1) - speed * time)
        a = ["xyz".index(axis) for axis in name[1:]]
        return (motion[a[0]] if len(a) == 1 else stress[a[0], a[1]]) * np.cos(phase)

    for field in fields_of(False):
        wave.field(field.name)[...] = exact(field.name, -dt / 2 if field.stage == 0 else 0.0)
    steps = round(cells**2 / 32)
    wave.advance(steps)
    time, inside = steps * dt, (slice(cells * 3 // 8, -cells * 3 // 8),) * 3
    error = wave.field("vx") - exact("vx", time - dt / 2)
    reached = vp * time
    assert reached < 0.3 * length
    return np.sqrt(np.mean(error[inside] ** 2))


def order(kind):
    """Measured between 24 and 48 cells."""
    return np.log2(plane_wave_error(24, kind) / plane_wave_error(48, kind))


@pytest.mark.parametrize("kind", ["P", "S"])
def test_plane_waves_converge_with_order_4(kind):
    assert order(kind) >= 3.7


def weights(name, shape, free_surface):
    norm = norms(BY_NAME[name].offset[2] > 0, shape[2]) if free_surface else np.ones(shape[2])
    return norm[None, None, :]


@pytest.mark.verify
@pytest.mark.parametrize("free_surface", [False, True])
@pytest.mark.parametrize("shape", [(20, 1, 24), (14, 13, 16)])
def test_energy_is_kept(shape, free_surface):
    """Kinetic energy is a product of velocities before and after a stress: with it, it is the same in all steps."""
    vp, vs, density = rough(shape)
    wave = wave_in(vp, vs, density, (10.0, 10.0, 10.0), share=0.95, free_surface=free_surface)
    medium = medium_at(vp, vs, density, 1.0, np.float64)
    random = np.random.default_rng(0)
    names = [field.name for field in fields_of(shape[1] == 1)]
    for name in names:
        wave.field(name)[...] = random.standard_normal(shape) * (1.0 if name[0] == "v" else 2e6)
    if free_surface:
        wave.field("szz")[:, :, 0] = 0
    for name in names:  # a fluid bears no shear
        if name[0] == "s" and name[1] == name[2]:
            wave.field(name)[vs == 0] = wave.field("szz")[vs == 0]
        elif name[0] == "s":
            wave.field(name)[medium.shear[name][:, :, : shape[2]] == 0] = 0

    def total(before):
        kinetic = sum(
            (weights(v, shape, free_surface) * before[v] * wave.field(v) / b[:, :, : shape[2]]).sum()
            for v, b in medium.buoyancy.items()
        )
        return kinetic + elastic(before)

    def elastic(stress):
        normal = [name for name in names if name[0] == "s" and name[1] == name[2]]
        p, lame = (a[:, :, : shape[2]] for a in (medium.p_modulus, medium.lame))
        mu = (p - lame) / 2
        axes = len(normal)
        trace = sum(stress[name] for name in normal)
        with np.errstate(divide="ignore", invalid="ignore"):
            density = sum(np.where(mu > 0, (stress[n] - trace / axes) ** 2 / (2 * mu), 0.0) for n in normal)
            density = density + trace**2 / (axes * (axes * lame + 2 * mu))
            out = (weights("sxx", shape, free_surface) * density).sum()
            for name, m in medium.shear.items():
                m = m[:, :, : shape[2]]
                out += (weights(name, shape, free_surface) * np.where(m > 0, stress[name] ** 2 / m, 0.0)).sum()
        return out

    totals = []
    for _ in range(40 if not FULL else 20_000):
        before = {name: wave.field(name).copy() for name in names}
        wave.advance(1)
        totals.append(total(before))
    assert np.ptp(totals[1:]) <= 1e-11 * totals[1]


@pytest.mark.parametrize("free_surface", [False, True])
@pytest.mark.parametrize("shape", [(20, 1, 24), (14, 13, 16)])
@pytest.mark.parametrize("same", [True, False])
def test_attenuation_lets_nothing_grow(shape, free_surface, same):
    """Noise, at the limit of the time step; the lowest Q there is, where compression alone loses nothing; one medium,
    and random cells with fluids."""
    random = np.random.default_rng(4)
    vp, vs, density = np.full((3, *shape), [[[[2000.0]]], [[[1150.0]]], [[[2200.0]]]]) if same else rough(shape)
    qs = np.full(shape, 5.0) if same else np.exp(random.uniform(np.log(5), np.log(100), shape))
    solid = vs > 0
    qp = np.full(shape, 5.0)
    qp[solid] = np.maximum(5.0, 0.7499 * (vp[solid] / vs[solid]) ** 2 * qs[solid])
    wave = attenuating_wave(vp, vs, density, qp, qs, (10.0, 10.0, 10.0), 30.0, 0.999, free_surface)
    names = [field.name for field in fields_of(shape[1] == 1) if field.stage == 0]
    for name in names:
        wave.field(name)[...] = random.standard_normal(shape)
    sizes = []
    for _ in range(6):
        wave.advance(500 if not FULL else 4000)
        sizes.append(np.sqrt(sum(np.mean(wave.field(name) ** 2) for name in names)))
    assert sizes[0] < 1
    assert max(sizes[3:]) < max(sizes[:3])  # by halves, since strain and motion take turns
    if same:  # in fluids turning motion stays
        assert max(sizes[3:]) < 0.5 * max(sizes[:3])


@pytest.mark.parametrize("shape", [(40, 1, 36), (24, 22, 26)])
def test_reciprocity(shape):
    """Force and receiver change places, one of them next to the free surface, both between cells."""
    vp, vs, density = rough(shape)
    n = np.array(shape)
    near, far = (
        np.array([0.3 * n[0] + 0.4, 0.6 * n[1], 1.0]),
        np.array([0.6 * n[0], 0.4 * n[1] + 0.3, 0.6 * n[2] + 0.2]),
    )
    if shape[1] == 1:
        near[1] = far[1] = 0.0

    def at(place, name):
        cells = place - np.array(BY_NAME[name].offset)
        if place is near:
            cells[2] = 1.0
        return FieldPoints(name, sinc_points(cells[None]), np.zeros(1, np.int64), np.ones(1))

    def trace(source, receiver):
        wave = wave_in(vp, vs, density, (10.0, 11.0, 9.0), free_surface=True)
        steps = 150
        wavelet = ricker(np.arange(steps) * wave.scheme.dt - 0.05, 20.0)[:, None]
        recorded = np.zeros((steps, 1))
        wave.advance(steps, wave.injectors([at(*source)]), wavelet, wave.samplers([at(*receiver)]), recorded)
        return recorded[:, 0]

    for one, other in (("vx", "vz"), ("vz", "vz"), ("vz", "vx")):
        there, back = trace((near, one), (far, other)), trace((far, other), (near, one))
        assert np.abs(there - back).max() <= 1e-10 * np.abs(there).max() > 0
