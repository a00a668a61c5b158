"""Description of a run's machine and software, for its record (Linux)."""

import os
import platform
import socket
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fathometer.base.hardware import environment, file_systems, networks, processor
from fathometer.base.host import cpu_model, total_memory
from fathometer.launch.mpirun import launched
from fathometer.record.cluster import own_cluster

PACKAGES = ("fathometer", "h5py", "mpi4py", "numpy", "pydantic", "scipy", "segyio")


def machine(paths: Iterable[Path] = ()) -> dict[str, object]:
    """Hardware and software of this process's host, JSON-ready; what cannot be determined is None.

    paths: files and folders whose file systems are described. MPI is initialised and the kernels are loaded.
    """
    from mpi4py import MPI

    from fathometer import _native

    return {
        "host": socket.gethostname(),
        "cpu": cpu_model(),
        "architecture": platform.machine(),
        "logical_cpus": os.cpu_count(),
        "processor": processor(),
        "memory_bytes": total_memory(),
        "os": _os_name(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "launcher": _launcher(),
        "mpi": MPI.Get_library_version().rstrip("\0").splitlines()[0].strip(),
        "kernels": _native.variant,
        "commit": own_commit(),
        "networks": networks(),
        "file_systems": file_systems(paths),
        "environment": environment(),
        "cluster": own_cluster(),
    }


@cache
def own_commit() -> str | None:
    """The commit of this program, cached in the process."""
    return commit(Path(__file__).resolve().parents[1])


def _launcher() -> dict[str, object] | None:
    """Name and numbers of ranks of the launcher (launch.mpirun.World); None without one."""
    world = launched(os.environ)
    return None if world is None else asdict(world)


def commit(package: Path) -> str | None:
    """The git commit of the checkout that contains the package folder, with "-dirty" where tracked files differ.

    None where the package does not run from a checkout of its own (src/fathometer).
    """
    root = package.parent.parent
    if package.parent.name != "src" or not (root / ".git").exists():
        return None
    try:
        head = _git(root, "rev-parse", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{head}-dirty" if changed else head


def _os_name() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, errors="replace", timeout=20, check=True
    )
    return done.stdout.strip()
