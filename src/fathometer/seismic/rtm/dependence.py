"""What of a survey the image of its migration depends on, beside its traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fathometer.seismic.history.encoding import PLAIN
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.survey import SampledWaveletTable, Survey
from fathometer.seismic.traces.wavelet_file import series_files

# Sections of the survey that change how an image is computed, not what it is.
NOT_COMPARED = ("output", "parallel", "threads", "tuning", "storage", "history", "time_migration")
LOSSY = ("encoding", "tolerance")  # keys of [history] that count where the encoding loses something


def compared(survey: Survey) -> dict[str, Any]:
    """The keys that must be the same for shots of two runs to be added up."""
    keys = survey.resolved()
    result = {name: values for name, values in keys.items() if name not in NOT_COMPARED}
    if keys["history"]["encoding"] != PLAIN:
        result["history"] = {name: keys["history"][name] for name in LOSSY}
    return result


def hashed_files(layout: SurveyLayout) -> dict[str, list[Path]]:
    """The files of model and wavelet by their use."""
    survey = layout.survey
    uses = {f"model.{name}": paths for name, paths in layout.files.inputs().items()}
    if isinstance(survey.wavelet, SampledWaveletTable):
        uses["wavelet"] = series_files(survey.directory / survey.wavelet.path)
    return uses
