"""Levels of box means beside a volume, in HDF5 and Zarr: values, places, ranks, what others make of them."""

import re

import h5py
import numpy as np
import pytest
from cli_support import call
from mpi4py import MPI
from storage_program import info_of
from test_wavelets import read, write
from wavelet_program import values_of

from fathometer.base.errors import InputError
from fathometer.report.decimation import averaged, three
from fathometer.seismic.page.volume_panel import averaged_volume, cells_of
from fathometer.storage.volumes.levels import info_at, most_levels
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, reference_at
from fathometer.storage.volumes.writer import VolumeWriter

FORMATS = ("v.h5", "v.zarr")


def halved(values, axes):
    """Means of two cells along each axis, in double precision; the last cell alone where their number is odd."""
    for axis in axes:
        n = values.shape[axis]
        if n > 1:
            ends = np.arange(0, n, 2)
            sums = np.add.reduceat(values, ends, axis=axis)
            counts = np.minimum(2, n - ends).reshape([-1 if a == axis else 1 for a in range(values.ndim)])
            values = sums / counts
    return values


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("shape", [(70, 66, 41), (1, 9, 5), (33, 20), (4, 3, 2)])
def test_levels_are_means(tmp_path, name, shape):
    values = values_of(shape)
    levels = most_levels(info_of(shape))
    write(tmp_path / name, values, f"auto:levels={levels}")
    assert np.array_equal(read(tmp_path, name), values)
    expected = values.astype(np.float64)
    for level in range(1, levels + 1):
        expected = halved(expected, range(len(shape)))
        assert np.allclose(read(tmp_path, name, level), expected, rtol=0, atol=1e-6)
        with open_volume(f"{name}:levels/{level}", tmp_path) as volume:
            info, own = volume.info, info_of(shape)
        for axis, n in enumerate(shape):
            cells = 1 << min(level, (n - 1).bit_length())
            assert info.spacing[axis] == cells * own.spacing[axis]
            # The centre of the cells that the first one stands for.
            assert info.origin[axis] == pytest.approx(own.origin[axis] + (cells - 1) / 2 * own.spacing[axis])
    assert expected.reshape(()) == pytest.approx(read(tmp_path, name, levels).reshape(()))


