"""On several ranks: tracers of air and water after two steps of a day, which reach over several pairs of
latitudes; as a hash of them."""

import hashlib

import numpy as np
from atmosphere_support import grid_of, wave
from mpi4py import MPI

from fathometer.apps.atmosphere.solver.equations import Planet
from fathometer.apps.atmosphere.solver.model import SpectralModel
from fathometer.apps.atmosphere.solver.starts import Jet
from fathometer.apps.atmosphere.solver.tracers import Tracers
from fathometer.apps.atmosphere.solver.transform import Transform
from fathometer.base.ledger import Ledger

COMM = MPI.COMM_WORLD
STARTS = {"air": wave(21, True, 5), "water": Jet(grid_of(21), Planet(6.37122e6, 7.292e-5), True)}


def hash_of(start, threads):
    """Of two tracers."""
    model = SpectralModel(start.equations, Transform(start.grid, COMM, "alltoallv", threads), start.ground)
    model.begin(start.weather)
    tracers = Tracers(start.equations, model.transform, 2)
    shape = (2, start.grid.longitudes, 2 * model.levels)
    tracers.begin(lambda pair: np.random.default_rng(pair).random(shape))
    for number in range(2):
        model.rates(winds=tracers.winds)
        tracers.step(86400.0, number == 0)
    assert tracers.width >= 6
    parts = COMM.gather(tracers.values)
    model.close()
    return "" if parts is None else hashlib.sha1(np.concatenate(parts).tobytes()).hexdigest()


def main():
    for name, start in STARTS.items():
        for threads in (1, 2):
            found = hash_of(start, threads)
            if COMM.rank == 0:
                print(name, found, flush=True)


with Ledger(0.0, "start-up"):
    main()
