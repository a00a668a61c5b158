"""PETSc (Balay et al. 1997, in Modern software tools for scientific computing): its start, options and log.

Nothing of the process's command line, of .petscrc files or of PETSc's signal handlers takes part: options are those of
the input file, and they reach only the objects that a solver makes, whose names have a prefix.
"""

from __future__ import annotations

import ctypes
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fathometer.base.errors import FathometerError, InputError

if TYPE_CHECKING:
    from mpi4py import MPI

PREFIX = "flow_"  # of the options of Newton's method and its linear solver
HEADS = "heads_"  # of those of the solver for heads

PetscOptions = tuple[tuple[str, str | None], ...]  # names without their dash, and values

EVENTS = (
    "SNESSolve",
    "SNESFunctionEval",
    "SNESJacobianEval",
    "SNESLineSearch",
    "KSPSetUp",
    "KSPSolve",
    "KSPGMRESOrthog",
    "PCSetUp",
    "PCSetUpOnBlocks",
    "PCApply",
    "MatMult",
    "MatSolve",
    "MatLUFactorSym",
    "MatLUFactorNum",
    "MatILUFactorSym",
    "MatAssemblyBegin",
    "MatAssemblyEnd",
    "MatCreateSubMats",
    "VecDot",
    "VecMDot",
    "VecNorm",
    "VecMAXPY",
    "VecAXPY",
    "VecWAXPY",
    "VecScale",
    "VecNormalize",
    "VecScatterBegin",
    "VecScatterEnd",
    "VecReduceArith",
    "VecReduceComm",
    "SFPack",
    "SFUnpack",
    "DMDACreate",
)
NUMBERS = (
    ("calls", "count"),
    ("seconds", "time"),
    ("flops", "flops"),
    ("messages", "numMessages"),
    ("message_bytes", "messageLength"),
    ("reductions", "numReductions"),
)

# PETSc's numbers of errors: no support, wrong argument (three kinds), out of range, wrong order, user's input, unknown
# type.
OPTION_ERRORS = (56, 60, 61, 62, 63, 73, 83, 86)

REFUSED: Sequence[tuple[str, str]] = (
    (r"snes_(atol|rtol|stol|max_it|max_funcs|convergence_test|force_iteration)", "the keys of [newton] say it"),
    (r"(snes|ksp)_error_if_not_converged|.*_?erroriffailure", "a step that does not converge is cut"),
    (r"snes_type", "steps are solved by line searches along Newton's directions (newtonls)"),
    (r"snes_(mf|fd).*", "the derivatives are exact"),
    (
        r"(options|malloc|log|info|on_error|start_in|stop_for|fp_trap|help|version|checkpointing|memory|objects).*",
        "it is of the whole program",
    ),
    (r".*(load|save|write|binary|python).*", "options read and write no files"),
)


def require_petsc(comm: MPI.Intracomm | None = None) -> Any:
    """The module petsc4py.PETSc, initialised on a communicator (left out: that of all ranks), its log begun.

    Raises InputError where petsc4py is missing, or belongs to a PETSc of complex or single-precision numbers.
    """
    try:
        import petsc4py

        # Once: each call of init adds a collective call at the end of the process, and not all ranks call this equally
        # often.
        if "petsc4py.PETSc" not in sys.modules:
            petsc4py.init(["fathometer", "-no_signal_handler", "-skip_petscrc"], comm=comm)
        from petsc4py import PETSc
    except (ImportError, OSError) as error:
        raise InputError(
            f"reactive flow needs PETSc and petsc4py ({error}); on Debian and Ubuntu: apt install libpetsc-real-dev "
            "and tools/petsc.sh PYTHON; elsewhere: PETSC_DIR set to a PETSc and pip install '.[reactive]'"
        ) from None
    import numpy as np

    if PETSc.ScalarType is not np.float64:
        raise InputError(
            f"reactive flow needs a PETSc of real numbers in double precision; found {PETSc.ScalarType.__name__}"
        )
    if not PETSc.Log.isActive():
        PETSc.Log.begin()
    return PETSc


