"""Run by test_halo.py under mpirun: rank 1 computes long in each exchange. Prints each rank's
seconds by category, and those of closing."""

import json
import time

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.halo import HaloExchange, HaloField

LATE_SECONDS = 0.25
ORDER = (0, 0, 0, 1)  # of two exchanges, whose messages are told apart
SHAPE, DEPTH = (32, 512, 512), 4  # faces of 4 MB: longer than what MPI sends at once


def small_exchanges(comm):
    """Whether messages are left over after many exchanges whose cells come at once."""
    block = Decomposition((8, 4, 4), (2, 1, 1), comm.rank)
    array = np.zeros([n + 2 for n in block.local_shape], np.float32)
    exchange = HaloExchange(comm, block, [HaloField(array, (1,) * 3, (0,))], 1)
    for _ in range(200):
        exchange.start()
        time.sleep(0.001 * comm.rank)
        exchange.test()
        time.sleep(0.001)
        exchange.wait()
    comm.Barrier()
    left = comm.Iprobe()
    exchange.close()
    return left


def main():
    comm = MPI.COMM_WORLD
    block = Decomposition(SHAPE, (2, 1, 1), comm.rank)
    array = np.zeros([n + 2 * DEPTH for n in block.local_shape], np.float32)
    exchanges = [HaloExchange(comm, block, [HaloField(array, (DEPTH,) * 3, (0,))], DEPTH) for _ in range(2)]
    with ledger.Ledger() as account:
        for n in ORDER:
            exchanges[n].start()
            if comm.rank == 1:
                time.sleep(LATE_SECONDS)
            exchanges[n].wait()
        begin = time.monotonic()
        for exchange in exchanges:
            exchange.close()
        closing = time.monotonic() - begin
        seconds = {name: account.seconds("halo exchange", name) for name in ("communication", "idle")}
    left = small_exchanges(comm)
    found = comm.gather(seconds | {"closing": closing, "left": left})
    if comm.rank == 0:
        print(json.dumps(found))


main()
