"""The machine that a run used, for its record, and the memory that a run may use and has used (Linux)."""

import os
import platform
import socket
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("fathometer", "h5py", "mpi4py", "numpy", "pydantic", "scipy", "segyio")


def machine() -> dict[str, object]:
    """Hardware and software of this process's host, JSON-ready; what cannot be found out is None.

    Call it where MPI may be initialised: it asks the MPI library for its version.
    """
    from mpi4py import MPI

    return {
        "host": socket.gethostname(),
        "cpu": _cpu_model(),
        "architecture": platform.machine(),
        "logical_cpus": os.cpu_count(),
        "memory_bytes": _kilobytes(Path("/proc/meminfo"), "MemTotal"),
        "os": _os_name(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "mpi": MPI.Get_library_version().rstrip("\0").splitlines()[0].strip(),
        "commit": commit(Path(__file__).resolve().parent),
    }


def commit(package: Path) -> str | None:
    """The commit of the checkout that the package folder lies in and "-dirty" where tracked files differ.

    None where the package is not run from its own checkout (src/fathometer of one).
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


def available_memory(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that this process can still take: what its host or, if less, its control groups have left.

    The page cache that a group could give back counts as left; `proc` and `cgroups` are Linux's.
    """
    limits = [_kilobytes(proc / "meminfo", "MemAvailable")]
    for line in _lines(proc / "self" / "cgroup"):
        hierarchy, controllers, group = line.split(":", 2)
        if hierarchy == "0":  # version 2
            names = ("memory.max", "memory.current", "inactive_file")
            root = cgroups
        elif "memory" in controllers.split(","):  # version 1
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            root = cgroups / "memory"
        else:
            continue
        folder = root / group.lstrip("/")
        # Every group above limits too. Within a container the group's own path may not exist; its root does.
        for level in [folder, *folder.parents]:
            if level.is_relative_to(root):
                limits.append(_group_left(level, *names))
    return max(0, min(limit for limit in limits if limit is not None))


def peak_memory() -> int:
    """Bytes of the largest resident set that this process has had."""
    peak = _kilobytes(Path("/proc/self/status"), "VmHWM")
    assert peak is not None, "Linux shows VmHWM of every process"
    return peak


def _group_left(folder: Path, limit: str, usage: str, cache: str) -> int | None:
    """Bytes that the control group at `folder` may still take; None without a limit."""
    [most, used] = (" ".join(_lines(folder / name)) for name in (limit, usage))
    if not (most.isdecimal() and used.isdecimal()):
        return None  # "max", or no such group
    reclaimable = [int(line.split()[1]) for line in _lines(folder / "memory.stat") if line.startswith(f"{cache} ")]
    return int(most) - int(used) + sum(reclaimable)


def _kilobytes(path: Path, name: str) -> int | None:
    """The entry `name` of a file such as /proc/meminfo, in bytes."""
    for line in _lines(path):
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def _cpu_model() -> str | None:
    for line in _lines(Path("/proc/cpuinfo")):
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "cpu model", "Processor", "cpu"):
            return value.strip()
    return platform.processor() or None


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
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
