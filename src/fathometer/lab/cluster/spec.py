"""What is asked of a cluster: nodes, links, rails, and which cores each node has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fathometer.base.errors import InputError
from fathometer.lab.cluster.link import Link, link_of

MOST_NODES = 64
MOST_RAILS = 2
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}")
HEAD = "head"  # the host of the bridges, which are its switches


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster that is asked for.

    Attributes:
        nodes: how many. link: of each node, and of each rail. rails: networks, each with links of its own.
        slurm: whether Slurm runs in it. network_folder: whether a GlusterFS does.
    """

    nodes: int = 2
    link: Link = field(default_factory=Link)
    rails: int = 1
    slurm: bool = False
    network_folder: bool = False

    @property
    def text(self) -> str:
        """In words, for people: "2 nodes, 1gbit, 2 rails"."""
        words = [f"{self.nodes} node{'s' if self.nodes > 1 else ''}", self.link.text]
        words += [f"{self.rails} rails"] if self.rails > 1 else []
        words += ["Slurm"] if self.slurm else []
        words += ["GlusterFS"] if self.network_folder else []
        return ", ".join(words)


def spec_of(
    nodes: object, link: object = "unlimited", rails: object = 1, slurm: bool = False, network_folder: bool = False
) -> ClusterSpec:
    """What is asked for, checked. Raises InputError that names the value, what was found and what is allowed."""
    return ClusterSpec(
        _number("nodes", nodes, MOST_NODES), link_of(link), _number("rails", rails, MOST_RAILS), slurm, network_folder
    )


def check_cluster_name(name: str) -> str:
    """The name of a cluster. Raises InputError."""
    if not NAME.fullmatch(name):
        raise InputError(f'cluster name: found "{name}"; allowed: up to 40 letters, digits and "-"')
    return name


def node_names(nodes: int) -> list[str]:
    """The host names of the nodes: node1, node2 …"""
    return [f"node{number}" for number in range(1, nodes + 1)]


def address(node: int, rail: int) -> str:
    """The IPv4 address of a node, from 1, on a rail, from 1; node 254: the head.

    Addresses need be unique within a cluster only: its networks are of its own.
    """
    return f"10.77.{rail}.{node}"


def network(rail: int) -> str:
    """The network of a rail, as Open MPI is told it."""
    return f"10.77.{rail}.0/24"


def cores_of_nodes(nodes: int, cpus: Sequence[int]) -> list[list[int]]:
    """The logical cpus of each node: as many for each, none shared where there is one for each; else one each, in turn.

    >>> cores_of_nodes(2, [0, 1, 2, 3, 4]), cores_of_nodes(3, [0, 1])
    ([[0, 1], [2, 3]], [[0], [1], [0]])
    """
    each = len(cpus) // nodes
    if each:
        return [list(cpus[each * node : each * (node + 1)]) for node in range(nodes)]
    return [[cpus[node % len(cpus)]] for node in range(nodes)]


def _number(name: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        found = f'"{value}"' if isinstance(value, str) else value
        raise InputError(f"{name}: found {found}; allowed: an integer from 1 to {most}")
    return value
