"""What goes wrong on one rank is one message on all, with no file under the final name, nothing unfinished left, and
nobody waiting."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_support import clean_environment, mpirun, partial
from mpi4py import MPI

from fathometer.errors import InputError
from fathometer.storage.block import VolumeInfo
from fathometer.storage.formats import BY_SUFFIX
from fathometer.storage.strategy import Strategy
from fathometer.storage.volume import open_volume, write_volume

PROGRAM = Path(__file__).with_name("storage_failure_program.py")
RANKS = 3
OPEN_MPI = MPI.get_vendor()[0] == "Open MPI"
OMPIO, ROMIO = (["--mca", "io", name] if OPEN_MPI else [] for name in ("ompio", "romio321"))

SHARED = (".rsf", "posix-shared")
PER_RANK = (".blocks", "posix-per-rank")
ZARR = (".zarr", "posix-per-rank")
COLLECTIVE = (".rsf", "mpiio-collective")
NETCDF = (".nc", "mpiio-collective")
HDF5 = (".h5", "mpiio-collective")
NONBLOCKING = (".npy", "mpiio-nonblocking")
ROOT = (".rsf", "root-broadcast")


def fails(folder, kind, case, launch=OMPIO):
    suffix, strategy = case
    if lacking := BY_SUFFIX[suffix].missing(strategy, RANKS):
        pytest.skip(lacking)
    words = [*mpirun(RANKS), *launch, sys.executable, PROGRAM, folder, kind, suffix, strategy]
    return subprocess.run([str(w) for w in words], env=clean_environment(), capture_output=True, text=True, timeout=60)


def one_message(done, words):
    """Whether all ranks ended with the same line."""
    assert done.returncode == 0, done.stdout + done.stderr
    [*_, line] = done.stdout.splitlines()
    errors = json.loads(line)
    assert len(set(errors)) == 1, errors
    assert errors[0] is not None
    assert words in errors[0]
    assert "\n" not in errors[0]


@pytest.mark.parametrize(
    ("case", "launch", "words"),
    [
        (SHARED, OMPIO, "File too large"),
        (PER_RANK, OMPIO, "File too large"),
        (ZARR, OMPIO, "File too large"),
        (ROOT, OMPIO, "File too large"),
        (COLLECTIVE, OMPIO, "are not in the file, although no write failed"),  # Open MPI's own tells of none
        (NETCDF, OMPIO, "are not in the file, although no write failed"),
        (COLLECTIVE, ROMIO, "MPI_ERR_IO"),
        (NETCDF, ROMIO, "PnetCDF: "),
        (NONBLOCKING, OMPIO, "MPI"),
        (NONBLOCKING, ROMIO, "MPI_ERR_IO"),
    ],
)
def test_a_short_write(tmp_path, case, launch, words):
    one_message(fails(tmp_path, "limit", case, launch), words)
    assert not list(tmp_path.iterdir())


def test_a_short_write_that_hdf5_cannot_leave(tmp_path):
    """Other ranks may be left in the library, waiting: the job ends, with the message."""
    done = fails(tmp_path, "limit", HDF5, ROMIO)
    assert done.returncode != 0
    assert "v.h5: cannot be written: HDF5: " in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", folder]).returncode:
        pytest.skip("a small file system is mounted by root only")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("case", [SHARED, PER_RANK, ZARR, COLLECTIVE, NETCDF, HDF5, ROOT])
def test_a_full_disk(small_disk, case):
    one_message(fails(small_disk, "none", case), "No space left on device")
    assert not list(small_disk.iterdir())


@pytest.mark.parametrize("case", [SHARED, PER_RANK, ZARR, COLLECTIVE, NETCDF, HDF5])
def test_one_rank_has_no_permission(tmp_path, case):
    one_message(fails(tmp_path, "permission", case), "Permission denied")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", [SHARED, PER_RANK, ZARR, COLLECTIVE, HDF5])
def test_the_directory_vanishes(tmp_path, case):
    folder = tmp_path / "folder"
    folder.mkdir()
    one_message(fails(folder, "vanished", case), "No such file or directory")
    assert not partial(tmp_path)
    assert not list(tmp_path.rglob("v.*"))


@pytest.mark.parametrize("case", [SHARED, COLLECTIVE])
def test_a_rank_is_killed(tmp_path, case):
    done = fails(tmp_path, "killed", case)
    assert done.returncode != 0
    assert not list(tmp_path.glob("v.*"))  # but unfinished files, of which nobody could be rid


def saved(folder, suffix, strategy="auto"):
    if lacking := BY_SUFFIX[suffix].missing(BY_SUFFIX[suffix].writes[0], 1):
        pytest.skip(lacking)
    shape = (20, 30, 40)
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    info = VolumeInfo(shape, values.dtype, (1.0, 1.0, 1.0), None, ("x", "y", "z"), None)
    path = folder / f"v{suffix}"
    write_volume(path, info, values, (0, 0, 0), MPI.COMM_SELF, Strategy.of(strategy))
    largest = max((one for one in [*folder.rglob("*")] if one.is_file()), key=lambda one: one.stat().st_size)
    return path, largest, values


def load(path):
    with open_volume(path.name, path.parent) as volume:
        return volume.read((0, 0, 0), volume.info.shape)


@pytest.mark.parametrize("suffix", [".rsf", ".npy", ".segy", ".nc", ".h5", ".zarr", ".blocks"])
def test_a_truncated_file(tmp_path, suffix):
    path, largest, _ = saved(tmp_path, suffix)
    os.truncate(largest, largest.stat().st_size // 2)
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", [SHARED, COLLECTIVE, NETCDF, HDF5])
def test_a_truncated_file_on_several_ranks(tmp_path, case):
    suffix, strategy = case
    _, largest, _ = saved(tmp_path, suffix)
    os.truncate(largest, largest.stat().st_size // 2)
    one_message(fails(tmp_path, "read", (suffix, strategy)), f"/v{suffix}")


@pytest.mark.parametrize(
    ("suffix", "strategy", "found"),
    [
        (".zarr", "auto", True),
        (".h5", "auto:filter=blosc2", True),
        (".rsf", "auto", False),
        (".nc", "auto", False),
        (".h5", "auto", False),
        (".segy", "auto", False),
    ],
)
def test_a_flipped_bit(tmp_path, suffix, strategy, found):
    """Found where the format has checksums, as docs/storage.md says; elsewhere it changes one value."""
    if "filter" in strategy:
        pytest.importorskip("hdf5plugin")
    path, largest, values = saved(tmp_path, suffix, strategy)
    with largest.open("r+b") as file:
        file.seek(largest.stat().st_size // 2 + (100 if suffix == ".segy" else 0))  # not in a trace's header
        (byte,) = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))
    if found:
        with pytest.raises(InputError):
            load(path)
    else:
        assert np.count_nonzero(load(path) != values) == 1
