"""A communicator that is freed inside another call, by the attribute of one that is freed, is forgotten."""

import sys

from profile_support import by_rank, counted, require

PROGRAM = """
from array import array
from mpi4py import MPI

def free(owner, key, inner):
    inner.Free()

key = MPI.Comm.Create_keyval(delete_fn=free)
world = MPI.COMM_WORLD
for turn in range(20):
    owner, inner = world.Dup(), world.Dup()
    inner.Barrier()
    owner.Set_attr(key, inner)
    owner.Free()
    halves = [world.Split(world.rank % 2, 0) for _ in range(4)]  # where communicators have been in memory
    for half in halves:
        half.Alltoall([array("i", range(8)), 4, MPI.INT], [array("i", bytes(32)), 4, MPI.INT])
    for half in halves:
        half.Free()
"""


def test_counts_of_the_communicator_that_comes_after_it(tmp_path):
    require("openmpi")
    (tmp_path / "program.py").write_text(PROGRAM)
    [job] = counted(tmp_path / "counted", [sys.executable, tmp_path / "program.py"], ranks=4)
    for rank in by_rank(job):
        assert rank["MPI_Alltoall"] == (80, 80 * 32, 80 * 32)
