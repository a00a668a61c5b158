"""A Slurm of one node, this one: munged, slurmctld and slurmd with sockets, key and state in a folder of their own."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli_support import Done, clean_environment
from patience import PATIENCE

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "srun", "squeue", "scontrol", "scancel")
START_SECONDS = 20.0

CONFIGURATION = """\
ClusterName=fathometer
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={worker}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# A job that is queued again waits for so many seconds and one.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
ReturnToService=2
KillWait=10
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """There is no Slurm, or it does not start: why."""


class Cluster:
    """A Slurm that runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = clean_environment() | {"SLURM_CONF": str(folder / "slurm.conf")}

    def call(self, *words: object) -> Done:
        """A command of Slurm's, or one that uses it."""
        text = [str(word) for word in words]
        done = subprocess.run(text, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    def states(self, job: str) -> list[str]:
        """The states of a job, one for each task of an array; none when Slurm has forgotten it."""
        return self.call("squeue", "--noheader", "--array", "--states=all", "--format=%T", "--jobs", job).out.split()

    def wait(self, job: str, seconds: float = PATIENCE) -> list[str]:
        """Until all tasks of a job have ended; their states."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.states(job)
            if not set(found) & {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED", "SUSPENDED"}:
                return found
            assert time.monotonic() < deadline, self.call("scontrol", "show", "job", job).out
            time.sleep(0.2)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Starts one and ends it. Raises Unavailable."""
    missing = [name for name in (*DAEMONS, *CLIENTS) if _where(name) is None]
    if missing:
        raise Unavailable(f"no {', '.join(missing)} here (Debian: slurm-wlm, munge)")
    folder = Path(tempfile.mkdtemp(prefix="fathometer-slurm-", dir="/tmp"))  # a socket's path must be short
    folder.chmod(0o755)  # munged trusts no folder that others may write to, and others must reach its socket
    pids: list[int] = []
    try:
        _configure(folder)
        found = Cluster(folder)
        pids.append(_munged(folder))
        for name, options in (("slurmctld", ("-i",)), ("slurmd", ())):
            done = found.call(_where(name), *options, "-f", folder / "slurm.conf")
            pids += _pid(folder / f"{name}.pid")
            if done.code:
                raise Unavailable(f"{name} does not start: {done.err.strip()}")
        deadline = time.monotonic() + START_SECONDS
        while found.call("sinfo", "--noheader", "--format=%T").out.strip() != "idle":
            if time.monotonic() > deadline:
                raise Unavailable(f"slurmd does not answer: {(folder / 'slurmd.log').read_text()[-300:]}")
            time.sleep(0.1)
        try:
            yield found
        finally:
            found.call("scancel", "--user", pwd.getpwuid(os.geteuid()).pw_name)
    finally:
        for pid in reversed(pids):
            _end(pid)
        shutil.rmtree(folder, ignore_errors=True)


def _where(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/usr/local/sbin")


def _configure(folder: Path) -> None:
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o600)
    controller, worker = _ports()
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            folder=folder,
            host=socket.gethostname().partition(".")[0],
            user=pwd.getpwuid(os.geteuid()).pw_name,
            controller=controller,
            worker=worker,
            cpus=os.cpu_count(),
        )
    )


def _ports() -> tuple[int, int]:
    """Two that are free."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _munged(folder: Path) -> int:
    files = {"key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed", "socket": "socket"}
    options = [f"--{option}={folder}/munge.{end}" for option, end in files.items()]
    done = subprocess.run([_where("munged"), "--force", *options], capture_output=True, text=True, check=False)
    found = _pid(folder / "munge.pid")
    if done.returncode or not found:
        raise Unavailable(f"munged does not start: {done.stderr.strip()}")
    return found[0]


def _pid(path: Path) -> list[int]:
    """What a daemon has written, soon."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            return [int(path.read_text())]
        except (OSError, ValueError):
            time.sleep(0.05)
    return []


def _end(pid: int) -> None:
    """A daemon, which is not our child."""
    for number, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 1.0)):
        deadline = time.monotonic() + patience
        try:
            os.kill(pid, number)
            while time.monotonic() < deadline:
                if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():  # where nobody reaps it
                    return
                time.sleep(0.05)
        except (ProcessLookupError, FileNotFoundError):
            return
