"""Volumes written by several ranks: the same bytes as by one, the same error on all."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI
from patience import PATIENCE

from fathometer.storage.volumes.volume import VolumeInfo, write_volume

RANKS = 3
WRITE = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from mpi4py import MPI
from fathometer.base.errors import FathometerError
from fathometer.storage.volumes.volume import VolumeInfo, write_volume

path, axis, limit, failing = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
comm = MPI.COMM_WORLD
if limit and comm.rank == failing:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
shape = tuple(int(n) for n in sys.argv[5].split(","))
values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
cuts = [shape[axis] * r // comm.size for r in range(comm.size + 1)]
lo = [0] * len(shape)
lo[axis] = cuts[comm.rank]
block = values.take(range(cuts[comm.rank], cuts[comm.rank + 1]), axis)
info = VolumeInfo(shape, np.dtype(np.float32), (12.5,) * len(shape), None, None, "m/s")
try:
    write_volume(path, info, block, lo, comm)
    code = 0
except FathometerError as error:
    code = error.exit_code
    (path.parent / f"error{comm.rank}").write_text(str(error))
codes = comm.allgather(code)
assert len(set(codes)) == 1, codes
sys.exit(code)
"""


def write(path: Path, ranks: int, axis: int, shape, limit: int = 0, failing: int = 0):
    script = path.parent / "write.py"
    script.write_text(WRITE)
    launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    words = [str(script), str(path), str(axis), str(limit), str(failing), ",".join(map(str, shape))]
    # MPI in this process has put variables into its environment that would keep mpirun from starting.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
    words = [*launch, sys.executable, *words]
    return subprocess.run(words, env=clean, capture_output=True, text=True, timeout=PATIENCE)


# The last axis has fewer cells than ranks: one rank hands an empty block.
@pytest.mark.parametrize(("axis", "suffix"), [(0, ".rsf"), (1, ".npy"), (2, ".rsf")])
def test_ranks_write_the_bytes_of_one(tmp_path, axis, suffix):
    shape = (4, 5, 2)
    done = write(tmp_path / f"v{suffix}", RANKS, axis, shape)
    assert done.returncode == 0, done.stderr
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    info = VolumeInfo(shape, values.dtype, (12.5,) * 3, None, None, "m/s")
    (tmp_path / "one").mkdir()
    write_volume(tmp_path / "one" / f"v{suffix}", info, values, (0, 0, 0), MPI.COMM_SELF)
    for expected in (tmp_path / "one").iterdir():
        assert (tmp_path / expected.name).read_bytes() == expected.read_bytes()
    assert not list(tmp_path.glob(".*"))


# Rank 0 reserves the space; another rank's limit shows only when it writes.
@pytest.mark.parametrize(("ranks", "failing"), [(1, 0), (RANKS, 0), (RANKS, 2)])
@pytest.mark.parametrize("suffix", [".rsf", ".npy"])
def test_a_full_disk_is_one_error_on_all_ranks(tmp_path, ranks, failing, suffix):
    done = write(tmp_path / f"v{suffix}", ranks, 0, (30, 40, 50), limit=100_000, failing=failing)
    assert done.returncode == 1, done.stderr
    lines = {(tmp_path / f"error{rank}").read_text() for rank in range(ranks)}
    assert lines == {f"{tmp_path / 'v'}{suffix}: cannot be written: File too large"}
    left = {p.name for p in tmp_path.iterdir()} - {f"error{rank}" for rank in range(ranks)}
    assert left == {"write.py"}
