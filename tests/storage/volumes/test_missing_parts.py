"""Parts of a volume that are missing are refused by name, or read as NaN where the file declares a fill value: never as
zeros. What a part is instead of a file, such as a pipe, keeps nobody waiting."""

import json
import os
import signal
import socket
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import netcdf_file

from fathometer.base.errors import InputError
from fathometer.storage.volumes.formats import hdf5, hdf5_files
from fathometer.storage.volumes.volume import open_volume

SHAPE = (6, 10)
VALUES = np.arange(1.0, 61.0).reshape(SHAPE)
SECONDS = 20  # a test that waits for a writer is ended


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for module, name in ((hdf5, "probe"), (hdf5_files, "probe_together")):
        monkeypatch.setattr(module, name, lambda *_: None)  # the files are undamaged and need no child


@contextmanager
def in_time():
    def ended(*_):
        raise AssertionError("waits for the writer of a pipe")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read(reference):
    with open_volume(reference, Path()) as volume:
        return volume.read((0, 0), volume.info.shape)


def refused(reference, *words):
    with in_time(), pytest.raises(InputError) as caught:
        read(reference)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)


def odd_things(path):
    """What may stand in the place of a file: each is made, and removed when the next one is asked for."""
    os.mkfifo(path)
    yield
    os.remove(path)
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(path))
        yield
    os.remove(path)
    os.symlink("/dev/zero", path)
    yield
    os.remove(path)
    path.mkdir()
    yield
    path.rmdir()


# --- HDF5


def test_raw_values_outside_that_are_missing_or_cut_short(tmp_path):
    with h5py.File("v.h5", "w") as file:
        parts = [("a.bin", 16, 200), ("b.bin", 0, h5py.h5f.UNLIMITED)]
        file.create_dataset("vp", SHAPE, "f8", external=parts)[:] = VALUES
    assert (read("v.h5") == VALUES).all()
    whole = (tmp_path / "a.bin").read_bytes()
    os.truncate("a.bin", 215)
    refused("v.h5", "v.h5:vp", "a.bin holds 215 bytes; needed: 216")
    (tmp_path / "a.bin").write_bytes(whole)
    os.truncate("b.bin", 279)
    refused("v.h5", "b.bin holds 279 bytes; needed: 280")
    os.remove("b.bin")
    refused("v.h5", "b.bin: no such file")
    for _ in odd_things(tmp_path / "b.bin"):
        refused("v.h5", "b.bin: is not a file")


def virtual(name="v.h5", fill=None, whole=(2, 10), rows=None, count=3):
    """A virtual dataset of files s0.h5, s1.h5 and s2.h5, two rows of each."""
    layout = h5py.VirtualLayout(SHAPE, "f8")
    for n in range(count):
        part = h5py.VirtualSource(f"s{n}.h5", "vp", whole)
        layout[2 * n : 2 * n + 2] = part if rows is None else part[rows]
    with h5py.File(name, "w") as file:
        file.create_virtual_dataset("vp", layout, fillvalue=fill)


def source(n, values, name="vp"):
    with h5py.File(f"s{n}.h5", "w") as file:
        file[name] = values


def sources():
    for n in range(3):
        source(n, VALUES[2 * n : 2 * n + 2])


@pytest.mark.parametrize("fill", [None, -999.0])
def test_a_source_of_a_virtual_dataset_that_is_missing_or_another(tmp_path, fill):
    virtual(fill=fill)
    sources()
    assert (read("v.h5") == VALUES).all()
    path, whole = tmp_path / "s1.h5", (tmp_path / "s1.h5").read_bytes()
    for other in (VALUES[:1], VALUES[:3], VALUES[:2].T, VALUES[:2].reshape(-1)):
        source(1, other)
        refused("v.h5", "v.h5:vp", f"s1.h5:vp has the shape {other.shape}; needed: (2, 10)")
    source(1, VALUES[:2], name="vs")
    refused("v.h5", "s1.h5:vp: no such dataset")
    path.write_text("something else")
    refused("v.h5", "s1.h5: is not a readable HDF5 file")
    path.unlink()
    refused("v.h5", "s1.h5: no such file")
    for _ in odd_things(path):
        refused("v.h5", "s1.h5: is not a file")
    with h5py.File(path, "w") as file:
        file.create_dataset("vp", (2, 10), "f8")
    refused("v.h5", "s1.h5:vp: its values were never written")
    path.write_bytes(whole)
    assert (read("v.h5") == VALUES).all()


def test_a_source_that_has_become_smaller_than_what_is_taken_of_it():
    virtual(whole=(4, 10), rows=slice(1, 3))
    for n in range(3):
        source(n, np.ones((4, 10) if n != 1 else (2, 10)))
    refused("v.h5", "s1.h5:vp has the shape (2, 10); needed: cells up to (2, 9)")


