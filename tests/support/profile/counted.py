"""The same few calls through mpi4py: of buffers, and of Python's objects. Counted by hand in test_counts.py."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
values, sums = np.full(1000, comm.rank, float), np.empty(1000)
for _ in range(4):  # 4 messages of 800 B
    if comm.rank == 0:
        comm.Send(values[:100], 1, 5)
    if comm.rank == 1:
        comm.Recv(sums, 0, 5)
for _ in range(3):
    comm.Allreduce(values[:2], sums[:2])
comm.Bcast(values, 0)
if comm.rank == 0:
    comm.send({"a": 1}, 1, 7)
if comm.rank == 1:
    comm.recv(source=0, tag=7)
comm.Barrier()
