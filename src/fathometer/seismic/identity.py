"""What a migration's image depends on: what must be the same for shots of two runs to be added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer import __version__
from fathometer.seismic.experiment import Experiment
from fathometer.storage.fingerprint import fingerprint

SCHEMA = 1  # of the journal
# Sections of the survey that change how an image is computed, not what it is.
OF_NO_CONSEQUENCE = ("output", "parallel", "threads", "tuning", "storage", "history")
LOSSY = ("encoding", "tolerance")  # keys of [history] that count where the encoding loses something


def identity(experiment: Experiment) -> dict[str, Any]:
    """Version, survey and files, for comparison. InputError where a file cannot be read."""
    survey = experiment.survey.resolved()
    kept = {name: keys for name, keys in survey.items() if name not in OF_NO_CONSEQUENCE}
    if survey["history"]["encoding"] != "float32":
        kept["history"] = {name: survey["history"][name] for name in LOSSY}
    return {
        "journal": SCHEMA,
        "version": __version__,
        "survey": kept,
        "model": fingerprint(experiment.files.paths),
        "traces": fingerprint(experiment.acquisition.paths),
    }


def differences(before: Any, now: Any, where: str = "") -> list[str]:
    """Where two nested JSON values differ, in words."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        keys = [*before, *(key for key in now if key not in before)]
        return [
            line
            for key in keys
            for line in differences(before.get(key), now.get(key), f"{where}.{key}" if where else str(key))
        ]
    if before == now:
        return []
    return [f"{where}: {_told(before)} then, {_told(now)} now"]


def _told(value: Any) -> str:
    return "none" if value is None else str(value)
