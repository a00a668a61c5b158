"""On some ranks: every pattern by every protocol, what arrives compared byte by byte; rank 0 prints JSON."""

import json
import sys

from mpi4py import MPI

from fathometer.lab.messages.algorithms import communicator, require
from fathometer.lab.messages.cases import PAIR_PROTOCOLS, PROTOCOLS
from fathometer.lab.messages.library import clock_offset, opened
from fathometer.lab.messages.places import Place
from fathometer.lab.messages.probes import eager_limit
from fathometer.lab.messages.sampling import _pair_communicators

ALL = 1 << 30
LENGTHS = {"halo2d": (8, 264), "halo3d": (8, 800), "transpose": (8, 800), "allreduce": (8, 800), "barrier": (0,)}


def series(comm, *words, other=0):
    """Wrong bytes of two series; other: added to the number of the series of rank 0, whose contents are then others."""
    with opened(comm, *words, 7) as exchange:
        exchange.prepare(1 + (other if comm.rank == 0 else 0))
        exchange.series(comm, 5)
        wrong = exchange.wrong()
        exchange.prepare(2)
        exchange.each(comm, 3)
        return comm.allreduce(wrong), comm.allreduce(exchange.wrong()), comm.allreduce(exchange.bytes_sent)


def everything(world):
    place = Place("in-node", 1, tuple((n, n + 1) for n in range(0, world.size - 1, 2)))
    pair = _pair_communicators(world, place).pair
    found = {"pairs": [], "groups": [], "altered": []}
    for protocol in PAIR_PROTOCOLS:
        for direction in ("both", "one", "pingpong"):
            for length, packet, slots in ((8, ALL, 1), (5001, 1000, 1), (70000, ALL, 3)):
                wrong = series(pair, "pair", protocol, direction, length, packet, slots)
                found["pairs"].append([protocol, direction, length, *wrong])
        found["altered"].append([protocol, *series(pair, "pair", protocol, "both", 800, ALL, 1, other=9)])
    for protocol in PROTOCOLS["echo"]:
        for length, packet, slots in ((8, ALL, 1), (5001, 1000, 1), (70000, ALL, 3)):
            wrong = series(pair, "pair", protocol, "echo", length, packet, slots)
            found["pairs"].append([protocol, "echo", length, *wrong])
    for pattern, protocols in list(PROTOCOLS.items())[3:]:
        for protocol in protocols:
            for length in LENGTHS.get(pattern, (8, 800)):
                found["groups"].append(
                    [pattern, protocol, length, *series(world, pattern, protocol, "", length, ALL, 1)]
                )
    for pattern, protocol in (("halo3d", "types"), ("transpose", "packed"), ("allreduce", "allreduce")):
        found["altered"].append([pattern, *series(world, pattern, protocol, "", 800, ALL, 1, other=9)])
    for call, name in require([("allreduce", "all")]):
        comm = communicator(world, call, name)
        found["groups"].append(["allreduce", name, 8, *series(comm, "allreduce", "allreduce", "", 8, ALL, 1)])
        comm.Free()
    return found


world = MPI.COMM_WORLD
if sys.argv[1] == "everything":
    found = everything(world)
    offset = clock_offset(world, 1, 50) if world.rank < 2 else None
    found["offset"] = world.bcast((offset.low, offset.high) if offset else None, 1)
else:
    found = {"eager": eager_limit(world)}
if world.rank == 0:
    print(json.dumps(found))