@pytest.mark.parametrize("rows", [(0, 2, 3), (1, 4), slice(None, None, 2), slice(1, 4)])
def test_rows_of_a_virtual_dataset_in_any_pattern(rows):
    layout = h5py.VirtualLayout(SHAPE, "f8")
    others = np.delete(np.arange(6), rows if isinstance(rows, slice) else list(rows))
    for n, place in enumerate((rows, tuple(others))):
        place = place if isinstance(place, slice) else list(place)
        source(n, VALUES[place])
        layout[place] = h5py.VirtualSource(f"s{n}.h5", "vp", VALUES[place].shape)
    with h5py.File("v.h5", "w") as file:
        file.create_virtual_dataset("vp", layout)
    assert (read("v.h5") == VALUES).all()


def test_values_of_a_virtual_dataset_without_a_source():
    virtual(count=2)
    sources()
    refused("v.h5", "v.h5:vp: 20 of 60 values have no source")
    virtual(count=2, fill=-999.0)
    assert np.isnan(read("v.h5")).sum() == 20


def test_sources_that_grow():
    """Of files with numbers: as many as there are."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    without_end = h5py.h5s.create_simple(SHAPE, (h5py.h5s.UNLIMITED, 10))
    without_end.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (2, 1), (2, 10))
    properties.set_virtual(without_end, b"s%b.h5", b"vp", h5py.h5s.create_simple((2, 10)))
    with h5py.File("v.h5", "w", libver="latest") as file:
        h5py.h5d.create(file.id, b"vp", h5py.h5t.NATIVE_DOUBLE, without_end, properties)
    sources()
    assert (read("v.h5") == VALUES).all()


def test_chunks_that_were_never_written():
    with h5py.File("v.h5", "w") as file:
        file.create_dataset("part", SHAPE, chunks=(2, 5))[:2, :5] = 1
        file.create_dataset("none", SHAPE)
        file.create_dataset("zero", SHAPE, fillvalue=0.0)
        file.create_dataset("all", data=VALUES, chunks=(4, 4), compression="gzip")
        file.create_dataset("fill", SHAPE, chunks=(2, 5), fillvalue=-999.0)[:2, :5] = 1
        file.create_dataset("never", SHAPE, chunks=(2, 5), fillvalue=-999.0, fill_time="never")[:2, :5] = 1
    refused("v.h5:part", "v.h5:part: 5 of 6 chunks were never written, the first with cell (0, 5)", "as zeros")
    refused("v.h5:never", "v.h5:never: 5 of 6 chunks were never written", "as zeros")
    refused("v.h5:none", "v.h5:none: its values were never written")
    refused("v.h5:zero", "v.h5:zero: its values were never written")
    assert (read("v.h5:all") == VALUES).all()
    assert np.isnan(read("v.h5:fill")).sum() == 50


# --- Zarr


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("shards", [None, (4, 10)])
def test_a_chunk_that_is_missing(tmp_path, version, shards):
    zarr = pytest.importorskip("zarr")
    if shards is not None and version == 2:
        return
    array = zarr.create_array("v.zarr", data=VALUES, chunks=(2, 5), shards=shards, zarr_format=version)
    assert (read("v.zarr") == VALUES).all()
    key = array.metadata.encode_chunk_key((1, 0))
    chunk = tmp_path / "v.zarr" / key
    whole = chunk.read_bytes()
    for size in (0, len(whole) - 3):
        chunk.write_bytes(whole[:size])
        refused("v.zarr", "v.zarr: cannot be read: Zarr: ")
    missing = f"v.zarr/{key}: no such file; 1 of {2 if shards else 6} chunks are missing"
    chunk.unlink()
    refused("v.zarr", missing)
    chunk.symlink_to("elsewhere/not-fetched")  # as git-annex leaves it
    refused("v.zarr", missing)
    for place in (chunk, tmp_path / "v.zarr" / (".zarray" if version == 2 else "zarr.json")):
        place.unlink(missing_ok=True)
        os.mkfifo(place)
        refused("v.zarr", f"{place.name}: is not a file")
        place.unlink()
        place.symlink_to("/dev/zero")
        refused("v.zarr", f"{place.name}: is not a file")


@pytest.mark.parametrize("version", [2, 3])
def test_more_chunks_than_can_be_counted(tmp_path, version):
    """Of a damaged shape: neither time nor memory is taken for them."""
    zarr = pytest.importorskip("zarr")
    zarr.create_array("v.zarr", data=VALUES, chunks=(2, 5), zarr_format=version)
    head = tmp_path / "v.zarr" / (".zarray" if version == 2 else "zarr.json")
    shape = [VALUES.shape[0], 1 << 50]
    head.write_text(json.dumps(json.loads(head.read_text()) | {"shape": shape}))
    chunks = -(-shape[0] // 2) * -(-shape[1] // 5)
    refused("v.zarr", f"no such file; {chunks - 6} of {chunks} chunks are missing")


def test_chunks_of_zeros_within_a_shard_are_zeros():
    """The shard's index, which has a checksum, says that they are empty."""
    zarr = pytest.importorskip("zarr")
    values = np.where(np.arange(10) < 5, 0.0, VALUES)
    zarr.create_array("v.zarr", data=values, chunks=(2, 5), shards=(4, 10))
    assert (read("v.zarr") == values).all()


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("fill", [-999.0, np.nan])
def test_a_fill_value_of_zarr_is_missing_data(tmp_path, version, fill):
    zarr = pytest.importorskip("zarr")
    values = np.where(VALUES == 7, fill, VALUES)
    array = zarr.create_array("v.zarr", data=values, chunks=(2, 5), zarr_format=version, fill_value=fill)
    assert np.isnan(read("v.zarr")).sum() == 1
    (tmp_path / "v.zarr" / array.metadata.encode_chunk_key((1, 1))).unlink()
    assert np.isnan(read("v.zarr")).sum() == 11


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("version", [2, 3])
def test_a_fill_value_as_xarray_writes_it(version):
    xarray = pytest.importorskip("xarray")
    data = xarray.Dataset({"vp": (("x", "z"), np.where(VALUES == 7, np.nan, VALUES))})
    data.to_zarr("v.zarr", zarr_format=version, consolidated=False, encoding={"vp": {"_FillValue": -999.0}})
    found = read("v.zarr:vp")
    assert np.isnan(found).sum() == 1
    assert found[1, 1] == 12


