"""What each link gives, by a raw TCP socket: latency and bandwidth, from each node to the next one, over each rail.

The record has these numbers and not what was asked for. Latency: half of the shortest of many round trips of a few
bytes, without Nagle's delay. Bandwidth: one stream, sent from one large buffer, timed from its first byte until the
receiver has said that it has the last one. A stream ends after so many bytes or so many seconds, whichever is sooner.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from fathometer.base.errors import FathometerError
from fathometer.lab.cluster import link_probe
from fathometer.lab.cluster.namespaces import entering, variables
from fathometer.lab.cluster.spec import address
from fathometer.lab.cluster.state import Cluster, LinkMeasure, Node

PATIENCE_SECONDS = 60.0


def measure_links(cluster: Cluster) -> Iterator[LinkMeasure]:
    """Measure the links, one after another. Raises FathometerError where that fails."""
    nodes = cluster.nodes
    if len(nodes) < 2:
        return
    for rail in range(1, cluster.spec.rails + 1):
        for sender in range(len(nodes)):
            receiver = (sender + 1) % len(nodes)
            yield _measure(cluster, nodes[sender], nodes[receiver], address(receiver + 1, rail), rail)


def _measure(cluster: Cluster, sender: Node, receiver: Node, where: str, rail: int) -> LinkMeasure:
    server = _process(cluster, receiver, "receive", where)
    client = None
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        client = _process(cluster, sender, "send", where, port)
        told, errors = client.communicate(timeout=PATIENCE_SECONDS)
        server.communicate(timeout=PATIENCE_SECONDS)
        if client.returncode:
            raise FathometerError(
                f"cluster {cluster.name}: link from {sender.name} to {receiver.name} on rail {rail} cannot be "
                f"measured: {(errors.strip().splitlines() or ['no reason given'])[-1]}"
            )
        return LinkMeasure(sender.name, receiver.name, rail, **json.loads(told))
    except subprocess.TimeoutExpired:
        raise FathometerError(
            f"cluster {cluster.name}: link from {sender.name} to {receiver.name}: no answer in {PATIENCE_SECONDS:g} s"
        ) from None
    finally:
        for process in (client, server):
            if process is not None:
                process.kill()
                process.communicate()


def _process(cluster: Cluster, node: Node, *words: str) -> subprocess.Popen[str]:
    cores = ",".join(map(str, node.cores))
    # By its source: with -I and -S Python starts in a few milliseconds, and needs no folder of ours.
    program = [sys.executable, "-I", "-S", "-c", Path(link_probe.__file__).read_text(), *words]
    return subprocess.Popen(
        [*entering(node.process, cluster.user_namespace), "taskset", "-c", cores, *program],
        env=variables(cluster.folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
