"""Volumes with an axis of two-way time: every format says its unit and gives it back."""

import json

import h5py
import numpy as np
import pytest
import segyio
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.pictures import file_picture
from fathometer.storage.describe import describe
from fathometer.storage.volumes.registry import format_to_read
from fathometer.storage.volumes.strategy import ROOT
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, write_volume

SELF = MPI.COMM_SELF
GRID = Grid((4, 3, 5), (25.0, 12.5, 0.004), (100.0, 50.0, 0.1), vertical="time")
FLAT = Grid((4, 1, 5), (25.0, 25.0, 0.002), (100.0, 0.0, 0.0), vertical="time")


def written(folder, suffix, grid=GRID):
    info = volume_info(grid, np.dtype(np.float32), "m/s")
    values = np.random.default_rng(3).normal(size=info.shape).astype(np.float32)
    path = folder / f"v{suffix}"
    if missing := format_to_read(path).missing(ROOT, 1) if suffix not in (".segy", ".h5") else "":
        pytest.skip(missing)
    write_volume(path, info, values, (0,) * values.ndim, SELF)
    return info, values


def test_the_grid_tells_the_label():
    info = volume_info(GRID, np.dtype(np.float32), "")
    assert (info.labels, info.axis_units, info.in_time) == (("x", "y", "t"), ("m", "m", "s"), True)
    depth = volume_info(Grid((4, 1, 5), (25.0, 25.0, 5.0)), np.dtype(np.float32), "")
    assert (depth.labels, depth.axis_units, depth.in_time) == (("x", "z"), ("m", "m"), False)


@pytest.mark.parametrize("suffix", [".rsf", ".nc", ".h5", ".zarr", ".blocks"])
@pytest.mark.parametrize("grid", [GRID, FLAT])
def test_round_trip(tmp_path, suffix, grid):
    info, values = written(tmp_path, suffix, grid)
    with open_volume(f"v{suffix}", tmp_path) as volume:
        found = volume.info
        np.testing.assert_array_equal(volume.read((0,) * values.ndim, values.shape), values)
    assert (found.spacing, found.origin, found.labels) == (info.spacing, info.origin, info.labels)
    assert found.axis_units == info.axis_units


@pytest.mark.parametrize(("grid", "micros", "delay"), [(GRID, 4000, 100), (FLAT, 2000, 0)])
def test_segy(tmp_path, grid, micros, delay):
    info, values = written(tmp_path, ".segy", grid)
    with segyio.open(tmp_path / "v.segy", ignore_geometry=True) as file:
        assert file.bin[segyio.BinField.Interval] == micros
        assert {head[segyio.TraceField.DelayRecordingTime] for head in file.header} == {delay}
        assert b"Volume in two-way time" in bytes(file.text[0])
        assert b"from 0.1 s" in bytes(file.text[0]) or delay == 0
    with open_volume("v.segy", tmp_path) as volume:
        assert volume.info.labels[-1] == "t"
        assert volume.times == (grid.origin[2], grid.spacing[2])
        assert volume.info.survey is None or volume.info.survey.spacing == info.spacing[:-1]
        np.testing.assert_array_equal(volume.read((0,) * values.ndim, values.shape), values)


def test_a_fraction_of_a_millisecond_of_delay_has_a_scalar(tmp_path):
    written(tmp_path, ".segy", Grid((2, 1, 5), (25.0, 25.0, 0.002), (0.0, 0.0, 0.0125), vertical="time"))
    with open_volume("v.segy", tmp_path) as volume:
        assert volume.times == (0.0125, 0.002)


@pytest.mark.parametrize(
    ("interval", "first", "words"),
    [(0.05, 0.0, "interval of 0.05 s"), (0.0001004, 0.0, "interval of"), (0.004, 40.0, "first sample at 40 s")],
)
def test_what_segy_cannot_hold_is_refused(tmp_path, interval, first, words):
    with pytest.raises(InputError, match=words):
        written(tmp_path, ".segy", Grid((2, 1, 5), (25.0, 25.0, interval), (0.0, 0.0, first), vertical="time"))
    assert not list(tmp_path.iterdir())


