"""Panels of a run's page: the image or the model, the acquisition, one gather.

A panel is a dictionary with a `kind` that the page knows how to draw; arrays are base64 of uint8, positions in m:

    volume    an image and a property below it on the cells of a 2D section or a 3D volume
    points    groups of positions on a plane
    traces    one gather
    sections  sections side by side over one axis down
    missing   a panel that could not be made, with the reason; the page is written without it

Nothing here needs MPI: a page can be made again from a record and the files that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.report.missing import missing, panel_or_missing
from fathometer.runs.application import Panel
from fathometer.seismic.page.gather_panel import gather_panel
from fathometer.seismic.page.map_panel import map_panel
from fathometer.seismic.page.run_data import RunData, run_data_of
from fathometer.seismic.page.volume_panel import image_panel, model_panel


def panels(run: RunData) -> list[Panel]:
    """The panels of a run of acoustic waves, made by one rank."""
    migrated = "shots" not in run.files and run.survey.acquisition.gathers is not None
    first = (
        panel_or_missing("The image", image_panel, run) if migrated else panel_or_missing("The model", model_panel, run)
    )
    return [
        first,
        panel_or_missing("Sources and receivers", map_panel, run),
        panel_or_missing("One shot", gather_panel, run),
    ]


def panels_of_record(record: Mapping[str, Any], path: Path, panels_of: Callable[[RunData], list[Panel]]) -> list[Panel]:
    """The panels of the run with the record in the file `path`, from the files that it names, as far as they exist."""
    try:
        run = run_data_of(record, path)
    except InputError as error:
        return [missing("The results", str(error))]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:  # entries that no run writes
        return [missing("The results", f"{path}: results or input hold what no run writes: {error}")]
    return panels_of(run)
