"""A header that MPI-IO has lost without an error: the file does not appear."""

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.storage.datasets.dataset import Dataset, Variable
from fathometer.storage.datasets.writer import DatasetWriter
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.formats import pnetcdf
from fathometer.storage.volumes.formats.netcdf_file import NetcdfFile
from fathometer.storage.volumes.volume import write_volume

pytestmark = pytest.mark.skipif(bool(pnetcdf.missing()), reason=pnetcdf.missing())


def dataset(path):
    values = np.arange(12.0).reshape(3, 4)
    with DatasetWriter(path, Dataset({"x": 3, "y": 4}, [Variable("a", ("x", "y"), "f8")]), MPI.COMM_SELF) as writer:
        writer.write("a", [((0, 0), values)])


def volume(path):
    info = VolumeInfo((3, 4), np.dtype(np.float32), None, None, ("x", "y"), None)
    write_volume(path, info, np.ones((3, 4), np.float32), (0, 0), MPI.COMM_SELF)


@pytest.mark.parametrize("write", [dataset, volume])
def test_a_lost_header(tmp_path, monkeypatch, write):
    path, close = tmp_path / "file.nc", NetcdfFile.close

    def losing(file):
        close(file)
        [part] = tmp_path.iterdir()
        with part.open("r+b") as content:
            content.write(bytes(64))

    with monkeypatch.context() as patched:
        patched.setattr(NetcdfFile, "close", losing)
        with pytest.raises(FathometerError, match=r"file\.nc: cannot be written: its header is not in the file"):
            write(path)
    assert list(tmp_path.iterdir()) == []
    write(path)
    assert path.exists()
