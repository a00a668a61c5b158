"""What a machine file (plan/machine_file.py) says of messages, from a measurement of the program's own exchange."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.lab.messages.fits import least_squares
from fathometer.lab.messages.halo_table import halo_table
from fathometer.parallel.collectives import LONG_NAP_SECONDS, barrier, collective_errors
from fathometer.plan.machine_file import Exchange, Machine, load_machine

NOTE = "messages: fathometer messages --machine"


def read_before(path: Path, ranks: int) -> Machine:
    """The machine file whose entries are replaced.

    Raises InputError where it cannot be read, or where there is one rank only.
    """
    if ranks < 2:
        raise InputError("--machine: found 1 rank; allowed: 2 or more (--ranks 2)")
    return load_machine(path)


def measured_machine(before: Machine, comm: MPI.Intracomm, say: Callable[[str], None]) -> Machine:
    """Collective. The machine with its entries of messages measured: between rank 0 and another rank of its host, and
    another one of another host, as far as there are any; on rank 0, `before` on the others."""
    hosts = comm.allgather(socket.gethostname())
    near = next((rank for rank in range(1, comm.size) if hosts[rank] == hosts[0]), None)
    far = next((rank for rank in range(1, comm.size) if hosts[rank] != hosts[0]), None)
    found: dict[str, Any] = {}
    for where, other in (("local", near), ("network", far)):
        if other is None:
            continue
        say(f"halo exchanges for the machine file, {where}")
        pair = MPI.Intracomm(comm.Split(0 if comm.rank in (0, other) else 1, comm.rank))
        with collective_errors(comm, LONG_NAP_SECONDS):
            if comm.rank in (0, other):
                found |= entries(where, halo_table(pair, 1))
        barrier(comm)
        pair.Free()
    kept = tuple(note for note in before.notes if not note.startswith(NOTE))
    return before.model_copy(update=found | {"notes": (*kept, f"{NOTE}, {comm.size} ranks")})


def entries(where: str, table: Sequence[Exchange]) -> dict[str, Any]:
    """A table of exchanges as entries of a machine file, with latency and rate of the line through it."""
    sizes, seconds = (np.array([getattr(entry, name) for entry in table]) for name in ("bytes", "seconds"))
    latency, slope = least_squares(sizes, seconds[None])
    rate = 1.0 / slope[0] if slope[0] > 0 else float(sizes[-1] / seconds[-1])
    return {
        f"{where}_latency_seconds": max(0.0, float(latency[0])),
        f"{where}_bytes_per_second": float(rate),
        f"{where}_exchanges": tuple(table),
    }
