"""The files that a survey reads: those that it names, and those that these consist of."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from fathometer.base.errors import naming
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.shots.gathers import recorded_files
from fathometer.seismic.shots.geometry import geometry_files
from fathometer.seismic.survey import SampledWaveletTable, SourceFileTable, Survey
from fathometer.seismic.survey.model import PROPERTIES
from fathometer.seismic.survey.time_migration import PICKS_SUFFIXES
from fathometer.seismic.traces.wavelet_file import series_files
from fathometer.storage.volumes.volume import open_volume, split_reference


def named_files(survey: Survey) -> dict[str, Path]:
    """The survey and the files that it names, but for recorded gathers, by what names them. Raises InputError."""
    found: dict[str, Path] = {"the survey": survey.path}
    found |= geometry_files(survey)
    for name, reference in _volumes(survey).items():
        with naming(f"{survey.path}: {name}"):
            found[name], _ = split_reference(reference, survey.directory)
    if (picks := _picks(survey)) is not None:
        found["[time_migration] velocity"] = picks
    if isinstance(survey.wavelet, SampledWaveletTable):
        found["[wavelet] path"] = survey.directory / survey.wavelet.path
    if isinstance(survey.source, SourceFileTable):
        found["[source] path"] = survey.directory / survey.source.path
    return found


def input_files(survey: Survey) -> dict[str, Path]:
    """All files that a run reads, by what names them, as far as they can be known without scanning traces: an index of
    recorded gathers stands for its files. Raises InputError where one is missing or not to be opened."""
    found = named_files(survey)
    for name, reference in _volumes(survey).items():
        for path in open_volume(reference, survey.directory, header_only=True).files():
            if path not in found.values():
                found[f"{name} ({path})"] = path
    if survey.acquisition.gathers is not None:
        found |= {f"[acquisition] gathers ({path})": path for path in recorded_files(survey)}
    return found


def model_and_wavelet(survey: Survey, model: EarthFiles) -> dict[str, list[Path]]:
    """The files of model and wavelet by their use, the one first that the survey names."""
    uses = {f"model.{name}": paths for name, paths in model.inputs().items()}
    if isinstance(survey.wavelet, SampledWaveletTable):
        uses["wavelet"] = series_files(survey.directory / survey.wavelet.path)
    return uses


def _volumes(survey: Survey) -> dict[str, str]:
    names = dict.fromkeys(chain.from_iterable(PROPERTIES.values()))
    values = {f"[model] {name}": getattr(survey.model, name, None) for name in names}
    if _picks(survey) is None:
        values["[time_migration] velocity"] = survey.time_migration.velocity
    values["[time_migration] eta"] = survey.time_migration.eta
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _picks(survey: Survey) -> Path | None:
    """The text file of velocity picks."""
    velocity = survey.time_migration.velocity
    if isinstance(velocity, str) and Path(velocity).suffix.lower() in PICKS_SUFFIXES:
        return survey.directory / velocity
    return None