# --- NetCDF, and the attributes that HDF5 has in common with it


def netcdf(values, kind="f4", records=False, **attributes):
    with netcdf_file("v.nc", "w", version=2) as file:
        file.createDimension("x", None if records else SHAPE[0])
        file.createDimension("z", SHAPE[1])
        if records:  # each record holds a row of both
            file.createVariable("other", "i2", ("x",))[:] = np.arange(SHAPE[0])
        variable = file.createVariable("vp", kind, ("x", "z"))
        variable[:] = values
        for name, value in attributes.items():
            setattr(variable, name, np.asarray(value, kind))


@pytest.mark.parametrize("name", ["_FillValue", "missing_value"])
@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i4"])
@pytest.mark.parametrize("fill", [7, 0, -999])
def test_a_fill_value_that_is_declared_is_missing_data(name, kind, fill):
    values = np.where(VALUES == 33, fill, VALUES)
    netcdf(values, kind, **{name: fill})
    with h5py.File("v.h5", "w") as file:
        file["vp"] = values.astype(kind)
        file["vp"].attrs[name] = np.array([fill], kind)
    for reference in ("v.nc", "v.h5"):
        found = read(reference)
        np.testing.assert_array_equal(found, np.where(values == fill, np.nan, values))


@pytest.mark.parametrize("kind", ["f4", "f8", "i2", "i4"])
def test_what_netcdf_has_filled_is_missing_data(kind):
    netCDF4 = pytest.importorskip("netCDF4")
    for name in ("NETCDF3_CLASSIC", "NETCDF4"):
        with netCDF4.Dataset("v.nc", "w", format=name) as file:
            file.createDimension("x", SHAPE[0])
            file.createDimension("z", SHAPE[1])
            file.createVariable("vp", kind, ("x", "z"))[:3] = VALUES[:3]
        found = read("v.nc:vp")
        assert (found[:3] == VALUES[:3]).all()
        assert np.isnan(found[3:]).all()


def test_netcdf_with_records_and_cut_short(tmp_path):
    netcdf(VALUES, "f8", records=True)
    assert (read("v.nc") == VALUES).all()
    with open_volume("v.nc", tmp_path) as volume:
        assert (volume.read((1, 2), (4, 9)) == VALUES[1:4, 2:9]).all()
    os.truncate("v.nc", (tmp_path / "v.nc").stat().st_size - 8)
    refused("v.nc", "v.nc: is truncated")


# --- all others


@pytest.mark.parametrize("name", ["v.rsf", "v.bin", "v.npy", "v.npz", "v.segy", "v.nc", "v.h5", "v.blocks/index.json"])
def test_what_is_no_file(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if name == "v.bin":
        (tmp_path / "v.rsf").write_text('n1=10 n2=6 d1=1 d2=1 in="v.bin"\n')
    for _ in odd_things(path):
        refused({"v.bin": "v.rsf"}.get(name, name.partition("/")[0]), f"{path.name}: is not a file")


def test_blocks_that_overlap(tmp_path):
    """They hold as many cells as the volume, but not all of them."""
    (tmp_path / "v.blocks").mkdir()
    np.save("v.blocks/a.npy", VALUES[:3])
    block = '{"file": "a.npy", "first": [0, 0], "shape": [3, 10]}'
    (tmp_path / "v.blocks" / "index.json").write_text(
        '{"layout": "fathometer blocks 1", "shape": [6, 10], "dtype": "<f8", "labels": null, "unit": null, '
        f'"spacing_metres": null, "origin_metres": null, "blocks": [{block}, {block}]}}'
    )
    refused("v.blocks", "v.blocks: 30 cells are in none of its blocks")
