"""RMS velocities and effective eta of depth models against closed forms."""

import numpy as np
import pytest
from velocity_support import CUBE, LINE, column_model, velocities, volume, whole

from fathometer.base.errors import InputError
from fathometer.seismic.kirchhoff.velocities import places

TIMES = places.times_of(LINE)


def test_two_layers_by_hand(tmp_path):
    # 1000 m of 2000 m/s to 1 s, then 3000 m/s: the interface lies midway between samples 199 and 200.
    model = column_model(tmp_path, np.where(np.arange(600) < 200, 2000.0, 3000.0), 5.0, origin=2.5)
    rms = whole(velocities(tmp_path, LINE, model)).rms[2, 0]
    expected = np.sqrt(np.where(TIMES <= 1, 2000.0**2, (2000.0**2 + 3000.0**2 * (TIMES - 1)) / np.maximum(TIMES, 1)))
    # Within the cell of the interface, which is 5 ms thick, the step is a ramp.
    np.testing.assert_allclose(np.delete(rms, 50), np.delete(expected, 50), rtol=2e-4)
    np.testing.assert_allclose(rms[50], 2000.0, rtol=1e-3)
    assert rms.dtype == np.float32
    np.testing.assert_allclose(rms[100], np.sqrt((4e6 + 9e6) / 2), rtol=1e-4)  # at 2 s


def test_a_constant_gradient(tmp_path):
    # v(z) = v0 + k z: v(t) = v0 exp(k t / 2), v_rms^2 = v0^2 (exp(k t) - 1) / (k t).
    v0, k = 1800.0, 0.6
    z = 4.0 * np.arange(1000)
    model = column_model(tmp_path, v0 + k * z, 4.0)
    found = whole(velocities(tmp_path, LINE, model))
    exponent = k * np.maximum(TIMES, 1e-9)
    np.testing.assert_allclose(found.rms[0, 0], v0 * np.sqrt(np.expm1(exponent) / exponent), rtol=5e-5)
    # The fourth moment in the same way: v0^4 (exp(2 k t) - 1) / (2 k t).
    fourth = np.expm1(2 * exponent) / (2 * exponent)
    eta = (fourth / (np.expm1(exponent) / exponent) ** 2 - 1) / 8
    np.testing.assert_allclose(found.eta[0, 0], eta, atol=2e-6)
    assert found.eta[0, 0, -1] > 0.008


def test_a_constant_vti_layer(tmp_path):
    epsilon, delta = 0.2, 0.08
    keys = column_model(tmp_path, np.full(50, 2500.0), 10.0, epsilon=np.full(50, epsilon), delta=np.full(50, delta))
    found = whole(velocities(tmp_path, LINE, keys))  # its times reach far below the model
    np.testing.assert_allclose(found.rms, 2500 * np.sqrt(1 + 2 * delta), rtol=1e-6)
    np.testing.assert_allclose(found.eta, (epsilon - delta) / (1 + 2 * delta), rtol=1e-6)


def test_two_vti_layers_by_hand(tmp_path):
    vp = np.where(np.arange(600) < 200, 2000.0, 3000.0)
    epsilon, delta = np.where(vp < 2500, 0.1, 0.25), np.where(vp < 2500, 0.05, 0.1)
    keys = column_model(tmp_path, vp, 5.0, origin=2.5, epsilon=epsilon, delta=delta)
    found = whole(velocities(tmp_path, LINE, keys))
    squares = np.array([4e6 * 1.1, 9e6 * 1.2])
    etas = np.array([0.05 / 1.1, 0.15 / 1.2])
    rms2 = squares.mean()  # at 2 s, of which each layer has half
    eta = ((squares**2 * (1 + 8 * etas)).mean() / rms2**2 - 1) / 8
    np.testing.assert_allclose(found.rms[0, 0, 100] ** 2, rms2, rtol=2e-4)
    np.testing.assert_allclose(found.eta[0, 0, 100], eta, rtol=1e-3)


def test_times_count_from_the_datum(tmp_path):
    vp = np.where(np.arange(600) < 200, 2000.0, 3000.0)
    keys = column_model(tmp_path, vp, 5.0, origin=2.5)
    from_above = whole(velocities(tmp_path, LINE, keys, datum=-500.0)).rms[0, 0]  # 0.5 s more of the first layer
    np.testing.assert_allclose(from_above[75] ** 2, 4e6, rtol=1e-3)  # 1.5 s: the interface
    np.testing.assert_allclose(from_above[100] ** 2, (1.5 * 4e6 + 0.5 * 9e6) / 2, rtol=3e-4)
    from_within = whole(velocities(tmp_path, LINE, keys, datum=500.0)).rms[0, 0]
    np.testing.assert_allclose(from_within[100] ** 2, (0.5 * 4e6 + 1.5 * 9e6) / 2, rtol=3e-4)
    from_below = whole(velocities(tmp_path, LINE, keys, datum=1e4)).rms[0, 0]
    np.testing.assert_allclose(from_below, 3000.0, rtol=1e-6)


