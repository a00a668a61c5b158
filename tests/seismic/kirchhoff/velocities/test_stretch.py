"""Time images stretched to depth: spikes at known vertical times come to the right depths."""

import numpy as np
import pytest
from velocity_support import column_model, survey, velocities, volume, whole

from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.dix import interval_squares
from fathometer.seismic.kirchhoff.velocities.places import times_of
from fathometer.seismic.kirchhoff.velocities.stretch import (
    Reach,
    depth_stretch_of,
    dix_depths,
    interpolated,
    reach_of,
    step_of,
)

IMAGE = Grid((5, 1, 501), (100.0, 100.0, 0.004), (0.0, 0.0, 0.0), vertical="time")
V0, K = 1800.0, 0.6


def depth_of(t):
    """Of a vertical time, where v(z) = V0 + K z."""
    return V0 / K * np.expm1(K * t / 2)


def rms_of(t):
    exponent = K * np.maximum(t, 1e-9)
    return V0 * np.sqrt(np.expm1(exponent) / exponent)


def spikes(times):
    """An image of smooth peaks at these times, (5, 1, nt)."""
    t = times_of(IMAGE)
    trace = sum(np.exp(-(((t - one) / 0.008) ** 2)) for one in times)
    return np.repeat(trace.astype(np.float32)[None, None], 5, axis=0)


def peaks(trace, grid):
    """Depths of its highest values, by the parabola through three samples."""
    middle = np.flatnonzero((trace[1:-1] > 0.5) & (trace[1:-1] >= trace[:-2]) & (trace[1:-1] > trace[2:])) + 1
    before, at, after = trace[middle - 1], trace[middle], trace[middle + 1]
    return grid.origin[2] + grid.spacing[2] * (middle + 0.5 * (before - after) / (before - 2 * at + after))


TIMES = np.array([0.31, 0.8, 1.2037, 1.75])


def test_by_the_model(tmp_path):
    keys = column_model(tmp_path, V0 + K * (5 + 6.0 * np.arange(500)), 6.0, origin=5.0)
    stretch = depth_stretch_of(survey(tmp_path, keys), IMAGE, velocities(tmp_path, IMAGE, keys))
    assert (stretch.grid.spacing[2], stretch.grid.origin[2], stretch.grid.shape[2]) == (6.0, 5.0, 500)
    assert stretch.grid.vertical == "depth"
    found = stretch.to_depth(spikes(TIMES), (0, 0), (5, 1))
    assert found.shape == (5, 1, 500)
    assert found.dtype == np.float32
    np.testing.assert_allclose(peaks(found[2, 0], stretch.grid), depth_of(TIMES), atol=0.5)
    assert found[2, 0].max() == pytest.approx(1.0, abs=0.02)
    last = int((depth_of(2.0) - 5) / 6)
    assert not found[..., last + 1 :].any()  # deeper than the image's last time
    ones = stretch.to_depth(np.ones_like(spikes(TIMES)), (0, 0), (5, 1))[0, 0]
    assert not ones[last + 1 :].any()
    np.testing.assert_allclose(ones[8 : last - 6], 1.0, rtol=1e-6)
    part = stretch.to_depth(spikes(TIMES)[1:3], (1, 0), (3, 1))
    assert part.tobytes() == np.ascontiguousarray(found[1:3]).tobytes()


def test_by_the_model_from_a_datum(tmp_path):
    keys = column_model(tmp_path, np.full(200, 2000.0), 10.0, origin=-500.0)
    stretch = depth_stretch_of(survey(tmp_path, keys, datum=100.0), IMAGE, velocities(tmp_path, IMAGE, keys))
    found = stretch.to_depth(spikes(np.array([0.5])), (0, 0), (5, 1))
    np.testing.assert_allclose(peaks(found[0, 0], stretch.grid), [600.0], atol=0.1)
    assert not found[..., :60].any()  # above the datum


def test_by_dix(tmp_path):
    rms = np.broadcast_to(rms_of(times_of(IMAGE)), (5, 501))
    volume(tmp_path / "v.rsf", rms, (100.0, 0.004))
    found = velocities(tmp_path, IMAGE, velocity="v.rsf")
    stretch = depth_stretch_of(survey(tmp_path, velocity="v.rsf"), IMAGE, found)
    assert stretch.grid.spacing[2] == 2.5  # 1800 m/s times 2 ms, rounded
    assert stretch.grid.origin[2] == 0
    assert stretch.grid.upper[2] == pytest.approx(depth_of(2.0), abs=2.6)
    assert "those of NMO" in stretch.notes[0]
    depths = stretch.to_depth(spikes(TIMES), (0, 0), (5, 1))
    np.testing.assert_allclose(peaks(depths[3, 0], stretch.grid), depth_of(TIMES), atol=1.25)
    reach = Reach()
    for x in range(5):
        reach = reach.joined(reach_of(found.read((x, 0), (x + 1, 1)).rms, IMAGE))
    again = depth_stretch_of(survey(tmp_path, velocity="v.rsf"), IMAGE, found, reach=reach)
    assert again.grid == stretch.grid


def test_a_constant_velocity_and_a_late_first_time(tmp_path):
    late = Grid((5, 1, 401), (100.0, 100.0, 0.004), (0.0, 0.0, 0.4), vertical="time")
    found = velocities(tmp_path, late, velocity=2000.0)
    stretch = depth_stretch_of(survey(tmp_path, velocity=2000.0, datum=-30.0), late, found)
    depths = stretch.to_depth(spikes(TIMES[1:])[..., 100:], (0, 0), (5, 1))
    np.testing.assert_allclose(peaks(depths[0, 0], stretch.grid), -30 + 1000 * TIMES[1:], atol=0.5)


def test_interval_velocities_that_do_not_exist_are_counted(tmp_path):
    # Linear between picks that Dix allows, and yet falling within.
    (tmp_path / "p.txt").write_text("0 1 3000\n0 1.5 2500\n")
    found = velocities(tmp_path, IMAGE, velocity="p.txt")
    rms = whole(found).rms
    limited = int(np.count_nonzero(interval_squares(times_of(IMAGE), rms[0, 0].astype(float)) < 100**2))
    assert limited > 0
    stretch = depth_stretch_of(survey(tmp_path, velocity="p.txt"), IMAGE, found)
    assert f"at {5 * limited} samples" in stretch.notes[0]
    depths, _ = dix_depths(rms, IMAGE)
    assert (np.diff(depths, axis=1) > 0).all()


def test_the_sinc_is_better_than_a_line():
    t = np.arange(200)
    positions = np.linspace(20.0, 180.0, 997)[None]
    wave = np.sin(2 * np.pi * 0.25 * t)[None]  # half the Nyquist frequency
    wanted = np.sin(2 * np.pi * 0.25 * positions)
    error = np.abs(interpolated(wave, positions) - wanted).max()
    line = np.abs(np.interp(positions[0], t, wave[0]) - wanted[0]).max()
    assert error < 0.01 < 0.2 < line
    assert interpolated(wave, t[None].astype(float)) == pytest.approx(wave)
    np.testing.assert_allclose(interpolated(np.ones((1, 200)), positions), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("most", "step"), [(3.2, 2.5), (2.4, 2.0), (1.0, 1.0), (0.099, 0.05), (7.0, 5.0), (50.0, 50.0)]
)
def test_round_steps(most, step):
    assert step_of(most) == pytest.approx(step)
