"""The sections [grid] and [bathymetry] of the ocean file."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Le
from pydantic import BeforeValidator, Field, model_validator

from fathometer.apps.ocean.keys import AXES, Depth, PlaneAxes
from fathometer.config.constraints import Allowed
from fathometer.config.quantities import CellSize, Coordinate
from fathometer.config.table import Table, key, not_allowed
from fathometer.config.types import Count, FileName, Loose

EARTH_RADIUS = 6_371_000.0  # m
HIGHEST_LATITUDE = 89.9  # degrees; the width of cells is 0 at a pole
LEAST_PERIODIC = 4  # cells along a periodic x
MOST_COLUMNS = 100_000_000
MOST_LEVELS = 10_000

Cells = Annotated[int, Ge(2), Le(1_000_000)]
LEAST_THICKNESS, MOST_THICKNESS = 1e-6, 1e5  # m
Share = Annotated[float, Ge(1e-6), Le(1000)]  # of the grid; much more than 1: the same everywhere
Thickness = Annotated[float, Ge(LEAST_THICKNESS), Le(MOST_THICKNESS)]


def _thicknesses(values: Any) -> Any:
    """Checked as a whole: the problem is that of the list, not of a table with a number."""
    if isinstance(values, list | tuple):
        numbers = all(
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and LEAST_THICKNESS <= value <= MOST_THICKNESS
            for value in values
        )
        if not values or not numbers:
            raise not_allowed()
    return values


Thicknesses = Annotated[
    tuple[Thickness, ...],
    Loose,
    BeforeValidator(_thicknesses),
    Allowed("a list of at least one number from 1e-06 to 100000"),
]


class LevelsTable(Table):
    """Thicknesses that grow smoothly: top + a sin²(π k / (2 (count - 1))) of level k; a makes their sum `depth`."""

    count: Annotated[int, Ge(1), Le(MOST_LEVELS)] = key("levels")
    depth: Depth = key("of all levels together", "m")
    top: Thickness | None = key("thickness of the first one; left out: all alike", "m", None)

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.top is not None and self.top > self.depth / self.count * (1 + 1e-12):
            raise ValueError(
                f"top: found {self.top:g}; allowed: up to {self.depth / self.count:g} m, the mean thickness of a level "
                f"(depth, {self.depth:g} m, over count)"
            )
        if self.top is not None and self.count == 1 and self.top < self.depth:
            raise ValueError(f"top: found {self.top:g}, of one level; allowed: its depth, {self.depth:g} m")
        return self


class GridTable(Table):
    """Cells of equal size in x and y, or in longitude and latitude; levels of any thickness."""

    cells: Annotated[tuple[Cells, Cells], Loose] = key("along x and y")
    kind: Literal["plane", "sphere"] = key("sphere: x and y are longitude and latitude", "", "plane")
    spacing: Annotated[tuple[CellSize, CellSize], Loose] = key("size of a cell along x and y", "m or degrees")
    origin: Annotated[tuple[Coordinate, Coordinate], Loose] = key(
        "the south-west corner of the first cell", "m or degrees", (0.0, 0.0)
    )
    periodic: bool = key("the eastern border is the western one", "", False)
    radius: Annotated[float, Ge(1), Le(1e9)] | None = key("of the sphere; left out: 6371000", "m", None)
    levels: Thicknesses | LevelsTable = key("thicknesses, the uppermost first", "m")

    @property
    def sphere_radius(self) -> float:
        """Radius of the sphere, m."""
        return EARTH_RADIUS if self.radius is None else self.radius

    @model_validator(mode="after")
    def _fits(self) -> Self:
        (nx, ny), (dx, dy), (_, south) = self.cells, self.spacing, self.origin
        if nx * ny > MOST_COLUMNS:
            raise ValueError(f"cells: found {nx} x {ny} = {nx * ny}; allowed: up to {MOST_COLUMNS}")
        if not isinstance(self.levels, LevelsTable) and len(self.levels) > MOST_LEVELS:
            raise ValueError(f"levels: found {len(self.levels)}; allowed: up to {MOST_LEVELS}")
        if self.periodic and nx < LEAST_PERIODIC:
            raise ValueError(f"cells: found {nx} along x, which is periodic; allowed: from {LEAST_PERIODIC} on")
        if self.kind == "plane":
            if self.radius is not None:
                raise ValueError('radius: found on a plane; allowed: with kind = "sphere"')
            return self
        around, north = nx * dx, south + ny * dy
        if self.periodic and abs(around - 360.0) > 1e-6:
            raise ValueError(f"spacing: found {nx} x {dx:g} = {around:g} degrees of a periodic sphere; allowed: 360")
        if around > 360.0 + 1e-6:
            raise ValueError(f"spacing: found {nx} x {dx:g} = {around:g} degrees along x; allowed: up to 360")
        if max(-south, north) > HIGHEST_LATITUDE + 1e-9:
            raise ValueError(
                f"origin: found latitudes from {south:g} to {north:g}; allowed: from -{HIGHEST_LATITUDE} to "
                f"{HIGHEST_LATITUDE} degrees, as cells have no width at a pole"
            )
        return self


class DepthTable(Table):
    """What all kinds of depths have."""

    depth: Depth | None = key("the largest one; left out: that of all levels", "m", None)
    least_levels: Count = key("levels of water where there is some", "", 1)
    fill_isolated: bool = key(
        "cells of water without a corner in the water, which exchange none, become land", "", False
    )


class FlatDepth(DepthTable):
    """The same depth everywhere."""

    kind: Literal["flat"] = key("a box")


class BowlDepth(DepthTable):
    """depth (1 - r²), r: the distance from the middle, 1 at the borders; by y alone where x is periodic."""

    kind: Literal["bowl"] = key("a round basin")


class SlopeDepth(DepthTable):
    """Linear from shallow at the western or southern border to depth at the other one."""

    kind: Literal["slope"] = key("linear")
    shallow: Annotated[float, Ge(0), Le(1e5)] = key("depth at the shallow border", "m")
    along: Literal["x", "y"] = key("direction of the slope", "", "y")


class RidgeDepth(DepthTable):
    """depth - height exp(-((s - position) / width)²), s: from 0 to 1 between the borders."""

    kind: Literal["ridge"] = key("a flat bottom with a ridge across it")
    height: Depth = key("of the ridge above the bottom; where it reaches the surface it is land", "m")
    position: Annotated[float, Ge(0), Le(1)] = key("of its crest, as part of the grid", "", 0.5)
    width: Share = key("where it is lower by a factor of e, as part of the grid", "", 0.05)
    along: Literal["x", "y"] = key("direction of its crest", "", "y")


class ContinentsDepth(DepthTable):
    """Two continents, an island, polar caps, shelves and ridges: the same on every grid, and all water is one basin."""

    kind: Literal["continents"] = key("idealised; about 30 % of a sphere is land")
    seed: Annotated[int, Ge(0)] = key("of the bends of their coasts", "", 0)


class FileDepth(DepthTable):
    """A 2D volume over x, y. A depth becomes the nearest number of levels; with `depth`, larger ones are cut to it."""

    kind: Literal["file"] = key("from a file")
    file: FileName = key("depths of the cells, m; 0: land")
    positive: Literal["down", "up"] = key("direction of the file's numbers; up: heights, land is above 0", "", "down")
    mask: FileName | None = key(
        "1: water, 0: land; must agree with the depths; left out: water where depth is", "", None
    )
    axes: PlaneAxes | None = key(AXES, "", None)


BathymetryTable = Annotated[
    FlatDepth | BowlDepth | SlopeDepth | RidgeDepth | ContinentsDepth | FileDepth, Field(discriminator="kind")
]
