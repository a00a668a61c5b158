"""Strategies by formats on one to four ranks, under both implementations of MPI-IO; what other programs see in the
files; what is refused."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import segyio
from cli_support import clean_environment, mpirun
from mpi4py import MPI
from paths import SUPPORT
from patience import PATIENCE
from storage_program import HALO, info_of, values_of

from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import atomic
from fathometer.storage.volumes import mpiio
from fathometer.storage.volumes.boxes import slabs, widened
from fathometer.storage.volumes.collective_file import mpi_hints
from fathometer.storage.volumes.formats import hdf5, pnetcdf
from fathometer.storage.volumes.formats.zarr_volume import chunks_and_shards
from fathometer.storage.volumes.registry import BY_SUFFIX, FORMATS, format_of
from fathometer.storage.volumes.strategy import NAMES, SYNCS, Strategy
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, write_volume
from fathometer.storage.volumes.writer import VolumeWriter, check_writable

PROGRAM = SUPPORT / "storage_program.py"
SHAPE = (9, 7, 8)
OPEN_MPI = MPI.get_vendor()[0] == "Open MPI"


def needs(suffix):
    form = BY_SUFFIX[suffix]
    lacking = [form.missing(name, 1) for name in form.writes]
    return pytest.mark.skipif(bool(lacking[0]), reason=lacking[0])


@pytest.fixture(scope="module")
def by_one_rank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    done = subprocess.run([sys.executable, PROGRAM, folder, "-"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize(("ranks", "component"), [(2, "ompio"), (3, "romio321"), (4, "ompio")])
def test_any_strategy_on_any_ranks_gives_what_one_rank_gives(tmp_path, by_one_rank, ranks, component):
    words = [*mpirun(ranks), *(["--mca", "io", component] if OPEN_MPI else []), sys.executable, PROGRAM]
    words = [str(word) for word in (*words, tmp_path, by_one_rank)]
    done = subprocess.run(words, env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failures" in done.stdout


def written(folder, suffix, shape=SHAPE, strategy=""):
    path = folder / f"v{suffix}"
    write_volume(
        path, info_of(shape), values_of(shape), (0,) * len(shape), MPI.COMM_SELF, Strategy.of(strategy or "auto")
    )
    return path


def coordinates(axis):
    info = info_of(SHAPE)
    return info.origin[axis] + info.spacing[axis] * np.arange(SHAPE[axis])


@pytest.mark.parametrize("suffix", [suffix for suffix, form in BY_SUFFIX.items() if form.writes])
@pytest.mark.parametrize("shape", [SHAPE, (7, 10), (1, 6)])
def test_what_is_written_is_known_again(tmp_path, suffix, shape):
    if lacking := BY_SUFFIX[suffix].missing(BY_SUFFIX[suffix].writes[0], 1):
        pytest.skip(lacking)
    path = written(tmp_path, suffix, shape)
    with open_volume(path.name, tmp_path) as volume:
        np.testing.assert_array_equal(volume.read((0,) * len(shape), shape), values_of(shape))
        assert volume.info.shape == shape
        if suffix not in (".npy", ".segy", ".sgy"):  # which carry none of it
            told, known = volume.info, info_of(shape)
            assert (told.spacing, told.origin, told.labels, told.unit) == (
                (known.spacing, known.origin, known.labels, known.unit)
            )
    written(tmp_path, suffix, shape)  # in the place of the first
    assert {one.name for one in tmp_path.iterdir()} <= {path.name, path.name + "@"}


@pytest.mark.parametrize("suffix", [".rsf", ".nc", ".h5", ".zarr", ".blocks"])
def test_odd_labels_are_known_again(tmp_path, suffix):
    if lacking := BY_SUFFIX[suffix].missing(BY_SUFFIX[suffix].writes[0], 1):
        pytest.skip(lacking)
    info = replace(info_of(SHAPE), labels=("axis1", "", "it's"), unit="'")
    write_volume(tmp_path / f"v{suffix}", info, values_of(SHAPE), (0, 0, 0), MPI.COMM_SELF)
    with open_volume(f"v{suffix}", tmp_path) as volume:
        assert (volume.info.labels, volume.info.unit) == (info.labels, info.unit)


@needs(".nc")
def test_netcdf_of_others(tmp_path):
    """What is called as here, but means something else, is not taken."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    data = xarray.DataArray(values_of(SHAPE), dims=("a", "b", "c"), attrs={"labels": "p", "spacing": [1.0, -1.0, 1.0]})
    data.to_dataset(name="p").to_netcdf(tmp_path / "v.nc", engine="netcdf4", format="NETCDF3_CLASSIC")
    with open_volume("v.nc", tmp_path) as volume:
        assert (volume.info.labels, volume.info.spacing) == (("a", "b", "c"), None)
        np.testing.assert_array_equal(volume.read((0, 0, 0), SHAPE), values_of(SHAPE))


