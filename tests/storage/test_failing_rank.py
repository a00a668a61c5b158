"""A flush or an opening that fails on one of two ranks: one error, no file, and none waits for the other for ever."""

from cli_support import under_mpirun
from paths import SUPPORT

from fathometer.storage.volumes.formats import hdf5, pnetcdf


def test_one_rank_cannot_flush(tmp_path):
    names = ["volume.npy", "volume.rsf"]
    names += [] if pnetcdf.missing() else ["volume.nc", "dataset.nc"]
    names += [] if hdf5.missing("volume.h5", 2) else ["volume.h5"]
    done = under_mpirun(2, SUPPORT / "failing_flush_program.py", tmp_path, *names)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(names)
    for name, line in zip(names, lines, strict=True):
        assert line.startswith(f"{name}: {tmp_path / name}")
        assert line.endswith("Input/output error"), line
    assert list(tmp_path.iterdir()) == []


NOT_OPENED = """
import sys, time
from pathlib import Path
from mpi4py import MPI
from fathometer.storage.volumes import collective_file
collective_file.OPEN_SECONDS = 1.0
with collective_file.opening(Path("a.nc"), MPI.COMM_WORLD):
    if MPI.COMM_WORLD.rank:
        time.sleep(1e6)
    MPI.COMM_WORLD.Barrier()
"""


def test_a_file_that_one_rank_does_not_open(tmp_path):
    (tmp_path / "program.py").write_text(NOT_OPENED)
    done = under_mpirun(2, tmp_path / "program.py")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("fathometer")]
    assert lines == ["fathometer: error: a.nc: not opened by all ranks within 1 s: one of them could not"]