def test_segy_in_depth_is_as_before(tmp_path):
    written(tmp_path, ".segy", Grid((2, 1, 5), (25.0, 25.0, 4.0), (0.0, 0.0, 100.0)))
    with open_volume("v.segy", tmp_path) as volume:
        assert volume.info.labels[-1] == "z"


def test_coordinates_say_their_units(tmp_path):
    written(tmp_path, ".h5")
    with h5py.File(tmp_path / "v.h5") as file:
        assert {axis: file[axis].attrs["units"] for axis in "xyt"} == {"x": "m", "y": "m", "t": "s"}
        np.testing.assert_allclose(file["t"][:], 0.1 + 0.004 * np.arange(5))
    written(tmp_path, ".blocks")
    index = json.loads((tmp_path / "v.blocks" / "index.json").read_text())
    assert index["axis_units"] == ["m", "m", "s"]
    assert "spacing_metres" not in index
    written(tmp_path, ".rsf")
    assert 'unit1="s"' in (tmp_path / "v.rsf").read_text()
    assert 'unit2="m"' in (tmp_path / "v.rsf").read_text()


def test_netcdf_says_its_units(tmp_path):
    written(tmp_path, ".nc")
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "v.nc") as file:
        assert (file["t"].units, file["x"].units) == ("s", "m")


def test_zarr_says_its_units(tmp_path):
    zarr = pytest.importorskip("zarr")
    written(tmp_path, ".zarr")
    group = zarr.open(tmp_path / "v.zarr", mode="r")
    assert (group["t"].attrs["units"], group["x"].attrs["units"]) == ("s", "m")


def test_info_says_seconds(tmp_path):
    written(tmp_path, ".rsf")
    said = describe("v.rsf", tmp_path)
    rows = dict(said.rows())
    assert rows["spacing"] == "25 m × 12.5 m × 0.004 s"
    assert rows["origin"] == "100 m × 50 m × 0.1 s"
    record = said.as_dict()
    assert record["spacing_metres"] == [25.0, 12.5, None]
    assert record["spacing_seconds"] == [None, None, 0.004]
    assert record["origin_seconds"] == [None, None, 0.1]
    written(tmp_path, ".segy")
    said = describe("v.segy", tmp_path)
    assert dict(said.rows())["times"] == "every 0.004 s, from 0.1 s"
    assert said.as_dict()["interval_seconds"] == 0.004
    json.dumps(said.as_dict(), allow_nan=False)


def test_time_along_another_axis_does_not_fit_segy(tmp_path):
    values = np.zeros((3, 4), np.float32)
    info = VolumeInfo(values.shape, values.dtype, (0.004, 25.0), None, ("t", "x"), None)
    with pytest.raises(InputError, match="not the last one"):
        write_volume(tmp_path / "v.segy", info, values, (0, 0), SELF)


@pytest.mark.parametrize("grid", [GRID, FLAT])
def test_a_picture_is_in_seconds(tmp_path, grid, monkeypatch):
    written(tmp_path, ".rsf", grid)
    figures = []
    monkeypatch.setattr(file_picture, "save", lambda figure, path: figures.append(figure))
    file_picture.picture_of(tmp_path / "v.png", "v.rsf", tmp_path)
    (figure,) = figures
    section = figure.axes[0]
    assert section.get_ylabel() == "two-way time (s)"
    assert section.get_xlabel() == "x (m)"
    assert section.get_ylim() == pytest.approx((grid.upper[2], grid.origin[2]))
    across, down = figure.get_size_inches()
    box = section.get_position()
    assert box.height * down == pytest.approx(0.6 * box.width * across, rel=1e-6)
