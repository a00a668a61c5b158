"""What the system says that this process has used: an observer of its own, beside the ledger (Linux)."""

import resource
from contextlib import suppress
from pathlib import Path

from fathometer.base.host import peak_memory

_PROC = Path("/proc/self")


def usage() -> dict[str, int | float | None]:
    """Since the process began, JSON-ready; what the system does not tell is None.

    cpu_…_seconds               of all threads, in the program and in the system for it
    run_queue_seconds           of all threads that live now: ready, while others had the cpu
    read_bytes, written_bytes   by system calls; what is read through mapped memory is not among them
    storage_…_bytes             that went from and to a device, whole pages
    swapped_bytes               of this process, out of memory now
    """
    told = resource.getrusage(resource.RUSAGE_SELF)
    moved = _numbers(_PROC / "io")
    memory = _numbers(_PROC / "status")
    return {
        "cpu_user_seconds": told.ru_utime,
        "cpu_system_seconds": told.ru_stime,
        "run_queue_seconds": _run_queue(),
        "read_bytes": moved.get("rchar"),
        "written_bytes": moved.get("wchar"),
        "storage_read_bytes": moved.get("read_bytes"),
        "storage_written_bytes": moved.get("write_bytes"),
        "major_page_faults": told.ru_majflt,
        "involuntary_context_switches": told.ru_nivcsw,
        "swapped_bytes": 1024 * memory["VmSwap"] if "VmSwap" in memory else None,
        "peak_memory_bytes": peak_memory(),
    }


Usage = dict[str, int | float | None]


def since(before: Usage, after: Usage) -> Usage:
    """What was used between two usages: what adds up is subtracted, what is a state stays."""
    states = ("swapped_bytes", "peak_memory_bytes")

    def less(name: str) -> int | float | None:
        first, last = before[name], after[name]
        return last if name in states or first is None or last is None else max(0, last - first)

    return {name: less(name) for name in after}


def _run_queue() -> float | None:
    """Seconds; the second number of each thread's schedstat, in nanoseconds."""
    total = None
    for task in (_PROC / "task").glob("*/schedstat"):
        try:
            total = (total or 0.0) + 1e-9 * int(task.read_text().split()[1])
        except (OSError, IndexError, ValueError):  # ended meanwhile, or a kernel that does not tell
            continue
    return total


def _numbers(path: Path) -> dict[str, int]:
    """The entries of a file of lines `name: number …`."""
    found = {}
    try:
        for line in path.read_text().splitlines():
            name, _, rest = line.partition(":")
            first = rest.split()[:1]
            if first and first[0].isdecimal():
                found[name] = int(first[0])
    except OSError:  # hidden from this user
        pass
    return found


def forget_peak() -> None:
    """Begin the peak of this process's memory anew, with what it holds now; where that is allowed."""
    with suppress(OSError):
        (_PROC / "clear_refs").write_text("5")
