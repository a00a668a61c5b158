"""A network file system over the links: GlusterFS, a brick in each node's local folder, mounted in all nodes.

Files are spread over the bricks by their names. Bricks and local folders are on one disk: what is compared is protocol
and link, and what is read back may come from the cache of the reader.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.lab.cluster.namespaces import call, search_path
from fathometer.lab.cluster.state import INSIDE, LOCAL, NETWORK, Cluster, Node

PROGRAMS = {"glusterd": "glusterfs-server", "gluster": "glusterfs-cli", "glusterfs": "glusterfs-client"}  # and packages
VOLUME, BRICK = "network", ".brick"
START_SECONDS, PAUSE_SECONDS = 60.0, 0.3
# A node that knows names and sizes for a second does not find, or finds stale, what another has just replaced.
_MOUNT = "attribute-timeout=0,entry-timeout=0,negative-timeout=0"
_COHERENT = ("performance.stat-prefetch", "performance.quick-read", "performance.readdir-ahead")
# Daemons keep their state and logs where the node's own folders are bound.
_OWN = """
mkdir -p "$1/gluster/lib" "$1/gluster/log" "$1/local/.brick" /run/gluster
mount --rbind "$1/gluster/lib" /var/lib/glusterd
mount --rbind "$1/gluster/log" /var/log/glusterfs
exec glusterd
"""


def require_gluster(user_namespace: bool) -> None:
    """Raises InputError where a program is missing, or the rights that it needs."""
    for program, package in PROGRAMS.items():
        if shutil.which(program, path=search_path()) is None:
            raise InputError(f"--network-folder: no {program} here; needed: Debian's {package}")
    if not Path("/dev/fuse").exists():
        raise InputError("--network-folder: no /dev/fuse here; needed: a kernel with FUSE")
    for folder in ("/var/lib/glusterd", "/var/log/glusterfs"):
        if not Path(folder).is_dir():
            raise InputError(f"--network-folder: no {folder} here; needed: as Debian's glusterfs-server makes it")
    if user_namespace:
        raise InputError("--network-folder: found in a user namespace; allowed: by root, as GlusterFS's daemons")


def start_gluster(cluster: Cluster) -> None:
    """Start it on all nodes and mount it there. Raises FathometerError, with its words, where that fails."""
    first = cluster.nodes[0]
    for node in cluster.nodes:
        call(cluster, node.process, ["sh", "-e", "-c", _OWN, "sh", f"/dev/shm/.host/cluster/{node.name}"])
    for node in cluster.nodes[1:]:
        _again(cluster, first, ["gluster", "--mode=script", "peer", "probe", node.name])
    _again(cluster, first, ["sh", "-c", f'[ "$(gluster pool list | grep -c Connected)" -eq {len(cluster.nodes)} ]'])
    bricks = [f"{node.name}:{INSIDE / LOCAL / BRICK}" for node in cluster.nodes]
    _again(cluster, first, ["gluster", "--mode=script", "volume", "create", VOLUME, *bricks, "force"])
    for option in _COHERENT:
        _again(cluster, first, ["gluster", "--mode=script", "volume", "set", VOLUME, option, "off"])
    _again(cluster, first, ["gluster", "--mode=script", "volume", "start", VOLUME])
    for node in cluster.nodes:
        _again(
            cluster, node, ["mount", "-t", "glusterfs", "-o", _MOUNT, f"{first.name}:/{VOLUME}", str(INSIDE / NETWORK)]
        )


def _again(cluster: Cluster, node: Node, words: list[str]) -> None:
    """Run a command until it succeeds: daemons are not ready as soon as they are started."""
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            call(cluster, node.process, words)
            return
        except FathometerError:
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_SECONDS)
