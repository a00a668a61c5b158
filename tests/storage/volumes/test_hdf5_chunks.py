"""HDF5 datasets of many small chunks, of chunks that nobody has written, and files that cannot be closed."""

import math

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.storage.volumes.formats import hdf5, hdf5_common
from fathometer.storage.volumes.formats.hdf5 import Hdf5Source
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume

CHUNKS = (4, 5, 3)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("chunks") / "a.h5"
    values = np.random.default_rng(1).normal(size=(19, 23, 11)).astype(np.float32)
    with h5py.File(path, "w") as new:
        new.create_dataset("chunked", data=values, chunks=CHUNKS)
        new.create_dataset("plain", data=values)
        new.create_dataset("unwritten", (60, 8, 8), np.float32, chunks=CHUNKS, fillvalue=-999.0)[:4, :5, :3] = 7.0
    return path, values


def sides(length):
    return st.lists(st.integers(0, length), min_size=2, max_size=2).map(sorted)


@given(st.sampled_from(["chunked", "plain"]), st.integers(1, 300), st.tuples(sides(19), sides(23), sides(11)))
def test_a_call_moves_few_chunks_and_all_calls_the_box(file, name, most, box):
    path, values = file
    lo, hi = zip(*box, strict=True)
    with open_volume(f"{path.name}:{name}", path.parent) as volume, pytest.MonkeyPatch.context() as patch:
        patch.setattr(hdf5, "MOST_CHUNKS", most)
        covered = np.zeros(values.shape, int)
        for part in hdf5._calls(volume._values, lo, hi):
            covered[tuple(map(slice, *part))] += 1
            if name == "chunked":
                touched = [-(-b // n) - a // n for a, b, n in zip(*part, CHUNKS, strict=True)]
                assert math.prod(touched) <= most
        expected = np.zeros(values.shape, int)
        cells = tuple(map(slice, lo, hi))
        expected[cells] = 1
        assert np.array_equal(covered, expected)
        if math.prod(expected[cells].shape):
            assert np.array_equal(volume.read(lo, hi), values[cells])
        source = Hdf5Source(volume, MPI.COMM_SELF, Strategy("independent"))
        assert np.array_equal(source.read((lo, hi)), values[cells])
        source.close()


@pytest.mark.parametrize("by", ["volume", "source"])
def test_chunks_that_were_never_written_are_missing_data(file, by):
    path, _ = file
    shape = (60, 8, 8)
    expected = np.full(shape, np.nan if by == "volume" else -999.0, np.float32)  # a source: as in the file
    expected[:4, :5, :3] = 7.0
    with open_volume(f"{path.name}:unwritten", path.parent) as volume:
        source = Hdf5Source(volume, MPI.COMM_SELF, Strategy("independent"))
        for _ in range(20):
            used = np.full(shape, 3.0, np.float32)
            del used  # memory that the next array of its size gets
            read = volume.read((0, 0, 0), shape) if by == "volume" else source.read(((0, 0, 0), shape))
            assert np.array_equal(read, expected, equal_nan=True)
        source.close()


def test_a_file_that_cannot_be_closed_is_told_and_kept(tmp_path, monkeypatch):
    """Its object must not end: the library would close it once more, and crashes then."""

    class Closing:
        def close(self):
            raise RuntimeError("Can't decrement id ref count (unable to close file, errno = 5)")

    kept: list[object] = []
    monkeypatch.setattr(hdf5_common, "unclosed", kept)
    file, path = Closing(), tmp_path / "v.h5"
    with pytest.raises(InputError, match=r"v\.h5: cannot be read: HDF5: Can't decrement"):
        hdf5_common.close_read(path, file)
    assert kept[-1] is file


def test_chunks_that_are_missing_of_billions_are_told_at_once(tmp_path):
    path = tmp_path / "v.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("v", (1 << 40, 6), np.float32, chunks=(1, 3))[0] = 2000.0
    with pytest.raises(InputError, match=r"2199023255550 of 2199023255552 chunks were never written"):
        open_volume("v.h5", tmp_path)
