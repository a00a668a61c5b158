"""Where the coordinates of a run's grid lie in the world, and in what system: by its survey, its model, its gathers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.model.placement import world_of_keys
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.survey import Survey
from fathometer.storage.traces.reference_system import code_of, crs_of_file
from fathometer.storage.volumes.place import Place, World


def place_of_run(
    survey: Survey, files: EarthFiles | None, acquisition: Acquisition, flat: bool, in_world: bool = False
) -> tuple[Place, tuple[str, ...]]:
    """The place of the grid's x and y, and notes. The first textual header of the gathers may name the system too.

    Args:
        survey: with what its model's files tell (EarthFiles.placed). files: None: there is no model.
        flat: the grid is 2D. in_world: coordinates of the gathers are known to be the world's.

    InputError where a file of gathers cannot be read.
    """
    place = Place(world_of_keys(survey.acquisition)) if files is None else files.place
    of_gathers = _crs_of(acquisition)
    if (of_gathers or in_world) and place.world is None and not place.local and not flat:
        # Neither turned nor shifted, the grid's coordinates are those of the gathers; of a line, y is not known.
        place = replace(place, world=World(), local=False)
    datum = survey.output.vertical_datum or place.datum
    notes = _contradiction(survey, place.crs, of_gathers)
    if place.datum and datum != place.datum:
        notes += (f'[output] vertical_datum: results name "{datum}"; by the model\'s file it is "{place.datum}"',)
    return replace(place, crs=place.crs or of_gathers, datum=datum), notes


def unkept_notes(survey: Survey, place: Place) -> tuple[str, ...]:
    """A note where the format of the image cannot hold what is known of its place."""
    lost = place.lost_in(Path(survey.output.image))
    return (f"[output] image: {lost}",) if lost else ()


def _crs_of(acquisition: Acquisition) -> str:
    """The system named by the first file of gathers; "" where there is none. SU has no textual header."""
    layouts = () if acquisition.recording is None else acquisition.recording.layouts
    return crs_of_file(layouts[0].path, layouts[0].start) if layouts and layouts[0].kind != "SU" else ""


def _contradiction(survey: Survey, of_model: str, of_gathers: str) -> tuple[str, ...]:
    """A note where model and gathers name different systems."""
    mine, theirs = code_of(of_model), code_of(of_gathers)
    if not mine or not theirs or mine == theirs:
        return ()
    return (
        f"{survey.path}: the model's coordinates are in EPSG:{mine}, those of the gathers in EPSG:{theirs}; nothing is "
        "converted, and results name the first",
    )
