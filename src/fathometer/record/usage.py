"""Resource usage of this process as the kernel accounts it, independent of the ledger (Linux)."""

import resource
from contextlib import suppress
from pathlib import Path

from fathometer.base.host import peak_memory

_PROC = Path("/proc/self")


def usage() -> dict[str, int | float | None]:
    """Usage since the start of the process, JSON-ready; what the system does not provide is None.

    cpu_…_seconds               of all threads, in the program and in the system for it
    run_queue_seconds           of all threads that live now: ready, while others had the cpu
    read_bytes, written_bytes   by system calls; what is read through mapped memory is not among them
    storage_…_bytes             that went from and to a device, whole pages
    swapped_bytes               of this process, out of memory now
    """
    rusage = resource.getrusage(resource.RUSAGE_SELF)
    io = _numbers(_PROC / "io")
    memory = _numbers(_PROC / "status")
    return {
        "cpu_user_seconds": rusage.ru_utime,
        "cpu_system_seconds": rusage.ru_stime,
        "run_queue_seconds": _run_queue(),
        "read_bytes": io.get("rchar"),
        "written_bytes": io.get("wchar"),
        "storage_read_bytes": io.get("read_bytes"),
        "storage_written_bytes": io.get("write_bytes"),
        "major_page_faults": rusage.ru_majflt,
        "involuntary_context_switches": rusage.ru_nivcsw,
        "swapped_bytes": 1024 * memory["VmSwap"] if "VmSwap" in memory else None,
        "peak_memory_bytes": peak_memory(),
    }


Usage = dict[str, int | float | None]


def since(before: Usage, after: Usage) -> Usage:
    """Usage between two calls of `usage`: counters are subtracted, states are those of the later one."""
    states = ("swapped_bytes", "peak_memory_bytes")

    def less(name: str) -> int | float | None:
        first, last = before[name], after[name]
        return last if name in states or first is None or last is None else max(0, last - first)

    return {name: less(name) for name in after}


def _run_queue() -> float | None:
    """Seconds in the run queue: the second number of each thread's schedstat, which is in nanoseconds."""
    total = None
    for task in (_PROC / "task").glob("*/schedstat"):
        try:
            total = (total or 0.0) + 1e-9 * int(task.read_text().split()[1])
        except (OSError, IndexError, ValueError):  # ended meanwhile, or a kernel without schedstat
            continue
    return total


def _numbers(path: Path) -> dict[str, int]:
    """The entries of a file of lines `name: number …`."""
    numbers = {}
    try:
        for line in path.read_text().splitlines():
            name, _, rest = line.partition(":")
            first = rest.split()[:1]
            if first and first[0].isdecimal():
                numbers[name] = int(first[0])
    except OSError:  # hidden from this user
        pass
    return numbers


def forget_peak() -> None:
    """Reset the peak of this process's memory to its present size, where the system allows it."""
    with suppress(OSError):
        (_PROC / "clear_refs").write_text("5")
