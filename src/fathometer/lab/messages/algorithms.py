"""Algorithms of collective calls as factors: those of Open MPI's component `tuned`, each on a communicator of its own.

A communicator takes the algorithms that are set when it is made, so that several can be measured in turns in one run.
Open MPI heeds them only where it was started with coll_tuned_use_dynamic_rules, see `environment`.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.meant import did_you_mean
from fathometer.lab.messages.cases import ALGORITHMS_OF

if TYPE_CHECKING:
    from mpi4py import MPI

UNSET = "ignore"
ENVIRONMENT = MappingProxyType({"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"})
RULES = "coll_tuned_use_dynamic_rules"

Algorithm = tuple[str, str]  # collective call, name


def algorithms_of(text: str) -> tuple[Algorithm, ...]:
    """The algorithms of "allreduce=ring,recursive_doubling"; the names are checked by `require`.

    Raises InputError for another form and for calls without a choice.
    """
    call, equals, names = text.partition("=")
    if call not in ALGORITHMS_OF or not equals or not all(names.split(",")):
        meant = did_you_mean(call, ALGORITHMS_OF) if call not in ALGORITHMS_OF else ""
        raise InputError(
            f"found {text}; allowed: CALL=NAME,NAME with a CALL of {', '.join(ALGORITHMS_OF)}, as in "
            f"allreduce=ring,recursive_doubling, or CALL=all{meant}"
        )
    return tuple((call, name) for name in dict.fromkeys(names.split(",")))


def variable(call: str) -> str:
    """The control variable of a call's algorithm."""
    return f"coll_tuned_{call}_algorithm"


def require(algorithms: Sequence[Algorithm]) -> list[Algorithm]:
    """The algorithms, with "all" replaced by all that there are.

    Raises InputError where this MPI has no such choice, was not started for it, or does not know one of the names.
    """
    from fathometer.lab.messages.library import get_variable, variable_choices

    found: list[Algorithm] = []
    for call, name in algorithms:
        try:
            heeded = get_variable(RULES) not in ("0", "false")
            choices = [choice for choice in variable_choices(variable(call)) if choice != UNSET]
        except FathometerError as error:
            raise InputError(f"--algorithm {call}={name}: for Open MPI alone ({error})") from None
        if not heeded:
            raise InputError(
                f"--algorithm {call}={name}: MPI was started without {RULES}; set OMPI_MCA_{RULES}=1 before"
            )
        if name != "all" and name not in choices:
            raise InputError(
                f"--algorithm {call}={name}: allowed: {', '.join(choices)}, or all{did_you_mean(name, choices)}"
            )
        found += [(call, choice) for choice in (choices if name == "all" else [name])]
    return list(dict.fromkeys(found))


def communicator(comm: MPI.Intracomm, call: str, name: str) -> MPI.Intracomm:
    """Collective. The ranks of `comm` on a communicator whose collective calls of one kind take this algorithm; what
    other communicators have stays."""
    from fathometer.lab.messages.library import set_variable

    set_variable(variable(call), name)
    try:
        return comm.Dup()
    finally:
        set_variable(variable(call), UNSET)
