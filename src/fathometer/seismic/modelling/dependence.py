"""What modelled traces depend on: what must be the same for --resume to go on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.setup.fingerprint import SurveyInput
from fathometer.seismic.setup.input_files import model_and_wavelet, named_files
from fathometer.seismic.survey import Survey

# Sections of the survey that change how traces are computed and where they go, not what they are.
NOT_COMPARED = ("output", "parallel", "threads", "tuning", "storage", "history", "imaging", "time_migration")
# Of what a survey names: its keys are compared, not its bytes; model and wavelet have their own use; not read.
ELSEWHERE = ("the survey", "[model]", "[wavelet]", "[time_migration]")


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
    others = {name: [path] for name, path in named_files(survey).items() if not name.startswith(ELSEWHERE)}
    return model_and_wavelet(survey, model) | others
