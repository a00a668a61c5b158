"""Whether this process is on a cluster of one machine (`fathometer cluster`), and what is not to be concluded then.

Such a cluster writes what it is, with what its links gave when they were measured, into a file that its nodes see; the
environment of all its processes names the folder. All nodes share one machine: counts, bytes, who sends to whom and
where ranks are, are as on any cluster; so are times over a link that is slower than the cores that feed it, as long as
each rank has a core.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fathometer.record.schema import problem_of
from fathometer.storage.json_text import json_values

MARKER = "FATHOMETER_CLUSTER"  # environment variable: the folder of the cluster's state
STATE = "cluster.json"
FAST = 2.5e9 / 8  # bytes a second: from here on a stream takes a core about as long as it takes the link
LEAST_SHARE = 0.8  # of its rate that a link gives; below, something else limits it


def own_cluster(environ: Mapping[str, str] = os.environ) -> dict[str, Any] | None:
    """The cluster on which this process is, JSON-ready: nodes, link, rails, links; None elsewhere."""
    folder = environ.get(MARKER)
    if folder:
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = described(json_values((Path(folder) / STATE).read_bytes()))
            return None if problem_of(found, "cluster") else found
    return None


def described(state: Mapping[str, Any]) -> dict[str, Any]:
    """What records hold of a cluster, from its state file."""
    spec = state["spec"]
    return {
        "name": state["name"],
        "nodes": [{"name": node["name"], "cores": node["cores"]} for node in state["nodes"]],
        "link": spec["link"],
        "link_bytes_per_second": state["link_bytes_per_second"],
        "rails": spec["rails"],
        "slurm": spec["slurm"],
        "user_namespace": state["user_namespace"],
        "links": state["links"],
    }


def cluster_reasons(machine: Mapping[str, Any]) -> list[str]:
    """Why times of a run are not those of a cluster, from its record's `machine`; [] where it was on none."""
    cluster, binding = machine.get("cluster"), machine.get("binding")
    if cluster is None or binding is None:
        return []
    hosts = {str(rank["host"]) for rank in binding}
    return limits(cluster, sum(int(rank["threads"]) for rank in binding), hosts)


def limits(cluster: Mapping[str, Any], workers: int, hosts: Iterable[str]) -> list[str]:
    """What is not to be concluded from a run on a cluster, as `described`.

    workers: ranks times threads. hosts: on which they are.
    """
    nodes: Sequence[Mapping[str, Any]] = [node for node in cluster["nodes"] if node["name"] in set(hosts)]
    cores = len({core for node in nodes for core in node["cores"]})
    found = []
    if workers > cores > 0:
        found.append(f"cluster on one machine: {workers} ranks or threads on {cores} cores, which tells no speed-up")
    if len(nodes) > 1:
        rate = cluster["link_bytes_per_second"]
        if rate is None or rate >= FAST:
            found.append(f"cluster on one machine: streams over {cluster['link']} links are limited by the cores")
        elif any(link["bytes_per_second"] < LEAST_SHARE * rate for link in cluster["links"]):
            found.append(f"cluster on one machine: a {cluster['link']} link gave less when it was made")
    return found
