"""From a command to the words that run it in a cluster: pure functions, tested word by word.

a command without ranks     enter node1 COMMAND          what it starts by Open MPI's mpirun is on the nodes
on ranks                    enter node1 mpirun … COMMAND
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.lab.cluster.spec import node_names
from fathometer.lab.cluster.state import ENTER
from fathometer.launch.mpirun import MpiRun

PLACEMENTS = ("block", "cyclic")
MOST_RANKS_PER_NODE = 64  # more would sooner exhaust the memory than finish


def entered(folder: Path, node: str, words: Sequence[str]) -> list[str]:
    """The words that run a command in a node of the cluster whose state is in the folder."""
    return ["sh", str(folder / ENTER), node, *words]


def ranks_of_nodes(nodes: int, ranks: int, ranks_per_node: int | None = None) -> list[int]:
    """How many slots each node gives to so many ranks.

    ranks_per_node: as many on each node, until there are none left; None: as evenly as they go over all nodes. Raises
    InputError where they do not fit.

    >>> ranks_of_nodes(2, 3), ranks_of_nodes(4, 4, 2), ranks_of_nodes(4, 6)
    ([2, 1], [2, 2], [2, 2, 1, 1])
    """
    if ranks < 1:
        raise InputError(f"ranks: found {ranks}; allowed: an integer from 1")
    if ranks_per_node is not None and ranks_per_node < 1:
        raise InputError(f"ranks per node: found {ranks_per_node}; allowed: an integer from 1")
    each = ranks_per_node or -(-ranks // nodes)
    if each * nodes < ranks:
        raise InputError(f"ranks per node: found {each} on {nodes} nodes for {ranks} ranks; allowed: enough")
    if each > MOST_RANKS_PER_NODE:
        raise InputError(f"ranks: found {each} on a node; allowed: up to {MOST_RANKS_PER_NODE}")
    if ranks_per_node is not None:
        return [min(each, ranks - first) for first in range(0, ranks, each)]
    return [ranks // nodes + (node < ranks % nodes) for node in range(min(nodes, ranks))]


def mpirun_words(
    mpirun: MpiRun,
    ranks: int,
    slots: Sequence[int],
    placement: str = "block",
    names: Sequence[str] = (),
    options: Sequence[str] = (),
) -> list[str]:
    """The mpirun that starts so many ranks on the first nodes, and on each as many as its slots.

    placement: "block": consecutive ranks on a node; "cyclic": on one node after another. names: of the nodes, where
    they are not the first ones. options: further words. Raises InputError for an mpirun that knows no such words.
    """
    require_placement(placement)
    if mpirun.flavour != "openmpi" or mpirun.major >= 5:
        found = f"{mpirun.flavour} {mpirun.major or ''}".strip()
        raise InputError(f"{mpirun.path}: found {found}; allowed: Open MPI 4, which the nodes' settings are for")
    words = [mpirun.path, "-n", str(ranks), "--host", host_list(slots, names)]
    words += ["--map-by", "slot" if placement == "block" else "node", "--bind-to", "none", "--quiet"]
    return [*words, *options]


def own_mpirun(slots: Sequence[int], placement: str = "block", names: Sequence[str] = ()) -> dict[str, str]:
    """The same as variables, for a program that starts its ranks itself by mpirun.

    Slots are filled node by node; with "cyclic" it is their numbers that go from node to node: an option of the command
    line such as --oversubscribe replaces how slots are filled.
    """
    require_placement(placement)
    values = {"OMPI_MCA_orte_default_dash_host": host_list(slots, names)}
    if placement == "cyclic":
        values["OMPI_MCA_rmaps_base_ranking_policy"] = "node"
    return values


def host_list(slots: Sequence[int], names: Sequence[str] = ()) -> str:
    """The hosts as Open MPI reads them.

    >>> host_list([2, 1])
    'node1:2,node2:1'
    """
    return ",".join(f"{name}:{count}" for name, count in zip(names or node_names(len(slots)), slots, strict=True))


def require_placement(placement: str) -> None:
    """Raises InputError for an unknown one."""
    if placement not in PLACEMENTS:
        listed = ", ".join(f'"{name}"' for name in PLACEMENTS) + did_you_mean(placement, PLACEMENTS, '"')
        raise InputError(f'placement: found "{placement}"; allowed: {listed}')
