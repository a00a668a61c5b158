"""The page of an elastic run: its heading; seismograms, peak velocities, the model, the acquisition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer.report.missing import panel_or_missing
from fathometer.runs.application import Heading, Panel
from fathometer.seismic.page.heading import heading as heading_of_waves
from fathometer.seismic.page.map_panel import map_panel
from fathometer.seismic.page.peak_panel import peak_panel
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.page.seismogram_panel import seismogram_panel
from fathometer.seismic.page.volume_panel import model_panel


def heading(record: Mapping[str, Any]) -> Heading:
    """Title, name of the survey, and facts."""
    return heading_of_waves(record, "Elastic waves", "elastic")


def panels(run: RunData) -> list[Panel]:
    """The panels of a run, made by one rank."""
    return [
        panel_or_missing("Seismograms", seismogram_panel, run),
        panel_or_missing("Peak ground velocity", peak_panel, run),
        panel_or_missing("The model", model_panel, run),
        panel_or_missing("Sources and receivers", map_panel, run),
    ]
