"""What smoothing averages, against layers computed exactly: products of their matrices at constant density.

Between interfaces the vertical stress s obeys s'' = -omega^2 q^2(p) s, at the horizontal slowness p; s and s' are
continuous (docs/theory.md, "Thin layers").
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import here
from mpi4py import MPI
from survey_support import load

from fathometer.base.errors import InputError
from fathometer.seismic.model import means
from fathometer.seismic.model.prepare.driver import prepare_volume
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.model.prepare.thomsen import Given, SeaFloor, rule_of
from fathometer.seismic.model.smoothing import smoothed
from fathometer.storage.volumes.volume import VolumeInfo, write_volume

Floats = np.ndarray
CELL = 1.0  # m, of the layers
DEPTH = 2000.0  # m
SLOWNESSES = np.array([0.0, 0.5e-4, 1.0e-4, 1.5e-4])  # s/m: up to 20 degrees or so from the vertical


def random_medium(*shape: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """vp, epsilon and delta, float64, epsilon above delta."""
    rng = np.random.default_rng(seed)
    delta = rng.uniform(-0.1, 0.2, shape)
    return rng.uniform(1500, 4500, shape), delta + rng.uniform(0, 0.25, shape), delta


def averaged(mean: str, medium: tuple[Floats, ...], average: Any) -> tuple[Floats, Floats, Floats]:
    """The medium of an average over arrays."""
    vp, _, delta = medium
    velocity, low = means.to_velocity(mean, average(means.of_velocity(mean, vp))), average(delta)
    return velocity, means.to_epsilon(mean, velocity, low, average(means.excess(mean, *medium))), low


def squared_vertical_slowness(vp: Floats, epsilon: Floats, delta: Floats, p: float) -> Floats:
    """Of the P wave, by the dispersion relation with omega = 1: k_h = p, k_z^2 = q^2."""
    return (1 - vp**2 * (1 + 2 * epsilon) * p**2) / (vp**2 - 2 * vp**4 * p**2 * (epsilon - delta))


# --- the means


def test_the_mean_medium_has_the_mean_squared_vertical_slowness_to_the_fourth_order() -> None:
    """Of any layers: what is left falls as p^6. Plain means of epsilon, or of slowness, are off at lower orders."""
    medium = random_medium(400)
    found = averaged(means.SLOWNESS_SQUARED, medium, np.mean)
    errors = []
    for p in (0.4e-4, 0.8e-4):
        exact = np.mean(squared_vertical_slowness(*medium, p))
        errors.append(abs(squared_vertical_slowness(*found, p) / exact - 1))
        plain = found[0], np.mean(medium[1]), found[2]
        assert abs(squared_vertical_slowness(*plain, p) / exact - 1) > 3 * errors[-1]
    assert errors[1] < 1e-4
    assert 5.7 < np.log2(errors[1] / errors[0]) < 6.3
    other = averaged(means.SLOWNESS, medium, np.mean)
    assert abs(squared_vertical_slowness(*other, 0.0) / np.mean(medium[0] ** -2) - 1) > 0.05


@pytest.mark.parametrize("mean", means.MEANS)
def test_a_mean_of_equal_layers_is_the_layer(mean: str) -> None:
    medium = random_medium(7, 5)
    for got, wanted in zip(averaged(mean, medium, lambda values: values), medium, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("mean", means.MEANS)
def test_layers_without_anisotropy_stay_so_and_elliptic_ones_elliptic(mean: str) -> None:
    """To the last bit in float32: epsilon < delta by one would be refused."""
    vp, _, delta = (values.astype(np.float32) for values in random_medium(60, 80))
    for low in (np.zeros_like(vp), delta):
        _, epsilon, got = averaged(mean, (vp, low.copy(), low), lambda values: smoothed(values, [2.0, 5.0]))
        assert epsilon.dtype == np.float32
        assert np.array_equal(epsilon, got)
        assert got.any() == low.any()


# --- thin layers


def layers(thinnest: int, thickest: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """vp, epsilon and delta (z,) of layers of so many cells, 12 % (RMS) about 3000 m/s, epsilon and delta of their own;
    the first and the last 300 m are one layer."""
    rng = np.random.default_rng(seed)
    n = int(DEPTH / CELL)
    layer = np.searchsorted(300 + np.cumsum(rng.integers(thinnest, thickest + 1, n)), np.arange(n), side="right")
    layer[-300:] = 0
    vp = 3000 * np.exp(0.12 * np.clip(rng.standard_normal(n + 1), -2, 2))
    delta = rng.uniform(-0.05, 0.15, n + 1)
    epsilon = delta + rng.uniform(0, 0.25, n + 1)
    vp[0], epsilon[0], delta[0] = 3000, 0.15, 0.05
    return vp[layer], epsilon[layer], delta[layer]


def transmitted(slowness: Floats, cell: float, omega: Floats) -> Floats:
    """What comes through cells (m) of these vertical slownesses (z,), s/m, of a wave of amplitude 1 at angular
    frequencies (f,), 1/s: complex (f,), its phase growing with the delay."""
    product = np.broadcast_to(np.eye(2), (len(omega), 2, 2))
    for k in slowness[:, None] * omega:
        cos, sin = np.cos(k * cell), np.sin(k * cell)
        product = np.array([[cos, sin / k], [-k * sin, cos]]).transpose(2, 0, 1) @ product
    first, last = 1j * omega * slowness[0], 1j * omega * slowness[-1]
    down, up = (product[:, :, 0] + (sign * first)[:, None] * product[:, :, 1] for sign in (1, -1))
    reflected = (last * down[:, 0] - down[:, 1]) / (up[:, 1] - last * up[:, 0])
    return np.asarray(down[:, 0] + reflected * up[:, 0])


def delays(medium: tuple[Floats, ...], frequency: float) -> Floats:
    """Phase delays (p,), s, of a wave of a frequency (Hz) through the medium (z,), at SLOWNESSES."""
    found = []
    for p in SLOWNESSES:
        q = np.sqrt(squared_vertical_slowness(*medium, p))
        phase = np.angle(transmitted(q, CELL, np.array([2 * np.pi * frequency]))[0]) / (2 * np.pi * frequency)
        rays = CELL * q.sum()
        found.append(phase + np.round((rays - phase) * frequency) / frequency)
    return np.array(found)


def moveout(times: Floats) -> tuple[float, float]:
    """Vertical time, s, and velocity of normal moveout, m/s: tau^2 = tau_0^2 (1 - v^2 p^2) - ... at SLOWNESSES."""
    terms = np.linalg.lstsq(np.vander(SLOWNESSES**2 / 1e-8, 3, increasing=True), times**2, rcond=None)[0]
    return float(np.sqrt(terms[0])), float(np.sqrt(-terms[1] / terms[0]) * 1e4)


def prepared(folder: Path, medium: tuple[Floats, ...], **keys: Any) -> tuple[Floats, ...]:
    """What `prepare` makes of vp, epsilon and delta (z,), smoothed by a Gaussian of 50 m along z, float64 (z,)."""
    names = ("vp", "epsilon", "delta")
    for name, values in zip(names, medium, strict=True):
        info = VolumeInfo((3, len(values)), np.dtype(np.float32), (CELL, CELL), (0.0, 0.0), ("x", "z"), None)
        write_volume(folder / f"{name}.rsf", info, np.tile(values, (3, 1)).astype(np.float32), [0, 0], MPI.COMM_SELF)
    epsilon, delta = (Given(str(folder / f"{name}.rsf")) for name in names[1:])
    keys = {"smooth": (0.0, 50.0), "epsilon": epsilon, "delta": delta} | keys
    prepare_volume(PreparationRequest(str(folder / "vp.rsf"), folder / "out.rsf", **keys), lambda line: None)
    return tuple(load(folder / f"out{name}.rsf")[0].astype(float) for name in ("", "-epsilon", "-delta"))


def test_thin_layers_keep_vertical_time_and_moveout(tmp_path: Path) -> None:
    """Layers of 2 to 5 m, wavelengths of 600 m: vertical time to 0.2 ms of 0.67 s, velocity of moveout to 0.2 %. A mean
    slowness, as rays have it, is 3 ms too fast, a mean velocity 9 ms."""
    medium = layers(2, 5)
    exact = delays(medium, 5.0)
    time, velocity = moveout(exact)
    found = {mean: delays(prepared(tmp_path, medium, mean=mean), 5.0) for mean in means.MEANS}
    got = moveout(found[means.SLOWNESS_SQUARED])
    assert got[0] == pytest.approx(time, abs=0.2e-3)
    assert got[1] == pytest.approx(velocity, rel=2e-3)
    np.testing.assert_allclose(found[means.SLOWNESS_SQUARED], exact, atol=0.25e-3)
    assert moveout(found[means.SLOWNESS])[0] < time - 2.5e-3
    assert moveout(found[means.VELOCITY])[0] < time - 8e-3


# --- how thin: layers against the wavelength

THICK = (15.0, 30.0, 45.0, 60.0)  # m
MIDDLE = 3000.0  # m/s


def depth_errors(wavelengths: float, seed: int) -> dict[str, float]:
    """By mean, how much deeper (m) a reflector images at normal incidence below 1500 m of layers of THICK, 10 % (RMS)
    about MIDDLE, if they are smoothed by a Gaussian of 50 m. The peak of the Ricker wavelet has so many mean layers in
    its wavelength."""
    rng, cell = np.random.default_rng(seed), 5.0
    stack = np.repeat(MIDDLE * np.exp(0.1 * rng.standard_normal(60)), (rng.choice(THICK, 60) / cell).astype(int))[:300]
    vp = np.pad(stack, 60, constant_values=MIDDLE)
    peak = MIDDLE / (wavelengths * np.mean(THICK))
    omega = 2 * np.pi * peak * np.arange(0.05, 3.0, 0.02)
    square = (omega / (2 * np.pi * peak)) ** 2
    true = (square * np.exp(-square)) ** 2 * transmitted(1 / vp, cell, omega) ** 2
    lags = np.arange(-0.04, 0.04, 5e-5)
    errors = {}
    for mean in means.MEANS:
        smooth = means.to_velocity(mean, smoothed(means.of_velocity(mean, vp), [50.0 / cell]))
        product = true * np.conj(transmitted(1 / smooth, cell, omega) ** 2)
        alike = (product[:, None] * np.exp(-1j * omega[:, None] * lags)).real.sum(axis=0)
        errors[mean] = float(0.5 * MIDDLE * lags[np.argmax(alike)])
    return errors


def test_thin_layers_keep_depth_by_squared_slowness_and_thick_ones_by_slowness() -> None:
    """Mean of three media: with 16 layers in the wavelength, and with 4."""
    found = {count: [depth_errors(count, seed) for seed in range(3)] for count in (16.0, 4.0)}
    thin, thick = (
        {mean: np.mean([errors[mean] for errors in cases]) for mean in means.MEANS} for cases in found.values()
    )
    assert abs(thin["slowness-squared"]) < 0.25 * thin["slowness"]
    assert abs(thick["slowness"]) < 0.25 * abs(thick["slowness-squared"])
    for errors in (thin, thick):
        assert errors["velocity"] > 2 * max(abs(errors["slowness"]), abs(errors["slowness-squared"]))


# --- the command, with epsilon and delta of volumes


def volume(folder: Path, name: str, values: Floats, spacing: float = 10.0, unit: str | None = None) -> Path:
    """A volume (x, z); its path."""
    info = VolumeInfo(values.shape, np.dtype(np.float32), (spacing, spacing), (0.0, 0.0), ("x", "z"), unit)
    write_volume(folder / name, info, values.astype(np.float32), [0, 0], MPI.COMM_SELF)
    return folder / name


def files(folder: Path, shape: tuple[int, int] = (30, 40)) -> tuple[Floats, Floats, Floats]:
    """vp.rsf, epsilon.rsf and delta.rsf of a random medium (x, z), which is returned."""
    medium = random_medium(*shape)
    for name, values in zip(("vp", "epsilon", "delta"), medium, strict=True):
        volume(folder, f"{name}.rsf", values)
    return medium


def given(folder: Path, *words: Any) -> Any:
    """What `prepare` says of these files and words."""
    parameters = ("--epsilon", folder / "epsilon.rsf", "--delta", folder / "delta.rsf")
    return here("prepare", folder / "vp.rsf", "-o", folder / "out.rsf", *parameters, *words)


def results(folder: Path) -> tuple[Floats, ...]:
    return tuple(load(folder / f"out{name}.rsf").astype(float) for name in ("", "-epsilon", "-delta"))


@pytest.mark.parametrize("mean", means.MEANS)
def test_epsilon_and_delta_are_smoothed_with_the_velocity(tmp_path: Path, mean: str) -> None:
    medium = files(tmp_path)
    done = given(tmp_path, "--smooth", "30,20", "--mean", mean)
    assert done.code == 0, done.err
    wanted = averaged(mean, medium, lambda values: smoothed(values, [3.0, 2.0]))
    for got, expected in zip(results(tmp_path), wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)


def test_they_are_cropped_and_extended_with_it(tmp_path: Path) -> None:
    medium = files(tmp_path)
    done = given(tmp_path, "--crop", "50:200,:300", "--extend", "0,0:50")
    assert done.code == 0, done.err
    for got, values in zip(results(tmp_path), medium, strict=True):
        np.testing.assert_allclose(got, np.pad(values[5:21, :31], [(0, 0), (0, 5)], mode="edge"), rtol=1e-6)


def test_below_the_sea_floor_they_are_smoothed_among_rock_and_stay_sharp_in_new_cells(tmp_path: Path) -> None:
    water = np.arange(60) < 20
    medium = [np.where(water, *values) * np.ones((60, 1)) for values in ((1500, 3000), (0, 0.2), (0, 0.1))]
    for name, values in zip(("vp", "epsilon", "delta"), medium, strict=True):
        volume(tmp_path, f"{name}.rsf", values)
    done = given(tmp_path, "--smooth", "30", "--spacing", "15", "--below-water", "1600")
    assert done.code == 0, done.err
    for got, (above, below) in zip(results(tmp_path), ((1500, 3000), (0, 0.2), (0, 0.1)), strict=True):
        np.testing.assert_allclose(
            got, np.where(15.0 * np.arange(40) < 200, above, below) * np.ones((40, 1)), rtol=1e-6
        )


def test_low_passed_edges_leave_epsilon_at_delta_or_above(tmp_path: Path) -> None:
    """Layers of epsilon = delta beside others: overshoots would put it below."""
    n = np.arange(120)
    medium = [np.where(n // 15 % 2, *values) * np.ones((60, 1)) for values in ((4000, 2000), (0.25, 0.1), (0.02, 0.1))]
    for name, values in zip(("vp", "epsilon", "delta"), medium, strict=True):
        volume(tmp_path, f"{name}.rsf", values)
    for mean in means.MEANS:
        done = given(tmp_path, "--spacing", "25", "--mean", mean)
        assert done.code == 0, done.err
        assert "note" not in done.err
        vp, epsilon, delta = results(tmp_path)
        assert np.all(epsilon >= delta)
        assert vp.min() >= 2000
        assert vp.max() <= 4000


def test_a_rule_beside_a_volume_is_of_the_velocities_as_they_came(tmp_path: Path) -> None:
    vp, epsilon, _ = files(tmp_path)
    keys: dict[str, Any] = {
        "epsilon": Given(str(tmp_path / "epsilon.rsf")),
        "delta": rule_of("velocity:1500=-0.3,4500=-0.1"),
    }
    request = PreparationRequest(
        str(tmp_path / "vp.rsf"), tmp_path / "out.rsf", smooth=(20.0,), sea_floor=SeaFloor(depth=100.0), **keys
    )
    prepare_volume(request, lambda line: None)
    rock = np.broadcast_to(10.0 * np.arange(40) >= 100, vp.shape)
    delta = np.where(rock, np.interp(vp, (1500, 4500), (-0.3, -0.1)), 0.0)
    wanted = averaged(means.SLOWNESS_SQUARED, (vp, epsilon, delta), lambda v: smoothed(v, [2.0, 2.0], rock))
    for got, expected in zip(results(tmp_path), wanted, strict=True):
        np.testing.assert_allclose(got[rock], expected[rock], rtol=2e-5, atol=2e-6)
    assert np.all(results(tmp_path)[2][~rock] == 0)


def test_one_of_them_alone_is_written_alone(tmp_path: Path) -> None:
    files(tmp_path)
    done = here(
        "prepare",
        tmp_path / "vp.rsf",
        "-o",
        tmp_path / "out.rsf",
        "--epsilon",
        tmp_path / "epsilon.rsf",
        "--smooth",
        "20",
    )
    assert done.code == 0, done.err
    assert (tmp_path / "out-epsilon.rsf").exists()
    assert not (tmp_path / "out-delta.rsf").exists()


def test_weak_cells_and_limits_are_told(tmp_path: Path) -> None:
    """Where epsilon < delta in the mean a survey has to say what it does; means beyond the limits are set to them."""
    _, _, delta = files(tmp_path)
    volume(tmp_path, "epsilon.rsf", delta - 0.02)
    done = given(tmp_path, "--smooth", "20")
    assert done.code == 0, done.err
    assert "note: epsilon < delta in 1200 of 1200 cells, by up to" in done.err
    assert "on_weak_epsilon" in done.err
    slow = np.arange(40) % 2 == 0
    volume(tmp_path, "vp.rsf", np.where(slow, 1500.0, 6000.0) * np.ones((30, 1)))
    volume(tmp_path, "epsilon.rsf", np.where(slow, 0.0, 1.0) * np.ones((30, 1)))
    volume(tmp_path, "delta.rsf", np.zeros((30, 40)))
    done = given(tmp_path, "--smooth", "60")
    assert done.code == 0, done.err
    assert "note: epsilon of the means is out of -0.5 to 2 in " in done.err
    assert results(tmp_path)[1].max() == 2.0


@pytest.mark.parametrize(
    ("name", "values", "spacing", "unit", "words"),
    [
        (
            "epsilon",
            np.zeros((30, 39)),
            10.0,
            None,
            "--epsilon: .*epsilon.rsf has 30 x 39 cells, the model 30 x 40 along x, z",
        ),
        ("delta", np.zeros((30, 40)), 12.5, None, "--delta: .*delta.rsf has cells 12.5 m along x, the model 10 m"),
        (
            "delta",
            np.full((30, 40), 5.0),
            10.0,
            None,
            "1200 of 1200 values are out of range, the first 5 in cell x 0, z 0",
        ),
        ("epsilon", np.full((30, 40), np.nan), 10.0, None, "--epsilon: .*out of range, the first nan"),
        ("delta", np.zeros((30, 40)), 10.0, "m/s", "--delta: .*delta.rsf says that its values are in m/s"),
    ],
)
def test_volumes_that_do_not_fit(
    tmp_path: Path, name: str, values: Floats, spacing: float, unit: str | None, words: str
) -> None:
    files(tmp_path)
    volume(tmp_path, f"{name}.rsf", values, spacing, unit)
    refused(given(tmp_path, "--smooth", "20"), words)
    assert not list(tmp_path.glob("out*"))


def test_files_of_other_axes_in_three_dimensions(tmp_path: Path) -> None:
    """A file that does not name its axes has the model's; one that does, its own."""
    vp, epsilon, delta = random_medium(8, 6, 10)
    np.save(tmp_path / "vp.npy", vp.transpose(2, 1, 0).astype(np.float32))
    np.save(tmp_path / "epsilon.npy", epsilon.transpose(2, 1, 0).astype(np.float32))
    info = VolumeInfo((6, 8, 10), np.dtype(np.float32), (10.0,) * 3, (0.0,) * 3, ("y", "x", "z"), None)
    write_volume(tmp_path / "d.rsf", info, delta.transpose(1, 0, 2).astype(np.float32), [0] * 3, MPI.COMM_SELF)
    words = ("--axes", "zyx", "--input-spacing", "10", "--smooth", "15")
    parameters = ("--epsilon", tmp_path / "epsilon.npy", "--delta", tmp_path / "d.rsf")
    done = here("prepare", tmp_path / "vp.npy", *words, *parameters, "-o", tmp_path / "out.rsf")
    assert done.code == 0, done.err
    wanted = averaged(means.SLOWNESS_SQUARED, (vp, epsilon, delta), lambda values: smoothed(values, [1.5] * 3))
    for got, expected in zip(results(tmp_path), wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)
    refused(
        here("prepare", tmp_path / "vp.npy", *words, "--epsilon", volume(tmp_path, "flat.rsf", vp[0]), "-o", "o.rsf"),
        "--epsilon: .*flat.rsf has 6 x 10 cells, the model 10 x 6 x 8 along z, y, x",
    )


