"""On several ranks: steps of atmospheres by all protocols and balances of columns, a hash of what comes out of each."""

import hashlib
import sys
from dataclasses import replace

import numpy as np
from atmosphere_support import grid_of, wave
from mpi4py import MPI

from fathometer import _native
from fathometer.apps.atmosphere.solver.columns import BALANCES, LAYOUTS
from fathometer.apps.atmosphere.solver.equations import Planet
from fathometer.apps.atmosphere.solver.model import SpectralModel
from fathometer.apps.atmosphere.solver.physics import Forcing, Physics
from fathometer.apps.atmosphere.solver.starts import Jet
from fathometer.apps.atmosphere.solver.sums import Diagnostics
from fathometer.apps.atmosphere.solver.transform import Transform
from fathometer.base.ledger import Ledger

COMM = MPI.COMM_WORLD
FORCING = Forcing(False, True, 1365.0, 0.3, 50)
STARTS = {"air": wave(21, True, 5), "water": Jet(grid_of(21), Planet(6.37122e6, 7.292e-5), True)}


def hash_of(name, start, protocol, threads, forcing=FORCING):
    """Of coefficients, fields, means and spectrum after three steps."""
    _native.set_threads(threads)
    model = SpectralModel(start.equations, Transform(start.grid, COMM, protocol, threads), start.ground, damping=1e16)
    model.begin(start.weather)
    physics = None
    if name == "air":
        nodes = [rank // 2 for rank in range(COMM.size)]
        physics = Physics(forcing, start.equations, model.transform, nodes)
        physics.begin(model.weather())
    for number in range(3):
        if physics is None:
            rates = model.rates()
        else:
            physics.force(40_000.0 + 1800 * number, 3600.0)
            rates = model.rates(physics.of_pair, physics.weather_now)
            physics.advance()
        model.leap(rates, 1800.0, number == 0)
    means = Diagnostics(model)
    weather = model.weather()
    forced = [] if physics is None else means.of_columns(physics.results)
    seen = [*forced, *vars(means(weather)).values(), *means.spectrum().ravel()]
    rows = dict(
        zip(model.transform.waves.tolist(), np.split(model.now, model.transform.sphere.begin[1:-1]), strict=True)
    )
    parts = COMM.gather((rows, weather))
    model.close()
    if COMM.rank:
        return ""
    together = {m: values for rows, _ in parts for m, values in rows.items()}
    whole = b"".join(together[m].tobytes() for m in sorted(together))
    assert len(together) == start.grid.truncation + 1
    assert np.isfinite(seen).all()
    fields = np.concatenate([weather for _, weather in parts])
    assert len(fields) == start.grid.pairs
    return hashlib.sha1(whole + fields.tobytes() + np.array(seen).tobytes()).hexdigest()


def ways():
    """Of sharing columns out, and of moving them."""
    for layout in LAYOUTS:
        for balance in BALANCES:
            for all_to_all in (True, False):
                yield replace(FORCING, layout=layout, balance=balance, all_to_all=all_to_all)


def main():
    for name, start in STARTS.items():
        for protocol in sys.argv[1:]:
            for threads in (1, 2):
                found = hash_of(name, start, protocol, threads)
                if COMM.rank == 0:
                    print(name, found, flush=True)
    for forcing in ways():
        found = hash_of("air", STARTS["air"], "alltoallv", 2, forcing)
        if COMM.rank == 0:
            print("air", found, flush=True)


with Ledger(0.0, "start-up"):
    main()
