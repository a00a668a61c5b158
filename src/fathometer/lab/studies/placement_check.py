"""Whether a run was where it was asked to be: its record's binding against its placement.

Fathometer's own runs say in their records where each rank and thread was. Other programs do not; what a launcher
reports of them differs from one MPI to the next, and is not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from fathometer.lab.studies.placement import Placement, cpu_list


def misplaced(binding: Sequence[Mapping[str, Any]], placement: Placement) -> list[str]:
    """How the ranks of a record (machine.binding) deviate from a placement, in words; [] where they do not."""
    hosts = [str(rank["host"]) for rank in sorted(binding, key=lambda rank: int(rank["rank"]))]
    threads = [int(rank["threads"]) for rank in binding]
    marks = []
    for what, asked, found in (
        ("ranks", placement.ranks, len(hosts)),
        ("nodes", placement.nodes, len(set(hosts))),
        (
            "threads of a rank",
            placement.threads,
            _other_than(placement.threads, threads),
        ),
        ("ranks of a node", placement.ranks_per_node, _most(hosts, placement.ranks_per_node)),
    ):
        if asked is not None and found != asked:
            marks.append(f"placement not as asked: {found} {what}, not {asked}")
    if placement.cpus:
        used = {int(cpu) for rank in binding for cpu in rank["cpus"]}
        others = sorted(used - set(placement.cpus))
        if others:
            marks.append(f"placement not as asked: on cpus {cpu_list(others)} too")
    if len(set(hosts)) > 1 and not marks and _distribution(hosts) not in (placement.distribution, "both"):
        marks.append(f"placement not as asked: ranks in another order over nodes than {placement.distribution}")
    return marks


def _other_than(asked: int | None, numbers: Sequence[int]) -> int | None:
    """A number that is not as asked, or else the asked one."""
    return next((number for number in numbers if number != asked), asked)


def _most(hosts: Sequence[str], asked: int | None) -> int | None:
    """Ranks of the fullest node, where they are more than asked."""
    most = max(Counter(hosts).values(), default=0)
    return most if asked is not None and most > asked else asked


def _distribution(hosts: Sequence[str]) -> str:
    """ "block", "cyclic", "both" (a rank a node) or "other": how consecutive ranks are spread over hosts."""
    block = len(list(groupby(hosts))) == len(set(hosts))
    first = list(dict.fromkeys(hosts))
    left, turns = Counter(hosts), []
    while any(left.values()):
        turns += [host for host in first if left[host]]
        left -= Counter(first)
    cyclic = turns == list(hosts)
    return "both" if block and cyclic else "block" if block else "cyclic" if cyclic else "other"
