"""What this machine offers to forms: nodes, cores and their threads, programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fathometer.base.errors import FathometerError
from fathometer.base.hardware import processor
from fathometer.lab.cluster.making import require_programs
from fathometer.lab.cluster.namespaces import needs_user_namespace
from fathometer.lab.studies.clock import clock_limits
from fathometer.lab.studies.cpu_order import places_of
from fathometer.launch.mpirun import find_mpirun


@dataclass(frozen=True)
class Here:
    """Where a form runs.

    Attributes:
        allocated: nodes of the allocation of Slurm, 0 outside of one.
        no_cluster: why nodes cannot be made here as namespaces; "" where they can.
        cores, hardware_threads: that this process may use, and threads of a core. numa: memory domains.
        clocks: lowest and highest that can be set, Hz; None: none.
        shared_memory: whether this MPI's way to copy inside a node can be chosen.
    """

    allocated: int
    no_cluster: str
    cores: int
    hardware_threads: int
    numa: int
    clocks: tuple[float, float] | None
    shared_memory: bool

    @property
    def on_nodes(self) -> bool:
        """Whether runs can be on several nodes."""
        return self.allocated > 0 or not self.no_cluster


def here(environment: Mapping[str, str] = os.environ) -> Here:
    """This machine, now."""
    allocated = environment.get("SLURM_JOB_NUM_NODES", "1") if "SLURM_JOB_ID" in environment else "0"
    places = places_of(os.sched_getaffinity(0))
    cores = sum(place.thread == 0 for place in places.values()) or 1
    try:
        mpirun = find_mpirun(sys.prefix, environment.get("PATH", os.defpath))
        vader = mpirun.flavour == "openmpi" and mpirun.major == 4
    except FathometerError:
        vader = False
    return Here(
        int(allocated) if allocated.isdecimal() else 1,
        _refusal(_require_clusters),
        cores,
        max(1, len(places) // cores),
        processor().get("numa_nodes") or 1,
        clock_limits(),
        vader,
    )


def _require_clusters() -> None:
    require_programs()
    needs_user_namespace(False)


def _refusal(require: Callable[[], None]) -> str:
    """Why something that is needed is not there; "" where it is."""
    try:
        require()
    except FathometerError as error:
        return str(error)
    return ""


def powers(most: int) -> list[int]:
    """1, 2, 4 … up to a number, and this number."""
    found = [2**k for k in range(most.bit_length()) if 2**k <= most]
    return found if most in found else [*found, most]