@needs(".nc")
def test_netcdf_is_flushed_as_asked(tmp_path, monkeypatch):
    flushed, flush = [], atomic.flush_file
    monkeypatch.setattr(atomic, "flush_file", lambda path: flushed.append(path) or flush(path))
    for sync in (f"{name}:sync={sync}" for name in ("auto", "root-broadcast") for sync in SYNCS):
        flushed.clear()
        written(tmp_path, ".nc", strategy=sync)
        assert len(flushed) == ("none" not in sync)


@needs(".nc")
def test_netcdf_with_a_colon_in_its_path(tmp_path):
    (tmp_path / "12:30").mkdir()
    with pytest.raises(FathometerError, match="PnetCDF does not take a colon"):
        written(tmp_path / "12:30", ".nc")
    assert not list((tmp_path / "12:30").iterdir())


@pytest.mark.parametrize("suffix", [".rsf", ".nc"])
def test_hints_that_mpi_does_not_take(tmp_path, suffix):
    if lacking := BY_SUFFIX[suffix].missing("mpiio-independent", 1):
        pytest.skip(lacking)
    with pytest.raises(FathometerError, match=rf"v\{suffix}: cannot be written: MPI does not take the hint k+…k+=1"):
        written(tmp_path, suffix, strategy=f"mpiio-independent:{'k' * 300}=1")
    assert not list(tmp_path.iterdir())


def test_a_hint_that_ends_early():
    with pytest.raises(OSError, match="MPI does not take the hint cb_nodes=4"):
        mpi_hints([("cb_nodes", "4\0x")])


@needs(".nc")
def test_netcdf_in_ncdump_and_xarray(tmp_path):
    path = written(tmp_path, ".nc")
    if ncdump := shutil.which("ncdump"):
        assert subprocess.check_output([ncdump, "-k", path], text=True).strip() in ("cdf5", "64-bit data")
        head = subprocess.check_output([ncdump, "-h", path], text=True)
        assert "float v(x, y, z)" in head
        assert 'v:units = "m/s"' in head
        assert 'z:positive = "down"' in head
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    with xarray.open_dataset(path, engine="netcdf4") as data:
        np.testing.assert_array_equal(data["v"].values, values_of(SHAPE))
        for axis, name in enumerate("xyz"):
            np.testing.assert_array_equal(data[name].values, coordinates(axis))


@pytest.mark.parametrize("compressed", ["none", "zfp", "sperr", "blosc2"])
def test_hdf5_in_h5py_and_h5dump(tmp_path, compressed):
    if compressed != "none":
        pytest.importorskip("hdf5plugin")
    path = written(tmp_path, ".h5", strategy=f"auto:filter={compressed}")
    with h5py.File(path) as file:
        values = file["values"][:]
        assert file["values"].dims[0][0].name == "/x"
        np.testing.assert_array_equal(file["z"][:], coordinates(2))
        assert bool(file["values"]._filters) == (compressed != "none")
    if compressed == "sperr":  # loses something
        assert 0 < np.abs(values - values_of(SHAPE)).max() < 0.1
        return
    np.testing.assert_array_equal(values, values_of(SHAPE))
    if h5dump := shutil.which("h5dump"):
        assert "DATASPACE  SIMPLE { ( 9, 7, 8 )" in subprocess.check_output([h5dump, "-H", path], text=True)


