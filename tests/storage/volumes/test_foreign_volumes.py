"""Volumes that are folders take the place of folders of their own kind only, which bear a mark."""

import numpy as np
import pytest
from cli_support import MIGRATE, here, inputs, survey
from mpi4py import MPI

from fathometer.base.errors import FathometerError
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.volume import open_volume, write_volume

VALUES = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def written(path, values=VALUES):
    write_volume(path, VolumeInfo(values.shape, values.dtype, None, None, None, None), values, (0, 0, 0), MPI.COMM_SELF)


def read(path):
    with open_volume(path.name, path.parent) as volume:
        return volume.read((0, 0, 0), VALUES.shape)


def group(path, zarr_format=3):
    """A Zarr group of somebody else."""
    zarr = pytest.importorskip("zarr")
    zarr.create_group(path, zarr_format=zarr_format, attributes={"thesis": 1}).create_array("mine", data=VALUES)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_of_somebody_else_stays(tmp_path, zarr_format):
    group(tmp_path / "mine.zarr", zarr_format)
    before = contents(tmp_path)
    with pytest.raises(FathometerError, match=r"mine\.zarr: .*which is not replaced; allowed: another name"):
        written(tmp_path / "mine.zarr")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("suffix", [".zarr", ".blocks"])
def test_a_volume_of_this_program_is_replaced(tmp_path, suffix):
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    path = tmp_path / f"image{suffix}"
    written(path)
    written(path, VALUES + 1)
    np.testing.assert_array_equal(read(path), VALUES + 1)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_the_mark_of_a_zarr_volume_is_an_attribute_of_its_group(tmp_path):
    zarr = pytest.importorskip("zarr")
    written(tmp_path / "image.zarr")
    found = zarr.open(tmp_path / "image.zarr", mode="r")
    assert dict(found.attrs) == {"written_by": "fathometer", "array": "image", "Conventions": "CF-1.8"}
    np.testing.assert_array_equal(found["image"][:], VALUES)


def test_a_prepared_model_takes_the_place_of_no_group_of_somebody_else(tmp_path):
    group(tmp_path / "mine.zarr")
    np.save(tmp_path / "x.npy", VALUES + 1500)
    before = contents(tmp_path)
    done = here("prepare", tmp_path / "x.npy", "--input-spacing", "10", "-o", tmp_path / "mine.zarr")
    assert done.code == 2
    assert f"{tmp_path / 'mine.zarr'}: found a folder with zarr.json without the mark of this program" in done.err
    assert done.err.count("\n") == 1
    assert contents(tmp_path) == before


def test_an_image_takes_the_place_of_no_group_of_somebody_else(tmp_path):
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE | {"output.image": "image.zarr"})
    (tmp_path / "out").mkdir()
    group(tmp_path / "out" / "image.zarr")
    before = contents(tmp_path)
    for words in ((), ("--overwrite",)):
        done = here("migrate", path, "--quiet", *words)
        assert done.code == 2
        assert f"{tmp_path / 'out' / 'image.zarr'}: found a folder with zarr.json without the mark" in done.err
        assert done.err.count("\n") == 1
        assert contents(tmp_path) == before
