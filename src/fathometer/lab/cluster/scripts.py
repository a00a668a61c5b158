"""The two scripts of a cluster, and the environment of what runs in it.

enter NODE WORDS…         from outside: a command in a node, on its cores, in the folder of whoever calls it
agent HOST WORDS…         from inside: what MPI's launcher calls in place of rsh; a shell there gets the words
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from fathometer.lab.cluster.namespaces import KINDS, search_path
from fathometer.lab.cluster.spec import ClusterSpec, address, network, node_names
from fathometer.lab.cluster.state import AGENT, ENTER, HOSTFILE, HOSTS, SLURM, Cluster
from fathometer.record.cluster import MARKER

# What another launcher or batch system has set for its own processes is wrong in the cluster.
FOREIGN = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "SLURM_", "HYDRA_", "MPI_LOCAL")
KEPT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def write_scripts(cluster: Cluster) -> None:
    """Write the scripts, and the list of hosts for MPI, which name the processes of the nodes."""
    user = " -U --preserve-credentials" if cluster.user_namespace else ""
    _write(cluster.folder / ENTER, _script(cluster, user, '"$@"'), 0o755)
    _write(cluster.folder / AGENT, _script(cluster, "", '/bin/sh -c "$*"'), 0o755)
    lines = [f"{node.name} slots={len(node.cores)}" for node in cluster.nodes]
    _write(cluster.folder / HOSTFILE, "\n".join(lines) + "\n", 0o644)


def write_hosts(folder: Path, nodes: int) -> None:
    """Write the /etc/hosts of the head and of all nodes."""
    lines = ["127.0.0.1 localhost", f"{address(254, 1)} head"]
    lines += [f"{address(number, 1)} {name}" for number, name in enumerate(node_names(nodes), 1)]
    _write(folder / HOSTS, "\n".join(lines) + "\n", 0o644)


def environment(cluster: Cluster, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command in the cluster: the user's, and what lets MPI find the nodes and their networks.

    Whatever starts ranks by Open MPI's mpirun, as `fathometer migrate --ranks` does, starts them on the nodes. What the
    user has chosen (OMPI_MCA_pml and the like, in the environment) stays.
    """
    own = {name: value for name, value in environ.items() if not name.startswith(FOREIGN) or _chosen(name)}
    return own | settings(cluster.folder, cluster.spec, cluster.cores, own)


def settings(folder: Path, spec: ClusterSpec, cores: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command in a cluster whose state is in the folder, but those that the user has set.

    cores: different ones of all nodes.
    """
    values = {name: value for name, value in mpi_settings(folder, spec, cores).items() if name not in environ}
    values |= {
        MARKER: str(folder),
        "PATH": f"{search_path()}{os.pathsep}{Path(sys.executable).parent}",  # where `fathometer` is, in the end
        "TMPDIR": "/tmp",
        # One run's mpirun would remove the folder of a node's sessions while another one's enters it.
        "OMPI_MCA_orte_tmpdir_base": f"/tmp/mpi-{uuid4().hex[:8]}",
        "EVENT_NOEPOLL": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",  # it may be root of a user namespace only, which Open MPI does not know
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    if spec.slurm:
        values["SLURM_CONF"] = str(folder / SLURM / "slurm.conf")
    return values


def mpi_settings(folder: Path, spec: ClusterSpec, cores: int) -> dict[str, str]:
    """What Open MPI is told of the cluster, as environment variables."""
    networks = ",".join(network(rail) for rail in range(1, spec.rails + 1))
    values = {
        "plm_rsh_agent": str(folder / AGENT),
        "plm_rsh_no_tree_spawn": "1",
        "orte_default_hostfile": str(folder / HOSTFILE),
        "oob_tcp_if_include": network(1),
        "pml": "ob1",
        "btl": "self,vader,tcp",
        "btl_tcp_if_include": networks,
        # Of windows (Open MPI 4.1): by default none can be made over TCP, and UCX has ways of its own past the links.
        "osc": "sm,pt2pt",
        # A node has its cores already, and several may have the same: the launcher knows neither.
        "hwloc_base_binding_policy": "none",
        "rmaps_base_oversubscribe": "1",
    }
    if cores < spec.nodes:
        values["mpi_yield_when_idle"] = "1"
    return {f"OMPI_MCA_{name}": value for name, value in values.items()}


def _chosen(name: str) -> bool:
    """Whether a variable is a setting of a user, and not what a launcher has told its ranks."""
    if name in KEPT:
        return True
    inner = ("orte_", "ess", "pmix", "shmem_RUNTIME", "mpi_yield", "initial_wdir")
    return name.startswith("OMPI_MCA_") and not name.removeprefix("OMPI_MCA_").startswith(inner)


def _script(cluster: Cluster, user: str, command: str) -> str:
    cases = "\n".join(
        f"    {node.name}) pid={node.process.pid} cores={','.join(map(str, node.cores))} ;;" for node in cluster.nodes
    )
    names = shlex.quote(f"{cluster.name}: no node of this name; nodes: {', '.join(n.name for n in cluster.nodes)}")
    # Entering a mount namespace leaves the folder: the command's own shell goes back to it.
    back = shlex.quote('cd "$0" || exit 2; exec "$@"')
    return f"""#!/bin/sh
# Written by `fathometer cluster up`.
node=$1
shift
case "$node" in
{cases}
    *) echo {names} >&2; exit 2 ;;
esac
here=$(pwd)
exec nsenter -t "$pid"{user} {" ".join(KINDS)} taskset -c "$cores" sh -c {back} "$here" {command}
"""


def _write(path: Path, text: str, mode: int) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    os.chmod(path, mode)