@needs(".zarr")
def test_zarr_in_zarr_and_xarray(tmp_path):
    zarr = pytest.importorskip("zarr")
    path = written(tmp_path, ".zarr")
    array = zarr.open_array(path / "v", mode="r")
    np.testing.assert_array_equal(array[:], values_of(SHAPE))
    assert array.metadata.zarr_format == 3
    assert array.shards == SHAPE
    xarray = pytest.importorskip("xarray")
    data = xarray.open_zarr(path)
    assert data["v"].dims == ("x", "y", "z")
    np.testing.assert_array_equal(data["y"].values, coordinates(1))


def test_segy_in_segyio(tmp_path):
    path = written(tmp_path, ".segy")
    with segyio.open(path) as file:
        assert file.sorting == segyio.TraceSortingFormat.INLINE_SORTING
        np.testing.assert_array_equal(segyio.cube(file), values_of(SHAPE))
        np.testing.assert_array_equal(file.ilines, 1 + np.arange(SHAPE[0]))
        np.testing.assert_array_equal(file.xlines, 1 + np.arange(SHAPE[1]))
        assert int(file.format) == segyio.SegySampleFormat.IEEE_FLOAT_4_BYTE
        assert file.bin[segyio.BinField.Interval] == 5100  # mm
        for number, head in enumerate(file.header):
            i, j = divmod(number, SHAPE[1])
            scalar = abs(head[segyio.TraceField.SourceGroupScalar])
            for x, y in (
                (segyio.TraceField.CDP_X, segyio.TraceField.CDP_Y),
                (segyio.TraceField.SourceX, segyio.TraceField.SourceY),
                (segyio.TraceField.GroupX, segyio.TraceField.GroupY),
            ):
                assert (head[x] / scalar, head[y] / scalar) == (coordinates(0)[i], coordinates(1)[j])
            assert head[segyio.TraceField.CDP] == number + 1
        assert "Volume in depth" in segyio.tools.wrap(file.text[0])
    with pytest.raises(InputError, match="40000 samples a trace do not fit SEG-Y"):
        VolumeWriter(tmp_path / "w.segy", VolumeInfo((2, 40000), np.dtype("f4"), None, None, None, None), MPI.COMM_SELF)


def test_rsf_in_ten_lines(tmp_path):
    path = written(tmp_path, ".rsf")
    head = dict(line.split("=") for line in path.read_text().split())
    shape = [int(head[f"n{axis}"]) for axis in (3, 2, 1)]
    values = np.fromfile(path.parent / head["in"].strip('"'), "f4").reshape(shape)
    np.testing.assert_array_equal(values, values_of(SHAPE))


def test_blocks_in_numpy(tmp_path):
    path = written(tmp_path, ".blocks")
    np.testing.assert_array_equal(np.load(path / "block-00000-00000.npy"), values_of(SHAPE))


@pytest.mark.parametrize(
    "text",
    [
        *NAMES,
        "mpiio-collective:datatype=hindexed,sync=none,cb_nodes=2",
        "posix-shared:sync=o_dsync",
        "mpiio-collective:filter=zfp,bits=8,striping_unit=1048576",
    ],
)
def test_strategies_and_their_texts(text):
    assert str(Strategy.of(text)) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("posix", r"posix: no storage strategy 'posix' \(allowed: auto, posix-shared, .*root-broadcast\)"),
        ("posix-shared:datatype=subarray", r"datatype=subarray is not for posix-shared \(allowed: contiguous\)"),
        ("mpiio-collective:sync=o_dsync", r"sync=o_dsync is not for mpiio-collective \(allowed: none, fsync\)"),
        ("posix-shared:cb_nodes=2", "cb_nodes is no option of posix-shared"),
        ("mpiio-collective:cb_nodes", "found 'cb_nodes'; allowed: NAME:key=value"),
        ("mpiio-collective:cb_nodes=1,cb_nodes=2", "each key once"),
        ("mpiio-collective:filter=gzip", "filter=gzip is not for"),
        ("mpiio-collective:bits=8", "bits: found without filter"),
        ("mpiio-collective:filter=zfp,bits=0", r"bits=0 is not for mpiio-collective \(allowed: 1 to 64\)"),
    ],
)
def test_texts_that_are_no_strategy(text, words):
    with pytest.raises(InputError, match=words):
        Strategy.of(text)