def test_steps_have_levels_and_no_halvings(tmp_path):
    values = values_of((5, 12, 9, 6))
    with VolumeWriter(tmp_path / "v.h5", info_of(values.shape), MPI.COMM_SELF, Strategy.of("auto:levels=2")) as writer:
        writer.write(values[:2], (0, 0, 0, 0))
        writer.write(values[2:], (2, 0, 0, 0))
    expected = halved(halved(values.astype(np.float64), (1, 2, 3)), (1, 2, 3))
    assert np.allclose(read(tmp_path, "v.h5", 2), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("filter", ["zfp", "sperr", "blosc2"])
def test_levels_are_compressed_as_the_volume(tmp_path, filter):
    pytest.importorskip("hdf5plugin")
    values = values_of((70, 40, 33))
    write(tmp_path / "v.h5", values, f"auto:levels=2,filter={filter}")
    with h5py.File(tmp_path / "v.h5") as file:
        assert all(file[name].id.get_create_plist().get_nfilters() == 2 for name in ("values", "levels/1", "levels/2"))
    assert np.allclose(read(tmp_path, "v.h5", 1), halved(values.astype(float), (0, 1, 2)), atol=0.05)


def test_a_file_with_levels_is_a_seventh_larger(tmp_path):
    values = values_of((128, 128, 128))
    size = write(tmp_path / "v.h5", values, "auto:levels=4").stat().st_size
    assert 1.14 < size / values.nbytes < 1.15


def test_a_validator_takes_the_group_for_an_ome_zarr(tmp_path):
    yaozarrs = pytest.importorskip("yaozarrs")
    pytest.importorskip("fsspec")
    shapes = {"zero": ((70, 66, 41), True), "one": ((33, 20), True), "two": ((20, 9, 8), False)}
    for name, (shape, place) in shapes.items():
        info = info_of(shape)
        if not place:
            info = type(info)(shape, info.dtype, None, None, None, None)
        write(tmp_path / f"{name}.zarr", values_of(shape), "auto:levels=2", info)
        yaozarrs.validate_zarr_store(str(tmp_path / f"{name}.zarr"))
    import zarr

    group = zarr.open_group(tmp_path / "zero.zarr", mode="r")
    [scales] = group.attrs["ome"]["multiscales"]
    assert [data["path"] for data in scales["datasets"]] == ["zero", "levels/1/zero", "levels/2/zero"]
    for level, data in enumerate(scales["datasets"]):
        scale, translation = data["coordinateTransformations"]
        own = info_at(info_of((70, 66, 41)), level)
        assert tuple(scale["scale"]) == own.spacing
        assert tuple(translation["translation"]) == own.origin
        assert list(group[data["path"]].metadata.dimension_names) == [axis["name"] for axis in scales["axes"]]
    # The validator does see what is wrong.
    scales["datasets"][1]["path"] = "nowhere"
    group = zarr.open_group(tmp_path / "zero.zarr", mode="r+", use_consolidated=False)
    group.attrs["ome"] = {"version": "0.5", "multiscales": [scales]}
    with pytest.raises(Exception, match="nowhere"):
        yaozarrs.validate_zarr_store(str(tmp_path / "zero.zarr"))


def test_xarray_opens_levels(tmp_path):
    xarray = pytest.importorskip("xarray")
    values = values_of((20, 12, 9))
    for name in FORMATS:
        write(tmp_path / name, values, "auto:levels=2")
    with xarray.open_zarr(tmp_path / "v.zarr", group="levels/2") as data:
        assert np.array_equal(data["v"], read(tmp_path, "v.zarr", 2))
        assert np.array_equal(data["x"], info_at(info_of(values.shape), 2).origin[0] + 50.0 * np.arange(5))
    with xarray.open_dataset(tmp_path / "v.h5", engine="netcdf4", group="levels") as data:
        assert np.array_equal(data["2"], read(tmp_path, "v.h5", 2))
    with xarray.open_dataset(tmp_path / "v.h5", engine="fathometer", level=1) as data:
        assert np.array_equal(data["v"], read(tmp_path, "v.h5", 1))


@pytest.mark.parametrize(
    ("name", "strategy", "said"),
    [
        ("v.h5", "auto:levels=6", "levels=6: found 20 x 12 x 9 cells; allowed: up to 5 levels"),
        ("v.zarr", "auto:levels=6", "levels=6: found 20 x 12 x 9 cells; allowed: up to 5 levels"),
        ("v.rsf", "auto:levels=1", "RSF is not written with levels (allowed: .h5, .hdf5, .zarr)"),
        ("v.nc", "auto:levels=1", "NetCDF is not written with levels (allowed: .h5, .hdf5, .zarr)"),
        ("v.h5", "auto:levels=0", "levels=0 is not for auto (allowed: 1 to 30)"),
    ],
)
def test_levels_that_cannot_be(tmp_path, name, strategy, said):
    with pytest.raises(InputError, match=re.escape(said)):
        write(tmp_path / name, values_of((20, 12, 9)), strategy)
    assert not list(tmp_path.iterdir())


def test_levels_that_are_not_there(tmp_path):
    values = values_of((20, 12, 9))
    for name in FORMATS:
        write(tmp_path / name, values, "auto:levels=2")
        done = call("info", tmp_path / name, "--level", 3)
        assert done.code == 2
        assert f"{name}:levels/3: no such array in the file (it holds: " in done.err
        done = call("info", tmp_path / name, "--level", 2, "--picture", tmp_path / "v.png")
        assert done.code == 0, done.err
        assert "5 × 3 × 3" in done.out
    done = call("info", tmp_path / "v.h5", "--share", 10)
    assert done.code == 2


@pytest.mark.parametrize("name", FORMATS)
def test_a_page_averages_levels(tmp_path, name):
    """It reads a level in place of the volume, and has the same means."""
    values = values_of((80, 60, 50))
    write(tmp_path / "plain.rsf", values, "auto")
    write(tmp_path / name, values, "auto:levels=3")
    with open_volume(name, tmp_path) as volume, open_volume("plain.rsf", tmp_path) as plain:
        assert (volume.levels, plain.levels) == (3, 0)
        factors, means = averaged_volume(volume, 4000)
        assert min(factors) >= 2
        whole = averaged(cells_of(plain), three(values.shape), factors)
        read_here = []
        volume.read, original = (lambda lo, hi: read_here.append(lo) or original(lo, hi)), volume.read
        averaged_volume(volume, 4000)
    assert not read_here
    assert means.shape == whole.shape
    assert np.allclose(means, whole, rtol=0, atol=1e-6)


def test_what_is_missing_stays_missing(tmp_path):
    values = values_of((20, 12, 9))
    values[3, 4, 5] = np.nan
    write(tmp_path / "v.h5", values, "auto:levels=1")
    found = read(tmp_path, "v.h5", 1)
    assert np.argwhere(np.isnan(found)).tolist() == [[1, 2, 2]]
    assert reference_at("v.h5", tmp_path, 1) == "v.h5:levels/1"
