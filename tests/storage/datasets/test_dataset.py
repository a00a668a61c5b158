"""NetCDF files of several variables: what other tools read, what comes back, what is refused."""

from __future__ import annotations

import errno
import shutil
import subprocess

import numpy as np
import pytest
from dataset_support import NX, NY, NZ, dataset, values_of
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import atomic
from fathometer.storage.datasets import outputs
from fathometer.storage.datasets.dataset import Dataset, Variable
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.datasets.writer import STRATEGIES, DatasetWriter, chosen_strategy
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.formats.netcdf_header import header_of
from fathometer.storage.volumes.strategy import ROOT, Strategy

HERE = MPI.COMM_SELF


@pytest.fixture(params=["PnetCDF", "SciPy"])
def library(request, monkeypatch):
    if request.param == "SciPy":
        monkeypatch.setattr(pnetcdf, "missing", lambda: "NetCDF needs the PnetCDF library")
    elif pnetcdf.missing():
        pytest.skip(pnetcdf.missing())
    return request.param


def write(path, what=None):
    with DatasetWriter(path, what or dataset(), HERE) as writer:
        if what is None:
            for name, values in values_of().items():
                writer.write(name, [((0,) * values.ndim, values)])
    return path


def test_another_tool_reads_it(tmp_path, library):
    """netCDF4 and xarray: values to the bit, attributes with their types, the fill value as missing."""
    netcdf4 = pytest.importorskip("netCDF4")
    xarray = pytest.importorskip("xarray")
    path = write(tmp_path / "a.nc")
    with netcdf4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert file.data_model == ("NETCDF3_64BIT_DATA" if library == "PnetCDF" else "NETCDF3_64BIT_OFFSET")
        assert file.getncattr("Conventions") == "CF-1.8"
        for name, values in values_of().items():
            assert np.array(file[name][...]).tobytes() == values.tobytes()
        assert file["heat"].getncattr("_FillValue").dtype == np.float32
        assert file["salt"].getncattr("_FillValue").dtype == np.float64
        assert file["salt"].getncattr("valid_range").tolist() == [0.0, 40.0]
        assert file["drag"][...] == 0.25
        assert file["heat"].ncattrs() == ["_FillValue", "units"]
    with xarray.open_dataset(path, decode_times=xarray.coders.CFDatetimeCoder(use_cftime=True)) as found:
        assert str(found.time.values[0]) == "0001-01-02 00:00:00"
        np.testing.assert_array_equal(found.heat.values, values_of()["heat"])


def test_ncdump_reads_it(tmp_path, library):
    ncdump = shutil.which("ncdump")
    if ncdump is None:
        pytest.skip("ncdump is not installed")
    path = write(tmp_path / "a.nc")
    text = subprocess.run([ncdump, "-h", path], capture_output=True, text=True, check=True).stdout
    assert "float heat(time, depth, y, x) ;" in text
    assert "heat:_FillValue = 9.96921e+36f ;" in text
    assert 'depth:positive = "down" ;' in text


def test_boxes_come_back(tmp_path, library):
    path = write(tmp_path / "a.nc")
    values = values_of()
    with DatasetFile(path) as file:
        assert file.header.dimensions == {"time": 1, "depth": NZ, "y": NY, "x": NX}
        assert file.attribute("depth", "units") == "m"
        assert file.attribute("depth", "none") is None
        found = file.read("salt", (0, 1, 2, 3), (1, 3, 7, 11))
        assert found.dtype == np.float64
        assert found.tobytes() == np.ascontiguousarray(values["salt"][:, 1:3, 2:7, 3:11]).tobytes()
        assert file.read("heat", (0, 0, 0, 0), (1, 0, 4, 4)).shape == (1, 0, 4, 4)
        assert file.read("drag") == 0.25
        with pytest.raises(InputError, match=r"a\.nc: has no variable cold \(there are: .*depth"):
            file.read("cold")
        with pytest.raises(InputError, match=r"a\.nc:levels: no box from \(0, 0\) to \(10, 14\)"):
            file.read("levels", (0, 0), (10, 14))
        with pytest.raises(InputError, match=r"a\.nc:levels: has the shape \(10, 13\), not \(13, 10\)"):
            file.variable("levels", (13, 10))


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("records", [("a",), ("a", "b"), ("b",)])
def test_files_of_others_with_records(tmp_path, kind, records):
    """A dimension without a length: its variables lie record by record, a single one without padding."""
    netcdf4 = pytest.importorskip("netCDF4")
    values = {"a": np.arange(15, dtype=np.int16).reshape(5, 3), "b": np.arange(10.0).reshape(5, 2)}
    with netcdf4.Dataset(tmp_path / "r.nc", "w", format=kind) as file:
        for name, length in (("t", None), ("three", 3), ("two", 2)):
            file.createDimension(name, length)
        for name in records:
            variable = file.createVariable(name, values[name].dtype, ("t", "three" if name == "a" else "two"))
            variable.scale_factor = 0.5
            file.set_auto_scale(False)
            variable[:] = values[name]
    data, width = (tmp_path / "r.nc").read_bytes(), 8 if kind == "NETCDF3_64BIT_DATA" else 4
    assert int.from_bytes(data[4 : 4 + width], "big") == 5
    (tmp_path / "streamed.nc").write_bytes(data[:4] + b"\xff" * width + data[4 + width :])  # as many as there are
    for path in (tmp_path / "r.nc", tmp_path / "streamed.nc"):
        with DatasetFile(path) as file:
            for name in records:
                assert np.array_equal(file.read(name), values[name])
                assert np.array_equal(file.read(name, (1, 1), (4, 2)), values[name][1:4, 1:2])
                assert file.attribute(name, "scale_factor") == 0.5


