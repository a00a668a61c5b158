"""Place of the model in the coordinates of the survey, where its files tell: CDP coordinates of SEG-Y, attributes
world_origin and azimuth of other formats.

What the survey file says counts: it is how headers that lie are overruled. Where it says something else, a note has
both numbers; where it says nothing, the headers' spacing, origin and azimuth are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.survey import AcquisitionTable, Survey
from fathometer.storage.volumes.place import EAST, World
from fathometer.storage.volumes.survey_grid import TURNED, SurveyGrid
from fathometer.storage.volumes.volume import Volume, VolumeInfo

WORDS = "world_origin and azimuth"  # attributes, in messages


class Placement:
    """Place of the model by its files.

    Attributes:
        source: where this stands, for messages. spacing: m, by the name of each horizontal axis.
        azimuth: degrees, of the x axis, clockwise from Y. first: m, X and Y of the first cell.
        mirrored: whether y points to the right of x, seen from above.
        world: of the files' local coordinates, where attributes give it; of CDP coordinates None.
        local: the file says that its coordinates have no place in the world, or are not known to have one.
    """

    def __init__(self, path: str, axes: str, grid: SurveyGrid, world: World | None = None, local: bool = False) -> None:
        names = axes.replace("z", "")
        of_world = "coordinates" if world == World() else WORDS  # such as CF states without these attributes
        self.source = by_cdp(path) if world is None else f"{of_world} of {path}"
        self.world, self.local = world, local
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

    def frame(self, survey: Survey, grid: Grid) -> tuple[Survey, tuple[float, float] | None, tuple[str, ...]]:
        """The survey with the origin and azimuth of the files where it has gathers and says nothing; X and Y of the
        model's first cell where that is enough (x along X, y along Y); notes. grid: of the model, by all else.

        InputError where the headers' axes are mirrored and nothing else is said.
        """
        keys, model = survey.acquisition, survey.needed_model
        given = model.origin is not None and self.world is None  # else it is in the file's own coordinates
        if keys.origin is not None or keys.azimuth is not None or given:
            return survey, None, self._differences(survey, grid)
        unused = f"the model's place by the {self.source} is not used: positions are given in the grid's coordinates"
        if not self.mirrored and not self.local:
            unused += "; results carry it"
        if self.world == World():  # the grid's coordinates are the world's
            return survey, None, ()
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
        if self.azimuth == EAST and self.world is None:
            return survey, self.first, (f"the model's first cell lies at ({x:.10g}, {y:.10g}) m, {where}",)
        if keys.gathers is None:  # positions to model are in the coordinates of the grid
            return survey, None, (unused,)
        if self.world is not None:
            x, y = self.world.origin
        azimuth = self.azimuth if self.world is None else self.world.azimuth  # the same to the last bit
        placed = keys.model_copy(update={"origin": (x, y), "azimuth": azimuth})
        note = f"[acquisition] origin ({x:.10g}, {y:.10g}) m and azimuth {azimuth:g} degrees are taken, {where}"
        return survey.model_copy(update={"acquisition": placed}), None, (note,)

    def world_on(self, grid: Grid) -> World | None:
        """Where the coordinates of a grid that begins at the files' first cell lie; None where that is not known, or
        the files' y would be mirrored."""
        if self.world is not None or self.mirrored or self.local:
            return self.world
        turned = World(azimuth=self.azimuth)
        x, y = turned.places(*grid.origin[:2])
        return replace(turned, origin=(self.first[0] - float(x), self.first[1] - float(y)))

    def world_said(self, grid: Grid) -> World | None:
        """The same of a grid whose origin the survey or a file gives, which places it in the coordinates of the
        gathers: these are the world's where x lies along X and the first cell where the headers have it."""
        x, y = (there - here for there, here in zip(self.first, grid.origin, strict=False))
        apart = [abs(x) / self.spacing["x"], *([abs(y) / self.spacing["y"]] if "y" in self.spacing else [])]
        if self.azimuth != EAST or self.mirrored or self.local or max(apart) > 0.5:
            return None
        return World((0.0, 0.0 if "y" in self.spacing else self.first[1]))

    def _differences(self, survey: Survey, grid: Grid) -> tuple[str, ...]:
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
        said = dict(zip("xyz", grid.origin, strict=True))
        apart = {axis: abs(place[axis] - said[axis]) for axis in self.spacing}
        if any(apart[axis] > 0.5 * self.spacing[axis] for axis in apart):
            cell = ", ".join(f"{said[axis]:.10g} m along {axis}, where it is {place[axis]:.10g} m" for axis in apart)
            notes.append(f"first cell at {cell}")
        if not notes:
            return ()
        return (f"the survey says {'; '.join(notes)}, by the {self.source}; the survey's is used",)


def placement_of(survey: str, axes: str, volumes: Mapping[str, Volume], given: Grid | None = None) -> Placement | None:
    """The place of the model by its files; None where none tells. Attributes count before CDP coordinates, which tell
    only where the last axis of the files is z.

    survey: its file, for messages. given: the grid, where a key gives its spacing; it holds for files that have none.
    InputError where two files contradict each other.
    """
    found: list[tuple[Volume, SurveyGrid]] = []
    for volume in volumes.values():
        grid = survey_grid_of(volume.info, axes, given)
        if grid is None or (volume.info.place.world is None and not axes.endswith("z")):
            continue
        if found and not found[0][1].like(grid):
            path = str(volume.path)
            source = f"its {by_cdp()}" if volume.info.place.world is None else f"its {WORDS}"
            raise InputError(
                f"{survey}: [model]: {path} lies elsewhere by {source}, {grid}, "
                f"than {found[0][0].path}, {found[0][1]}; allowed: one place"
            )
        found.append((volume, grid))
    if not found:
        return None
    volume, grid = next((pair for pair in found if pair[0].info.place.world is not None), found[0])
    place = volume.info.place
    return Placement(str(volume.path), axes, grid, place.world, place.local)


def survey_grid_of(info: VolumeInfo, axes: str, given: Grid | None = None) -> SurveyGrid | None:
    """Where the horizontal axes of a volume lie in the world, by its attributes or its CDP coordinates; None where
    neither is there. axes: of the file, slowest first, x and y among them. given: see placement_of."""
    world = info.place.world
    if world is None or (info.spacing is None and given is None):
        return info.survey
    if info.spacing is not None:
        spacing = dict(zip(axes, info.spacing, strict=True))
        first = dict(zip(axes, info.origin or (0.0,) * len(axes), strict=True))
    else:
        assert given is not None
        spacing, first = (dict(zip("xyz", metres, strict=True)) for metres in (given.spacing, given.origin))
    return world.grid("".join(axis for axis in axes if axis in "xy"), spacing, first)


def unused_places(volume: Volume) -> str:
    """What of a file's coordinates is not used where its spacing is given; "": nothing is known of any."""
    return f"{volume.info.unplaced}: its coordinates are not used" if volume.info.unplaced else ""


def world_of_keys(keys: AcquisitionTable) -> World | None:
    """The transform of [acquisition] origin and azimuth; None where neither is given."""
    if keys.origin is None and keys.azimuth is None:
        return None
    x, y = keys.origin or (0.0, 0.0)
    return World((x, y), EAST if keys.azimuth is None else keys.azimuth)


def by_cdp(path: str = "") -> str:
    """What CDP coordinates are called in messages; path: of their file."""
    return f"CDP coordinates{path and f' of {path}'} (bytes 181 and 185)"
