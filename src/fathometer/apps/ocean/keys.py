"""Tables within the sections of the ocean file: values by latitude and depth, winds, heights, files."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from annotated_types import Ge, Le
from pydantic import Field, model_validator

from fathometer.config.quantities import Coordinate
from fathometer.config.table import Table, key
from fathometer.config.types import FileName, Loose

PlaneAxes = Literal["xy", "yx"]
VolumeAxes = Literal["xyz", "zyx", "yxz", "xzy", "yzx", "zxy"]
TEMPERATURES, SALINITIES = (-60.0, 150.0), (0.0, 500.0)  # °C, kelvins are beyond; g/kg, of brines too
Temperature = Annotated[float, Ge(TEMPERATURES[0]), Le(TEMPERATURES[1])]
Salinity = Annotated[float, Ge(SALINITIES[0]), Le(SALINITIES[1])]
HeatFlux = Annotated[float, Ge(-1e5), Le(1e5)]  # W/m²
Depth = Annotated[float, Ge(1e-3), Le(1e5)]  # m, from tanks to the oceans of moons
Height = Annotated[float, Ge(-1000), Le(1000)]  # m, of the surface
Stress = Annotated[float, Ge(-100), Le(100)]  # N/m²
UNSEEN = 1e-3  # of a hill or ridge: where no cell has more of its height, none sees it
VALUES = ("surface", "deep", "target", "south", "north", "equator", "pole")
AnyValue = Annotated[float, Ge(-1e5), Le(1e5)]  # of a table that several quantities have: each has limits of its own

AXES = "of the file, slowest first; left out: those of its labels, else in the order x, y"


class ZonalTable(Table):
    """Values by y or latitude: linear from south to north, or on a sphere pole + (equator - pole) cos² of latitude."""

    south: AnyValue | None = key("at the southern border", "", None)
    north: AnyValue | None = key("at the northern border", "", None)
    equator: AnyValue | None = key("on a sphere, in place of south and north", "", None)
    pole: AnyValue | None = key("on a sphere, in place of south and north", "", None)

    @property
    def is_linear(self) -> bool:
        """Whether it is given from south to north."""
        return self.south is not None and self.north is not None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        found = [
            name for name in ("south", "north", "equator", "pole", "file") if getattr(self, name, None) is not None
        ]
        ways = [["south", "north"], ["equator", "pole"], *([["file"]] if "file" in type(self).model_fields else [])]
        if found not in ways:
            words = " or ".join(" and ".join(way) for way in ways)
            raise ValueError(f"found {' and '.join(found) or 'nothing'}; needed: {words}")
        return self


class SurfaceTable(ZonalTable):
    """Values at the surface: by y or latitude, or a file."""

    file: FileName | None = key("a 2D volume over x, y, in place of the others", "", None)
    axes: PlaneAxes | None = key(AXES, "", None)


class ProfileTable(Table):
    """Values by depth z: deep + (surface - deep) exp(-z / scale), or a file."""

    surface: AnyValue | ZonalTable | None = key("at the surface, everywhere or by y or latitude", "", None)
    deep: AnyValue | None = key("far below; left out: at all depths as at the surface", "", None)
    scale: Depth | None = key("depth over which the surface's values fade by a factor of e", "m", None)
    file: FileName | None = key("a 3D volume over x, y, z, in place of the others", "", None)
    axes: VolumeAxes | None = key(AXES + ", z", "", None)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.surface is None) == (self.file is None):
            found = "both of them" if self.file is not None else "neither of them"
            raise ValueError(f"surface, file: found {found}; needed: one of them")
        if self.file is not None and (self.deep is not None or self.scale is not None):
            raise ValueError("file: found together with deep or scale; allowed: alone")
        if (self.deep is None) != (self.scale is None):
            missing = "deep" if self.deep is None else "scale"
            raise ValueError(f"{missing}: missing; needed: deep and scale together, or neither of them")
        return self


class RestoringTable(Table):
    """Restoring of the first level: (target - value) / timescale."""

    timescale: Annotated[float, Ge(1e-3), Le(1e14)] = key("of the first level", "s")
    target: AnyValue | SurfaceTable = key("it is restored to: everywhere, by y or latitude, or a file")


class NoWind(Table):
    """No wind."""

    kind: Literal["none"] = key("no wind")


class GyreWind(Table):
    """Stress along x by t, which goes from 0 at the southern border to 1 at the northern one; times amplitude."""

    kind: Literal["single-gyre", "double-gyre", "channel"] = key("-cos(π t), -cos(2 π t), sin(π t)")
    amplitude: Stress = key("of the stress", "N/m²", 0.1)


class ZonalWind(Table):
    """Trades to 30°, westerlies to 60°, polar easterlies, on a sphere: -cos(φ) sin(6 abs(φ)) times amplitude."""

    kind: Literal["zonal"] = key("by latitude φ")
    amplitude: Stress = key("of the stress", "N/m²", 0.1)


class ConstantWind(Table):
    """The same stress everywhere."""

    kind: Literal["constant"] = key("the same everywhere")
    stress: Annotated[tuple[Stress, Stress], Loose] = key("along x and y", "N/m²")


class FileWind(Table):
    """Stress from files: 2D volumes over x, y at the north-east corners of the cells."""

    kind: Literal["file"] = key("from files")
    tau_x: FileName = key("along x")
    tau_y: FileName | None = key("along y; left out: 0", "", None)
    axes: PlaneAxes | None = key(AXES, "", None)


WindTable = Annotated[NoWind | GyreWind | ZonalWind | ConstantWind | FileWind, Field(discriminator="kind")]


class CosineHeight(Table):
    """amplitude cos(m π s) cos(n π t), s and t from 0 to 1 between the borders; cos(2 m π s) where x is periodic."""

    kind: Literal["cosine"] = key("a standing wave")
    amplitude: Height = key("height", "m")
    modes: Annotated[tuple[Annotated[int, Ge(0)], Annotated[int, Ge(0)]], Loose] = key("m and n", "", (1, 0))


class GaussianHeight(Table):
    """amplitude exp(-(r / radius)²), r: the distance from centre."""

    kind: Literal["gaussian"] = key("a hill")
    amplitude: Height = key("height", "m")
    centre: Annotated[tuple[Coordinate, Coordinate], Loose] = key("its place", "m or degrees")
    radius: Annotated[float, Ge(1e-3), Le(1e8)] = key("where it is lower by a factor of e", "m")


class FileHeight(Table):
    """A file: a 2D volume over x, y."""

    kind: Literal["file"] = key("from a file")
    file: FileName = key("the heights, m")
    axes: PlaneAxes | None = key(AXES, "", None)


HeightTable = Annotated[CosineHeight | GaussianHeight | FileHeight, Field(discriminator="kind")]


class NoiseTable(Table):
    """Random differences of temperature, evenly distributed, each cell its own: the same on any number of ranks."""

    amplitude: Annotated[float, Ge(0), Le(100)] = key("the largest one", "K")
    seed: Annotated[int, Ge(0)] = key("of the random numbers", "", 0)


def numbers_of(value: float | Table | None) -> list[float]:
    """The numbers that a value by latitude and depth is made of; none of a file."""
    if isinstance(value, Table):
        return [
            number for name in type(value).model_fields if name in VALUES for number in numbers_of(getattr(value, name))
        ]
    return [] if value is None else [float(value)]


def require_within(name: str, value: float | Table | None, low: float, high: float, unit: str = "") -> None:
    """Raises ValueError that names the key where a number beyond low to high is the value, or in its tables.

    Tables by latitude or depth are those of several quantities, so that their own keys cannot have these limits.
    """
    if isinstance(value, Table):
        for key_name in type(value).model_fields:
            if key_name in VALUES:
                require_within(f"{name}.{key_name}", getattr(value, key_name), low, high, unit)
    elif value is not None and not low <= value <= high:
        raise ValueError(f"{name}: found {value:g}; allowed: from {low:g} to {high:g}{unit}")