def options_of(options: str | Mapping[str, Any]) -> PetscOptions:
    """PETSc's options, checked.

    options: as on its command line, or values by name; None, True and "" are an option without a value.

    Raises InputError for words that are no option, and for options that would end the program, read or write files, or
    contradict what the input file says elsewhere.

    >>> options_of("-ksp_type bcgs -pc_type asm -ksp_monitor")
    (('ksp_type', 'bcgs'), ('pc_type', 'asm'), ('ksp_monitor', None))
    """
    pairs = list(_pairs(options) if isinstance(options, str) else _of_mapping(options))
    for name, value in pairs:
        for pattern, why in REFUSED:
            if re.fullmatch(pattern, name.removeprefix(HEADS)):
                raise InputError(f"[petsc] options: found -{name}, which has no place here: {why}")
        if value is not None and re.search(r"^(ascii|binary|draw|hdf5|matlab|socket|vtk)?:[^:]", value):
            raise InputError(f"[petsc] options: found -{name} {value}; allowed: options that write no files")
    return tuple(pairs)


def _pairs(text: str) -> Iterator[tuple[str, str | None]]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f'[petsc] options: found "{text}"; {str(error).lower()}') from None
    at = 0
    while at < len(words):
        if not _is_name(words[at]):
            raise InputError(
                f'[petsc] options: found "{words[at]}"; allowed: options as on PETSc\'s command line, "-name" or '
                '"-name value"'
            )
        has_value = at + 1 < len(words) and not _is_name(words[at + 1])
        yield words[at][1:], words[at + 1] if has_value else None
        at += 1 + has_value


def _of_mapping(options: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    for name, value in options.items():
        bare = name.removeprefix("-")
        if not _is_name(f"-{bare}"):
            raise InputError(f'[petsc] options: found "{name}"; allowed: names of PETSc\'s options')
        yield bare, None if value is None or value is True or value == "" else str(value)


def _is_name(word: str) -> bool:
    return re.fullmatch(r"-[A-Za-z]\w*", word) is not None


def set_options(options: PetscOptions) -> None:
    """Put options into PETSc's table under the prefixes of our objects, in place of those of an earlier solver."""
    table = require_petsc().Options()
    for prefix in (PREFIX, HEADS):
        for name in table.getAll():
            if name.startswith(prefix):
                table.delValue(name)
    for name, value in options:
        table.setValue(prefixed(name), value)


def prefixed(name: str) -> str:
    """An option's name in PETSc's table."""
    return name if name.startswith(HEADS) else PREFIX + name


def unused(options: PetscOptions) -> list[str]:
    """Names of the options that PETSc has not asked for so far, with their dash."""
    library, names = _library(), []
    for name, _ in options:
        used = ctypes.c_int(0)
        if library.PetscOptionsUsed(None, prefixed(name).encode(), ctypes.byref(used)) == 0 and not used.value:
            names.append(f"-{name}")
    return names


@contextmanager
def petsc_errors(doing: str, options: PetscOptions = ()) -> Iterator[None]:
    """Errors of PETSc within the block become a FathometerError of one line, or an InputError where they are such as
    values of options cause; doing: what the block does, for the message. options: those that the block may read."""
    PETSc = require_petsc()
    try:
        yield
    except PETSc.Error as error:
        lines = [line.partition("] ")[2] for line in str(error).splitlines()[1:]]  # "[0] KSPSetType() at file:line"
        words = [line for line in lines if line and not re.search(r"\w\(\) (line|at) ", line)]
        message = f"{doing}: PETSc: {words[-1] if words else error}"
        if options and error.ierr in OPTION_ERRORS:
            raise InputError(f"[petsc] options: {message}") from error
        raise FathometerError(message) from error


def _library() -> ctypes.CDLL:
    """PETSc itself, for what petsc4py 3.18 has no call for."""
    return ctypes.CDLL(require_petsc().__file__)


def log_of(before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What PETSc has logged on this rank since it began, or since `before` was taken, JSON-ready.

    version: of PETSc. events: calls, seconds (those of events within it included), flops, messages, message_bytes and
    reductions of each event that has occurred.
    """
    PETSc = require_petsc()
    library, events = _library(), {}
    for name in EVENTS:
        number = ctypes.c_int(-1)
        library.PetscLogEventGetId(name.encode(), ctypes.byref(number))
        if number.value < 0:  # Log.Event() would register a name that PETSc does not know yet, as an event of its own
            continue
        info = PETSc.Log.Event(name).getPerfInfo()
        earlier = {} if before is None else before["events"].get(name, {})
        if info["count"] > earlier.get("calls", 0.0):
            events[name] = {key: float(info[entry]) - earlier.get(key, 0.0) for key, entry in NUMBERS}
    return {"version": ".".join(map(str, PETSc.Sys.getVersion())), "events": events}
