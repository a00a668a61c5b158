"""The survey file: every key of the TOML input, its unit, its default and what is allowed.

The models below are the only place where a key is defined. The messages about a wrong key (`complaint.py`)
and the tables of the user guide (`reference.py`) are made from them, so neither can drift.
"""

import itertools
import math
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le, Len, MinLen, MultipleOf
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fathometer.base.errors import InputError
from fathometer.config.constraints import Says
from fathometer.config.problems import first_problem
from fathometer.storage.volumes.formats import written
from fathometer.storage.volumes.strategy import Strategy


class Table(BaseModel):
    """A table of the survey file: unknown keys, strings for numbers, NaN and infinity are errors; nothing
    changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def key(meaning: str, unit: str = "", default: Any = ...) -> Any:
    """A key with its meaning and unit ("" where it has none); without a default it is required."""
    return Field(default, description=meaning, json_schema_extra={"unit": unit})


def _table(meaning: str, kind: type[Table]) -> Any:
    """A section that may be left out, because all of its keys have defaults."""
    return Field(default_factory=kind, description=meaning, json_schema_extra={"unit": ""})


def _not_allowed() -> PydanticCustomError:
    """For a check whose words stand beside it (`Says`); a ValueError brings a whole sentence of its own
    instead."""
    return PydanticCustomError("not_allowed", "not allowed")


def _whole_microseconds(seconds: float) -> float:
    """SEG-Y stores the sample interval as whole microseconds in 16 bits with a sign."""
    micro = seconds * 1e6
    if abs(micro - round(micro)) > 1e-6 * micro or not 1 <= round(micro) <= 32767:
        raise _not_allowed()
    return seconds


def _increasing(corners: tuple[float, ...]) -> tuple[float, ...]:
    if any(high <= low for low, high in itertools.pairwise(corners)):
        raise _not_allowed()
    return corners


def _not_falling(ends: tuple[int, int]) -> tuple[int, int]:
    if ends[1] < ends[0]:
        raise _not_allowed()
    return ends


def _path_name(name: str) -> str:
    if "\0" in name:
        raise _not_allowed()
    return name


def _image_name(name: str) -> str:
    if "\0" in name or Path(name).suffix not in written() or Path(name).name != name:
        raise _not_allowed()
    return name


def _strategy(text: str) -> str:
    try:
        Strategy.of(text)
    except InputError as error:
        raise ValueError(f"found {error}") from None
    return text


def _even_range(values: tuple[float, float, float]) -> tuple[float, float, float]:
    """Check [first, last, step]: the step leads from first to last in whole steps (to 1e-6 of a step)."""
    first, last, step = values
    found = f"found [{first:g}, {last:g}, {step:g}]"
    if step == 0.0:
        raise ValueError(f"{found}, the step is 0; allowed: a step other than 0, or one number")
    if (last - first) * step < 0.0:
        raise ValueError(f"{found}, the step leads away from the last value; allowed: step {-step:g}")
    steps = (last - first) / step
    if not steps < _MOST_PLACES:
        raise ValueError(f"{found} is {steps:.3g} places; allowed: at most {_MOST_PLACES}")
    if abs(steps - round(steps)) > 1e-6:
        below, above = (first + math.floor(steps) * step, first + math.ceil(steps) * step)
        raise ValueError(
            f"{found}, the step does not divide last - first; last values that fit: {below:.10g} or {above:.10g}"
        )
    return values


MEMORY_BUDGET = 0.7  # what a production code found safe on nodes of 48 GB
_MOST_PLACES = 10_000_000  # along one axis: what is meant to be a survey has fewer

# A TOML array arrives as a list, so the tuple itself is not strict; its items are.
Loose = Strict(False)
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]
Count = Annotated[int, Ge(1)]
FileName = Annotated[str, MinLen(1), AfterValidator(_path_name), Says("a file")]
FolderName = Annotated[str, MinLen(1), AfterValidator(_path_name), Says("a folder")]
Thomsen = FileName | Annotated[float, Gt(-0.5)]
Range = Annotated[
    tuple[float, float, float],
    Loose,
    AfterValidator(_even_range),
    Says("[first, last, step] where the step divides last - first"),
]
SampleInterval = Annotated[
    float, Gt(0), AfterValidator(_whole_microseconds), Says("whole microseconds from 1e-6 to 0.032767")
]
Corners = Annotated[
    tuple[NotNegative, NotNegative, NotNegative, NotNegative],
    Loose,
    AfterValidator(_increasing),
    Says("[f1, f2, f3, f4], increasing, from 0"),
]
Edges = Annotated[tuple[NotNegative, ...], Loose, Len(2, 200), Says("two or more ascending numbers, from 0")]
Offsets = Annotated[
    tuple[NotNegative, NotNegative], Loose, AfterValidator(_increasing), Says("[least, most], increasing, from 0")
]
Numbers = Annotated[tuple[int, int], Loose, AfterValidator(_not_falling), Says("[first, last], integers")]
_SUFFIXES = written()
ImageName = Annotated[
    str,
    AfterValidator(_image_name),
    Says(f"a file name, without a folder, that ends in {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}"),
]
StrategyName = Annotated[str, AfterValidator(_strategy), Says("a strategy, see storage.md")]


class ModelTable(Table):
    """The earth: each property a file (.rsf, .npy, .npz:key, .segy, .h5:path) or a number."""

    vp: FileName | Positive = key("vertical P velocity, in `units`", "m/s")
    epsilon: Thomsen = key("Thomsen's epsilon", "", 0.0)
    delta: Thomsen = key("Thomsen's delta", "", 0.0)
    spacing: Annotated[tuple[Positive, ...], Len(2, 3), Loose] | None = key(
        "size of a cell along x, y, z (2D: x, z); needed where the file carries none",
        "m",
        None,
    )
    origin: Annotated[tuple[float, ...], Len(2, 3), Loose] | None = key(
        "place of the first cell along x, y, z (2D: x, z); left out: as in the file, else 0", "m", None
    )
    axes: Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xz", "zx"] | None = key(
        'order of the file\'s axes, slowest first; left out: "xyz" for 3 axes, "xz" for 2', "", None
    )
    units: Literal["m/s", "km/s", "s2/km2"] = key("unit of the values of vp (s2/km2: slowness squared)", "", "m/s")


class MuteTable(Table):
    """Top mute: zero before offset / velocity, full from `taper` later, a cosine between."""

    velocity: Positive = key("velocity of the direct wave", "m/s")
    taper: NotNegative = key("length of the ramp after offset / velocity", "s", 0.0)


class ShotChoiceTable(Table):
    """Which of the recorded shots are taken."""

    ffid: Numbers | None = key("field record numbers, both ends included; left out: all", "", None)
    every: Count = key("of these each n-th, in the survey's order, beginning with the first", "", 1)


class RmsBalanceTable(Table):
    """Each trace divided by its RMS amplitude, zeros not counted."""

    kind: Literal["rms"] = key("the RMS amplitude of the whole trace")


class AgcBalanceTable(Table):
    """Each sample divided by the RMS amplitude around it, zeros not counted."""

    kind: Literal["agc"] = key("the RMS amplitude in a window that slides along the trace")
    window: Positive = key("length of the window", "s", 0.5)


BalanceTable = Annotated[RmsBalanceTable | AgcBalanceTable, Field(discriminator="kind")]


class ConditioningTable(Table):
    """What is done to recorded traces, in the order of these keys; `mute` is between the last two."""

    shots: ShotChoiceTable | None = key("which shots are taken; left out: all", "", None)
    offsets: Offsets | None = key(
        "horizontal distances from source to receiver of the traces that are taken; left out: all", "m", None
    )
    dead_below: Annotated[float, Ge(0), Le(1)] | None = key(
        "traces of which the RMS amplitude is at most this part of the median of their shot are left out; 0: traces of "
        "zeros only; left out: none",
        "",
        None,
    )
    polarity: Literal["as recorded", "reversed"] = key("sign of the traces", "", "as recorded")
    band_pass: Corners | None = key(
        "zero-phase band-pass, a trapezoid in frequency: low cut, low pass, high pass, high cut; left out: none",
        "Hz",
        None,
    )
    line_source: Positive | None = key(
        "makes records of point sources those of line sources, for 2D runs: a half integral, and an amplitude that "
        "grows as the root of time; this velocity scales it; left out: no correction",
        "m/s",
        None,
    )
    balance: BalanceTable | None = key("amplitudes made alike; left out: as they are", "", None)


class SourcesTable(Table):
    """Places of the sources: the product of x and y, the shots running along x first, then y."""

    x: float | Range = key("places along x", "m")
    y: float | Range | None = key("places along y; 2D: left out", "m", None)
    z: float = key("depth", "m")


class ReceiversTable(Table):
    """Places of the receivers: the product of x and y, the channels running along x first, then y."""

    x: float | Range = key("places along x, or offsets from the source", "m")
    y: float | Range | None = key("places along y, or offsets from the source; 2D: left out", "m", None)
    z: float = key("depth (never relative)", "m")
    relative: bool = key("x and y are added to those of the source: the spread moves with it", "", False)


class AcquisitionTable(Table):
    """Recorded gathers, or a geometry (sources and receivers) to model."""

    gathers: FileName | None = key(
        "SEG-Y or SU files of recorded shots, a path that may hold * ? [ ], or one index of them (.parquet, of "
        "`fathometer survey build`); relative to the survey file",
        "",
        None,
    )
    origin: Annotated[tuple[float, float], Loose] | None = key(
        "place of the grid's point (0, 0) in the coordinates of the gathers; left out: (0, 0)", "m", None
    )
    azimuth: Annotated[float, Ge(-360), Le(360)] | None = key(
        "direction of the grid's x axis in the coordinates of the gathers, clockwise from their y axis (north); left "
        "out: 90, along their x axis",
        "degrees",
        None,
    )
    mute: MuteTable | None = key("top mute of recorded gathers; left out: none", "", None)
    conditioning: ConditioningTable = _table("what else is done to recorded gathers", ConditioningTable)
    source_depth: float | None = key("depth of all sources, in place of the headers of the gathers", "m", None)
    receiver_depth: float | None = key("depth of all receivers, in place of the headers of the gathers", "m", None)
    sources: SourcesTable | None = key("places of the sources of a geometry to model", "", None)
    receivers: ReceiversTable | None = key("places of the receivers of a geometry to model", "", None)
    sample_interval: SampleInterval = key(
        "sample interval of the traces that `model` writes; gathers have their own", "s", 0.004
    )

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
            for name in ("sources", "receivers", "sample_interval"):
                if name in self.model_fields_set and getattr(self, name) is not None:
                    raise ValueError(
                        f"{name}: found together with gathers; allowed: gathers, or a geometry (sources, receivers)"
                    )
        return self

    def _same_dimension(self) -> None:
        assert self.sources is not None
        assert self.receivers is not None
        if self.sources.y is None and self.receivers.y is not None:
            raise ValueError("sources.y: missing although receivers.y is given; allowed: both or neither")
        if self.sources.y is not None and self.receivers.y is None and not self.receivers.relative:
            raise ValueError("receivers.y: missing although sources.y is given; allowed: both or neither")


class RickerTable(Table):
    """Ricker wavelet, zero phase; the highest frequency taken from it is 2.5 times its peak."""

    kind: Literal["ricker"] = key("Ricker, zero phase")
    peak_frequency: Positive = key("frequency of the peak of the spectrum", "Hz")


class OrmsbyTable(Table):
    """Ormsby wavelet, zero phase; its highest frequency is its last corner."""

    kind: Literal["ormsby"] = key("Ormsby, zero phase: a trapezoid in frequency")
    corners: Corners = key("low cut, low pass, high pass, high cut", "Hz")


class SampledWaveletTable(Table):
    """A series from a file, zero outside it."""

    kind: Literal["file"] = key("a series from a file")
    path: FileName = key("the series: .npy, .rsf or text; relative to the survey file")
    sample_interval: Positive = key("sample interval of the series", "s")
    zero: float = key("time in the series, from its first sample, that is t = 0 of the traces", "s", 0.0)
    maximum_frequency: Positive = key("highest frequency that is taken from it", "Hz")


class SpongeTable(Table):
    """Damping that rises towards the sides."""

    kind: Literal["sponge"] = key("damping that rises towards the sides")
    width: Count = key("thickness of the layer", "cells", 40)


class PmlTable(Table):
    """Perfectly matched layer."""

    kind: Literal["pml"] = key("perfectly matched layer")
    width: Annotated[int, Ge(4), Le(200)] = key("thickness of the layer", "cells", 8)


WaveletTable = Annotated[RickerTable | OrmsbyTable | SampledWaveletTable, Field(discriminator="kind")]
BoundaryTable = Literal["auto"] | Annotated[SpongeTable | PmlTable, Field(discriminator="kind")]


class PropagationTable(Table):
    """How the waves are computed."""

    order: Annotated[int, Ge(2), Le(16), MultipleOf(2)] = key("order of the differences in space", default=8)
    space_weights: Literal["taylor", "optimised"] = key(
        "weights of the differences in space: exact for long waves, or of least dispersion down to short ones",
        "",
        "taylor",
    )
    duration: Positive | None = key(
        "time computed after t = 0; needed for a geometry, left out with gathers: as recorded", "s", None
    )
    dt: Literal["auto"] | Positive = key("time step; auto: from the stability limit", "s", "auto")
    time_dispersion: Literal["corrected", "none"] = key(
        "error of the time steps; corrected: by transforms of what is injected and recorded; none: no correction",
        "",
        "corrected",
    )
    boundary: BoundaryTable = key("what absorbs at the sides; auto: the default kind and width", "", "auto")
    precision: Literal["float32", "float64"] = key("type of the wavefields", "", "float32")
    top: Literal["absorbing", "free-surface"] = key("the upper side of the model", "", "absorbing")


class ImagingTable(Table):
    """How the image is formed."""

    method: Literal["rtm"] = key("reverse time migration", "", "rtm")
    condition: Literal["cross-correlation", "source-normalised", "inverse-scattering"] = key(
        "imaging condition", "", "cross-correlation"
    )
    every: Literal["auto"] | Count = key(
        "imaging step; auto: from the Nyquist rate of the highest frequency", "time steps", "auto"
    )
    aperture: Annotated[float, Ge(0)] | None = key(
        "how far the image of a shot reaches beyond its source and receivers in x and y; left out: the whole model",
        "m",
        None,
    )
    gathers: Literal["none", "offset"] = key(
        "also an image of each bin of offset; each costs a receiver propagation, and a source propagation where the "
        "history is not in memory",
        "",
        "none",
    )
    offset_bins: Edges | None = key(
        "least offset of each bin, then that at which the last one ends; needed with gathers", "m", None
    )
    laplacian: bool = key(
        "also write the Laplacian-filtered image (the inverse-scattering image has that filter in itself)", "", True
    )

    @model_validator(mode="after")
    def _bins(self) -> Self:
        if (self.gathers == "offset") != (self.offset_bins is not None):
            found = "missing; needed" if self.offset_bins is None else "found; allowed only"
            raise ValueError(f'offset_bins: {found} with gathers = "offset"')
        edges = self.offset_bins or ()
        if any(a >= b for a, b in pairwise(edges)):
            raise ValueError("offset_bins: allowed: ascending offsets")
        return self


class HistoryTable(Table):
    """Where the source wavefield is kept between the two loops, and how."""

    store: Literal["auto", "memory", "disk", "checkpoint"] = key(
        "where its snapshots are kept; checkpoint: some, and what the others are computed from again; auto: memory, or "
        "what adds the least time",
        "",
        "auto",
    )
    encoding: Literal["auto", "float32", "float16", "int8", "zfp", "wavelet"] = key(
        "how snapshots are kept; float32: as they are (also float64), all others lose something; auto: int8 where "
        "float32 does not fit into memory and that adds less time",
        "",
        "float32",
    )
    tolerance: Annotated[float, Ge(1e-15), Le(0.5)] = key(
        "of zfp and wavelet: the largest error of a cell, relative to the snapshot's peak", "", 1e-3
    )
    memory_budget: Literal["auto"] | Positive = key(
        "memory of a host for snapshots and saved states; auto: what is left", "bytes", "auto"
    )
    disk_budget: Literal["auto"] | Positive = key(
        "the same of the disk of a host; auto: nine tenths of what is free", "bytes", "auto"
    )
    directory: FolderName | None = key(
        "folder of what is kept on disk, best on a disk of the host's own; relative to the survey file; left out: the "
        "folder of the results",
        "",
        None,
    )
    direct: bool = key("snapshots go to the disk and back past the system's cache", "", False)
    states: Literal["memory", "disk"] = key("where checkpoint saves states", "", "memory")


class ParallelTable(Table):
    """How the ranks share the work."""

    ranks_per_shot: Literal["auto", "all"] | Count = key(
        "ranks that work on one shot; auto: as few as the memory allows, so that groups of ranks have shots of their "
        "own",
        "ranks",
        "auto",
    )
    memory_budget: Annotated[float, Gt(0), Le(1)] = key(
        "most of a host's memory that the run may take, as a share of all of it", "", MEMORY_BUDGET
    )
    decomposition: Literal["auto"] | Annotated[tuple[Count, ...], Len(2, 3), Loose] = key(
        "parts along x, y, z (2D: x, z); auto: the fewest halo bytes", "ranks", "auto"
    )


class ThreadsTable(Table):
    """Threads of a rank, task by task: the best number differs, and hardware threads of a core help some only."""

    propagate: Literal["auto"] | Count = key("time steps; auto: all of the rank's", "threads", "auto")
    imaging: Literal["auto"] | Count = key(
        "snapshots and images outside the time steps; auto: all of the rank's", "threads", "auto"
    )
    io: Literal["auto"] | Count = key(
        "traces on their way from and to files; auto: all of the rank's", "threads", "auto"
    )


class TuningTable(Table):
    """How time steps are grouped into sweeps through the memory: of no consequence for the results."""

    search: Literal["auto", "always", "never"] = key(
        "measure what is fastest; auto: once for each machine and kind of run, where the run is long enough", "", "auto"
    )
    time_depth: Literal["auto"] | Count = key("time steps a sweep; 1: plain sweeps", "time steps", "auto")
    block: Literal["auto"] | Count = key("width in x of what takes these steps at a time", "cells", "auto")
    tile: Literal["auto"] | Count = key("width in y of the strips that threads go along; 2D: in x", "cells", "auto")
    team: Literal["auto"] | Count = key("threads that share a strip", "threads", "auto")


class StorageTable(Table):
    """How volumes move between ranks and files: of no consequence for what is in them."""

    read: StrategyName = key("how the model is read; auto: the usual way of its format", "", "auto")
    write: StrategyName = key("how images are written; auto: the usual way of their format", "", "auto")
    traces: Literal["whole", "slices", "root-broadcast"] = key(
        "how a shot's traces reach the ranks; whole: each rank reads its own before the shot; slices: it orders them "
        "by time in a file and reads that beside the time steps; root-broadcast: rank 0 does so for all and sends each "
        "time slice, the old way",
        "",
        "whole",
    )


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the survey file", "", "out")
    image: ImageName = key("the image; its suffix chooses the format", "", "image.rsf")


class Survey(Table):
    """The whole input of one run; `directory` is the folder that its relative paths start from."""

    model: ModelTable = key("the earth")
    acquisition: AcquisitionTable = key("the shots")
    wavelet: WaveletTable = key("the source's series")
    propagation: PropagationTable = _table("how the waves are computed", PropagationTable)
    imaging: ImagingTable = _table("how the image is formed", ImagingTable)
    history: HistoryTable = _table("where and how the source wavefield is kept between the two loops", HistoryTable)
    parallel: ParallelTable = _table("how the ranks share the work", ParallelTable)
    threads: ThreadsTable = _table("threads of a rank, task by task", ThreadsTable)
    tuning: TuningTable = _table("how time steps are grouped; of no consequence for the results", TuningTable)
    storage: StorageTable = _table("how volumes move between ranks and files", StorageTable)
    output: OutputTable = _table("where the results go", OutputTable)

    _path: Path = PrivateAttr(default=Path("survey"))

    @property
    def path(self) -> Path:
        """The survey file, as it was named."""
        return self._path

    @property
    def directory(self) -> Path:
        """Folder of the survey file; all relative paths in it start here."""
        return self._path.parent

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def dimension(self) -> int | None:
        """2 or 3 where a key says so; None where only the model's file can tell."""
        for _, dimension in self._dimensions():
            return dimension
        return None

    def resolved(self) -> dict[str, Any]:
        """The input with every default filled in, as plain JSON values; reading it again gives the same
        survey."""
        values: dict[str, Any] = self.model_dump(mode="json")
        if self.acquisition.gathers is not None:
            del values["acquisition"]["sample_interval"]
        return values

    def _dimensions(self) -> list[tuple[str, int]]:
        """The keys from which the dimension can be told, each with what it tells."""
        told: list[tuple[str, int]] = []
        for name, value in (
            ("[model] axes", self.model.axes),
            ("[model] spacing", self.model.spacing),
            ("[model] origin", self.model.origin),
        ):
            if value is not None:
                told.append((name, len(value)))
        if self.parallel.decomposition != "auto":
            told.append(("[parallel] decomposition", len(self.parallel.decomposition)))
        if self.acquisition.sources is not None:
            told.append(("[acquisition] sources", 2 if self.acquisition.sources.y is None else 3))
        return told

    @model_validator(mode="after")
    def _sections_agree(self) -> Self:
        told = self._dimensions()
        for name, dimension in told[1:]:
            if dimension != told[0][1]:
                raise ValueError(
                    f"{name}: found for {dimension}D although {told[0][0]} is for {told[0][1]}D; "
                    "allowed: the same in both"
                )
        if self.acquisition.gathers is None and self.propagation.duration is None:
            raise ValueError("[propagation] duration: missing; needed with sources and receivers (s, above 0)")
        return self


def survey_of(values: dict[str, Any], path: Path) -> Survey:
    """Check a survey given as nested dictionaries.

    `path` is the survey file that they stand for: it names the survey in errors, and its folder is where
    relative paths start. Raises InputError with one line that names the first wrong key.
    """
    try:
        survey = Survey.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error, values, Survey)}") from None
    survey._path = path
    return survey


def load_survey(path: Path | str) -> Survey:
    """Read and check a survey file (TOML); raises InputError with one line that names the file and the first
    wrong key."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path}: cannot read the survey file: {reason}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text in UTF-8 (byte {error.start}); allowed: a TOML file") from None
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer or a nesting too long for Python
        raise InputError(f"{path}: not valid TOML: {error}") from None
    return survey_of(values, path)
