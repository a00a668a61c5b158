"""The demo's model: its ranges, its fault, its smooth version, its reflectivity."""

import numpy as np
import pytest

from fathometer.seismic.model.synthetic import BASEMENT, SALT, WATER, DemoModel, demo_model, reflectivity, smooth

SHAPES = [
    pytest.param((121, 61, 81), (25.0, 25.0, 25.0), id="3D"),
    pytest.param((401, 1, 161), (12.5, 12.5, 12.5), id="2D"),
    pytest.param((40, 13, 30), (30.0, 50.0, 40.0), id="uneven cells"),
    pytest.param((7, 1, 10), (100.0, 100.0, 100.0), id="tiny"),
]


@pytest.mark.parametrize(("shape", "spacing"), SHAPES)
@pytest.mark.parametrize("radius", [0.0, 80.0, 300.0])
def test_model_is_valid(shape, spacing, radius):
    model = smooth(demo_model(shape, spacing), radius)
    for values in (model.vp, model.epsilon, model.delta):
        assert values.shape == shape
        assert values.dtype == np.float32
        assert np.all(np.isfinite(values))
    assert model.vp.min() >= WATER
    assert model.vp.max() <= BASEMENT
    assert np.all(model.epsilon >= model.delta)
    assert model.delta.min() >= 0.0
    assert model.epsilon.max() <= np.float32(0.2)
    # Water is exactly water, on top, in every column.
    assert np.all(model.vp[model.water] == WATER)
    assert np.all(model.epsilon[model.water] == 0.0)
    assert np.all(model.water[:, :, 0])
    assert not np.any(np.diff(model.water.astype(int), axis=2) > 0)


def test_model_holds_what_it_promises():
    model = demo_model((121, 61, 81), (25.0, 25.0, 25.0))
    shale = (model.epsilon == np.float32(0.2)) & (model.delta == np.float32(0.1))
    salt = model.vp == np.float32(SALT)
    assert shale.mean() > 0.05
    assert salt.mean() > 0.01
    assert np.all(model.epsilon[salt] == 0.0)
    # The dome is rounded: it widens from its top down.
    area = salt.sum(axis=(0, 1))[salt.any(axis=(0, 1))]
    assert np.all(np.diff(area[:-1]) >= 0)
    # The basement is flat.
    deep = (model.vp == np.float32(BASEMENT)).argmax(axis=2)
    assert deep.min() == deep.max()


def test_same_arguments_give_the_same_bits():
    first, second = (smooth(demo_model((60, 20, 40), (50.0, 50.0, 50.0)), 120.0) for _ in range(2))
    for name in ("vp", "epsilon", "delta"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


def test_2d_model_is_the_middle_section():
    solid, flat = demo_model((60, 21, 40), (50.0, 50.0, 50.0)), demo_model((60, 1, 40), (50.0, 50.0, 50.0))
    np.testing.assert_array_equal(solid.vp[:, 10], flat.vp[:, 0])


def shale_top(model: DemoModel) -> np.ndarray:
    """Depth (m) of the shale's top along x in the middle section."""
    middle = model.epsilon[:, model.epsilon.shape[1] // 2]
    return (middle > 0.15).argmax(axis=1) * model.spacing[2]


def test_fault_has_its_throw():
    model = demo_model((601, 1, 401), (5.0, 5.0, 5.0))
    top = shale_top(model)
    left, right = (
        slice(120, 180),
        slice(212, 260),
    )  # of the fault, which the shale's top meets between 900 and 1060 m
    x = np.arange(601)
    before = np.polyval(np.polyfit(x[left], top[left], 1), 200)
    after = np.polyval(np.polyfit(x[right], top[right], 2), 200)
    assert model.throw == pytest.approx(140.0)
    assert after - before == pytest.approx(model.throw, abs=15.0)
    # Nothing of that size happens elsewhere.
    assert np.abs(np.diff(top[left])).max() <= 10.0


def test_smoothing_flattens_rock_and_keeps_the_sea_floor():
    sharp = demo_model((121, 31, 81), (25.0, 25.0, 25.0))
    soft = smooth(sharp, 100.0)
    rock = ~sharp.water
    rough = [np.abs(np.diff(np.where(rock, model.vp, np.nan), axis=2)) for model in (sharp, soft)]
    assert np.nanmax(rough[1]) < 0.4 * np.nanmax(rough[0])
    # The first whole cell of rock is no nearer to water than the mud is: none of the water leaked in.
    floor = sharp.water.sum(axis=2)
    below = np.take_along_axis(soft.vp, floor[:, :, None] + 1, axis=2)
    assert below.min() > 1640.0
    # Slowness is averaged, so that vertical times are kept.
    time = [(25.0 / model.vp.astype(float)).sum(axis=2) for model in (sharp, soft)]
    assert np.abs(time[1] / time[0] - 1.0).mean() < 0.02


def test_smoothing_of_a_constant_changes_nothing():
    model = demo_model((30, 10, 40), (25.0, 25.0, 25.0))
    flat = DemoModel(
        vp=np.full_like(model.vp, 2345.0),
        epsilon=np.full_like(model.vp, 0.1),
        delta=np.full_like(model.vp, 0.1),
        water=np.zeros_like(model.water),
        spacing=model.spacing,
        throw=0.0,
        description="constant",
    )
    soft = smooth(flat, 60.0)
    for name in ("vp", "epsilon", "delta"):
        np.testing.assert_array_equal(getattr(soft, name), getattr(flat, name))


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="not a 3D grid"):
        demo_model((10, 0, 10), (1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="not a 3D grid"):
        demo_model((10, 10), (1.0, 1.0))
    with pytest.raises(ValueError, match="negative"):
        smooth(demo_model((10, 1, 10), (100.0, 100.0, 100.0)), -1.0)


def test_reflectivity_of_one_interface():
    vp = np.full((1, 1, 200), 2000.0)
    vp[..., 100:] = 3000.0
    plain = reflectivity(vp, 5.0)
    # Half the jump of ln vp, shared by the two cells at the interface.
    np.testing.assert_allclose(plain.sum(), 0.5 * np.log(1.5), rtol=1e-6)
    assert set(np.flatnonzero(plain)) == {99, 100}
    band = reflectivity(vp, 5.0, 20.0)[0, 0]
    assert np.argmax(np.abs(band)) in (99, 100)
    # A Ricker of peak frequency f is zero where pi f t = sqrt(1/2): v t / 2 above the interface.
    zero = 99.5 - 2000.0 * np.sqrt(0.5) / (np.pi * 20.0) / 2 / 5.0
    crossing = np.flatnonzero(np.diff(np.sign(band[60:100])) > 0)[-1] + 60
    assert abs(crossing + 0.5 - zero) <= 1.0
