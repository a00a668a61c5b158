"""The section [time_migration]: Kirchhoff prestack time migration."""

from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le, Len
from pydantic import model_validator

from fathometer.config.quantities import MOST_METRES, CellSize, Elevation, Ramp, Range, TraceLength, Velocity
from fathometer.config.table import Table, key
from fathometer.config.types import Count, FileName, Loose
from fathometer.seismic.survey.types import VelocityUnits

PICKS_SUFFIXES = (".txt", ".csv")  # of text files of velocity picks
ImageInterval = Annotated[float, Ge(1e-6), Le(10)]
Eta = FileName | Annotated[float, Gt(-0.3), Le(2)]


class TimeMigrationTable(Table):
    """Kirchhoff prestack time migration: velocities, image, operator."""

    velocity: FileName | Velocity | None = key(
        "RMS velocity over place and vertical two-way time (in VTI that of NMO): a volume (.rsf, .segy, .npy), a text "
        "file of picks (.txt, .csv: x, y, t, v; 2D: x, t, v) or a number; left out: from [model]",
        "m/s",
        None,
    )
    units: VelocityUnits | None = key(
        "unit of the values of a volume of velocities; left out: as the file says, else m/s", "", None
    )
    eta: Eta | None = key(
        "effective eta over place and vertical two-way time: a volume or a number; left out: from [model] where the "
        "velocity is, else 0",
        "",
        None,
    )
    x: Range | None = key(
        "places of the image along x; left out: those of [model], as far apart as midpoints", "m", None
    )
    y: Range | None = key(
        "places of the image along y; left out: those of [model], as far apart as midpoints; 2D: not allowed", "m", None
    )
    start: Ramp = key("first time of the image", "s", 0.0)
    end: TraceLength | None = key("last time of the image; left out: that of the traces", "s", None)
    interval: ImageInterval | None = key("sample interval of the image; left out: that of the traces", "s", None)
    aperture: Annotated[float, Ge(1e-6), Le(MOST_METRES)] | None = key(
        "largest horizontal distance between a trace's midpoint and its image; left out: as the dip allows", "m", None
    )
    dip: Annotated[float, Ge(0.1), Le(90)] = key("steepest dip of the image", "degrees", 60.0)
    taper: Annotated[float, Ge(0), Le(1)] = key(
        "fraction of aperture and dip over which weights fall to 0, at their ends", "", 0.1
    )
    anti_alias: Literal["triangle", "none"] = key(
        "anti-alias filter of the traces, from the slope of the operator", "", "triangle"
    )
    alias_spacing: Annotated[tuple[CellSize, ...], Len(1, 2), Loose] | None = key(
        "distance of traces for that filter, along x and y (2D: x); left out: that of midpoints, or of the image's "
        "places where these are farther apart",
        "m",
        None,
    )
    weights: Literal["true-amplitude", "none"] = key(
        "amplitude weights: so that the image is the reflection coefficient where traces lie densely, or 1",
        "",
        "true-amplitude",
    )
    sources: Literal["point", "line"] = key(
        "what has made the traces of a 2D survey: points, as in the field, or lines, as 2D modelling does", "", "point"
    )
    datum: Elevation = key("depth from which times count; sources and receivers are shifted to it", "m", 0.0)
    replacement_velocity: Velocity | None = key(
        "velocity between the datum and sources and receivers below it; left out: no shift", "m/s", None
    )
    depth: bool = key("also write the image stretched to depth, by the velocities of [model] or else Dix's", "", False)
    block_traces: Count = key(
        "traces of a task, at least (whole shots); part of what the image depends on only by its last bits", "", 4096
    )
    work: Literal["auto", "tiles", "blocks"] = key(
        "tiles: all ranks work on the same traces, each for its own part of the image; blocks: each rank works on "
        "traces of its own; auto: by memory and bytes",
        "",
        "auto",
    )

    @model_validator(mode="after")
    def _times(self) -> Self:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"end: found {self.end:g}; allowed: after start, {self.start:g} s")
        if self.y is not None and self.x is None:
            raise ValueError("x: missing; needed with y")
        return self
