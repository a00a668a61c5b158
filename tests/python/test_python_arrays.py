"""`open_volume` and `open_gathers`: names, units, places, values of every format; nothing is read before it is used."""

import pickle
import warnings

import numpy as np
import pytest
from cli_support import call
from mpi4py import MPI
from python_support import documented, written
from storage_program import info_of

import fathometer as fm
from fathometer.storage.traces.segy import read_traces
from fathometer.storage.volumes.block import BlockReader, VolumeInfo
from fathometer.storage.volumes.formats.rsf import rsf_header
from fathometer.storage.volumes.place import Place, World
from fathometer.storage.volumes.registry import BY_SUFFIX
from fathometer.storage.volumes.writer import write_volume

xarray = pytest.importorskip("xarray")
VALUES = np.random.default_rng(3).standard_normal((7, 6, 5)).astype(np.float32)
PLACE = Place(World((451234.5, 6202345.25), 60.0), "EPSG:25832")
SUFFIXES = (".rsf", ".nc", ".h5", ".zarr", ".blocks")


def world(x, y):
    """By a rotation of complex numbers, as the guide has it."""
    turned = (x + 1j * y) * np.exp(1j * np.radians(90.0 - 60.0))
    return 451234.5 + turned.real, 6202345.25 + turned.imag


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_has_the_same_names_units_and_places(tmp_path, suffix):
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    if lacking := BY_SUFFIX[suffix].missing("auto", 1):
        pytest.skip(lacking)
    path = written(tmp_path / f"image-laplacian{suffix}", VALUES, PLACE)
    image = fm.open_volume(path)
    assert (image.name, image.dims, image.dtype) == ("image_laplacian", ("x", "y", "z"), np.float32)
    assert (image.attrs["units"], image.attrs["long_name"]) == ("m/s", "image laplacian")
    assert image.attrs["crs"] == "EPSG:25832"
    for name, step in (("x", 10.0), ("y", 20.0), ("z", 5.0)):
        np.testing.assert_array_equal(image[name], step * np.arange(image.sizes[name]))
        assert image[name].attrs["units"] == "m"
    assert image["z"].attrs["positive"] == "down"
    east, north = world(image.x.values[:, None], image.y.values[None, :])
    np.testing.assert_allclose(image.X, east, rtol=0, atol=1e-8)
    np.testing.assert_allclose(image.Y, north, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(image, VALUES)
    np.testing.assert_array_equal(image.isel(x=[5, 1], z=slice(None, None, -2)), VALUES[[5, 1], :, ::-2])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(image)), VALUES)


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_xarray_alone_opens_what_is_written_without_a_warning(tmp_path, suffix):
    pytest.importorskip("netCDF4")
    if lacking := BY_SUFFIX[suffix].missing("auto", 1):
        pytest.skip(lacking)
    path = written(tmp_path / f"vp{suffix}", VALUES, PLACE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = xarray.open_dataset(path)
        assert list(data.data_vars) == ["vp"]
        assert (data.vp.attrs["units"], data.vp.attrs["long_name"]) == ("m/s", "vp")
        assert data.z.attrs == {"units": "m", "long_name": "depth", "standard_name": "depth", "positive": "down"} | {
            "axis": "Z"
        }
        np.testing.assert_array_equal(data.vp, VALUES)


@pytest.mark.parametrize("suffix", [".rsf", ".segy"])
def test_xarray_finds_the_engine_itself(tmp_path, suffix):
    path = written(tmp_path / f"vp{suffix}", VALUES)
    for name in (path, str(path)):
        with xarray.open_dataset(name) as data:
            np.testing.assert_array_equal(data.vp, VALUES)


def test_a_segy_has_numbers_of_lines_depths_and_its_place(tmp_path):
    image = fm.open_volume(written(tmp_path / "image.segy", VALUES, PLACE))
    assert image.dims == ("inline", "crossline", "z")
    np.testing.assert_array_equal(image.inline, np.arange(1, 8))
    np.testing.assert_array_equal(image.crossline, np.arange(1, 7))
    np.testing.assert_array_equal(image.z, 5.0 * np.arange(5))
    x, y = np.meshgrid(10.0 * np.arange(7), 20.0 * np.arange(6), indexing="ij")
    np.testing.assert_allclose((image.X, image.Y), world(x, y), rtol=0, atol=0.05)  # headers hold centimetres
    np.testing.assert_array_equal(image.sel(inline=3, crossline=2), VALUES[2, 1])


def test_a_line_in_time_and_steps(tmp_path):
    info = VolumeInfo((6, 4), np.dtype("f4"), (25.0, 0.004), (0.0, 0.1), ("x", "t"), None, place=PLACE)
    write_volume(tmp_path / "line.segy", info, VALUES[:6, :4, 0], (0, 0), MPI.COMM_SELF)
    line = fm.open_volume(tmp_path / "line.segy")
    np.testing.assert_allclose(line.t, 0.1 + 0.004 * np.arange(4))
    assert (line.t.attrs["units"], line.dims) == ("s", ("trace", "t"))
    np.testing.assert_allclose(line.X, world(25.0 * np.arange(6), 0.0)[0], atol=0.05)
    steps = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    write_volume(tmp_path / "p.h5", info_of(steps.shape), steps, (0, 0, 0, 0), MPI.COMM_SELF)
    np.testing.assert_array_equal(fm.open_volume(tmp_path / "p.h5"), steps)


def test_files_of_older_versions_keep_their_meaning(tmp_path):
    """The array was called values."""
    zarr, netcdf = pytest.importorskip("zarr"), pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "old.nc", "w", format="NETCDF3_64BIT_DATA") as file:
        for name, n in zip("xyz", VALUES.shape, strict=True):
            file.createDimension(name, n)
        values = file.createVariable("values", "f4", ("x", "y", "z"))
        values[:] = VALUES
        values.setncatts({"spacing": [10.0, 20.0, 5.0], "origin": [0.0] * 3, "labels": "x\ny\nz", "units": "m/s"})
    group = zarr.open_group(tmp_path / "old.zarr", mode="w", attributes={"written_by": "fathometer"})
    for folder, step in (("", 1), ("levels/1", 2)):
        one = (group.create_group(folder) if folder else group).create_array(
            "values", data=VALUES[::step], dimension_names=["x", "y", "z"]
        )
        one.attrs.update({"spacing": [10.0 * step, 20.0, 5.0], "labels": ["x", "y", "z"], "units": "m/s"})
    for name in ("old.nc", "old.zarr", "old.zarr:values"):
        volume = fm.open_volume(tmp_path / name)
        assert (volume.name, volume.attrs["units"]) == ("old", "m/s")
        np.testing.assert_array_equal(volume, VALUES)
        np.testing.assert_array_equal(volume.x, 10.0 * np.arange(7))
    np.testing.assert_array_equal(fm.open_volume(tmp_path / "old.zarr", level=1), VALUES[::2])