def test_columns_between_those_of_the_model(tmp_path):
    vp = np.repeat(np.array([2000.0, 3000.0, 4000.0])[:, None], 50, axis=1)
    volume(tmp_path / "vp.rsf", vp, (200.0, 10.0), labels=("x", "z"))
    rms = whole(velocities(tmp_path, LINE, {"vp": "vp.rsf"})).rms
    np.testing.assert_allclose(rms[:, 0, 50], [2000, 2500, 3000, 3500, 4000])


def model_3d(folder):
    random = np.random.default_rng(1)
    vp = (2000 + np.cumsum(random.uniform(0, 60, (4, 5, 40)), axis=2)).astype(np.float32)
    for name, values in {"vp": vp, "epsilon": 1e-5 * vp, "delta": 0.5e-5 * vp}.items():
        volume(folder / f"{name}.rsf", values, (150.0, 60.0, 20.0), (-10.0, -20.0, 0.0), ("x", "y", "z"), None)
    return {name: f"{name}.rsf" for name in ("vp", "epsilon", "delta")}


def test_a_column_does_not_depend_on_the_box(tmp_path, monkeypatch):
    model = model_3d(tmp_path)
    reader = velocities(tmp_path, CUBE, model)
    found = whole(reader)
    assert found.rms.shape == CUBE.shape
    monkeypatch.setattr(places, "SLAB_VALUES", 120)
    for lo, hi in (((1, 2), (2, 3)), ((0, 1), (5, 4)), ((3, 0), (5, 2)), ((2, 2), (2, 4))):
        part = reader.read(lo, hi)
        box = slice(lo[0], hi[0]), slice(lo[1], hi[1])
        assert part.rms.tobytes() == np.ascontiguousarray(found.rms[box]).tobytes()
        assert part.eta.tobytes() == np.ascontiguousarray(found.eta[box]).tobytes()


def test_files_and_record(tmp_path):
    found = velocities(tmp_path, CUBE, model_3d(tmp_path))
    files = found.files()
    assert set(files) == {"vp", "epsilon", "delta"}
    assert [path.name for path in files["vp"]] == ["vp.rsf", "vp.rsf@"]
    assert found.record()["slowest_metres_per_second"] is None
    block = whole(found)
    record = found.record()
    assert record["velocity"]["source"] == record["eta"]["source"] == "model"
    assert record["fastest_metres_per_second"] == float(block.rms.max())
    assert record["slowest_metres_per_second"] == float(block.rms.min())
    assert record["largest_eta"] == float(block.eta.max())


def test_eta_of_the_model_is_overruled(tmp_path):
    keys = column_model(tmp_path, np.linspace(2000, 3000, 50), 10.0)
    assert whole(velocities(tmp_path, LINE, keys)).eta.max() > 0
    assert whole(velocities(tmp_path, LINE, keys, eta=0.0)).eta is None
    assert (whole(velocities(tmp_path, LINE, keys, eta=0.05)).eta == np.float32(0.05)).all()


def test_columns_outside_the_model(tmp_path):
    keys = column_model(tmp_path, np.full(20, 2000.0), 10.0, dx=80.0)
    with pytest.raises(InputError, match=r"column at x = 400 m lies outside \[model\]; allowed: x from 0 to 320 m"):
        velocities(tmp_path, LINE, keys)


def test_dimensions(tmp_path):
    keys = column_model(tmp_path, np.full(20, 2000.0), 10.0)
    with pytest.raises(InputError, match="is 2D, and the image is 3D"):
        velocities(tmp_path, CUBE, keys)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("vp", np.nan, "NaN or infinity in 5 of 50 values, first nan at x = 0 m, z = 30 m"),
        ("vp", 2.0, r"5 of 50 velocities lie outside .* the first 2 at x = 0 m, z = 30 m"),
        ("delta", -0.6, r"5 of 50 values lie outside -0.5 to 2, the first -0.6 at x = 0 m, z = 30 m"),
    ],
)
def test_wrong_values_of_the_model(tmp_path, name, value, words):
    columns = {"vp": np.full(10, 2000.0), "epsilon": np.zeros(10), "delta": np.zeros(10)}
    columns[name][3] = value
    keys = column_model(tmp_path, columns.pop("vp"), 10.0, **columns)
    found = velocities(tmp_path, LINE, keys)
    with pytest.raises(InputError, match=rf"\[model\] {name} \(.*{name}.rsf\): {words}"):
        whole(found)


def test_thomsen_parameters_of_a_model_that_may_be_in_per_cent(tmp_path):
    keys = column_model(tmp_path, np.full(50, 2500.0), 10.0, epsilon=np.full(50, 1.5), delta=np.full(50, 0.1))
    [note] = velocities(tmp_path, LINE, keys).hard_notes()
    assert note.startswith("[model] epsilon: ")
    assert "has values up to 1.5 in magnitude, and no unit" in note
