"""On several ranks: steps of plasmas shared in all ways, by all protocols, as a hash of what comes out of each."""

import hashlib
import sys

import numpy as np
from mpi4py import MPI
from plasma_support import box, linear, real_noise

from fathometer.apps.plasma.solver.model import PlasmaModel
from fathometer.apps.plasma.solver.stepping import METHODS, measured_rate
from fathometer.base.ledger import Ledger

COMM = MPI.COMM_WORLD
CASES = {
    "electromagnetic": (box(electrons=True, collisions=0.1), "rk4"),
    "adiabatic": (box(collisions=0.1), "rk3"),
    "linear": (linear([0.1, 0.2, 0.3, 0.4], 3, 5), "rk4"),
}


def hash_of(plasma, method, ranks, protocol, overlap):
    """Of the distribution function, the potentials, sums and rates after three steps."""
    model = PlasmaModel(plasma, ranks, COMM, protocol, overlap)
    share = model.share
    model.g[...] = real_noise(plasma)[share.own_modes, share.own_velocities]
    stepper, rates = METHODS[method](model), [measured_rate(model, 3)]
    for _ in range(3):
        stepper.step(lambda flow: rates.append(flow) or 0.01 / (1 + 0.001 * flow))
    fields, sums = model.all_fields(), model.sums()
    seen = [*rates, sums.free_energy, sums.drive, sums.upwind, sums.collisions, *sums.flux(0, "energy")]
    parts = COMM.gather((share.own_modes, share.own_velocities, model.g))
    model.close()
    if COMM.rank:
        return ""
    whole = np.full(plasma.sizes, np.nan, np.complex128)
    for modes, velocities, values in parts:
        whole[modes, velocities] = values
    assert np.isfinite(whole).all()
    assert np.isfinite(seen).all()
    return hashlib.sha1(whole.tobytes() + fields.tobytes() + np.array(seen).tobytes()).hexdigest()


def main():
    size, protocols = COMM.size, sys.argv[1:]
    for name, (plasma, method) in CASES.items():
        for p2 in (n for n in (1, 2, 4) if size % n == 0):
            for protocol in protocols:
                for overlap in (False, True):
                    found = hash_of(plasma, method, (size // p2, p2), protocol, overlap)
                    if COMM.rank == 0:
                        print(name, found, flush=True)


with Ledger(0.0, "start-up"):
    main()