def test_percent_are_taken_by_their_unit(tmp_path: Path) -> None:
    _, epsilon, _ = files(tmp_path)
    volume(tmp_path, "epsilon.rsf", 100 * epsilon, unit="%")
    assert given(tmp_path).code == 0
    np.testing.assert_allclose(results(tmp_path)[1], epsilon, rtol=1e-6)


def refused(done: Any, words: str) -> None:
    """An error of one line, at the end, that matches."""
    assert done.code == 2, done.out
    last = done.err.splitlines()[-1]
    assert last.startswith("fathometer: error: ")
    assert done.err.count("error") == 1
    with pytest.raises(InputError, match=words):
        raise InputError(last)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--smooth", "1000,20"], "--smooth: found 1000 m along x; allowed: 0 to 290 m, as long as the model is"),
        (["--smooth", "20,391"], "--smooth: found 391 m along z; allowed: 0 to 390 m"),
        (["--smooth", "nan"], "--smooth: found nan; allowed: numbers with commas between, in m"),
        (["--smooth=-5"], "--smooth: found a negative length"),
        (["--smooth", "20", "--mean", "slownes"], "--mean: invalid choice: .*slowness-squared.*slowness.*velocity"),
        (["--mean", "slowness"], "--mean: found slowness, but nothing is averaged; needed: --smooth, or --spacing"),
        (["--smooth", "20", "--mean", "slowness", "--units", "none"], "--mean: found with --units none"),
        (
            ["--smooth", "20", "--epsilon", "no.rsf"],
            "--epsilon: found no.rsf; allowed: a number, velocity:.* or a volume",
        ),
    ],
)
def test_wrong_words(tmp_path: Path, options: list[str], words: str) -> None:
    files(tmp_path)
    refused(here("prepare", tmp_path / "vp.rsf", "-o", tmp_path / "out.rsf", *options), words)
    assert not list(tmp_path.glob("out*"))


def test_a_request_of_no_number_is_refused(tmp_path: Path) -> None:
    files(tmp_path)
    with pytest.raises(InputError, match="--smooth: found nan m along x"):
        prepare_volume(PreparationRequest(str(tmp_path / "vp.rsf"), tmp_path / "o.rsf", smooth=(np.nan,)), print)


def test_a_volume_that_is_read_is_not_replaced(tmp_path: Path) -> None:
    files(tmp_path)
    before = (tmp_path / "epsilon.rsf").rename(tmp_path / "out-epsilon.rsf").read_bytes()
    words = ("--epsilon", tmp_path / "out-epsilon.rsf")
    done = here("prepare", tmp_path / "vp.rsf", "-o", tmp_path / "out.rsf", *words)
    refused(done, "out-epsilon.rsf: would replace .*out-epsilon.rsf, which is read")
    assert (tmp_path / "out-epsilon.rsf").read_bytes() == before
