"""The section [acquisition]: recorded gathers and their conditioning, or a geometry to model."""

from typing import Annotated, Literal, Self, get_args

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import Field, model_validator

from fathometer.config.constraints import Allowed
from fathometer.config.quantities import Coordinate, Distance, Ramp, Range, TraceLength, Velocity
from fathometer.config.table import Table, key, section
from fathometer.config.types import Count, FileName, Loose
from fathometer.seismic.survey.types import Corners, Numbers, Offsets, SampleInterval


class MuteTable(Table):
    """Top mute: zero before offset / velocity, full from `taper` later, a cosine between."""

    velocity: Velocity = key("velocity of the direct wave", "m/s")
    taper: Ramp = key("length of the ramp after offset / velocity", "s", 0.0)


class ShotChoiceTable(Table):
    """Selection of recorded shots."""

    ffid: Numbers | None = key("field record numbers, both ends included; left out: all", "", None)
    every: Count = key("every n-th of these, in the survey's order, beginning with the first", "", 1)


class RmsBalanceTable(Table):
    """RMS balancing: each trace divided by its RMS amplitude, zeros not counted."""

    kind: Literal["rms"] = key("the RMS amplitude of the whole trace")


class AgcBalanceTable(Table):
    """AGC: each sample divided by the RMS amplitude in a window around it, zeros not counted."""

    kind: Literal["agc"] = key("the RMS amplitude in a window that slides along the trace")
    window: TraceLength = key("length of the window", "s", 0.5)


BalanceTable = Annotated[RmsBalanceTable | AgcBalanceTable, Field(discriminator="kind")]


class DeghostTable(Table):
    """Removal of the ghosts of the sea surface, at vertical incidence, by the depths of sources and receivers."""

    source: Distance | None = key(
        "depth of the sources below the surface; 0: no ghost of theirs is removed; left out: that of the headers",
        "m",
        None,
    )
    receiver: Distance | None = key("the same of the receivers", "m", None)
    velocity: Velocity = key("of the water", "m/s", 1500.0)
    reflection: Annotated[float, Gt(0), Le(1)] = key("reflection coefficient of the surface, without its sign", "", 1.0)
    gain: Annotated[float, Ge(1), Le(100)] = key(
        "largest amplification, of each side: near its notches the ghost is not removed wholly", "", 4.0
    )


class ConditioningTable(Table):
    """Conditioning of recorded traces, in the order of these keys; `mute` is between the last two."""

    shots: ShotChoiceTable | None = key("selection of shots; left out: all", "", None)
    offsets: Offsets | None = key(
        "range of horizontal source-receiver distances of the traces that are used; left out: all", "m", None
    )
    loud_traces: Literal["mute", "clip", "refuse", "keep"] = key(
        "traces with a spike, or far louder than those beside them: set to zero or cut to what fits, with a note; an "
        "error; or taken as they are, without a look",
        "",
        "mute",
    )
    dead_below: Annotated[float, Ge(0), Le(1)] | None = key(
        "traces with an RMS amplitude of at most this fraction of the median of their shot are left out; 0: traces of "
        "zeros only; left out: none",
        "",
        None,
    )
    deghost: DeghostTable | None = key(
        "the ghosts of the sea surface are removed, so that traces fit an absorbing top and a wavelet without ghosts; "
        "left out: they stay",
        "",
        None,
    )
    polarity: Literal["as recorded", "reversed"] = key("sign of the traces", "", "as recorded")
    band_pass: Corners | None = key(
        "zero-phase band-pass, a trapezoid in frequency: low cut, low pass, high pass, high cut; left out: none",
        "Hz",
        None,
    )
    line_source: Velocity | None = key(
        "conversion of point-source to line-source records, for 2D runs: a half integral, and an amplitude that grows "
        "as the root of time, scaled by this velocity; left out: no conversion",
        "m/s",
        None,
    )
    balance: BalanceTable | None = key("trace amplitude balancing, by RMS or AGC; left out: none", "", None)


class SourcesTable(Table):
    """Source positions: the product of x and y, the shots running along x first, then y."""

    x: Coordinate | Range = key("positions along x", "m")
    y: Coordinate | Range | None = key("positions along y; 2D: left out", "m", None)
    z: Coordinate = key("depth", "m")


