"""What goes wrong on one rank is one message on all, with no file under the final name, nothing unfinished left, and
nobody waiting."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from cli_support import clean_environment, mpirun
from mpi4py import MPI
from paths import SUPPORT
from patience import PATIENCE

from fathometer.base.errors import InputError
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.registry import BY_SUFFIX
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, write_volume

PROGRAM = SUPPORT / "storage_failure_program.py"
RANKS = 3
OPEN_MPI = MPI.get_vendor()[0] == "Open MPI"
OMPIO, ROMIO = (["--mca", "io", name] if OPEN_MPI else [] for name in ("ompio", "romio321"))

SHARED = (".rsf", "posix-shared")
PER_RANK = (".blocks", "posix-per-rank")
ZARR = (".zarr", "posix-per-rank")
COLLECTIVE = (".rsf", "mpiio-collective")
NETCDF = (".nc", "mpiio-collective")
HDF5 = (".h5", "mpiio-collective")
WAVELETS = (".h5", "posix-shared:filter=wavelet")
WAVELETS_BY_MPI = (".h5", "mpiio-independent:filter=wavelet")
WAVELETS_TOGETHER = (".h5", "mpiio-collective:filter=wavelet")
LEVELS = (".zarr", "posix-per-rank:levels=2")
NONBLOCKING = (".npy", "mpiio-nonblocking")
ROOT = (".rsf", "root-broadcast")


def attempted(folder, kind, cases, launch=OMPIO):
    """The program on those of the cases whose formats this machine has."""
    usable = [(suffix, name) for suffix, name in cases if not BY_SUFFIX[suffix].missing(name, RANKS)]
    if not usable:
        pytest.skip("a library is missing: see fathometer info --formats")
    words = [*mpirun(RANKS), *launch, sys.executable, PROGRAM, folder, kind, *("=".join(case) for case in usable)]
    words = [str(word) for word in words]
    done = subprocess.run(words, env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE)
    return done, usable


def one_message(folder, kind, cases, launch=OMPIO):
    """All ranks end each case with the same line, with its words, and nothing is left. `cases`: words by case."""
    done, usable = attempted(folder, kind, cases, launch)
    assert done.returncode == 0, done.stdout + done.stderr
    [*_, line] = done.stdout.splitlines()
    for case, errors in zip(usable, json.loads(line), strict=True):
        assert len(set(errors)) == 1, (case, errors)
        assert cases[case] in (errors[0] or "nothing"), case
        assert "\n" not in errors[0]
    if kind != "read":
        assert [path for path in folder.rglob("*") if path.parent != folder] == []


def test_a_short_write(tmp_path):
    lost = "are not in the file, although no write failed"  # Open MPI's own MPI-IO tells of nothing
    large = "File too large"
    words = dict.fromkeys([SHARED, PER_RANK, ZARR, ROOT, WAVELETS, LEVELS], large)
    words |= dict.fromkeys([COLLECTIVE, NETCDF], lost) | {WAVELETS_BY_MPI: "MPI moved "}
    one_message(tmp_path, "limit", words | {NONBLOCKING: "MPI moved 0 bytes"})


def test_a_short_write_under_romio(tmp_path):
    told = "MPI_ERR_IO"
    one_message(tmp_path, "limit", {COLLECTIVE: told, NETCDF: "PnetCDF: ", NONBLOCKING: told}, ROMIO)


def test_a_short_write_that_loses_count_of_messages(tmp_path):
    """Where Open MPI's own MPI-IO waits in a later call for ever, the job ends, with the message."""
    done, _ = attempted(tmp_path, "limit", [WAVELETS_TOGETHER])
    assert done.returncode != 0
    assert "cannot be written: MPI-IO: " in done.stderr
    assert not list((tmp_path / "0").iterdir())


def test_a_short_write_that_hdf5_cannot_leave(tmp_path):
    """Other ranks may be left in the library, waiting: the job ends, with the message."""
    done, _ = attempted(tmp_path, "limit", [HDF5], ROMIO)
    assert done.returncode != 0
    assert "v.h5: cannot be written: HDF5: " in done.stderr
    assert not list((tmp_path / "0").iterdir())


@pytest.fixture
def small_disk(tmp_path, request):
    """A file system of so many KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    size = f"size={request.param}k"
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", folder]).returncode:
        pytest.skip("a small file system is mounted by root only")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("small_disk", [300, 12], indirect=True)  # the smaller does not even hold HDF5's own data
def test_a_full_disk(small_disk):
    cases = [SHARED, PER_RANK, ZARR, COLLECTIVE, NETCDF, HDF5, ROOT, WAVELETS, WAVELETS_TOGETHER, LEVELS]
    one_message(small_disk, "full", dict.fromkeys(cases, "No space left on device"))


@pytest.mark.parametrize("small_disk", [520], indirect=True)
def test_a_disk_that_just_holds_the_volume(small_disk):
    done, _ = attempted(small_disk, "full", [HDF5])
    assert json.loads(done.stdout.splitlines()[-1]) == [[None] * RANKS], done.stderr


def test_one_rank_has_no_permission(tmp_path):
    cases = [SHARED, PER_RANK, ZARR, COLLECTIVE, NETCDF, HDF5, WAVELETS, WAVELETS_TOGETHER]
    one_message(tmp_path, "permission", dict.fromkeys(cases, "Permission denied"))


def test_the_directory_vanishes(tmp_path):
    cases = [SHARED, PER_RANK, ZARR, COLLECTIVE, HDF5, WAVELETS, LEVELS]
    one_message(tmp_path, "vanished", dict.fromkeys(cases, "No such file or directory"))


@pytest.mark.parametrize("case", [SHARED, COLLECTIVE])
def test_a_rank_is_killed(tmp_path, case):
    done, _ = attempted(tmp_path, "killed", [case])
    assert done.returncode != 0
    assert not list(tmp_path.rglob("v.*"))  # but unfinished files, of which nobody could be rid


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


@pytest.mark.parametrize(
    ("suffix", "name", "old", "new"),
    [
        (".npy", "v.npy", b"}", b" "),
        (".zarr", "v.zarr/v/zarr.json", b'"chunk_grid"', b'"cxunk_grid"'),
        (".zarr", "v.zarr/zarr.json", b'"attributes"', b'"attrybutes"'),
        (".h5", "v.h5", b"GCOL", b"XCOL"),
        (".blocks", "v.blocks/index.json", b'"first": [\n    0', b'"first": [\n    1'),
        (".blocks", "v.blocks/index.json", b'"shape": [\n  20', b'"shape": [\n  {}'),
        (".blocks", "v.blocks/block-00000-00000.npy", b"(20, 30, 40)", b"(10, 60, 40)"),
    ],
)
def test_a_damaged_head(tmp_path, suffix, name, old, new):
    path, _, _ = saved(tmp_path, suffix)
    damaged = tmp_path / name
    data = damaged.read_bytes()
    assert old in data
    damaged.write_bytes(data.replace(old, new))
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_truncated_file_on_several_ranks(tmp_path):
    cases = [SHARED, COLLECTIVE, NETCDF, HDF5]
    cases = {case: f"/v{case[0]}" for case in cases if not BY_SUFFIX[case[0]].missing(case[1], RANKS)}
    for number, (suffix, _) in enumerate(cases):
        (tmp_path / str(number)).mkdir()
        _, largest, _ = saved(tmp_path / str(number), suffix)
        os.truncate(largest, largest.stat().st_size // 2)
    one_message(tmp_path, "read", cases)


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
    """Found where the format has checksums, as docs/guide/storage.md says; elsewhere it changes one value."""
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
