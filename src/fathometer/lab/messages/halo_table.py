"""Seconds of this program's own halo exchange over the size of a face, as plans need them.

Not a loop of C++: a run calls MPI from Python (parallel/halo.py), keeps account of it, and lets MPI make progress
between pieces of its time steps. That costs some microseconds in each exchange, and the cells of a face are not in the
caches when it ends, so that a plain swap of two buffers says too little. Here the exchange goes on while all cells of
a block are written in pieces, as in a time step, and its seconds are those of the account: waiting for the other rank
is not among them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from statistics import median

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import barrier
from fathometer.parallel.decomposition import Decomposition
from fathometer.parallel.halo import HaloExchange, HaloField
from fathometer.plan.machine_file import Exchange

FACES = (8, 16, 32, 64, 96, 128, 192, 256, 384)  # cells along each side of a face
PLANES = 4  # exchanged
THICKNESS = 48  # cells of a rank's block across the face
PIECES = 4  # of a time step, with a test for progress after each
ROUNDS = 5
EXCHANGES = 8  # of a size in a round
PHASE = "halo exchange"  # in the account


def halo_table(pair: MPI.Intracomm, seed: int) -> tuple[Exchange, ...]:
    """Collective over two ranks. The medians over rounds of the exchanges of all sizes, in random order; the later rank
    counts."""
    exchangers = [_exchanger(pair, face) for face in FACES]
    seconds: list[list[float]] = [[] for _ in FACES]
    for number in range(ROUNDS + 1):
        order = list(range(len(FACES)))
        random.Random(f"{seed} {number}").shuffle(order)
        for place in order:
            taken = exchangers[place][1]()
            if number:  # the first round connects, and touches the memory
                seconds[place].append(max(pair.allgather(taken)))
    table = [
        Exchange(bytes=float(size), seconds=median(values))
        for (size, _, _), values in zip(exchangers, seconds, strict=True)
    ]
    for _, _, close in exchangers:
        close()
    return tuple(table)


def _exchanger(pair: MPI.Intracomm, face: int) -> tuple[int, Callable[[], float], Callable[[], None]]:
    """Bytes of a face, the mean seconds of some exchanges of it, and what frees them."""
    block = Decomposition((2 * THICKNESS, face, face), (2, 1, 1), pair.rank)
    array = np.zeros([n + 2 * PLANES for n in block.local_shape], np.float32)
    halo = HaloExchange(pair, block, [HaloField(array, (PLANES,) * 3, (0,))], PLANES)

    pieces = np.array_split(array[PLANES:-PLANES], PIECES)

    def exchanges() -> float:
        account = ledger.current()
        assert account is not None, "a command has opened it"
        barrier(pair)
        before = account.seconds(PHASE, "communication")
        for _ in range(EXCHANGES):
            halo.start()
            for piece in pieces:
                np.add(piece, 1, out=piece)
                halo.test()
            halo.wait()
        return (account.seconds(PHASE, "communication") - before) / EXCHANGES

    return halo.bytes_sent, exchanges, halo.close
