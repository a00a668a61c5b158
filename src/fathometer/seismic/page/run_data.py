"""The input and the results of a run, from which its panels are made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.seismic.shots.inside import Box, within
from fathometer.seismic.survey import Survey, survey_of

FILES = "panels"  # kind in the ledger of all files that are read for panels


@dataclass(frozen=True)
class RunData:
    """Survey, model, acquisition and result files of a run.

    Attributes:
        earth, acquisition: open the model and the shots when called. files: result files by kind.
        image: places and two-way times of an image in time; None of all other runs.
    """

    survey: Survey
    earth: Callable[[], EarthFiles]
    acquisition: Callable[[], Acquisition]
    files: Mapping[str, Path]
    image: Grid | None = None


def run_data_of(record: Mapping[str, Any], path: Path) -> RunData:
    """The data of the run with the record in the file `path`.

    Files are looked for relative to the record, then under the names in it. Raises InputError for an invalid survey;
    KeyError, TypeError and the like for a record that no run writes.
    """
    values = {key: value for key, value in record["input"].items() if key != "survey"}
    recorded = Path(str(record["input"].get("survey", "survey.toml")))
    folder = path.resolve().parent
    survey = survey_of(values, recorded)
    to_survey = (
        os.path.relpath(".", survey.output.directory) if not Path(survey.output.directory).is_absolute() else "."
    )
    moved = Path(os.path.normpath(folder / to_survey)) / recorded.name
    if any(isinstance(name, str) and (moved.parent / name.split(":")[0]).exists() for name in _inputs(values)):
        survey = survey_of(values, moved)

    def locate(name: str) -> Path:
        beside_record = folder / Path(name).name
        return beside_record if beside_record.exists() else Path(name)

    recorded_files = record["results"].get("files", {})
    shape = record["results"].get("grid", {}).get("shape")
    image = _image_grid(record["results"].get("grid", {}))  # which has its own cells
    earth = cache(lambda: _checked(EarthFiles(survey), shape) if image is None else EarthFiles(survey))
    dimension = sum(n > 1 for n in shape or ()) or None
    files = {kind: locate(name) for kind, name in recorded_files.items() if isinstance(name, str)}

    @cache
    def acquisition() -> Acquisition:
        """The shots of the run; places up to half a cell outside the model are as in the files."""
        whole = acquisition_of(survey, dimension)
        return within(whole, Box.of(earth().grid), drop=True) if survey.acquisition.outside == "drop" else whole

    return RunData(survey, earth, acquisition, files, image)


def _image_grid(recorded: Mapping[str, Any]) -> Grid | None:
    """The grid of an image in time; None of all others."""
    if "interval_seconds" not in recorded:
        return None
    (nx, ny, nt), (dx, dy), (x, y) = recorded["shape"], recorded["spacing_metres"], recorded["origin_metres"]
    spacing = dx, dy, recorded["interval_seconds"]
    return Grid((nx, ny, nt), spacing, (x, y, recorded["start_seconds"]), vertical="time")


def _inputs(values: Mapping[str, Any]) -> list[Any]:
    """Entries of a survey that may be names of its files: those of its model, else of velocities and gathers."""
    if values["model"] is not None:
        return list(values["model"].values())
    return [values["time_migration"]["velocity"], values["acquisition"]["gathers"]]


def _checked(earth: EarthFiles, shape: Sequence[int] | None) -> EarthFiles:
    """The model. Raises InputError where its shape is not that of the record."""
    if shape is not None and tuple(shape) != earth.grid.shape:
        raise InputError(
            f"{', '.join(map(str, earth.paths))}: holds {times(earth.grid.shape)} cells now, the record "
            f"{times(shape)}: the model has been replaced"
        )
    return earth


def times(numbers: Sequence[int]) -> str:
    """Numbers along axes as text: 100 × 200."""
    return " × ".join(str(n) for n in numbers)
