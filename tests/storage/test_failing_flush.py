"""A flush that fails on one of two ranks: one error on both, no file, and none waits for the other."""

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
