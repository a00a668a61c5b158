"""The namespaces of the head and of the nodes: processes that sleep in them, and the commands that enter them.

    head   a network of its own with the switches; else it sees what the host sees
    node   network, host name, shared memory (System V and /dev/shm), /run and /tmp of its own

What lies in the host's /tmp and /run is out of sight in a node, but for folders that are shown there: `show_folders`.
They are reached through /dev/shm/.host, where the node keeps the host's.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.lab.cluster.processes import Sleeper, sleeper
from fathometer.lab.cluster.spec import HEAD
from fathometer.lab.cluster.state import Cluster
from fathometer.record.cluster import MARKER

PROGRAMS: Mapping[str, str] = {  # and their Debian packages
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setsid": "util-linux",
    "taskset": "util-linux",
    "mount": "mount",
    "hostname": "hostname",
    "ip": "iproute2",
    "tc": "iproute2",
}
HIDDEN = (Path("/tmp"), Path("/run"))  # of the host, in nodes
OWN = Path("/dev/shm")  # of each node; nothing of the host's can be shown there
KINDS = ("-n", "-m", "-u", "-i")  # network, mounts, host name, System V memory
_SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")

_SHOW = """
show() {
    case "$1" in
        /tmp/*|/run/*) ;;
        *) return 0 ;;
    esac
    [ "$1" -ef "/dev/shm/.host$1" ] && return 0
    mkdir -p "$1"
    mount --rbind "/dev/shm/.host$1" "$1"
}
for folder; do show "$folder"; done
"""
_HEAD = """
set -e
hostname "$1"
mount --bind "$2/hosts" /etc/hosts
echo "ready $$"
exec sleep infinity > /dev/null 2>&1
"""
_NODE = (
    """
set -e
name=$1 state=$2; shift 2
hostname "$name"
mount --bind "$state/hosts" /etc/hosts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mkdir -p /dev/shm/.host/tmp /dev/shm/.host/run /dev/shm/.host/cluster
mount --rbind /tmp /dev/shm/.host/tmp
mount --rbind /run /dev/shm/.host/run
mount --rbind "$state" /dev/shm/.host/cluster
mount --rbind "/dev/shm/.host/cluster/$name/tmp" /tmp
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/cluster/shared /run/cluster/local /run/cluster/network
mount --rbind /dev/shm/.host/cluster/shared /run/cluster/shared
mount --rbind "/dev/shm/.host/cluster/$name/local" /run/cluster/local
"""
    + _SHOW
    + """
# Streams of the default congestion control of some systems (BBR) keep below the rate of a bucket.
echo reno > /proc/sys/net/ipv4/tcp_congestion_control || true
echo "ready $$"
exec sleep infinity > /dev/null 2>&1
"""
)


def search_path() -> str:
    """PATH with the folders of system programs, such as those of `ip`."""
    own = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*own, *_SYSTEM]))


def needs_user_namespace(forced: bool = False) -> bool:
    """Whether a cluster is made in a user namespace: where this process has not the rights of root.

    Raises FathometerError, with the kernel's words, where neither is allowed.
    """
    tried = []
    for options in ([] if forced else [()]), [("-U", "-r")]:
        for option in options:
            done = subprocess.run(
                ["unshare", *option, *KINDS, "true"],
                env={"PATH": search_path()},
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            if not done.returncode:
                return bool(option)
            tried.append(done.stderr.strip() or f"exit code {done.returncode}")
    raise FathometerError(
        f"cluster: this system allows no namespaces: {'; '.join(dict.fromkeys(tried))}; needed: root, or user "
        "namespaces (sysctl user.max_user_namespaces above 0, kernel.unprivileged_userns_clone or "
        "kernel.apparmor_restrict_unprivileged_userns where there is one)"
    )


def start_head(cluster: Cluster) -> Sleeper:
    """Start the head's process. Raises FathometerError."""
    words = ["unshare", *(["-U", "-r"] if cluster.user_namespace else []), *KINDS, "--propagation", "private"]
    return _started([*words, "sh", "-c", _HEAD, HEAD, HEAD, str(cluster.folder)], cluster, HEAD)


def start_node(cluster: Cluster, name: str, folders: Iterable[Path]) -> Sleeper:
    """Start a node's process; folders: of the host that are shown in it. Raises FathometerError."""
    assert cluster.head is not None, "the head comes first"
    words = ["unshare", *KINDS, "--propagation", "private", "sh", "-c", _NODE, name, name, str(cluster.folder)]
    entered = entering(cluster.head, cluster.user_namespace)
    return _started([*entered, *words, *map(str, sorted(folders))], cluster, name)


def entering(process: Sleeper, user_namespace: bool) -> list[str]:
    """The words before a command that is to be run where a process of a cluster is, seen from outside the cluster."""
    user = ["-U", "--preserve-credentials"] if user_namespace else []
    return ["nsenter", "-t", str(process.pid), *user, *KINDS]


def call(cluster: Cluster, process: Sleeper, words: Sequence[str], text: str = "") -> str:
    """Run a command where a process of the cluster is; what it prints. Raises FathometerError where it fails.

    text: on its standard input.
    """
    done = subprocess.run(
        [*entering(process, cluster.user_namespace), *words],
        env=variables(cluster.folder),
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise FathometerError(f"cluster {cluster.name}: {words[0]}: {_last(done.stderr or done.stdout)}")
    return done.stdout


def show_folders(cluster: Cluster, folders: Iterable[Path]) -> None:
    """Show folders of the host in all nodes, where they are out of sight. Raises InputError, FathometerError."""
    if hidden := hidden_folders(folders):
        for node in cluster.nodes:
            call(cluster, node.process, ["sh", "-e", "-c", _SHOW, "sh", *map(str, hidden)])


def hidden_folders(folders: Iterable[Path]) -> list[Path]:
    """Those of some folders of the host, without links, that are out of sight in nodes until they are shown.

    Raises InputError for what is no folder, and for one that cannot be shown.
    """
    hidden = set()
    for folder in folders:
        path = folder.resolve()
        if path.is_relative_to(OWN) or path in HIDDEN:
            raise InputError(f"{path}: each node has its own; allowed: another folder, also one in /tmp")
        if not os.path.isdir(path):
            found = "no folder" if os.path.lexists(path) else "nothing"
            raise InputError(f"{folder}: found {found}; allowed: a folder of this host, for the nodes to see")
        if any(path.is_relative_to(place) for place in HIDDEN):
            hidden.add(path)
    return sorted(hidden)


def variables(folder: Path) -> dict[str, str]:
    """The environment of what the cluster itself runs."""
    return {"PATH": search_path(), MARKER: str(folder), "LC_ALL": "C"}


def _started(words: Sequence[str], cluster: Cluster, name: str) -> Sleeper:
    # setsid starts it in a session of its own, and not as this process's child: signals of a terminal do not reach it.
    process = subprocess.Popen(
        ["setsid", "--fork", *words],
        env=variables(cluster.folder),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with process:
        assert process.stdout is not None
        told = process.stdout.read()
    lines = told.strip().splitlines()
    with suppress(ValueError):
        if lines and lines[-1].startswith("ready "):
            return sleeper(int(lines[-1].split()[1]))
    raise FathometerError(f"cluster {cluster.name}: {name} does not start: {_last(told)}")


def _last(text: str) -> str:
    """The last lines of what a command has printed, on one."""
    return " | ".join(text.strip().splitlines()[-3:]) or "no reason given"
