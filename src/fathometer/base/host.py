"""Memory, caches and processor of this process's host (Linux), and where the program's libraries lie on it."""

import platform
import sys
from dataclasses import dataclass
from pathlib import Path

MOST_SHARED = 8  # times its own cache that a thread is thought to have of the last one


def built_library(name: str) -> Path | None:
    """Where a small library of the program lies that is no Python module (CMakeLists.txt); None where it is not built.

    Beside the kernels: an editable install has them in another folder than the Python files.
    """
    places = (Path(folder, "fathometer", "_native", f"lib{name}.so") for folder in sys.path)
    return next((path for path in places if path.is_file()), None)


def total_memory() -> int:
    """Bytes of this host's memory."""
    total = _kilobytes(Path("/proc/meminfo"), "MemTotal")
    assert total is not None, "Linux shows MemTotal"
    return total


def available_memory(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that this process can still allocate: the least that its host and its control groups have left.

    The page cache that a group could reclaim counts as left; `proc` and `cgroups` are where Linux mounts them.
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
        # Groups above have limits too. Within a container the group's own path may not exist; its root does.
        for level in [folder, *folder.parents]:
            if level.is_relative_to(root):
                limits.append(_group_left(level, *names))
    return max(0, min(limit for limit in limits if limit is not None))


@dataclass(frozen=True)
class Caches:
    """Data caches of a core.

    Attributes:
        own: bytes of its private L2 cache, or L1 where there is none. shared: bytes of the last level.
        sharing: hardware threads that share the last level.
    """

    own: int
    shared: int
    sharing: int

    def of_thread(self, busy: int) -> int:
        """Bytes of cache for each thread where `busy` hardware threads of the host compute.

        A virtual machine tells of all of a last cache that it shares with others: no more than MOST_SHARED times the
        thread's own is counted on.
        """
        return self.own + min(self.shared // max(1, min(busy, self.sharing)), MOST_SHARED * self.own)


def caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> Caches:
    """The caches of the first cpu; 1 MiB private and 1 MiB shared where Linux does not list them."""
    own, shared, sharing = 1 << 20, 1 << 20, 1
    levels = []
    for index in folder.glob("index*"):
        kind, level, size, cpus = (
            " ".join(_lines(index / name)) for name in ("type", "level", "size", "shared_cpu_list")
        )
        if kind in ("Data", "Unified") and level.isdecimal() and size.endswith("K") and size[:-1].isdecimal():
            levels.append((int(level), int(size[:-1]) * 1024, _count(cpus)))
    if levels:
        levels.sort()
        own = max([size for level, size, _ in levels if level <= 2], default=own)
        _, shared, sharing = levels[-1]
    return Caches(own, shared, sharing)


def _count(cpus: str) -> int:
    """Number of cpus in a list such as 0-3,8."""
    total = 0
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            total += int(last or first) - int(first) + 1
    return max(1, total)


def peak_memory() -> int:
    """Bytes of this process's largest resident set so far."""
    peak = _kilobytes(Path("/proc/self/status"), "VmHWM")
    assert peak is not None, "Linux shows VmHWM of every process"
    return peak


def resident_memory() -> int:
    """Bytes of this process's resident set now."""
    resident = _kilobytes(Path("/proc/self/status"), "VmRSS")
    assert resident is not None, "Linux shows VmRSS of every process"
    return resident


def cpu_model() -> str | None:
    """The processor's model name; None where the system does not give one."""
    for line in _lines(Path("/proc/cpuinfo")):
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "cpu model", "Processor", "cpu"):
            return value.strip()
    return platform.processor() or None


def _group_left(folder: Path, limit: str, usage: str, cache: str) -> int | None:
    """Bytes that the control group at `folder` may still allocate; None without a limit."""
    [largest, used] = (" ".join(_lines(folder / name)) for name in (limit, usage))
    if not (largest.isdecimal() and used.isdecimal()):
        return None  # "max", or no such group
    reclaimable = [int(line.split()[1]) for line in _lines(folder / "memory.stat") if line.startswith(f"{cache} ")]
    return int(largest) - int(used) + sum(reclaimable)


def _kilobytes(path: Path, name: str) -> int | None:
    """The entry `name` of a file such as /proc/meminfo, in bytes."""
    for line in _lines(path):
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def _lines(path: Path) -> list[str]:
    """The lines of a text file; none where it cannot be read."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
