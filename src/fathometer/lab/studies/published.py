"""Published tables as they are shown beside a study's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fathometer.lab.landscape import Published, landscape, shown
from fathometer.lab.studies.study_file import LandscapeTable


def published(asked: Sequence[LandscapeTable], folder: Path | None) -> list[Published]:
    """The tables that a study names. Files of the user's own are looked for beside the study and in its folder.

    Raises InputError as `landscape`.
    """
    return [shown(landscape(table.table, _file(table.file, folder)).only(table.columns)) for table in asked]


def _file(name: str | None, folder: Path | None) -> Path | None:
    if name is None:
        return None
    places = (
        [Path(name)] if folder is None or Path(name).is_absolute() else [folder.resolve().parent / name, folder / name]
    )
    return next((place for place in places if place.exists()), places[0])
