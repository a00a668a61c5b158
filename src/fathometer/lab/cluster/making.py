"""A cluster is made, and taken down: by the command, or by a study for its runs.

What a crash leaves are processes that carry the cluster's folder in their environment, and the folder. Namespaces,
networks and mounts go with the processes. `take_down` and the next `bring_up` clear both.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import rate_in_words, time_in_words
from fathometer.base.removal import remove_file
from fathometer.lab.cluster import network, state
from fathometer.lab.cluster.calibration import measure_links
from fathometer.lab.cluster.gluster import require_gluster, start_gluster
from fathometer.lab.cluster.namespaces import (
    PROGRAMS,
    call,
    hidden_folders,
    needs_user_namespace,
    search_path,
    start_head,
    start_node,
)
from fathometer.lab.cluster.processes import Sleeper, boot, end_members, members
from fathometer.lab.cluster.scripts import write_hosts, write_scripts
from fathometer.lab.cluster.slurm import require_slurm, start_slurm
from fathometer.lab.cluster.spec import ClusterSpec, check_cluster_name, cores_of_nodes, node_names
from fathometer.lab.cluster.state import LOCAL, SHARED, Cluster, Node, folder_of, lock_of, read, updated
from fathometer.record.cluster import MARKER
from fathometer.storage import atomic

Say = Callable[[str], None]


def bring_up(
    name: str,
    spec: ClusterSpec,
    say: Say,
    folders: Iterable[Path] = (),
    owner: Sleeper | None = None,
    user_namespace: bool = False,
) -> Cluster:
    """Make a cluster, and measure its links.

    Args:
        folders: of the host that its nodes see, besides those of this program; only those in /tmp and /run are not
            seen anyway. owner: the process that it goes with; None: it stays until it is taken down.
        user_namespace: make it in one, also where that is not needed.

    What abandoned clusters have left is cleared before. Raises InputError where one of this name is up, or programs are
    missing; FathometerError where the system does not allow it, and nothing is left of it then.
    """
    check_cluster_name(name)
    require_outside()
    require_programs()
    if spec.slurm:
        require_slurm(folder_of(name))
    state.require_own(name)
    lock = lock_of(name)
    shown = hidden_folders([*folders, *own_folders(), lock.path.parent])
    clear_abandoned(say)
    with lock:
        if not lock.acquire():
            raise InputError(f'cluster: "{name}" is being made or taken down by another process; allowed: to wait')
        if (before := read(name)) is not None and before.ready and before.here and not before.gone:
            raise InputError(
                f'cluster: "{name}" is up already ({before.spec.text}); allowed: another --name, or '
                f"`fathometer cluster down --name {name}`"
            )
        _clear(name)
        try:
            own = needs_user_namespace(user_namespace)
            if spec.network_folder:
                require_gluster(own)
            return _made(name, spec, shown, owner, own, say)
        except BaseException:
            _clear(name)
            remove_file(lock.path)
            raise


def take_down(name: str) -> int:
    """End all processes of a cluster and remove its folder; how many processes there were.

    Raises InputError for what is no cluster's name, and where there is nothing of it.
    """
    require_outside()
    state.require_own(name)
    if not folder_of(name).exists() and not members(folder_of(name)):
        raise InputError(f'cluster: found "{name}", of which there is nothing; allowed: {_listed()}')
    with lock_of(name) as lock:
        if not lock.acquire():
            raise InputError(f'cluster: "{name}" is being made or taken down by another process; allowed: to wait')
        ended = _clear(name)
        remove_file(lock.path)
        return ended


def clear_abandoned(say: Say) -> None:
    """Clear clusters that were never finished, whose owner has ended, or that an earlier start of the system had."""
    for name in state.names():
        cluster = read(name)
        if cluster is not None and not cluster.abandoned and cluster.here:
            continue
        with lock_of(name) as lock:
            if lock.acquire():  # else it is being made now
                again = read(name)
                if again is None or again.abandoned or not again.here:
                    _clear(name)
                    remove_file(lock.path)
                    say(f"cluster {name}: cleared what was left of it")


def require_outside() -> None:
    """Raises InputError inside a cluster."""
    if MARKER in os.environ:
        raise InputError(f"cluster: this process is in one ({os.environ[MARKER]}); allowed: outside of it")


def require_programs() -> None:
    """Raises InputError where a program is missing that the cluster needs, with its Debian package."""
    for program, package in PROGRAMS.items():
        if shutil.which(program, path=search_path()) is None:
            raise InputError(f"cluster: no {program} here; needed: Debian's {package}, or another system's")


def own_folders() -> list[Path]:
    """Where this program and its Python lie."""
    package = Path(__file__).resolve().parents[3]
    found = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).parent, package]
    native = [Path(folder) for folder in sys.path if (Path(folder) / "fathometer").is_dir()]
    return [path for path in (*found, *native) if path.is_dir()]


def _made(
    name: str, spec: ClusterSpec, shown: Iterable[Path], owner: Sleeper | None, user_namespace: bool, say: Say
) -> Cluster:
    folder = folder_of(name)
    with atomic.writing(folder):
        folder.mkdir(parents=True)
    cluster = updated(Cluster(name, folder, spec, boot(), user_namespace, owner=owner))  # which marks the folder
    with atomic.writing(folder):
        (folder / SHARED).mkdir()
        for node in node_names(spec.nodes):
            (folder / node / LOCAL).mkdir(parents=True)
            (folder / node / "tmp").mkdir()
            (folder / node / "tmp").chmod(0o1777)
        write_hosts(folder, spec.nodes)
    cluster = updated(cluster, head=start_head(cluster))
    cores = cores_of_nodes(spec.nodes, sorted(os.sched_getaffinity(0)))
    for node, own in zip(node_names(spec.nodes), cores, strict=True):
        process = start_node(cluster, node, shown)
        cluster = updated(cluster, nodes=[*cluster.nodes, Node(node, process, own)])
    _connect(cluster)
    write_scripts(cluster)
    links = []
    for link in measure_links(cluster):
        links.append(link)
        say(
            f"{link.sender} to {link.receiver}, rail {link.rail}: {time_in_words(link.latency_seconds)}, "
            f"{rate_in_words(link.bytes_per_second)}"
        )
    if spec.slurm:
        start_slurm(cluster)
    if spec.network_folder:
        start_gluster(cluster)
    return updated(cluster, links=links, ready=True)


def _connect(cluster: Cluster) -> None:
    """Make the networks. Raises FathometerError where the kernel has not what they need."""
    spec, head = cluster.spec, cluster.head
    assert head is not None, "it was just started"
    _batch(cluster, head, "ip", network.head_lines(spec, [node.process.pid for node in cluster.nodes]))
    _batch(cluster, head, "tc", network.head_rates(spec))
    for number, node in enumerate(cluster.nodes, 1):
        _batch(cluster, node.process, "ip", network.node_lines(spec, number))
        _batch(cluster, node.process, "tc", network.node_rates(spec))


def _batch(cluster: Cluster, process: Sleeper, program: str, lines: list[str]) -> None:
    if not lines:
        return
    try:
        call(cluster, process, [program, "-batch", "-"], "\n".join(lines) + "\n")
    except FathometerError as error:
        needed = "veth and bridge" if program == "ip" else "the token bucket filter (sch_tbf), or --link unlimited"
        raise FathometerError(f"{error}; needed: a kernel with {needed}") from None


def _clear(name: str) -> int:
    """End what there is of a cluster, and remove its folder. The lock is held."""
    ended = end_members(folder_of(name))
    state.remove(name)
    return ended


def _listed() -> str:
    return ", ".join(state.names()) or "one that `cluster up` made"
