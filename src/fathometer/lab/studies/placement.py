"""Where the ranks of a run are: how many, on which hosts and cpus, how bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.lab.cluster.spec import ClusterSpec
from fathometer.lab.recipes.expression import Value
from fathometer.lab.studies.design import text_of

DISTRIBUTIONS = ("block", "cyclic")
BINDINGS = ("none", "core", "hwthread", "socket", "numa")
MEMORIES = ("as it is", "local", "interleave")
# Keys of [placement]; a factor of such a name sets it.
NUMBERS = ("nodes", "ranks", "ranks_per_node", "threads", "threads_per_core")
CHOICES: Mapping[str, Sequence[str]] = {"distribution": DISTRIBUTIONS, "bind": BINDINGS, "memory": MEMORIES}
KEYS = (*NUMBERS, *CHOICES, "cpus", "mpi")
MOST = 1 << 24  # of any number


@dataclass(frozen=True)
class Placement:
    """A placement.

    Attributes:
        nodes: hosts. ranks: MPI ranks on all of them. ranks_per_node: None: as the launcher spreads them.
        threads: of a rank; None: as the program decides. threads_per_core: hardware threads used; None: as it is.
        distribution: "block": consecutive ranks on a host; "cyclic": on one host after another.
        bind: what a rank is bound to; "none": nothing. cpus: logical cpus of the whole run; () for all.
        memory: "local": of the cpus' own nodes; "interleave": over all nodes. mpi: further words for the launcher.
        cluster: on whose nodes it is; None: on hosts. on: names of these nodes; (): the first ones.
    """

    nodes: int = 1
    ranks: int = 1
    ranks_per_node: int | None = None
    threads: int | None = None
    threads_per_core: int | None = None
    distribution: str = "block"
    bind: str = "none"
    memory: str = "as it is"
    cpus: tuple[int, ...] = ()
    mpi: tuple[str, ...] = ()
    cluster: ClusterSpec | None = None
    on: tuple[str, ...] = ()

    @property
    def cores(self) -> int:
        """Cpus that the run asks for."""
        return self.ranks * (self.threads or 1)


def placement_of(values: Mapping[str, Any], settings: Mapping[str, Value]) -> Placement:
    """The placement of a case: the values of [placement], and in their place the case's settings of the same names.

    Raises InputError that names the key, what was found and what is allowed.
    """
    given = {name: value for name, value in {**values, **settings}.items() if name in KEYS and value is not None}
    numbers = {name: _number(name, given[name]) for name in NUMBERS if name in given}
    for name, allowed in CHOICES.items():
        if name in given and given[name] not in allowed:
            listed = ", ".join(f'"{choice}"' for choice in allowed) + did_you_mean(given[name], allowed, '"')
            raise InputError(f"{name}: found {text_of(given[name])}; allowed: {listed}")
    chosen = {name: str(given[name]) for name in CHOICES if name in given}
    cpus = cpus_of(given.get("cpus", ()))
    placement = Placement(**numbers, **chosen, cpus=cpus, mpi=tuple(given.get("mpi", ())))  # type: ignore[arg-type]
    if placement.nodes > placement.ranks:
        raise InputError(f"nodes: found {placement.nodes} for {placement.ranks} ranks; allowed: at most as many")
    each = placement.ranks_per_node
    if each is not None and each * placement.nodes < placement.ranks:
        raise InputError(
            f"ranks_per_node: found {each} on {placement.nodes} nodes for {placement.ranks} ranks; allowed: enough"
        )
    return placement


def cpus_of(value: object) -> tuple[int, ...]:
    """Logical cpus of a list of numbers or of a text such as "0-3,8". Raises InputError."""
    if not isinstance(value, str):
        return tuple(int(cpu) for cpu in value)  # type: ignore[attr-defined]
    cpus: list[int] = []
    for part in value.replace(" ", "").split(",") if value.strip() else ():
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or not int(first) <= int(last or first) < 1 << 16:
            raise InputError(f'cpus: found "{value}"; allowed: numbers and ranges such as "0-3,8"')
        cpus += range(int(first), int(last or first) + 1)
    return tuple(dict.fromkeys(cpus))


def cpu_list(cpus: Sequence[int]) -> str:
    """The cpus as `taskset` and Slurm read them."""
    return ",".join(map(str, cpus))


def _number(name: str, value: Value) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise InputError(f"{name}: found {text_of(value)}; allowed: an integer from 1")
    return value
