"""Panels of a time migration's page.

The image in time with its velocity as a choice, common-offset images where there are any, the fold, the image in depth
where it was written, the acquisition, one gather.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from fathometer.report.missing import panel_or_missing
from fathometer.runs.application import Panel
from fathometer.seismic.page.gather_panel import gather_panel
from fathometer.seismic.page.map_panel import map_panel
from fathometer.seismic.page.offset_panels import fullest, offset_gather_panel, offset_sections_panel
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.page.time_volumes import fold_panel, outline, time_image_panel
from fathometer.seismic.page.volume_panel import depth_panel

DEPTH = "depth"  # kind of the file of the image in depth


def time_panels(run: RunData) -> list[Panel]:
    """The panels of a time migration, made by one rank."""
    place = cache(lambda: fullest(run))
    made: list[tuple[str, Callable[[RunData], Panel]]] = [("The image in time", time_image_panel)]
    if run.survey.imaging.gathers == "offset":
        made += [
            ("Images of the bins of offset", lambda run: offset_gather_panel(run, place())),
            ("Sections of bins of offset", lambda run: offset_sections_panel(run, place())),
        ]
    made.append(("The fold", fold_panel))
    if DEPTH in run.files:
        made.append(("The image in depth", lambda run: depth_panel(run, DEPTH, "The image stretched to depth")))
    made += [
        ("Sources and receivers", partial(map_panel, image=lambda: outline(run))),
        ("One shot", gather_panel),
    ]
    return [panel_or_missing(title, panel, run) for title, panel in made]
