"""The cpus, or the nodes of a cluster, that jobs of a mix are given, one job after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fathometer.base.errors import InputError
from fathometer.lab.cluster.spec import ClusterSpec, cores_of_nodes, node_names
from fathometer.lab.studies.cpu_order import CpuPlace, compact, distributed, least_used
from fathometer.lab.studies.placement import Placement, cpus_of

SHARED = "shared"


class FreeHostCpus:
    """This host.

    Args:
        places: its logical cpus, and where each is. named: what all jobs of a mix say of their cpus: those that one
            names are taken before others are given out.
    """

    def __init__(self, places: Mapping[int, CpuPlace], named: Iterable[str]) -> None:
        self._orders = {"compact": compact(places), "distributed": distributed(places)}
        lists = (where for where in named if where not in (*self._orders, SHARED))
        self._uses = Counter(cpu for where in lists for cpu in cpus_of(where))

    def next_placement(self, placement: Placement, where: str) -> Placement:
        """The next job's placement, whose cpus count as used; where: "compact", "distributed", "shared" or cpus."""
        if where == SHARED:
            return replace(placement, cpus=())
        if where not in self._orders:
            return replace(placement, cpus=cpus_of(where))
        cpus = least_used(self._orders[where], self._uses, placement.cores)
        self._uses.update(cpus)
        return replace(placement, cpus=cpus)


class FreeNodeCpus:
    """A cluster of one machine: compact: a node is filled before the next one; distributed: nodes in turn.

    Args:
        cpus: the logical cpus of this process, which the nodes divide.
    """

    def __init__(self, spec: ClusterSpec, cpus: Sequence[int]) -> None:
        self._spec = spec
        cores = cores_of_nodes(spec.nodes, sorted(cpus))
        # A place for each core of each node, also where nodes have the same one.
        nodes = [node for node, own in enumerate(cores) for _ in own]
        self._node = dict(enumerate(nodes))
        places = {place: CpuPlace(node) for place, node in self._node.items()}
        self._orders = {"compact": compact(places), "distributed": distributed(places)}
        self._uses: Counter[int] = Counter()

    def next_placement(self, placement: Placement, where: str) -> Placement:
        """The next job's placement. Raises InputError for one that a cluster has not."""
        if where not in self._orders:
            raise InputError(f'[[job]] cpus: found "{where}" on a cluster; allowed: "compact", "distributed"')
        taken = least_used(self._orders[where], self._uses, placement.cores)
        self._uses.update(taken)
        names = node_names(self._spec.nodes)
        on = tuple(dict.fromkeys(names[self._node[place]] for place in sorted(taken)))
        return replace(placement, cluster=self._spec, on=on[: placement.ranks], nodes=min(len(on), placement.ranks))
