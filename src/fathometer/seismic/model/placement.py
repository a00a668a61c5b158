"""Place of the model in the coordinates of the survey, where its files' trace headers tell (CDP coordinates of SEG-Y).

What the survey file says counts: it is how headers that lie are overruled. Where it says something else, a note has
both numbers; where it says nothing, the headers' spacing, origin and azimuth are taken.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fathometer.base.errors import InputError
from fathometer.seismic.survey import Survey
from fathometer.storage.volumes.survey_grid import TURNED, SurveyGrid
from fathometer.storage.volumes.volume import Volume

EAST = 90.0  # degrees: azimuth of an x axis along X


class Placement:
    """Place of the model by the headers of its files.

    Attributes:
        source: where this stands, for messages. spacing: m, by the name of each horizontal axis.
        azimuth: degrees, of the x axis, clockwise from Y. first: m, X and Y of the first cell.
        mirrored: whether y points to the right of x, seen from above.
    """

    def __init__(self, path: str, axes: str, grid: SurveyGrid) -> None:
        names = axes.rstrip("z")
        self.source = f"CDP coordinates of {path} (bytes 181 and 185)"
        self.spacing = dict(zip(names, grid.spacing, strict=True))
        self._accuracy = dict(zip(names, grid.accuracy, strict=True))
        azimuths = dict(zip(names, grid.azimuths, strict=True))
        self.azimuth, self.first = azimuths["x"], grid.origin
        self.mirrored = "y" in azimuths and (azimuths["y"] - azimuths["x"]) % 360.0 < 180.0
        self._azimuths = azimuths

    @property
    def known(self) -> str:
        """The spacing of the horizontal axes, for messages."""
        lengths = ", ".join(f"{metres:g} m along {axis}" for axis, metres in self.spacing.items())
        return f"the {self.source} give {lengths}"

    def spacing_notes(self, given: Mapping[str, float], key: str = "[model] spacing") -> tuple[str, ...]:
        """A note where the spacing that a key says, m by axis, is another than the headers'."""
        differing = self._differing(given)
        if not differing:
            return ()
        said = " and ".join(f"{given[axis]:g} m along {axis}" for axis in differing)
        there = " and ".join(f"{self.spacing[axis]:g} m" for axis in differing)
        used = "the key's is used, and no place is taken from them"
        return (f"{key} is {said}, but {there} by the {self.source}; {used}",)

    def overruled_by(self, given: Mapping[str, float]) -> bool:
        """Whether a spacing, m by axis, is another than the headers'."""
        return bool(self._differing(given))

    def _differing(self, given: Mapping[str, float]) -> list[str]:
        return [
            axis
            for axis, metres in self.spacing.items()
            if not abs(metres - given[axis]) <= self._accuracy[axis] + 1e-4 * metres
        ]

    def frame(self, survey: Survey) -> tuple[Survey, tuple[float, float] | None, tuple[str, ...]]:
        """The survey with the origin and azimuth of the headers where it has gathers and says nothing; X and Y of the
        model's first cell where that is enough (x along X, y along Y); notes.

        InputError where the headers' axes are mirrored and nothing else is said.
        """
        keys, model = survey.acquisition, survey.needed_model
        if keys.origin is not None or keys.azimuth is not None or model.origin is not None:
            return survey, None, self._differences(survey)
        unused = f"the model's place by the {self.source} is not used: positions are given in the grid's coordinates"
        if self.mirrored:
            if keys.gathers is None:
                return survey, None, (unused,)
            raise InputError(
                f"{survey.path}: [model] axes: by the {self.source}, y points to "
                f"the right of x, seen from above (azimuths {self._azimuths['y']:g} and {self._azimuths['x']:g} "
                'degrees), which would mirror the image; allowed: x and y of axes the other way round (as "yxz"), or '
                "[acquisition] origin and azimuth that say where the model lies"
            )
        where = f"by the {self.source}"
        x, y = self.first
        if self.azimuth == EAST:
            return survey, self.first, (f"the model's first cell lies at ({x:.10g}, {y:.10g}) m, {where}",)
        if keys.gathers is None:  # positions to model are in the coordinates of the grid
            return survey, None, (unused,)
        placed = keys.model_copy(update={"origin": self.first, "azimuth": self.azimuth})
        note = f"[acquisition] origin ({x:.10g}, {y:.10g}) m and azimuth {self.azimuth:g} degrees are taken, {where}"
        return survey.model_copy(update={"acquisition": placed}), None, (note,)

    def _differences(self, survey: Survey) -> tuple[str, ...]:
        """Notes where the survey's origin and azimuth are others than the headers'."""
        keys = survey.acquisition
        if keys.gathers is None:
            return ()
        azimuth = EAST if keys.azimuth is None else keys.azimuth
        notes = []
        if abs((self.azimuth - azimuth + 180.0) % 360.0 - 180.0) > TURNED:
            notes.append(f"azimuth {azimuth:g} degrees, where x points to {self.azimuth:g}")
        if self.mirrored:
            notes.append("y to the left of x, seen from above, where it points to the right")
        a = np.radians(azimuth)
        east, north = np.subtract(self.first, keys.origin or (0.0, 0.0))
        place = {"x": east * np.sin(a) + north * np.cos(a), "y": north * np.sin(a) - east * np.cos(a)}
        said = dict(zip("xyz", survey.needed_model.origin or (0.0, 0.0), strict=False))
        apart = {axis: abs(place[axis] - said[axis]) for axis in self.spacing}
        if any(apart[axis] > 0.5 * self.spacing[axis] for axis in apart):
            cell = ", ".join(f"{said[axis]:.10g} m along {axis}, where it is {place[axis]:.10g} m" for axis in apart)
            notes.append(f"first cell at {cell}")
        if not notes:
            return ()
        return (f"the survey says {'; '.join(notes)}, by the {self.source}; the survey's is used",)


def placement_of(survey: str, axes: str, volumes: Mapping[str, Volume]) -> Placement | None:
    """The place of the model by its files' headers; None where none tells. The last axis of the files must be z.

    survey: its file, for messages. InputError where two files contradict each other.
    """
    found: tuple[Volume, SurveyGrid] | None = None
    for volume in volumes.values():
        grid = volume.info.survey
        if grid is None or not axes.endswith("z"):
            continue
        if found is None:
            found = volume, grid
        elif not found[1].like(grid):
            raise InputError(
                f"{survey}: [model]: {volume.path} lies elsewhere by its CDP coordinates (bytes 181 and 185), {grid}, "
                f"than {found[0].path}, {found[1]}; allowed: one place"
            )
    return None if found is None else Placement(str(found[0].path), axes, found[1])
