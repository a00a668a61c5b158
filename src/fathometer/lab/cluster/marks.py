"""What cannot be concluded from a run on a cluster of one machine, in words (record/cluster.py)."""

from __future__ import annotations

from collections.abc import Collection

from fathometer.lab.cluster.state import Cluster, described
from fathometer.record.cluster import limits


def marks_of(cluster: Cluster, workers: int, names: Collection[str] = ()) -> list[str]:
    """What is not to be concluded from a run of so many ranks, or threads of all ranks together.

    names: of the nodes that it runs on; (): all of the cluster.
    """
    return limits(described(cluster), workers, names or [node.name for node in cluster.nodes])
