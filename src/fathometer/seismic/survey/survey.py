"""The survey file: the TOML input of modelling and migration.

The tables of this package are the only definition of the keys. The messages about a wrong key (config/problems.py) and
the tables of the user guide (config/reference.py) are generated from them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from fathometer.base.errors import InputError
from fathometer.config.input_file import InputFile, read_toml, validated
from fathometer.config.sections import ThreadsTable, TuningTable
from fathometer.config.settings import with_settings
from fathometer.config.table import key, section
from fathometer.seismic.survey.acquisition import AcquisitionTable, SourcesTable
from fathometer.seismic.survey.history import HistoryTable
from fathometer.seismic.survey.imaging import ImagingTable
from fathometer.seismic.survey.model import ModelTable
from fathometer.seismic.survey.parallel import ParallelTable
from fathometer.seismic.survey.physics_keys import CHECKS
from fathometer.seismic.survey.propagation import PropagationTable
from fathometer.seismic.survey.snapshots import SnapshotsTable
from fathometer.seismic.survey.source import SourceTable
from fathometer.seismic.survey.time_migration import TimeMigrationTable
from fathometer.seismic.survey.wavelet import WaveletTable
from fathometer.storage.sections import OutputTable, StorageTable


class Survey(InputFile):
    """The input of a modelling or migration run."""

    model: ModelTable | None = key("the model of the subsurface; `migrate-time` does without it", "", None)
    acquisition: AcquisitionTable = key("the shots")
    wavelet: WaveletTable | None = key("the source wavelet; `migrate-time` does without it", "", None)
    source: SourceTable | None = key("what sources do at their positions; elastic runs only, which need it", "", None)
    propagation: PropagationTable = section("discretisation and boundaries of wave propagation", PropagationTable)
    imaging: ImagingTable = section("imaging condition, aperture and gathers", ImagingTable)
    time_migration: TimeMigrationTable = section("Kirchhoff prestack time migration", TimeMigrationTable)
    snapshots: SnapshotsTable | None = key(
        "the wavefield on fewer nodes and at fewer times, in files; elastic runs only", "", None
    )
    history: HistoryTable = section("storage of the source wavefield between the two loops", HistoryTable)
    parallel: ParallelTable = section("distribution of the work over ranks", ParallelTable)
    threads: ThreadsTable = section("threads of a rank, task by task", ThreadsTable)
    tuning: TuningTable = section("how time steps are grouped; of no consequence for the results", TuningTable)
    storage: StorageTable = section("how volumes move between ranks and files", StorageTable)
    output: OutputTable = section("where the results go", OutputTable)

    @property
    def needed_model(self) -> ModelTable:
        """[model]. Raises InputError where it is missing."""
        if self.model is None:
            raise InputError(f"{self.path}: [model]: missing; needed by all but `migrate-time` with velocities")
        return self.model

    @property
    def needed_wavelet(self) -> WaveletTable:
        """[wavelet]. Raises InputError where it is missing."""
        if self.wavelet is None:
            raise InputError(f"{self.path}: [wavelet]: missing; needed by all but `migrate-time`")
        return self.wavelet

    @property
    def needed_source(self) -> SourceTable:
        """[source]. Raises InputError where it is missing."""
        if self.source is None:
            raise InputError(f"{self.path}: [source]: missing; needed with [propagation] physics = elastic")
        return self.source

    def require_acoustic(self, command: str) -> None:
        """Raises InputError where the survey is for other waves; command: that knows acoustic ones alone."""
        found = self.propagation.physics
        if found != "acoustic":
            raise InputError(
                f'{self.path}: [propagation] physics: found "{found}"; allowed for `{command}`: "acoustic"; '
                f"{found} waves are modelled (`fathometer model`), not migrated"
            )

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def dimension(self) -> int | None:
        """2 or 3 where a key implies it; None where only the model's file does."""
        for _, dimension in self._dimensions():
            return dimension
        return None

    def resolved(self) -> dict[str, Any]:
        """The input with all defaults, as JSON values; reading it again gives the same survey."""
        values: dict[str, Any] = self.model_dump(mode="json")
        if self.acquisition.gathers is not None and self.acquisition.given_interval is None:
            del values["acquisition"]["sample_interval"]
        return values

    def _dimensions(self) -> list[tuple[str, int]]:
        """The keys that imply the dimension, each with that dimension."""
        implied: list[tuple[str, int]] = []
        for name in ("axes", "spacing", "origin"):
            value = getattr(self.model, name, None)
            if value is not None and len(value) > 1:  # one value is that of z
                implied.append((f"[model] {name}", len(value)))
        if self.parallel.decomposition != "auto":
            implied.append(("[parallel] decomposition", len(self.parallel.decomposition)))
        if isinstance(self.acquisition.sources, SourcesTable):
            implied.append(("[acquisition] sources", 2 if self.acquisition.sources.y is None else 3))
        return implied

    @model_validator(mode="after")
    def _sections_agree(self) -> Self:
        implied = self._dimensions()
        for name, dimension in implied[1:]:
            if dimension != implied[0][1]:
                raise ValueError(
                    f"{name}: found for {dimension}D although {implied[0][0]} is for {implied[0][1]}D; "
                    "allowed: the same in both"
                )
        for name, table in (("model", ModelTable), ("wavelet", None)):
            if getattr(self, name) is None and "time_migration" not in self.model_fields_set:
                keys = f" {{{', '.join(table.model_fields)}}}" if table is not None else ""
                raise ValueError(f"[{name}]: missing; needed: a table{keys}; only `migrate-time` does without it")
        check = CHECKS[self.propagation.physics]
        check(self.model, self.acquisition, self.source, self.snapshots, self.parallel)
        if self.acquisition.gathers is None and self.propagation.duration is None:
            raise ValueError("[propagation] duration: missing; needed with sources and receivers (s, above 0)")
        return self


def survey_of(values: dict[str, Any], path: Path) -> Survey:
    """The validated survey of nested dictionaries; path: the survey file that they represent.

    Raises InputError with one line that names the first wrong key.
    """
    return validated(Survey, values, path)


def load_survey(path: Path | str, settings: Sequence[str] = ()) -> Survey:
    """Read and check a survey file (TOML); settings: keys in place of the file's, see config.settings.

    Raises InputError with one line that names the file and the first wrong key.
    """
    path = Path(path)
    return survey_of(with_settings(read_toml(path, "the survey file"), settings), path)
