"""Wavenumber integration against closed forms, and against what must hold of layers."""

import numpy as np
import pytest
from attenuated_plane_wave import complex_velocity
from elastic_full_space import Solid, double_couple, force_motion, line_source, moment_motion, moment_stress
from lamb_support import garvin, lamb, lamb_line
from layered_kernels import Layer
from loh1_oracle import ATTENUATED, RECEIVER, loh1
from source_functions import Bell, ricker, smooth_step
from wavenumber_integration import seismograms

SOLID = Solid(6000.0, 3464.0, 2700.0)
HALF = Layer(500.0, 6000.0, 3464.0, 2700.0)
T = np.linspace(0, 1, 101)
STEP = smooth_step(0.2, 0.02)
TENSOR = double_couple(30, 40, 70, 1e15)
TENSOR[0, 0] += 3e14
FORCE = np.array([1.0, -2.0, 0.5])
STACK = [Layer(300, 2500, 1200, 2000, 40, 20), Layer(500, 4000, 2300, 2500, 80, 50), Layer(0, 5500, 3100, 2600)]
WATER = [Layer(400, 1500, 0, 1000), *STACK[1:]]


def error(found, expected):
    return abs(found - expected).max() / abs(expected).max()


def test_full_space():
    source, receivers = np.array([100.0, -200, 900]), np.array([[1300.0, 500, 500], [2100, -1200, 900], [0, 900, 2000]])
    found = seismograms([HALF, HALF], source, receivers, T, STEP, 40, moment=TENSOR, free_surface=False)
    expected = moment_motion(SOLID, TENSOR, STEP, source, receivers, T, 1)
    for one, other in zip(found, expected, strict=True):
        assert error(one, other) < 1e-4
    keys = {"moment": TENSOR, "free_surface": False, "pressure": True}
    found = seismograms([HALF], source, receivers, T, STEP, 55, **keys)
    expected = -np.einsum("niit->nt", moment_stress(SOLID, TENSOR, STEP, source, receivers, T, 1)) / 3
    assert error(found, expected) < 1e-4
    found = seismograms([HALF], source, receivers, T, STEP, 40, force=FORCE, free_surface=False, order=0)
    assert error(found, force_motion(SOLID, FORCE, STEP, source, receivers, T)) < 1e-4


def test_lamb():
    vertical, radial, along, across = lamb(SOLID, STEP, 1000.0, T)
    zz = seismograms([HALF], np.zeros(3), [[600.0, 800, 0]], T, STEP, 40, force=[0, 0, 1], order=0)[0]
    assert error(zz, np.array([0.6 * radial, 0.8 * radial, vertical])) < 1e-4
    x = seismograms([HALF, HALF], np.zeros(3), [[600.0, 800, 0]], T, STEP, 40, force=[1, 0, 0], order=0)[0]
    assert error(x, np.array([0.36 * along + 0.64 * across, 0.48 * (along - across), -0.6 * radial])) < 1e-4


def test_two_dimensions():
    found = seismograms([HALF], [0, 0, 300], [[1000, 0, 0]], T, STEP, 40, moment=np.eye(3), order=0, line=True)[0]
    assert error(found[::2], garvin(SOLID, STEP, 300, 1000, T)) < 1e-4
    receiver, keys = np.array([[400.0, 0, 800]]), {"moment": np.diag([1.0, 0, 2]), "line": True}
    found = seismograms([HALF], [0, 0, 300], receiver, T, STEP, 55, free_surface=False, pressure=True, **keys)
    stress = line_source(
        lambda at, t: moment_stress(SOLID, keys["moment"], STEP, np.array([0, 0, 300]), at, t, 1),
        SOLID.vp,
        np.array([0, 0, 300]),
        receiver,
        T,
    )
    assert error(found, -(stress[:, 0, 0] + stress[:, 2, 2]) / 2) < 1e-4
    found = seismograms([HALF], np.zeros(3), [[1000, 0, 0]], T, STEP, 40, force=[0, 0, 1], line=True)[0]
    assert error(found[::-2], lamb_line(SOLID, STEP, 1000, T, 1)[:2]) < 1e-4
    found = seismograms([HALF], np.zeros(3), [[-1000, 0, 0]], T, STEP, 40, force=[1, 0, 0], line=True)[0]
    expected = lamb_line(SOLID, STEP, 1000, T, 1)
    assert error(found[::2], expected[[2, 1]]) < 1e-4


@pytest.mark.parametrize("stack", [STACK, WATER])
def test_reciprocity_through_layers(stack):
    upper, lower = np.array([0.0, 0, 150]), np.array([700.0, -400, 1100])
    wavelet, directions = Bell(0.3, 0.03), ([2] if stack is WATER else [0, 1, 2])
    there = [seismograms(stack, upper, lower, T, wavelet, 28, force=np.eye(3)[i], order=0)[0] for i in directions]
    back = [seismograms(stack, lower, upper, T, wavelet, 28, force=np.eye(3)[i], order=0)[0] for i in range(3)]
    assert error(np.array(there), np.array(back)[:, directions].swapaxes(0, 1)) < 1e-4


