"""Ranks that all run on one host: shared memory between them, no listener but on the loopback address, folders of MPI's
own that are removed.

By default Open MPI listens on all addresses of the host: its launcher (oob) and each rank (btl tcp), also where nothing
will ever connect from outside. Shared memory is all that ranks of one host need; the launcher has no setting for its
address, so a small library (native/process/loopback.cpp) is preloaded into it. Shared memory and session folders, which
Open MPI leaves where ranks or mpirun are killed, lie in folders that the process that starts mpirun makes and removes.

What the user has set, in the environment or in ~/.openmpi/mca-params.conf, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from fathometer.base.host import built_library
from fathometer.base.owned_folder import owned_folder

PREFIX = "fathometer-mpi-"
SHARED_MEMORY = Path("/dev/shm")
BACKING = ("OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory")  # Open MPI 4; from 5 on

# Environment variables by which batch systems and users tell mpirun of other hosts.
_HOSTS = (
    "PBS_NODEFILE",
    "PE_HOSTFILE",
    "LSB_DJOB_HOSTFILE",
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "PRTE_MCA_prte_hostfile",
)
ISOLATED = "OMPI_MCA_ess_singleton_isolated"
_TRANSPORTS = ("pml", "btl", "mtl")  # who has set one of them wants a way of his own


def mpirun_stays_here(environ: Mapping[str, str]) -> bool:
    """Whether an mpirun without a list of hosts starts all its ranks on this host."""
    if "SLURM_JOB_ID" in environ:
        return environ.get("SLURM_JOB_NUM_NODES", environ.get("SLURM_NNODES")) == "1"
    return not any(name in environ for name in _HOSTS)


def events(major: int) -> dict[str, str]:
    """Settings of libevent in an mpirun of this version of Open MPI and in its ranks: poll() instead of epoll.

    With Open MPI 4 epoll prints a warning where a socket is closed before its event is removed, as happens now and then
    when a rank ends; a few sockets take either the same. Open MPI 5 allows epoll alone, and would not start.
    """
    return {"EVENT_NOEPOLL": "1"} if major < 5 else {}


def transport(environ: Mapping[str, str], major: int = 0) -> dict[str, str]:
    """Settings of Open MPI, as environment variables, for ranks of one host: shared memory and nothing else.

    major: its version; 0: unknown. Open MPI 5 calls its shared memory sm, and knows its old name as well.
    """
    if any(is_set(f"OMPI_MCA_{name}", environ) for name in _TRANSPORTS):
        return {}
    return {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm" if major >= 5 else "self,vader"}


def alone(environ: Mapping[str, str]) -> dict[str, str]:
    """The same for a process that no launcher has started: it has nobody to share memory with, and needs no launcher's
    daemon either."""
    own = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self"} if transport(environ) else {}
    return own if is_set(ISOLATED, environ) else own | {ISOLATED: "1"}


def without_display(environ: Mapping[str, str]) -> dict[str, str]:
    """Settings with which hwloc, by which MPI looks at the host, asks no display for its graphics cards.

    It would try all of 0 to 9, also over sockets that any user can have made, and wait there for an answer.
    """
    return {} if "HWLOC_COMPONENTS" in environ else {"HWLOC_COMPONENTS": "-gl"}


def loopback_library(environ: Mapping[str, str]) -> Path | None:
    """The library that keeps mpirun's listeners on the loopback address; None where it was not built, or where the user
    has chosen the launcher's interfaces."""
    chosen = ("OMPI_MCA_oob_tcp_if_include", "PRTE_MCA_oob_tcp_if_include", "PRTE_MCA_prte_if_include")
    if any(is_set(name, environ) for name in chosen):
        return None
    library = built_library("loopback")
    if library is None or re.search(r"[\s:]", str(library)):  # which would end its name in LD_PRELOAD
        return None
    return library


@contextmanager
def own_folders(environ: Mapping[str, str], major: int) -> Iterator[dict[str, str]]:
    """Context of one mpirun: settings that put its shared memory and its session into folders that end with it."""
    from tempfile import gettempdir  # ranks do not need it

    temporary: Path | None = None
    with suppress(OSError):  # where no folder can be written to
        temporary = Path(gettempdir())
    places = {
        BACKING[major >= 5]: SHARED_MEMORY,
        "PRTE_MCA_prte_tmpdir_base" if major >= 5 else "OMPI_MCA_orte_tmpdir_base": temporary,
    }
    settings: dict[str, str] = {}
    with ExitStack() as folders:
        for name, place in places.items():
            if place is not None and not is_set(name, environ):
                with suppress(OSError):  # as in a container without shared memory: Open MPI has its own ways
                    settings[name] = str(folders.enter_context(owned_folder(place, PREFIX)))
        yield settings


def is_set(name: str, environ: Mapping[str, str]) -> bool:
    """Whether the user has set a parameter, given as its environment variable."""
    if name in environ:
        return True
    try:
        text = Path("~/.openmpi/mca-params.conf").expanduser().read_text(encoding="utf-8", errors="replace")
    except (OSError, RuntimeError):
        return False
    parameter = re.escape(name.partition("_MCA_")[2])
    return re.search(rf"^\s*{parameter}\s*=", text, re.MULTILINE) is not None
