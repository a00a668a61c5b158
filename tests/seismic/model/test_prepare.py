"""`fathometer prepare`: what comes out against formulas, inverses and conservation; and what it refuses."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import run
from mpi4py import MPI
from survey_support import load

from fathometer.base.errors import InputError
from fathometer.seismic.model.prepare import plan
from fathometer.seismic.model.prepare.driver import prepare_volume
from fathometer.seismic.model.prepare.extent import crop_of, extension_of
from fathometer.seismic.model.prepare.input_volume import InputVolume
from fathometer.seismic.model.prepare.regridding import regrid
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.model.prepare.thomsen import Constant, Given, SeaFloor, rule_of, sea_floor_of
from fathometer.seismic.model.smoothing import reach, smoothed
from fathometer.storage.volumes.registry import format_of, writable_suffixes
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, write_volume


def velocities(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(1500, 4500, shape).astype(np.float32)


def rsf(
    folder: Path, values: np.ndarray, spacing: Any = 10.0, origin: Any = 0.0, name: str = "in.rsf", unit: str = ""
) -> str:
    """A volume with spacing, origin and labels; its reference."""
    n = values.ndim
    info = VolumeInfo(
        values.shape,
        np.dtype(np.float32),
        tuple(np.broadcast_to(spacing, n).tolist()),
        tuple(np.broadcast_to(origin, n).tolist()),
        tuple("xyz" if n == 3 else "xz"),
        unit or None,
    )
    write_volume(folder / name, info, values.astype(np.float32), [0] * n, MPI.COMM_SELF)
    return str(folder / name)


def prepared(folder: Path, model: str, output: str = "out.rsf", **keys: Any) -> np.ndarray:
    """What a request makes of a model."""
    prepare_volume(PreparationRequest(model, folder / output, **keys), lambda line: None)
    return load(folder / output)


def info(path: Path) -> VolumeInfo:
    with open_volume(path.name, path.parent) as volume:
        return volume.info


# --- formats, units, axes


@pytest.mark.parametrize("suffix", writable_suffixes())
@pytest.mark.parametrize("shape", [(6, 5), (4, 3, 5)])
def test_there_and_back_through_every_format(tmp_path: Path, suffix: str, shape: tuple[int, ...]) -> None:
    if lacking := format_of(Path("a" + suffix)).missing("root", 1):
        pytest.skip(lacking)
    values = velocities(*shape)
    np.save(tmp_path / "in.npy", values)
    told = {"input_spacing": (25.0,) * len(shape), "input_origin": (500.0,) * len(shape)}
    out = tmp_path / f"out{suffix}"
    assert np.array_equal(prepared(tmp_path, str(tmp_path / "in.npy"), out.name, **told), values)
    carries = info(out).spacing is not None
    assert carries == (suffix not in (".npy", ".segy", ".sgy"))
    assert np.array_equal(prepared(tmp_path, str(out), "back.rsf", **({} if carries else told)), values)
    back = info(tmp_path / "back.rsf")
    assert (back.spacing, back.origin) == (told["input_spacing"], told["input_origin"])
    assert (back.labels, back.unit) == (tuple("xyz" if len(shape) == 3 else "xz"), "m/s")


@pytest.mark.parametrize(
    ("units", "file"), [("m/s", lambda v: v), ("km/s", lambda v: v / 1000), ("s2/km2", lambda v: (1000 / v) ** 2)]
)
def test_units_become_metres_per_second(tmp_path: Path, units: str, file: Any) -> None:
    values = velocities(5, 4).astype(np.float64)
    np.save(tmp_path / "in.npy", file(values))
    got = prepared(tmp_path, str(tmp_path / "in.npy"), units=units, input_spacing=(10.0,))
    np.testing.assert_allclose(got, values, rtol=1e-6)
    told = rsf(tmp_path, file(values), name="told.rsf", unit=units)
    np.testing.assert_allclose(prepared(tmp_path, told), values, rtol=1e-6)


@pytest.mark.parametrize("axes", ["xyz", "zyx", "yzx", "zxy"])
def test_axes_become_x_y_z(tmp_path: Path, axes: str) -> None:
    values = velocities(3, 4, 5)
    np.save(tmp_path / "in.npy", values.transpose(["xyz".index(name) for name in axes]))
    got = prepared(tmp_path, str(tmp_path / "in.npy"), axes=axes, input_spacing=(1.0, 2.0, 3.0))
    assert np.array_equal(got, values)
    assert info(tmp_path / "out.rsf").spacing == (1.0, 2.0, 3.0)


# --- cells of another size


def wave(n: int, spacing: float, wavenumber: float) -> np.ndarray:
    """cos along x, the same along z."""
    return np.repeat(np.cos(2 * np.pi * wavenumber * spacing * np.arange(n) + 0.4)[:, None, None], 3, axis=2)


@pytest.mark.parametrize("ratio", [2.0, 2.5, 4.0])
@pytest.mark.parametrize(
    ("of_nyquist", "gain"), [(0.1, 1.0), (0.4, 1.0), (0.66, 1.0), (1.0, 0.0), (1.2, 0.0), (1.6, 0.0)]
)
def test_larger_cells_hold_what_they_can_and_alias_nothing(ratio: float, of_nyquist: float, gain: float) -> None:
    """Passed to two thirds of the new Nyquist wavenumber, stopped from there on: 100 dB, of which float32 leaves 1e-5.
    Within reach of an end the outermost cells that repeat are seen."""
    n, spacing = 1000, 10.0
    values = wave(n, spacing, of_nyquist * 0.5 / (ratio * spacing)).astype(np.float32)
    places = spacing * ratio * np.arange(int((n - 1) / ratio) + 1)
    got = regrid(values, 0, 0.0, spacing, places)
    wanted = gain * np.cos(2 * np.pi * of_nyquist * 0.5 / (ratio * spacing) * places + 0.4)
    middle = slice(len(places) // 3, -len(places) // 3)
    assert np.abs(got[middle, 0] - wanted[middle, None]).max() <= 5e-5


def test_smaller_cells_are_interpolated_linearly() -> None:
    values = velocities(20, 2, 30)
    got = regrid(values, 2, 100.0, 10.0, 100.0 + 4.0 * np.arange(73))
    wanted = np.array([np.interp(4.0 * np.arange(73), 10.0 * np.arange(30), row) for row in values.reshape(-1, 30)])
    np.testing.assert_allclose(got.reshape(-1, 73), wanted, rtol=1e-6)


def test_cells_by_the_command(tmp_path: Path) -> None:
    """A long wave survives, a short one goes, along each axis; the constant slowness that carries them is kept."""
    x, z = 10.0 * np.arange(201)[:, None], 5.0 * np.arange(401)[None]
    long = 1e-4 * np.cos(2 * np.pi * x / 400) * np.cos(2 * np.pi * z / 400)
    short = 1e-4 * (np.cos(2 * np.pi * x / 37) + np.cos(2 * np.pi * z / 37))
    model = rsf(tmp_path, 1 / (5e-4 + long + short), (10.0, 5.0), (100.0, 0.0))
    got = 1 / prepared(tmp_path, model, spacing=(20.0,), mean="slowness")
    assert got.shape == (101, 101)
    assert info(tmp_path / "out.rsf").origin == (100.0, 0.0)
    np.testing.assert_allclose(got[30:70, 30:70], (5e-4 + long)[::2, ::4][30:70, 30:70], rtol=1e-4)


@pytest.mark.parametrize("spacing", [4.0, 10.0, 15.0, 30.0])
def test_a_constant_stays_one(tmp_path: Path, spacing: float) -> None:
    model = rsf(tmp_path, np.full((31, 41), 2345.0))
    got = prepared(tmp_path, model, spacing=(spacing,), smooth=(35.0,), extend=extension_of("40"))
    assert np.all(got == np.float32(2345.0))


def test_a_sea_floor_stays_sharp_between_cells_of_another_size(tmp_path: Path) -> None:
    values = np.where(10.0 * np.arange(60) < 200, 1500.0, 3000.0) * np.ones((60, 1))
    model = rsf(tmp_path, values)
    got = prepared(tmp_path, model, spacing=(15.0,), smooth=(30.0,), sea_floor=SeaFloor(velocity=1600.0))
    np.testing.assert_allclose(got, np.where(15.0 * np.arange(40) < 200, 1500.0, 3000.0) * np.ones((40, 1)), rtol=1e-6)
    rings = prepared(tmp_path, model, spacing=(15.0,))
    assert np.abs(rings - got).max() > 50
    assert rings.min() >= 1500
    assert rings.max() <= 3000


# --- smoothing


@pytest.mark.parametrize(("mean", "power"), [(None, -2), ("slowness-squared", -2), ("slowness", -1), ("velocity", 1)])
def test_smoothing_keeps_the_integral_of_its_mean(tmp_path: Path, mean: str | None, power: int) -> None:
    """Of columns that are constant at their ends, as far as the Gaussian reaches. The integrals of other powers change
    as the inequality of power means has it: the mean of a smaller power is slower."""
    side = reach(40.0 / 5.0)
    values = np.pad(velocities(1, 60), [(0, 0), (side, side)], mode="edge").repeat(2, axis=0)
    got = prepared(tmp_path, rsf(tmp_path, values, 5.0), smooth=(0.0, 40.0), mean=mean).astype(np.float64)
    for other in (-2, -1, 1):
        before, after = ((v.astype(np.float64) ** other).sum(axis=1) for v in (values, got))
        if other == power:
            np.testing.assert_allclose(after, before, rtol=1e-6)
        else:
            slower = other > power
            assert np.all((after < before) == (slower == (other > 0)))
    slowness = 1 / values.astype(np.float64)
    np.testing.assert_allclose(smoothed(slowness, [0, 8.0]).sum(axis=1), slowness.sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("axis", [0, 1])
def test_the_deviation_is_in_metres_along_each_axis(tmp_path: Path, axis: int) -> None:
    """A line of squared slowness becomes a Gaussian of this deviation: its second moment, cut off at four of them."""
    spacing = (10.0, 5.0)
    values = np.full((101, 101), 4e-8)
    values[(50, slice(None)) if axis == 0 else (slice(None), 50)] = 16e-8
    deviation = [0.0, 0.0]
    deviation[axis] = 60.0
    got = prepared(tmp_path, rsf(tmp_path, values**-0.5, spacing), smooth=tuple(deviation)).astype(np.float64) ** -2
    bell = np.take(got, 50, 1 - axis) - 4e-8
    x = spacing[axis] * (np.arange(101) - 50)
    assert np.sqrt((bell * x**2).sum() / bell.sum()) == pytest.approx(60.0, rel=2e-3)


def test_smoothing_below_the_sea_floor_leaves_the_water_alone(tmp_path: Path) -> None:
    values = velocities(30, 40)
    floor = 50.0 + 5.0 * np.arange(30)
    water = 10.0 * np.arange(40) < floor[:, None]
    values = np.where(water, 1500.0, np.maximum(values, 2000.0)).astype(np.float32)
    values[3, 20:25] = 1500.0  # a slow cell below the sea floor is no water
    got = prepared(tmp_path, rsf(tmp_path, values), smooth=(30.0,), sea_floor=SeaFloor(velocity=1520.0))
    assert np.all(got[water] == 1500.0)
    assert got[~water].min() > 1600.0
    assert np.ptp(got[~water]) < np.ptp(values[~water])


def test_averages_below_the_sea_floor_are_weighted_by_rock_alone(tmp_path: Path) -> None:
    """The sum over the rock of a column, weights of a Gaussian normalised among them, by hand."""
    values = velocities(2, 60)
    values[:, :20] = 1500.0
    got = prepared(tmp_path, rsf(tmp_path, values), smooth=(0.0, 30.0), sea_floor=SeaFloor(depth=200.0))
    away = np.arange(20, 60)[:, None] - np.arange(20, 60)
    weights = np.where(np.abs(away) <= 12, np.exp(-0.5 * (away / 3) ** 2), 0.0)
    wanted = (weights.sum(axis=1) / (weights @ values[:, 20:].T.astype(np.float64) ** -2).T) ** 0.5
    np.testing.assert_allclose(got[:, 20:48], wanted[:, :28], rtol=1e-5)  # the last see the bottom repeated


# --- extent


@pytest.mark.parametrize("extension", ["30", "30,50", "0:40,20:0", "3c,5c", "25:5c,10"])
def test_crop_undoes_extension(tmp_path: Path, extension: str) -> None:
    values = velocities(12, 9)
    model = rsf(tmp_path, values, 10.0, (200.0, -30.0))
    wide = prepared(tmp_path, model, "wide.rsf", extend=extension_of(extension))
    assert wide.size > values.size
    crop = crop_of("200:310,-30:50")
    assert np.array_equal(prepared(tmp_path, str(tmp_path / "wide.rsf"), crop=crop), values)
    assert info(tmp_path / "out.rsf").origin == (200.0, -30.0)


def test_extension_repeats_the_edges(tmp_path: Path) -> None:
    values = velocities(5, 4, 6)
    got = prepared(tmp_path, rsf(tmp_path, values), extend=extension_of("20:0,0:15,3c"))
    assert np.array_equal(got, np.pad(values, [(2, 0), (0, 2), (3, 3)], mode="edge"))
    assert info(tmp_path / "out.rsf").origin == (-20.0, 0.0, -30.0)


@pytest.mark.parametrize(
    ("crop", "x", "z"),
    [
        ("20:60,:", (2, 7), (0, 20)),
        (":,45:", (0, 30), (5, 20)),
        ("15:64,:99", (2, 7), (0, 10)),
        (":45", (0, 5), (0, 5)),
    ],
)
def test_crop_keeps_the_cells_within(tmp_path: Path, crop: str, x: tuple[int, int], z: tuple[int, int]) -> None:
    values = velocities(30, 20)
    assert np.array_equal(prepared(tmp_path, rsf(tmp_path, values), crop=crop_of(crop)), values[slice(*x), slice(*z)])


def test_smoothing_sees_what_lies_around_the_crop(tmp_path: Path) -> None:
    model = rsf(tmp_path, velocities(60, 50))
    keys = {"smooth": (25.0, 15.0)}
    prepared(tmp_path, model, "all.rsf", **keys)
    parts = [crop_of("200:390,100:300"), crop_of(":150,:90"), crop_of("500:,400:")]
    for crop in parts:
        cut = prepared(tmp_path, str(tmp_path / "all.rsf"), "cut.rsf", crop=crop)
        assert np.array_equal(prepared(tmp_path, model, crop=crop, **keys), cut)


# --- epsilon and delta


def test_a_table_by_velocity_and_a_constant_below_the_sea_floor(tmp_path: Path) -> None:
    vp = np.array([[1500, 1500, 2000, 2500, 1500], [1500, 3250, 4000, 5000, 1501]], np.float32)
    model = rsf(tmp_path, vp)
    rule = rule_of("velocity:1500=0.02,2500=0.1,4000=0.05")
    prepared(tmp_path, model, epsilon=rule, delta=Constant(0.01), sea_floor=sea_floor_of("1510"))
    epsilon, delta = (load(tmp_path / f"out-{name}.rsf") for name in ("epsilon", "delta"))
    np.testing.assert_allclose(epsilon, [[0, 0, 0.06, 0.1, 0.02], [0, 0.075, 0.05, 0.05, 0.02008]], rtol=1e-6)
    assert np.array_equal(delta, np.float32(0.01) * np.array([[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]]))
    assert np.array_equal(load(tmp_path / "out.rsf"), vp)
    assert info(tmp_path / "out-epsilon.rsf").spacing == (10.0, 10.0)


@pytest.mark.parametrize(
    ("floor", "rock"),
    [(None, slice(0, None)), (SeaFloor(depth=30.0), slice(3, None)), (SeaFloor(depth=31.0), slice(4, None))],
)
def test_a_constant_below_a_depth(tmp_path: Path, floor: SeaFloor | None, rock: slice) -> None:
    prepared(tmp_path, rsf(tmp_path, velocities(4, 8)), epsilon=Constant(0.1), sea_floor=floor)
    wanted = np.zeros((4, 8), np.float32)
    wanted[:, rock] = 0.1
    assert np.array_equal(load(tmp_path / "out-epsilon.rsf"), wanted)
    assert not (tmp_path / "out-delta.rsf").exists()


def test_the_sea_floor_goes_on_beside_the_model_and_between_other_cells(tmp_path: Path) -> None:
    """It is found before smoothing and keeps its place; columns that are added have that of the outermost."""
    depth = np.array([20.0, 20, 20, 40, 40, 40, 40])
    vp = np.where(10.0 * np.arange(10) < depth[:, None], 1500.0, 2500.0)
    keys = {"smooth": (30.0,), "extend": extension_of("20,0"), "spacing": (5.0, 10.0)}
    prepared(tmp_path, rsf(tmp_path, vp), epsilon=Constant(0.1), sea_floor=SeaFloor(velocity=2000.0), **keys)
    got = 10.0 * np.argmax(load(tmp_path / "out-epsilon.rsf") > 0, axis=1)
    assert got.tolist() == [20.0] * (4 + 6) + [40.0] * (7 + 4)
    model = load(tmp_path / "out.rsf")
    assert np.all(np.where(10.0 * np.arange(10) < got[:, None], 1500.0, 2500.0) == model)


# --- what is refused


def refused(tmp_path: Path, words: list[str], model: str | None = None, **keys: Any) -> None:
    model = model or rsf(tmp_path, velocities(10, 8))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError) as caught:
        prepared(tmp_path, model, keys.pop("output", "out.rsf"), **keys)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"crop": crop_of("2000:3000,:")}, ["--crop", "0 cells along x", "0 to 90 m, every 10 m"]),
        ({"crop": crop_of(":,0:9")}, ["--crop", "1 cells along z"]),
        ({"crop": crop_of(":,:,:")}, ["--crop", "found 3 values", "one, or 2, for x, z"]),
        ({"spacing": (0.0,)}, ["--spacing", "found 0 m along x"]),
        ({"spacing": (10.0, 100.0)}, ["--spacing", "found 100 m along z", "70 m long"]),
        ({"spacing": (10.0, 10.0, 10.0)}, ["--spacing", "found 3 values"]),
        ({"input_spacing": (12.5,)}, ["--input-spacing", "12.5 m along x", "says 10"]),
        ({"axes": "zx"}, ["--axes", 'found "zx"', 'labels its axes "xz"']),
        ({"axes": "xyz"}, ["--axes", "found xyz", "10 x 8 cells"]),
        ({"units": "km/s"}, ["80 of 80", "in cell x 0, z 0", "100 to 20000 m/s", "--units km/s"]),
        ({"delta": Constant(0.1)}, ["epsilon < delta in 80 of 80", "0 < 0.1", "(0, 0) m", "epsilon >= delta"]),
        ({"units": "none", "epsilon": Constant(0.1)}, ["--epsilon", "--units none"]),
        ({"units": "none", "sea_floor": SeaFloor(velocity=1600.0)}, ["--below-water", "--units none", "depth:METRES"]),
        ({"sea_floor": SeaFloor(velocity=8000.0)}, ["--below-water", "no cell is faster than 8000 m/s"]),
        ({"output": "in.rsf"}, ["in.rsf", "would replace"]),
        ({"output": "out.npz"}, ["out.npz", "volumes are written as"]),
    ],
)
def test_refused(tmp_path: Path, keys: dict[str, Any], words: list[str]) -> None:
    refused(tmp_path, words, **keys)


def test_only_what_is_wrong_in_the_cells_that_are_used_is_refused(tmp_path: Path) -> None:
    values = velocities(10, 8)
    values[7, 5] = np.nan
    model = rsf(tmp_path, values)
    refused(tmp_path, ["1 of 80 values are not finite", "the first nan in cell x 7, z 5"], model)
    assert np.array_equal(prepared(tmp_path, model, crop=crop_of("0:40,:")), values[:5])


def test_the_worst_cell_is_told(tmp_path: Path) -> None:
    vp = np.full((5, 4), 2000.0)
    vp[3, 2] = 3000.0
    rules = {"epsilon": rule_of("velocity:2000=0.1,3000=0.05"), "delta": Constant(0.08)}
    refused(tmp_path, ["in 1 of 20 cells", "0.05 < 0.08 at (30, 20) m"], rsf(tmp_path, vp), **rules)


def test_units_that_the_file_contradicts(tmp_path: Path) -> None:
    model = rsf(tmp_path, velocities(5, 4) / 1000, unit="km/s")
    refused(tmp_path, ["--units", "found m/s", "in.rsf says km/s"], model, units="m/s")


def test_unknown_cells_are_asked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", velocities(5, 4))
    refused(tmp_path, ["--input-spacing", "missing", "carries no spacing"], str(tmp_path / "in.npy"))


def test_a_model_that_does_not_fit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = rsf(tmp_path, velocities(100, 80))
    monkeypatch.setattr(plan, "usable_memory", lambda comm, budget: 100_000)
    monkeypatch.setattr(InputVolume, "read", lambda *_: pytest.fail("was read"))
    refused(tmp_path, ["not enough memory", "--crop"], model)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"smooth": (30.0,)},
        {"spacing": (15.0,)},
        {"spacing": (8.0,), "smooth": (30.0,), "sea_floor": SeaFloor(depth=55.0), "epsilon": Constant(0.1)},
        {"smooth": (30.0,), "epsilon": "volume"},
        {"spacing": (8.0,), "sea_floor": SeaFloor(depth=55.0), "epsilon": "volume", "delta": Constant(-0.1)},
    ],
)
def test_it_takes_no_more_memory_than_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any]
) -> None:
    model, asked = rsf(tmp_path, velocities(70, 60, 80)), []
    if keys.get("epsilon") == "volume":
        keys = keys | {"epsilon": Given(rsf(tmp_path, np.full((70, 60, 80), 0.1), name="epsilon.rsf"))}
    monkeypatch.setattr(plan, "require_memory", lambda parts, *_: asked.append(sum(parts.values())))
    prepared(tmp_path, model, **keys)  # what is imported on the way does not count
    tracemalloc.start()
    prepare_volume(PreparationRequest(model, tmp_path / "out.rsf", **keys), lambda line: None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.25 * asked[0] <= peak <= asked[0]


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("--crop", "5", ["FIRST:LAST"]),
        ("--crop", "9:5", ["FIRST:LAST"]),
        ("--extend", "1.5c", ["20c"]),
        ("--extend", "-5", ["found -5", "20c"]),
        ("--epsilon", "10", ["above -0.5, up to 2", "not percent"]),
        ("--epsilon", "depth:1=2", ["velocity:V=VALUE"]),
        ("--delta", "velocity:2000=0.1,1500=0", ["increasing V"]),
        ("--below-water", "1.5", ["velocity above that of water", "depth:METRES"]),
        ("--smooth", "-1,2", ["expected one argument"]),
        ("--smooth=-1,2", None, ["negative"]),
        ("--spacing", "a", ["numbers with commas"]),
        ("--units", "ft", ["invalid choice"]),
    ],
)
def test_wrong_words(tmp_path: Path, capsys: Any, option: str, text: str | None, words: list[str]) -> None:
    model = rsf(tmp_path, velocities(5, 4))
    done = run(capsys, "prepare", model, "-o", tmp_path / "out.rsf", option, *([] if text is None else [text]))
    assert done.code == 2
    assert done.err.startswith("fathometer: error: ")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err
    assert not (tmp_path / "out.rsf").exists()


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    values = velocities(21, 11) / 1000
    np.save(tmp_path / "in.npy", values)
    words = ["--units", "km/s", "--input-spacing", "12.5,10", "--crop", "25:200,:", "--extend", "0:25,2c"]
    rules = ["--epsilon", "velocity:1500=0,4000=0.1", "--delta", "0", "--below-water", "depth:20"]
    done = run(capsys, "prepare", tmp_path / "in.npy", "-o", tmp_path / "out.rsf", *words, *rules)
    assert done.code == 0, done.err
    assert done.out == ""
    assert "21 x 11 cells of 12.5 x 10 m from (0, 0) m" in done.err
    assert "17 x 15 cells of 12.5 x 10 m from (25, -20) m" in done.err
    assert "sea floor at 20 to 20 m" in done.err
    wanted = np.pad((1000 * values)[2:17], [(0, 2), (2, 2)], mode="edge")
    np.testing.assert_allclose(load(tmp_path / "out.rsf"), wanted, rtol=1e-6)
    z = -20 + 10.0 * np.arange(15)
    epsilon = np.where(z >= 20, np.clip((wanted - 1500) / 25000, 0, 0.1), 0)
    np.testing.assert_allclose(load(tmp_path / "out-epsilon.rsf"), epsilon, atol=1e-7)
    done = run(capsys, "prepare", tmp_path / "out.rsf", "-o", tmp_path / "again.npy", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    for _ in range(2):  # a format that is a folder is written anew, too
        done = run(capsys, "prepare", tmp_path / "out.rsf", "-o", tmp_path / "again.blocks", "--quiet")
        assert (done.code, done.err) == (0, "")


def test_a_model_that_is_the_same_everywhere_is_told(tmp_path: Path) -> None:
    lines: list[str] = []
    rules: dict[str, Any] = {"epsilon": rule_of("velocity:1500=0,3000=0.1"), "delta": Constant(0.0)}
    prepare_volume(
        PreparationRequest(rsf(tmp_path, np.full((5, 4), 1500.0)), tmp_path / "out.rsf", **rules), lines.append
    )
    assert [line.replace(f"{tmp_path}/", "") for line in lines if line.startswith("note: all ")] == [
        "note: all values of out.rsf are 1500 m/s",
        "note: all values of out-epsilon.rsf are 0",  # delta is asked to be one number
    ]
    lines.clear()
    model = rsf(tmp_path, -np.zeros((5, 4)))
    prepare_volume(PreparationRequest(model, tmp_path / "out.rsf", units="none"), lines.append)
    assert any(line.endswith("from (0, 0) m, 0 to 0") for line in lines)
    assert f"note: all values of {tmp_path / 'out.rsf'} are 0" in lines
    lines.clear()
    prepare_volume(PreparationRequest(rsf(tmp_path, velocities(5, 4)), tmp_path / "out.rsf"), lines.append)
    assert not any(line.startswith("note: all ") for line in lines)


def test_several_ranks_are_refused(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    done = run(capsys, "prepare", rsf(tmp_path, velocities(5, 4)), "-o", tmp_path / "out.rsf")
    assert done.code == 2
    assert "started as 2 ranks" in done.err
    assert not (tmp_path / "out.rsf").exists()


def test_prepared_models_of_others(shared_data: Path, tmp_path: Path) -> None:
    """Overthrust as it comes, HDF5 with depth first in s²/km², is what the example's survey file has to say of it."""
    model = f"{shared_data / 'overthrust2d' / 'overthrust_model.h5'}:m"
    got = prepared(tmp_path, model, units="s2/km2", axes="zx", input_spacing=(25.0,))
    assert got.shape == (401, 121)
    assert (got.min(), got.max(), got.mean()) == pytest.approx((1500.0, 5500.0, 3399.35), rel=1e-5)
