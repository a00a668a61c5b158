"""Frame of a run in time steps that goes on from restart files: its folder, its lock, what it must not replace.

Runs that consist of tasks have a journal instead, see lifecycle.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.heartbeat import watched
from fathometer.record.envelope import PAGE, RECORD
from fathometer.runs.application import protect
from fathometer.runs.context import Context
from fathometer.runs.foreign import require_own_record, require_own_results
from fathometer.runs.journal_folder import require_own
from fathometer.runs.lifecycle import unfinished_record
from fathometer.runs.restart_folder import require_own_states
from fathometer.runs.restart_hint import has_state
from fathometer.runs.results_lock import remove_unfinished, results_lock
from fathometer.storage import atomic
from fathometer.storage.folder import results_folder

PATIENCE = 600.0  # s without a sign of life of a rank


@contextmanager
def restartable_run(
    inputs: Sequence[Path],
    output: Path,
    results: Sequence[str],
    folders: Sequence[str],
    record_of: Callable[[str], dict[str, Any]],
    comm: MPI.Intracomm,
    context: Context,
    state: Callable[[Path], bool] = has_state,
) -> Iterator[None]:
    """Collective. Context of a run: its folder is made and locked, its ranks are watched, and a record marked as
    unfinished lies there until the end.

    Args:
        inputs: files that the run reads, the input file first. results: names of files that it writes into `output`.
        folders: names of folders in `output` whose files it writes and removes.
        record_of: the record for a reason, on rank 0. state: whether a run has left in `output` what it can be gone on
            with.

    Raises InputError, the same on all ranks, where an input would be replaced, one of `folders` is a link or another
    user's, another run has the folder, it holds what no run of this program's has written, or an earlier run's results
    are there and the options say nothing of them.
    """
    with ledger.phase("set up"):
        protect({str(path): path for path in inputs}, (output / name for name in (RECORD, PAGE, *results)))
        for folder in folders:
            require_own(output / folder)
            for path in inputs:
                if (output / folder).resolve() in path.resolve().parents:
                    raise InputError(
                        f"{inputs[0]}: [output]: {path} lies where results are written and removed; allowed: outside "
                        f"of {output / folder}"
                    )
    with (
        results_folder(output, comm),
        watched(output, PATIENCE, comm, context.say, named="patience"),
        results_lock(output, comm) as locked,
    ):
        with ledger.phase("set up"), collective_errors(comm):
            options = context.options
            if comm.rank == 0:
                _require_own_folders(output, folders, state)
                require_own_results(output, [output / name for name in results], options)
            if comm.rank == 0 and not (options.resume or options.overwrite):
                if (output / RECORD).exists():
                    raise InputError(
                        f"{output}: holds an earlier run; --resume goes on with it, --overwrite begins anew"
                    )
                if state(output):
                    raise InputError(
                        f"{output}: holds an unfinished run; --resume goes on with it, --overwrite begins anew"
                    )
            if locked:
                remove_unfinished(output, (output / name for name in results))
        with unfinished_record(output, comm, record_of):
            yield


def _require_own_folders(output: Path, folders: Iterable[str], state: Callable[[Path], bool]) -> None:
    """Raises InputError where files would be replaced or removed that no run of this program has written."""
    require_own_states(output)
    if require_own_record(output) or state(output):
        return
    for name in folders:
        files = list((output / name).iterdir()) if (output / name).is_dir() else []
        if any(not atomic.PART.fullmatch(path.name) for path in files):
            raise InputError(
                f"{output}: holds {name}, but no record of a run of this program's: nothing in it is replaced or "
                "removed; allowed: another [output] directory, or without that folder"
            )
