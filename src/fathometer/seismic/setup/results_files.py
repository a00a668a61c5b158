"""Files of results: those that are missing, and those of an earlier run that are no longer made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.record.envelope import RECORD
from fathometer.runs.context import Context, Outcome
from fathometer.runs.lifecycle import finished_record_in
from fathometer.seismic.setup.run_files import protect_inputs
from fathometer.seismic.shots.offsets import ALL
from fathometer.seismic.survey import Survey
from fathometer.storage.fingerprint import parts_of
from fathometer.storage.volumes.registry import remove_volume, writable_suffixes


def missing_file(results: Iterable[Path]) -> Path | None:
    """The first file of some results that is not there."""
    return next((part for path in results for part in parts_of(path) if not part.exists()), None)


def earlier_outcome(output: Path, files: Mapping[str, Path], comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. The outcome of a migration that an earlier run has finished in the folder `output`.

    Raises InputError where one of its files is missing.
    """
    record: dict[str, Any] = {}
    with ledger.phase("finish"), collective_errors(comm):
        missing = missing_file(files.values())
        if missing is not None:
            raise InputError(f"{missing}: is missing, but the migration is finished; --overwrite makes it anew")
        if comm.rank == 0:
            record = finished_record_in(output)
    context.say(f"{output}: this migration is finished; --overwrite makes it anew")
    with ledger.phase("finish"):
        nothing: str = allgather(comm, record.get("results", {}).get("nothing_imaged", ""))[0]
    return Outcome({**files, "record": output / RECORD}, record, nothing=nothing)


def remove_outdated(
    survey: Survey, outdated: Mapping[str, Path], results: Iterable[Path], is_volume: Callable[[str], bool]
) -> None:
    """Remove volumes of an earlier migration in this folder that the new one has not replaced; inputs stay.

    outdated: files of the earlier one by kind. is_volume: of a kind, whether migrations of this sort write it.
    """
    kept = {path.resolve() for path in results}
    for kind, path in outdated.items() if ALL in outdated else ():
        if path.suffix not in writable_suffixes():  # a record that no run has written
            continue
        if (
            is_volume(kind)
            and path.resolve() not in kept
            and path.resolve().parent == survey.output_directory.resolve()
        ):
            with suppress(InputError):
                protect_inputs(survey, [path])
                remove_volume(path, survey.output_directory)
