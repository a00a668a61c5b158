"""Slurm in a cluster: the controller at the head, a daemon in each node on its cores, one munged for all of them.

All that they write is in the cluster's folder. Their ports are those of any Slurm: the cluster's network is its own.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.lab.cluster.namespaces import call, search_path
from fathometer.lab.cluster.network import HEAD_NUMBER
from fathometer.lab.cluster.spec import HEAD, address
from fathometer.lab.cluster.state import SLURM, Cluster

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sinfo": "slurm-client"}  # and packages
CONFIGURATION, SOCKET = "slurm.conf", "munge.socket"
NOBODY = 65534  # a user that every Linux has
LONGEST_SOCKET = 100  # letters: unix(7) allows 107
START_SECONDS, PAUSE_SECONDS = 30.0, 0.1


def as_slurm_user(cluster: Cluster) -> list[str]:
    """The words before Slurm's daemons and commands.

    In a user namespace this user is its root, and Slurm's daemons, run by root, set groups, which is not allowed there.
    In one more namespace the same user is nobody, and they do not try.
    """
    return ["unshare", "-U", f"--map-user={NOBODY}", f"--map-group={NOBODY}"] if cluster.user_namespace else []


def require_slurm(folder: Path) -> None:
    """Raises InputError where a program is missing, or the folder of a cluster is too deep for a socket."""
    for program, package in PROGRAMS.items():
        if shutil.which(program, path=search_path()) is None:
            raise InputError(f"--slurm: no {program} here; needed: Debian's {package}, or another system's")
    socket = folder / SLURM / SOCKET
    if len(os.fsencode(socket)) > LONGEST_SOCKET:
        raise InputError(f"{socket}: found {len(str(socket))} letters; allowed: {LONGEST_SOCKET} in a socket's name")


def configuration(folder: Path, nodes: Sequence[tuple[str, str, int]], user: str) -> str:
    """The text of slurm.conf. folder: of what Slurm writes. nodes: name, address and cpus of each."""
    lines = [
        "ClusterName=fathometer",
        f"SlurmctldHost={HEAD}({address(HEAD_NUMBER, 1)})",
        f"SlurmUser={user}",
        f"SlurmdUser={user}",
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/{SOCKET},cred_expire=60",
        "CredType=cred/munge",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool-%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd-%n.pid",
        f"SlurmctldLogFile={folder}/slurmctld.log",
        f"SlurmdLogFile={folder}/slurmd-%n.log",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_CPU",
        "SlurmdParameters=config_overrides",
        "JobAcctGatherType=jobacct_gather/none",
        "AccountingStorageType=accounting_storage/none",
        "JobCompType=jobcomp/none",
        "MpiDefault=pmix",
        "ReturnToService=2",
        "KillWait=10",
        "SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1",
        *(f"NodeName={name} NodeAddr={where} CPUs={cpus} State=UNKNOWN" for name, where, cpus in nodes),
        "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO",
    ]
    return "\n".join(lines) + "\n"


def start_slurm(cluster: Cluster) -> None:
    """Start it, and wait until all nodes are idle. Raises FathometerError, with its words, where they are not."""
    folder = cluster.folder / SLURM
    (folder / "state").mkdir(parents=True)
    folder.chmod(0o755)  # munged trusts no folder that others may write to
    key = folder / "munge.key"
    key.touch(0o600, exist_ok=False)  # nobody else can read it at any moment
    key.write_bytes(secrets.token_bytes(128))
    nodes = [(node.name, address(number, 1), len(node.cores)) for number, node in enumerate(cluster.nodes, 1)]
    user = pwd.getpwuid(NOBODY if cluster.user_namespace else os.geteuid()).pw_name
    (folder / CONFIGURATION).write_text(configuration(folder, nodes, user))
    assert cluster.head is not None, "it is up"
    files = {"key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed", "socket": "socket"}
    options = [f"--{option}={folder}/munge.{end}" for option, end in files.items()]
    before = as_slurm_user(cluster)
    call(cluster, cluster.head, [*before, "munged", "--force", *options])
    conf = str(folder / CONFIGURATION)
    call(cluster, cluster.head, [*before, "slurmctld", "-i", "-f", conf])
    for node in cluster.nodes:
        (folder / f"spool-{node.name}").mkdir()
        cores = ",".join(map(str, node.cores))
        call(cluster, node.process, [*before, "taskset", "-c", cores, "slurmd", "-N", node.name, "-f", conf])
    _await_idle(cluster, conf)


def _await_idle(cluster: Cluster, conf: str) -> None:
    assert cluster.head is not None, "it is up"
    until, found = time.monotonic() + START_SECONDS, ""
    while time.monotonic() < until:
        words = [
            *as_slurm_user(cluster),
            "env",
            f"SLURM_CONF={conf}",
            "sinfo",
            "--noheader",
            "--Node",
            "--format=%n %T",
        ]
        try:
            found = call(cluster, cluster.head, words)
        except FathometerError as error:  # the controller is not there yet
            found = str(error)
        states = [line.split()[-1] for line in found.splitlines() if line.split()]
        if states == ["idle"] * len(cluster.nodes):
            return
        time.sleep(PAUSE_SECONDS)
    logs = sorted((cluster.folder / SLURM).glob("*.log"))
    last = " | ".join(f"{path.name}: {(path.read_text().splitlines() or [''])[-1]}" for path in logs)
    raise FathometerError(f"cluster {cluster.name}: Slurm is not ready after {START_SECONDS:g} s: {found}; {last}")
