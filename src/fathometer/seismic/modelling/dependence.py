"""What modelled traces depend on: what must be the same for --resume to go on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.setup.fingerprint import SurveyInput
from fathometer.seismic.setup.input_files import named_files
from fathometer.seismic.survey import SampledWaveletTable, Survey
from fathometer.seismic.traces.wavelet_file import series_files

# Sections of the survey that change how traces are computed and where they go, not what they are.
NOT_COMPARED = ("output", "parallel", "threads", "tuning", "storage", "history", "imaging", "time_migration")
NOT_READ = ("the survey", "[model]", "[time_migration]")  # of what a survey names: compared, hashed below, not read


class ModellingInput(SurveyInput):
    """The files of a modelling: models are in memory from the beginning on; headers of gathers are read at the end."""

    def require_unchanged(self, inputs: Mapping[int, str]) -> None:
        """Collective. Raises FathometerError on all ranks where a file of gathers is no longer the one that it was."""
        self.require_recordings()


def compared(survey: Survey) -> dict[str, Any]:
    """The keys that must be the same for shots of two runs to be put together."""
    return {name: values for name, values in survey.resolved().items() if name not in NOT_COMPARED}


def hashed_files(survey: Survey, model: EarthFiles) -> dict[str, list[Path]]:
    """The files that count whole, by their use."""
    uses = {f"model.{name}": paths for name, paths in model.inputs().items()}
    for name, path in named_files(survey).items():
        if not name.startswith(NOT_READ):
            wavelet = name == "[wavelet] path" and isinstance(survey.wavelet, SampledWaveletTable)
            uses[name] = series_files(path) if wavelet else [path]
    return uses