def test_an_array_keeps_its_own_name_and_levels_that_of_the_file(tmp_path):
    np.savez(tmp_path / "models.npz", vp=VALUES, rho=VALUES)
    assert fm.open_volume(f"{tmp_path}/models.npz:rho").name == "rho"
    written(tmp_path / "image.h5", VALUES, strategy="auto:levels=1")
    coarse = fm.open_volume(tmp_path / "image.h5", level=1)
    assert (coarse.name, coarse.shape) == ("image", (4, 3, 3))


def test_opening_reads_no_samples(tmp_path, monkeypatch):
    """Of a cube of 1000^3 values as of any other: those of the RSF are a hole in a file, and reading is an error."""
    info = VolumeInfo((1000,) * 3, np.dtype("f4"), (10.0, 10.0, 5.0), (0.0,) * 3, ("x", "y", "z"), "m/s")
    (tmp_path / "cube.rsf").write_bytes(rsf_header(info, "cube.bin"))
    with (tmp_path / "cube.bin").open("wb") as file:
        file.truncate(4 * 1000**3)
    written_here = [suffix for suffix in (".nc", ".segy", ".h5") if not BY_SUFFIX[suffix].missing("auto", 1)]
    paths = [tmp_path / "cube.rsf", *(written(tmp_path / f"v{suffix}", VALUES) for suffix in written_here)]
    documented(tmp_path)

    def refuse(*_):
        raise AssertionError("samples are read")

    with monkeypatch.context() as patch:
        patch.setattr(BlockReader, "read", refuse)
        patch.setattr("fathometer.storage.xarray_gathers.decode_traces", refuse)
        opened = [fm.open_volume(path) for path in paths]
        gathers = fm.open_gathers(tmp_path / "shots.segy")
        part = gathers.sel(shot=2)
        with pytest.raises(AssertionError, match="samples are read"):
            opened[0].isel(x=0, y=0).compute()
        with pytest.raises(AssertionError, match="samples are read"):
            part.compute()
    assert opened[0].isel(x=999, y=999).sum() == 0
    np.testing.assert_array_equal(part[0], 200 + np.arange(11))