class ReceiversTable(Table):
    """Receiver positions: the product of x and y, the channels running along x first, then y."""

    x: Coordinate | Range = key("positions along x, or offsets from the source", "m")
    y: Coordinate | Range | None = key("positions along y, or offsets from the source; 2D: left out", "m", None)
    z: Coordinate = key("depth (never relative)", "m")
    relative: bool = key("x and y are relative to the source: the spread moves with it", "", False)


Component = Literal["pressure", "vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz"]
Components = Annotated[
    tuple[Component, ...], Loose, MinLen(1), Allowed(f"a list of {', '.join(get_args(Component))}, each once")
]


class AcquisitionTable(Table):
    """Recorded gathers, or an acquisition geometry (sources and receivers) to model."""

    gathers: FileName | None = key(
        "SEG-Y or SU files of recorded shots, a path that may hold * ? [ ], or one index of them (.parquet, of "
        "`fathometer survey build`); relative to the survey file",
        "",
        None,
    )
    origin: Annotated[tuple[Coordinate, Coordinate], Loose] | None = key(
        "position of the grid's point (0, 0) in the coordinates of the gathers; left out: (0, 0)", "m", None
    )
    azimuth: Annotated[float, Ge(-360), Le(360)] | None = key(
        "direction of the grid's x axis in the coordinates of the gathers, clockwise from their y axis (north); left "
        "out: 90, along their x axis",
        "degrees",
        None,
    )
    outside: Literal["refuse", "drop"] = key(
        "sources and receivers more than half a cell outside the model: an error, or left out with a note, a shot with "
        "its source; not of `migrate-time`, which has no such places",
        "",
        "refuse",
    )
    mute: MuteTable | None = key("top mute of recorded gathers; left out: none", "", None)
    conditioning: ConditioningTable = section("further conditioning of recorded gathers", ConditioningTable)
    source_depth: Coordinate | None = key("depth of all sources, in place of the headers of the gathers", "m", None)
    receiver_depth: Coordinate | None = key("depth of all receivers, in place of the headers of the gathers", "m", None)
    sources: SourcesTable | FileName | None = key(
        "source positions of a geometry to model: ranges, or a table of them (.csv or .parquet)", "", None
    )
    receivers: ReceiversTable | FileName | None = key(
        "receiver positions of a geometry to model: ranges, or a table of them (.csv or .parquet)", "", None
    )
    sample_interval: SampleInterval = key(
        "sample interval of the traces that `model` writes; gathers have their own, which this replaces where their "
        "headers are wrong",
        "s",
        0.004,
    )
    components: Components | None = key(
        "what receivers record, in the order in which it is written: velocities (m/s), stresses, pressure (Pa); left "
        'out: ["vx", "vy", "vz"] of an elastic run (2D: without vy); acoustic: ["pressure"] alone',
        "",
        None,
    )

    @property
    def given_interval(self) -> float | None:
        """Sample interval of the gathers in place of that of their headers, s; None: theirs."""
        given = self.gathers is not None and "sample_interval" in self.model_fields_set
        return self.sample_interval if given else None

    @model_validator(mode="after")
    def _components_once(self) -> Self:
        twice = [name for n, name in enumerate(self.components or ()) if name in (self.components or ())[:n]]
        if twice:
            raise ValueError(f'components: found "{twice[0]}" twice; allowed: each once')
        return self

    @model_validator(mode="after")
    def _files_or_geometry(self) -> Self:
        if self.gathers is None:
            for name in ("sources", "receivers"):
                if getattr(self, name) is None:
                    raise ValueError(f"{name}: missing; allowed: gathers, or both sources and receivers")
            for name in ("mute", "origin", "azimuth", "source_depth", "receiver_depth"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}: found without gathers; allowed: only with gathers")
            if self.conditioning != ConditioningTable():
                raise ValueError("conditioning: found without gathers; allowed: only with gathers")
            self._same_dimension()
        else:
            for name in ("sources", "receivers"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name}: found together with gathers; allowed: gathers, or a geometry (sources, receivers)"
                    )
        return self

    def _same_dimension(self) -> None:
        if not isinstance(self.sources, SourcesTable) or not isinstance(self.receivers, ReceiversTable):
            return
        if self.sources.y is None and self.receivers.y is not None:
            raise ValueError("sources.y: missing although receivers.y is given; allowed: both or neither")
        if self.sources.y is not None and self.receivers.y is None and not self.receivers.relative:
            raise ValueError("receivers.y: missing although sources.y is given; allowed: both or neither")
