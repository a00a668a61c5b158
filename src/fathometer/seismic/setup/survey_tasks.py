"""The tasks of a survey's run, whatever its physics: its folder, what an earlier run in it has left."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
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
from fathometer.runs.tasks import Tasks
from fathometer.seismic.setup.run_files import protect_inputs
from fathometer.seismic.survey import Survey
from fathometer.storage.fingerprint import parts_of
from fathometer.storage.volumes.registry import remove_volume


class SurveyTasks(Tasks):
    """The tasks of a run of a survey; see Tasks."""

    def __init__(self, survey: Survey, comm: MPI.Intracomm, context: Context) -> None:
        super().__init__(survey.output_directory, survey.parallel.patience, comm, context)
        self.survey = survey

    @property
    @abstractmethod
    def files(self) -> Mapping[str, Path]:
        """The files of the results by kind, folders of several among them."""

    @property
    def results(self) -> Sequence[Path]:
        """The files of the results."""
        return list(self.files.values())

    def replaceable(self, kind: str, path: Path) -> bool:
        """Whether a file of this kind, in an earlier run's record, is one that such runs write."""
        return False

    def earlier_outcome(self) -> Outcome:
        """The outcome of a migration that was finished before."""
        record: dict[str, Any] = {}
        with ledger.phase("finish"), collective_errors(self.comm):
            parts = (part for path in self.files.values() for part in parts_of(path))
            missing = next((part for part in parts if not part.exists()), None)
            if missing is not None:
                raise InputError(f"{missing}: is missing, but the migration is finished; --overwrite makes it anew")
            if self.comm.rank == 0:
                record = finished_record_in(self.output)
        self.context.say(f"{self.output}: this migration is finished; --overwrite makes it anew")
        with ledger.phase("finish"):
            nothing: str = allgather(self.comm, record.get("results", {}).get("nothing_imaged", ""))[0]
        return Outcome({**self.files, "record": self.output / RECORD}, record, nothing=nothing)

    def remove_outdated(self, outdated: Mapping[str, Path], made: Iterable[Path]) -> None:
        """Remove results of an earlier run that are not made any more; inputs stay."""
        kept = {path.resolve() for path in made}
        for kind, path in outdated.items():
            own = self.replaceable(kind, path) and path.resolve().parent == self.output.resolve()
            if own and path.resolve() not in kept:
                with suppress(InputError):
                    protect_inputs(self.survey, [path])
                    remove_volume(path, self.output)