def test_gathers_are_what_headers_say(tmp_path):
    documented(tmp_path)
    gathers = fm.open_gathers(tmp_path / "shots.segy")
    np.testing.assert_array_equal(gathers, read_traces(tmp_path / "shots.segy", np.arange(6)))
    assert gathers.name == "shots"
    np.testing.assert_allclose(gathers.time, 0.004 * np.arange(11))
    assert gathers.time.attrs["units"] == "s"
    np.testing.assert_array_equal(gathers.shot, [1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(gathers.source_x, [100] * 3 + [200] * 3)
    np.testing.assert_array_equal(gathers.receiver_x, [125, 150, 175, 225, 250, 275])
    np.testing.assert_array_equal(gathers.source_z, [5] * 6)
    assert gathers.offset.attrs == {"long_name": "offset", "units": "m"}
    assert gathers.live.all()
    far = gathers.isel(trace=np.flatnonzero(gathers.offset > 30))
    np.testing.assert_array_equal(far, gathers.values[[1, 2, 4, 5]])
    np.testing.assert_array_equal(gathers[::-2, 3:9:2], gathers.values[::-2, 3:9:2])
    np.testing.assert_array_equal(gathers[4, 7], gathers.values[4, 7])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gathers)), gathers)


@pytest.mark.parametrize("name", ["shots.segy", "image.rsf"])
def test_a_relative_name_means_the_same_file_elsewhere_later(tmp_path, monkeypatch, name):
    documented(tmp_path)
    monkeypatch.chdir(tmp_path)
    array = (fm.open_gathers if name == "shots.segy" else fm.open_volume)(name)
    before = array.values
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(array.values, before)


def test_an_index_is_one_array_of_its_files(tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}").mkdir()
        documented(tmp_path / f"{number}")
    files = [tmp_path / f"{number}" / "shots.segy" for number in (1, 2)]
    done = call("survey", "build", *files, "-o", tmp_path / "line.parquet", "--quiet")
    assert done.code == 0, done.err
    gathers = fm.open_gathers(tmp_path / "line.parquet")
    rows = [path for path in gathers.attrs["files"]]
    expected = np.concatenate([read_traces(tmp_path / path, np.arange(6)) for path in rows])
    assert gathers.shape[1] == 11
    np.testing.assert_array_equal(gathers, expected[: gathers.shape[0]])
    np.testing.assert_array_equal(gathers[[4, 0]], expected[[4, 0]])


def test_without_dask_arrays_are_lazy_too(tmp_path, monkeypatch):
    path = written(tmp_path / "v.rsf", VALUES)
    found = "fathometer.python.opening.importlib.util.find_spec"
    monkeypatch.setattr(found, lambda name: None if name == "dask" else name)
    volume = fm.open_volume(path)
    assert volume.chunks is None
    assert not volume.variable._in_memory
    np.testing.assert_array_equal(volume[2:4], VALUES[2:4])


def test_with_dask_they_are_in_chunks_and_a_change_is_seen(tmp_path):
    pytest.importorskip("dask")
    path = written(tmp_path / "v.rsf", VALUES)
    before = fm.open_volume(path)
    assert before.chunks == ((7,), (6,), (5,))
    np.testing.assert_allclose(before.mean(), VALUES.mean(dtype=np.float64), rtol=1e-5)
    written(path, VALUES + 1)
    assert fm.open_volume(path).data.name != before.data.name
