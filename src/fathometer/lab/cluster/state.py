"""The state of the clusters of this host and user: a folder for each in the user's cache.

CLUSTERS/NAME.lock            held while the cluster is made or taken down
CLUSTERS/NAME/cluster.json    what it is; "ready" when it is up
CLUSTERS/NAME/enter           runs a command in a node; agent: for MPI's launcher
CLUSTERS/NAME/hosts, hostfile
CLUSTERS/NAME/shared/         seen by all nodes as /run/cluster/shared
CLUSTERS/NAME/nodeK/local/    of a node: /run/cluster/local; nodeK/tmp/: its /tmp
CLUSTERS/NAME/slurm/          configuration, state and logs of Slurm
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, shortened
from fathometer.base.removal import Mark, remove_tree
from fathometer.lab.cluster.link import link_of
from fathometer.lab.cluster.processes import Sleeper, boot
from fathometer.lab.cluster.spec import NAME, ClusterSpec, check_cluster_name, node_names
from fathometer.record import cluster as record
from fathometer.record.cluster import STATE
from fathometer.record.envelope import plain
from fathometer.storage import atomic
from fathometer.storage.folder import cache_folder
from fathometer.storage.json_text import as_written, json_values
from fathometer.storage.lock import FileLock

ENTER, AGENT, HOSTS, HOSTFILE = "enter", "agent", "hosts", "hostfile"
SHARED, LOCAL, SLURM = "shared", "local", "slurm"
INSIDE = Path("/run/cluster")  # in each node: the folders below
NETWORK = "network"
PLACES: Mapping[str, Path] = {
    "shared_folder": INSIDE / SHARED,
    "local_folder": INSIDE / LOCAL,
    "network_folder": INSIDE / NETWORK,
}
SCHEMA_VERSION = 1
MARK = Mark(STATE, b'{\n "name": ')  # written before all else


@dataclass(frozen=True)
class LinkMeasure:
    """What a link gives: from one node to the next one, over one rail.

    Attributes:
        sender, receiver: nodes. rail: from 1. latency_seconds: half of the shortest round trip of `message_bytes`
        bytes; median_latency_seconds: of the median one. bytes_per_second: of one stream, of `stream_bytes` bytes.
    """

    sender: str
    receiver: str
    rail: int
    latency_seconds: float
    median_latency_seconds: float
    message_bytes: int
    round_trips: int
    bytes_per_second: float
    stream_bytes: int


@dataclass(frozen=True)
class Node:
    """A node that is up: its name, its process, and the logical cpus that it has."""

    name: str
    process: Sleeper
    cores: Sequence[int]


@dataclass(frozen=True)
class Cluster:
    """A cluster: what was asked for, and what there is of it.

    Attributes:
        name, folder: of its state. spec: what was asked for. boot: of the system, see processes.boot.
        user_namespace: whether it was made without the rights of root. head: the process that holds the switches.
        nodes: as far as they are made. owner: the process that the cluster goes with; None: it stays until it is taken
        down. links: measured. ready: whether all of it is there.
    """

    name: str
    folder: Path
    spec: ClusterSpec
    boot: str
    user_namespace: bool = False
    head: Sleeper | None = None
    nodes: Sequence[Node] = ()
    owner: Sleeper | None = None
    links: Sequence[LinkMeasure] = ()
    ready: bool = False

    @property
    def here(self) -> bool:
        """Whether it is of this start of the system: what is not has no processes any more."""
        return self.boot == boot()

    @property
    def gone(self) -> list[str]:
        """Hosts of it that have ended, and daemons of Slurm."""
        if not self.here:
            return ["head", *node_names(self.spec.nodes)]
        alive = {node.name for node in self.nodes if node.process.alive}
        head = [] if self.head is not None and self.head.alive else ["head"]
        nodes = [name for name in node_names(self.spec.nodes) if name not in alive]
        return head + nodes + (_ended_daemons(self) if self.spec.slurm and self.ready else [])

    @property
    def abandoned(self) -> bool:
        """Whether nobody wants it any more: its owner has ended, or it was never finished."""
        return (self.owner is not None and not (self.here and self.owner.alive)) or not self.ready

    @property
    def cores(self) -> int:
        """Different cores of all nodes."""
        return len({core for node in self.nodes for core in node.cores})


def clusters_folder() -> Path:
    """Where the clusters of this host are. Raises InputError where the user has no cache folder."""
    folder = cache_folder()
    if folder is None:
        raise InputError("there is no home folder, and XDG_CACHE_HOME names none: nowhere to keep a cluster's state")
    return folder / "clusters" / socket.gethostname()  # a home may be shared by hosts


def folder_of(name: str) -> Path:
    """The folder of a cluster's state. Raises InputError for what is no name of a cluster, such as a path."""
    return clusters_folder() / check_cluster_name(name)


