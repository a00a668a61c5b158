"""Open MPI keeps no pointer that all ranks of a file share: nothing of it lies anywhere, and nobody waits for it."""

import sys
from uuid import uuid4

import pytest
from cli_support import finish, mpirun, start

OPENED = """
import os, resource, sys
from pathlib import Path
from mpi4py import MPI
from fathometer.storage.volumes.collective_file import mpi_hints
comm = MPI.COMM_WORLD
path = Path(sys.argv[1])

def opened(mode, look=lambda: None):
    info = mpi_hints(())
    file = MPI.File.Open(comm, str(path), mode, info)
    info.Free()
    comm.Barrier()
    look()
    comm.Barrier()
    file.Close()

def nothing_else():
    found = [*path.parent.iterdir(), *Path("/dev/shm").glob(f"*{path.name}*")]
    assert found == [path], found

for mode in (MPI.MODE_CREATE | MPI.MODE_WRONLY, MPI.MODE_WRONLY, MPI.MODE_RDONLY):
    opened(mode, nothing_else)
if comm.rank == 1:  # no page more than it has
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
for _ in range(20):
    opened(MPI.MODE_RDONLY)
"""


def test_files_are_opened_without_a_shared_pointer(tmp_path):
    """With one, two ranks waited for ever where one of them had no memory left for it."""
    done = finish(start(*mpirun(2), sys.executable, "-c", OPENED, tmp_path / uuid4().hex), timeout=120)
    assert (done.code, done.err) == (0, "")


CHOSEN = """
import os
from fathometer.storage.volumes.collective_file import mpi_hints
mpi_hints(()).Free()
print(os.environ.get("OMPI_MCA_sharedfp"), os.environ.get("OMPI_MCA_sharedfp_individual_priority"))
"""


@pytest.mark.parametrize("where", ["environment", "file"])
def test_a_way_that_the_user_has_chosen_stays(where, tmp_path):
    own = {"HOME": str(tmp_path), "OMPI_MCA_ess_singleton_isolated": "1"}
    if where == "environment":
        own["OMPI_MCA_sharedfp"] = "sm"
    else:
        (tmp_path / ".openmpi").mkdir()
        (tmp_path / ".openmpi" / "mca-params.conf").write_text("sharedfp = sm\n")
    done = finish(start(sys.executable, "-c", CHOSEN, environment=own))
    assert (done.code, done.err) == (0, "")
    assert done.out.split() == (["sm", "None"] if where == "environment" else ["None", "None"])
