"""Run by test_model_command.py under mpirun: traces are gathered while announcements of rank 1's exchanges of halos
have not been received by rank 0, which was never early. Prints whether rank 0 has every trace."""

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.seismic.shots.gathering import gather_traces

SAMPLES, ANNOUNCEMENTS = 7, range(8)  # tags


def main():
    comm = MPI.COMM_WORLD
    for tag in ANNOUNCEMENTS if comm.rank else ():
        comm.Send([None, 0, MPI.BYTE], 0, tag)
    indices = np.arange(comm.rank, 6, comm.size)
    traces = np.repeat(indices[:, None], SAMPLES, axis=1).astype(np.float32)
    with ledger.Ledger():
        gathered = gather_traces(comm, 6, indices, traces)
    for tag in () if comm.rank else ANNOUNCEMENTS:
        comm.Recv([None, 0, MPI.BYTE], 1, tag)
    if comm.rank == 0:
        print(np.array_equal(gathered, np.repeat(np.arange(6.0)[:, None], SAMPLES, axis=1)))


main()