def test_what_is_no_such_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        DatasetFile(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("CDF is not NetCDF")
    with pytest.raises(InputError, match="is not a NetCDF file of the classic kinds"):
        DatasetFile(tmp_path / "text.nc")
    (tmp_path / "four.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(InputError, match=r"is NetCDF-4, which is HDF5 \(allowed"):
        DatasetFile(tmp_path / "four.nc")


def test_every_truncation_and_every_damaged_byte_ends_in_one_line(tmp_path, library):
    """Of the header each byte is replaced: what is still read has values within the file."""
    data = write(tmp_path / "a.nc").read_bytes()
    ends = [variable.end for variable in header_of(tmp_path / "a.nc").variables.values()]
    path = tmp_path / "b.nc"
    for length in (0, 3, 4, 20, 500, 4096, max(ends) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match=r"b\.nc: is (not|empty|damaged|truncated)"):
            DatasetFile(path)
    used = data[:4096].rstrip(b"\0")
    rng, lines = np.random.default_rng(1), []
    for place in range(len(used)):
        damaged = bytearray(data)
        damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            with DatasetFile(path) as file:
                for name in file.header.variables:
                    file.read(name)
        except FathometerError as error:
            lines.append(str(error))
    assert len(lines) > 50
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (Dataset({"x": 0}, []), "the dimension x has 0 cells"),
        (Dataset({"a b": 2}, []), "'a b' is no name of NetCDF"),
        (Dataset({"x": 2}, [Variable("v", ("y",), "f4")]), "a.nc:v: there is no dimension y"),
        (Dataset({"x": 2}, [Variable("v", ("x",), "i8")]), "values of type i8"),
        (Dataset({"x": 2}, [Variable("v", ("x",), "f4"), Variable("v", (), "f4")]), "two variables have one name"),
        (Dataset({"x": 2}, [Variable("v", ("x",), "f4", {}, np.zeros(3))]), r"shape \(3,\), not \(2,\)"),
    ],
)
def test_descriptions_that_contradict_themselves(tmp_path, what, message):
    with pytest.raises(InputError, match=message):
        write(tmp_path / "a.nc", what)
    assert list(tmp_path.iterdir()) == []


def write_levels(path, *box):
    with DatasetWriter(path, dataset(), HERE) as writer:
        for name, values in values_of().items():
            writer.write(name, [box if name == "levels" else ((0,) * values.ndim, values)])


def test_boxes_that_do_not_fit(tmp_path, library):
    with pytest.raises(InputError, match=r"a\.nc:levels: the ranks' boxes hold 120 cells, the variable 130"):
        write_levels(tmp_path / "a.nc", (0, 0), np.zeros((NY, NX - 1)))
    with pytest.raises(InputError, match=r"a box of shape \(10, 13\) at \(0, 1\) does not lie in \(10, 13\)"):
        write_levels(tmp_path / "a.nc", (0, 1), np.zeros((NY, NX)))
    assert list(tmp_path.iterdir()) == []


def test_a_block_that_ends_with_an_error_leaves_nothing(tmp_path, library):
    with pytest.raises(ZeroDivisionError), DatasetWriter(tmp_path / "a.nc", dataset(), HERE):
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


def test_strategies(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="NetCDF is not written by posix-shared"):
        DatasetWriter(tmp_path / "a.nc", dataset(), HERE, Strategy.of("posix-shared"))
    monkeypatch.setattr(pnetcdf, "missing", lambda: "NetCDF needs the PnetCDF library")
    with pytest.raises(InputError, match=r"a\.nc: NetCDF needs the PnetCDF library"):
        DatasetWriter(tmp_path / "a.nc", dataset(), HERE, Strategy.of("mpiio-collective"))


def test_a_full_disk_is_named_with_the_file(tmp_path, library, monkeypatch):
    def full(handle, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "reserve", full)
    with pytest.raises(FathometerError, match=r"a\.nc: cannot be written: No space left on device"):
        write(tmp_path / "a.nc")
    assert list(tmp_path.iterdir()) == []


def test_without_pnetcdf_a_variable_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(pnetcdf, "missing", lambda: "apt-get install libpnetcdf-dev")
    monkeypatch.setattr(outputs, "LARGEST_CLASSIC", NX * NY * NZ * 8 - 1)
    with pytest.raises(InputError, match=r"a\.nc:salt: 3120 bytes do not fit .*3119\).*apt-get install"):
        write(tmp_path / "a.nc")
    assert list(tmp_path.iterdir()) == []


def test_bytes_are_accounted(tmp_path, library):
    with ledger.Ledger() as account:
        with ledger.phase("output"), ledger.file("fields", "write"):
            write(tmp_path / "a.nc")
        with ledger.phase("input"), ledger.file("fields", "read"), DatasetFile(tmp_path / "a.nc") as file:
            file.read("salt")
        files = {entry["direction"]: entry["bytes"] for entry in account.as_dict()["files"]}
    assert files["write"] == NX * NY * (4 * NZ + 8 * NZ + 4) + 8 * 5
    assert files["read"] == NX * NY * NZ * 8


def test_strategies_beside_that_of_rank_0_need_the_library(tmp_path, monkeypatch):
    monkeypatch.setattr(pnetcdf, "missing", lambda: "")
    for name in STRATEGIES:
        assert chosen_strategy(tmp_path / "a.nc", Strategy.of(name)).name == name
    monkeypatch.setattr(pnetcdf, "missing", lambda: "NetCDF needs the PnetCDF library")
    assert chosen_strategy(tmp_path / "a.nc", Strategy.of(ROOT)).name == ROOT
    for name in set(STRATEGIES) - {ROOT}:
        with pytest.raises(InputError, match=r"a\.nc: NetCDF needs the PnetCDF library"):
            chosen_strategy(tmp_path / "a.nc", Strategy.of(name))
