"""What of a survey the image of its migration depends on, beside its traces."""

from __future__ import annotations

from typing import Any

from fathometer.seismic.history.encoding import PLAIN
from fathometer.seismic.survey import Survey

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