def test_lists_of_elements_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(mpiio, "LARGEST_LIST_BYTES", 160 * (np.prod(SHAPE) - 1))
    with pytest.raises(FathometerError, match=r"datatype=hindexed: a list of 504 elements would take some 80640 bytes"):
        written(tmp_path, ".rsf", strategy="mpiio-independent:datatype=hindexed")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(mpiio, "LARGEST_LIST_BYTES", 160 * np.prod(SHAPE))
    written(tmp_path, ".rsf", strategy="mpiio-independent:datatype=hindexed")


@pytest.mark.parametrize(
    ("name", "strategy", "words"),
    [
        ("v.rsf", "posix-per-rank", r"RSF is not written by posix-per-rank \(allowed: posix-shared, mpiio-collective"),
        ("v.zarr", "mpiio-collective", r"Zarr is not written by mpiio-collective \(allowed: posix-per-rank, root"),
        ("v.rsf", "posix-shared:filter=zfp", r"RSF is not written with filter=zfp \(allowed: none\)"),
        ("v.h5", "mpiio-independent:filter=zfp", r"ranks share compressed chunks \(allowed: mpiio-collective, root"),
        ("v.npz", "auto", r"volumes are written as .rsf, .+, not .npz"),
        ("v", "auto", "not without a suffix"),
    ],
)
def test_strategies_that_are_not_for_a_format(name, strategy, words):
    with pytest.raises(InputError, match=words):
        check_writable(Path(name), Strategy.of(strategy), 1)


def test_what_is_missing_is_told_with_how_to_install_it(monkeypatch):
    monkeypatch.setattr(hdf5, "parallel", lambda: False)
    monkeypatch.setattr(pnetcdf, "_find", lambda: None)
    check_writable(Path("v.h5"), Strategy.of("auto"), 1)
    check_writable(Path("v.h5"), Strategy.of("root-broadcast"), 2)
    with pytest.raises(InputError, match=r"HDF5 on several ranks needs an h5py that knows MPI.*libhdf5-openmpi-dev"):
        check_writable(Path("v.h5"), Strategy.of("auto"), 2)
    with pytest.raises(InputError, match=r"v.nc: NetCDF needs .*apt-get install .*libpnetcdf-dev"):
        check_writable(Path("v.nc"), Strategy.of("auto"), 2)
    monkeypatch.setattr(pnetcdf, "_loaded_mpi", lambda: {f"{sys.prefix}/lib/libmpi.so.40"})
    assert "wheel" in pnetcdf.missing() or not OPEN_MPI


def test_every_format_says_how_it_is_read():
    for form in FORMATS:
        assert form.reads
        assert set(form.reads) | set(form.writes) <= set(NAMES)
        assert format_of(Path("v" + form.suffixes[0].upper())) is form


def test_boxes():
    assert widened((0, 3), (2, 5), HALO, (4, 6)) == ((0, 1), (4, 6))
    assert widened((2, 3), (2, 5), HALO, (4, 6)) == ((2, 3), (2, 5))
    for most in (1, 7, 8, 20, 1000):
        found = list(slabs((1, 2, 3), (4, 6, 8), most))
        cells = [np.ravel_multi_index(np.mgrid[tuple(map(slice, *one))].reshape(3, -1), (9, 9, 9)) for one in found]
        whole = np.ravel_multi_index(np.mgrid[1:4, 2:6, 3:8].reshape(3, -1), (9, 9, 9))
        np.testing.assert_array_equal(np.concatenate(cells), whole)
        assert all(len(one) <= max(most, 1) for one in cells)
    assert chunks_and_shards((10, 100, 7), 3) == ((4, 50, 7), (4, 100, 7))
    assert hdf5.chunk_of((240, 65, 3)) == (60, 33, 3)
    assert hdf5.chunk_of((512, 513)) == (512, 257)
