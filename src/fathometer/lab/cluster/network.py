"""What `ip` and `tc` are told, as texts for their -batch: bridges at the head, a pair of devices for each link.

head:  rail1 (bridge) --- n1r1 ===== eth0 :node1        a link is limited at both of its ends
                      `-- n2r1 ===== eth0 :node2
       rail2 (bridge) --- n1r2 ===== eth1 :node1 …
"""

from __future__ import annotations

from collections.abc import Sequence

from fathometer.lab.cluster.link import FRAME_BYTES
from fathometer.lab.cluster.spec import ClusterSpec, address

HEAD_NUMBER = 254  # of the head in each network


def head_lines(spec: ClusterSpec, pids: Sequence[int]) -> list[str]:
    """For `ip` at the head; pids: of a process in each node."""
    lines = ["link set lo up"]
    for rail in _rails(spec):
        lines += [
            f"link add rail{rail} type bridge",
            f"link set rail{rail} mtu {FRAME_BYTES} up",
            f"addr add {address(HEAD_NUMBER, rail)}/24 dev rail{rail}",
        ]
        for node, pid in enumerate(pids, 1):
            lines += [
                f"link add n{node}r{rail} type veth peer name eth{rail - 1} netns {pid}",
                f"link set n{node}r{rail} mtu {FRAME_BYTES} master rail{rail} up",
            ]
    return lines


def node_lines(spec: ClusterSpec, node: int) -> list[str]:
    """For `ip` in a node."""
    lines = ["link set lo up"]
    for rail in _rails(spec):
        lines += [
            f"link set eth{rail - 1} mtu {FRAME_BYTES} up",
            f"addr add {address(node, rail)}/24 dev eth{rail - 1}",
        ]
    return lines


def head_rates(spec: ClusterSpec) -> list[str]:
    """For `tc` at the head: what nodes receive."""
    devices = [f"n{node}r{rail}" for rail in _rails(spec) for node in range(1, spec.nodes + 1)]
    return [line for device in devices if (line := spec.link.qdisc(device)) is not None]


def node_rates(spec: ClusterSpec) -> list[str]:
    """For `tc` in a node: what it sends."""
    return [line for rail in _rails(spec) if (line := spec.link.qdisc(f"eth{rail - 1}")) is not None]


def _rails(spec: ClusterSpec) -> range:
    return range(1, spec.rails + 1)