def lock_of(name: str) -> FileLock:
    """Held while a cluster is made or taken down. Raises FathometerError where the folder cannot be made."""
    path = folder_of(name).with_name(f"{name}.lock")
    with atomic.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path)


def names() -> list[str]:
    """The clusters of which there is something, in order."""
    with suppress(FileNotFoundError):
        folders = [path for path in clusters_folder().iterdir() if NAME.fullmatch(path.name)]
        return sorted(path.name for path in folders if path.is_dir() and _is_cluster(path))
    return []


def require_own(name: str) -> None:
    """Raises InputError where what lies at the place of a cluster's folder is none: nothing there is removed."""
    folder = folder_of(name)
    if os.path.lexists(folder) and not _is_cluster(folder):
        raise InputError(f"{folder}: holds no {STATE} of a cluster, and stays as it is; allowed: another --name")


def remove(name: str) -> None:
    """Remove the folder of a cluster of which nothing runs. Raises InputError as `require_own`, FathometerError where
    it cannot be removed."""
    require_own(name)
    folder = folder_of(name)
    atomic.remove_parts(folder, re.compile(re.escape(STATE)))
    remove_tree(folder, folder.parent, MARK)


def _is_cluster(folder: Path) -> bool:
    """Whether a folder is a cluster's: it bears the mark, or making it was broken off before that."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return MARK.on(folder) or all(atomic.PART.fullmatch(name) for name in os.listdir(folder))


def write(cluster: Cluster) -> None:
    """Keep the state. Raises FathometerError where it cannot be written."""
    atomic.write(cluster.folder / STATE, (json.dumps(_as_json(cluster), indent=1) + "\n").encode())


def read(name: str) -> Cluster | None:
    """The state of a cluster; None where there is none, or one that was never written whole."""
    folder = folder_of(name)
    with suppress(OSError, ValueError, KeyError, TypeError, InputError):
        return of_json(json_values((folder / STATE).read_bytes()), folder)
    return None


def of_json(values: Mapping[str, Any], folder: Path) -> Cluster:
    """The cluster of a state file. Raises KeyError, TypeError, ValueError or InputError for another one."""
    if values["schema_version"] != SCHEMA_VERSION:
        raise ValueError(f"found schema_version {shortened(values['schema_version'], 20)}; allowed: {SCHEMA_VERSION}")
    spec = {**values["spec"], "link": link_of(values["spec"]["link"])}
    return as_written(Cluster, {**values, "folder": folder, "spec": spec})


def existing(name: str) -> Cluster:
    """A cluster that is up. Raises InputError where there is none, or where parts of it have ended."""
    cluster = read(name)
    if cluster is None or not cluster.ready:
        listed = ", ".join(other for other in names() if (known := read(other)) is not None and known.ready)
        raise InputError(f'cluster: found "{name}", which is not up; allowed: {listed or "one that `cluster up` made"}')
    if gone := cluster.gone:
        raise InputError(
            f'cluster "{name}": {", ".join(gone)} ended; allowed: `fathometer cluster down --name {name}`, and up again'
        )
    return cluster


def described(cluster: Cluster) -> dict[str, Any]:
    """What records and people are told of a cluster, JSON-ready."""
    return record.described(_as_json(cluster))


def updated(cluster: Cluster, **changes: Any) -> Cluster:
    """The cluster with these changes, kept."""
    changed = replace(cluster, **changes)
    write(changed)
    return changed


def _ended_daemons(cluster: Cluster) -> list[str]:
    """Daemons of Slurm that do not run any more, by the files in which they keep their numbers."""
    daemons = {"munge": "munged", "slurmctld": "slurmctld"}
    daemons |= {f"slurmd-{name}": "slurmd" for name in node_names(cluster.spec.nodes)}
    ended = []
    for file, name in daemons.items():
        running = ""
        with suppress(OSError):
            process = (cluster.folder / SLURM / f"{file}.pid").read_text().strip()
            running = Path("/proc", process, "comm").read_text().strip() if process.isdecimal() else ""
        if running != name:
            ended.append(file.replace("slurmd-", "slurmd of ") if name == "slurmd" else name)
    return ended


def _as_json(cluster: Cluster) -> dict[str, Any]:
    values: dict[str, Any] = plain(asdict(cluster)) | {"schema_version": SCHEMA_VERSION}
    values["spec"]["link"] = cluster.spec.link.text
    values["link_bytes_per_second"] = cluster.spec.link.bytes_per_second  # for records
    return values