def test_a_moment_is_a_couple_of_forces_and_an_invisible_interface_changes_nothing():
    source, receiver, near = np.array([0.0, 0, 500]), np.array([[700.0, -400, 1200]]), 1.0
    wavelet = Bell(0.4, 0.05)
    found = seismograms(STACK, source, receiver, T, wavelet, 17, moment=TENSOR, order=0)
    couple = 0
    for axis in range(3):
        for side in (-1, 1):
            at, force = source + side * near * np.eye(3)[axis], side * TENSOR[:, axis] / (2 * near)
            couple = couple + seismograms(STACK, at, receiver, T, wavelet, 17, force=force, order=0)
    assert error(found, couple) < 1e-3
    first, second, last = STACK
    sliced = [first, Layer(120, *list(vars(second).values())[1:]), Layer(380, *list(vars(second).values())[1:]), last]
    assert error(seismograms(sliced, source, receiver, T, wavelet, 17, moment=TENSOR, order=0), found) < 1e-6


def test_an_explosion_in_water_has_its_image():
    water, t = Layer(0, 1500.0, 0.0, 1000.0), np.linspace(0, 1.5, 151)
    receiver, f = np.array([600.0, 0, 500]), ricker(10, 0.3)
    found = seismograms([water], [0, 0, 200], receiver, t, f, 40, moment=np.eye(3), order=0)[0]
    expected = 0
    for depth, sign in ((200, 1), (-200, -1)):
        x = receiver - [0, 0, depth]
        r = np.linalg.norm(x)
        pulse = f(t - r / 1500) / r**2 + f(t - r / 1500, 1) / (1500 * r)
        expected = expected + sign * x[:, None] / r * pulse / (4 * np.pi * 1000 * 1500**2)
    assert error(found, expected) < 1e-4
    pressure = seismograms([water], [0, 0, 200], receiver, t, f, 40, moment=np.eye(3), order=0, pressure=True)[0]
    direct = [f(t - r / 1500, 2) / (4 * np.pi * 1500**2 * r) for r in (np.hypot(600, 300), np.hypot(600, 700))]
    assert error(pressure, direct[0] - direct[1]) < 1e-4
    deep = [Layer(400, 1500.0, 0.0, 1000.0), water]
    again = seismograms(deep, [0, 0, 200], receiver, t, f, 40, moment=np.eye(3), order=0)[0]
    assert error(again, found) < 1e-6


def test_water_is_a_solid_without_shear():
    t, f = np.linspace(0, 1.5, 151), ricker(6, 0.3)
    soft = [Layer(400, 1500, 5.0, 1000, np.inf, 5), *STACK[1:]]  # the error is in proportion to vs
    keys = {"moment": np.eye(3), "slowest": 1000}
    expected = seismograms(WATER, [0, 0, 200], [[600, 0, 900]], t, f, 20, **keys)
    assert error(seismograms(soft, [0, 0, 200], [[600, 0, 900]], t, f, 20, **keys), expected) < 0.005


def test_attenuation_is_that_of_a_spherical_wave():
    lossy, r = Layer(0, 6000.0, 3464.0, 2700.0, 30, 20), 1500.0
    found = seismograms([lossy], np.zeros(3), [[r, 0, 0]], T, Bell(0.3, 0.02), 45, moment=np.eye(3), order=0,
                        free_surface=False, reference=2.0)[0, 0]  # fmt: skip
    w = 2 * np.pi * np.arange(1, 400) / 8.0
    c = complex_velocity(6000.0, 30, w, 2.0)
    wave = (
        (1j * w / c / r + 1 / r**2) / (4 * np.pi * 2700 * c**2) * np.exp(-1j * w * r / c) * Bell(0.3, 0.02).spectrum(w)
    )
    expected = 2 / 8.0 * (np.exp(1j * np.outer(T, w)) @ wave).real
    assert error(found - found[0], expected - expected[0]) < 1e-4


def test_loh1_at_its_receiver():
    """Symmetric about the fault's plane, quiet before the head wave, without aliases; LOH.3 is later and weaker."""
    t = np.linspace(0, 9, 226)
    mirrored = (RECEIVER, (RECEIVER[1], RECEIVER[0], 0.0), (RECEIVER[0], -RECEIVER[1], 0.0))
    found = loh1(t, 0.2, mirrored)
    assert error(found[1], found[0][[1, 0, 2]]) < 1e-9
    assert error(found[2], np.array([[-1], [1], [-1]]) * found[0]) < 1e-9
    assert abs(found[0][:, t < 1e4 / 6000 - 0.9]).max() < 1e-4 * abs(found).max()
    assert error(loh1(t, 0.2, period=17)[0], found[0]) < 1e-4
    lossy = loh1(t, 0.2, layers=ATTENUATED)[0]
    assert (abs(lossy).max(1) < 0.95 * abs(found[0]).max(1)).all()
