"""In which order jobs get the cpus of a machine: as near to each other as possible, or over all its sockets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.lab.studies.placement import cpus_of


@dataclass(frozen=True, order=True)
class CpuPlace:
    """Where a logical cpu is: its socket, and the how-manyth hardware thread of its core it is, from 0."""

    socket: int = 0
    thread: int = 0


def compact(places: Mapping[int, CpuPlace]) -> list[int]:
    """The cpus, socket by socket; of each the first threads of all cores before the second ones."""
    return sorted(places, key=lambda cpu: (places[cpu], cpu))


def distributed(places: Mapping[int, CpuPlace]) -> list[int]:
    """The cpus, one of each socket in turn, otherwise as in `compact`."""
    by_socket: dict[int, list[int]] = {}
    for cpu in compact(places):
        by_socket.setdefault(places[cpu].socket, []).append(cpu)
    longest = max(map(len, by_socket.values()), default=0)
    return [cpus[n] for n in range(longest) for cpus in by_socket.values() if n < len(cpus)]


def places_of(cpus: Iterable[int], folder: Path = Path("/sys/devices/system/cpu")) -> dict[int, CpuPlace]:
    """Where each cpu is; socket 0 and a core of its own where Linux does not tell."""
    return {
        cpu: CpuPlace(_socket(folder / f"cpu{cpu}" / "topology"), _thread(folder / f"cpu{cpu}" / "topology", cpu))
        for cpu in cpus
    }


def least_used(order: Sequence[int], uses: Mapping[int, int], wanted: int) -> tuple[int, ...]:
    """So many cpus that the fewest jobs use, the first ones in the order; all where there are not so many.

    uses: jobs on each cpu; none where it is missing.
    """
    return tuple(sorted(order, key=lambda cpu: uses.get(cpu, 0))[:wanted])


def _socket(topology: Path) -> int:
    try:
        return int((topology / "physical_package_id").read_text())
    except (OSError, ValueError):
        return 0


def _thread(topology: Path, cpu: int) -> int:
    try:
        return sorted(cpus_of((topology / "thread_siblings_list").read_text().strip())).index(cpu)
    except (OSError, ValueError, InputError):
        return 0
