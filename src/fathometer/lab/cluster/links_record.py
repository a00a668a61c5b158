"""The record of a cluster that was made: what its links give, as they were measured, not as they were asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from fathometer.lab.cluster.marks import marks_of
from fathometer.lab.cluster.state import Cluster, described
from fathometer.launch import one_host
from fathometer.record.envelope import Figure, record


def record_of(cluster: Cluster, command: Sequence[str]) -> dict[str, Any]:
    """The record, as of any command that measures; command: the words of the command line. MPI is initialised."""
    os.environ.update(one_host.alone(os.environ))
    from mpi4py import MPI

    from fathometer.parallel.threads import bind, unbind
    from fathometer.record.machine import machine
    from fathometer.record.ranks import account, own_account

    binding = bind(MPI.COMM_SELF, 1)
    try:
        own = own_account(binding)
    finally:
        unbind(binding)
    spec = cluster.spec
    return record(
        application="cluster",
        command=command,
        input={
            "name": cluster.name,
            "nodes": spec.nodes,
            "link": spec.link.text,
            "link_bytes_per_second": spec.link.bytes_per_second,
            "rails": spec.rails,
            "slurm": spec.slurm,
        },
        machine=machine([cluster.folder]) | {"ranks": 1, "binding": [own["binding"]]},
        account=account([own]),
        figures=figures_of(cluster),
        results=described(cluster) | {"notes": marks_of(cluster, spec.nodes)},
    )


def figures_of(cluster: Cluster) -> list[Figure]:
    """Of all links the worst latency and bandwidth: what a program that uses all of them has to live with."""
    if not cluster.links:
        return []
    latency = max(link.latency_seconds for link in cluster.links)
    bandwidth = min(link.bytes_per_second for link in cluster.links)
    return [
        Figure("worst latency", latency, "seconds", "lower"),
        Figure("worst bandwidth", bandwidth, "bytes_per_second", "higher"),
    ]
