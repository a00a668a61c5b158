"""A new survey file from one's own files: which property a volume holds, its axes and units, where the shots are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.config.draft import Drafted, Found, gap
from fathometer.grid.grid import Grid
from fathometer.runs.given_files import GivenFile, role_by_words, unknown_role
from fathometer.seismic.application import APPLICATION
from fathometer.seismic.model.axes import assumed_axes
from fathometer.seismic.model.axis_order import depth_first, order_note
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.model.limits import FASTEST, SLOWEST
from fathometer.seismic.model.velocity_units import fitting_units, known_units, metres_per_second
from fathometer.seismic.physics import of_command
from fathometer.seismic.shots.position_tables import RECEIVER_COLUMNS, SOURCE_COLUMNS, PositionTable, read_positions
from fathometer.seismic.survey import survey_of
from fathometer.seismic.survey.model import PROPERTIES as MODEL_PROPERTIES
from fathometer.storage.contents import contents_of
from fathometer.storage.describe import VolumeDescription, describe
from fathometer.storage.index.summary import describe_index
from fathometer.storage.traces.segy import TraceTable, read_traces, scan
from fathometer.storage.volumes.volume import open_volume

WORDS: Mapping[str, Sequence[str]] = {  # in names of files
    "vp": ("vp", "vel", "velocity", "velocities", "speed", "vpz", "vp0"),
    "epsilon": ("epsilon", "eps"),
    "delta": ("delta",),
    "vs": ("vs", "shear"),
    "density": ("density", "dens", "rho"),
    "qp": ("qp",),
    "qs": ("qs",),
    "sources": ("source", "sources", "src", "shot", "shots"),
    "receivers": ("receiver", "receivers", "rec", "recs", "stations", "geophones"),
}
PROPERTIES = ("vp", "epsilon", "delta", "vs", "density", "qp", "qs")
TABLES = ("sources", "receivers")
SOLID = next(name for name, properties in MODEL_PROPERTIES.items() if "vs" in properties)
PICKS = of_command("migrate-time").picks()
LEAST_CELLS = 2.5  # a shortest wavelength, and the highest frequency of a Ricker wavelet over its peak frequency
MOST_TRACES = 200  # whose spectra are looked at


@dataclass(frozen=True)
class _Shots:
    """Where sources and receivers of gathers are: extents of x, y, z, m; midpoints (n, 2), m, of one file."""

    reference: str
    source: tuple[tuple[float, float], ...]
    receiver: tuple[tuple[float, float], ...]
    midpoints: npt.NDArray[np.float64] | None
    words: str


def draft(files: Sequence[GivenFile], target: Path) -> Drafted:
    """The keys of a survey file at `target`.

    Raises InputError for a file that cannot be read, one of which it is not known what it holds, and files that
    contradict each other.
    """
    found = _roles(files)
    folder = target.parent
    volumes = {name: _described(name, found[name]) for name in PROPERTIES if name in found}
    keys: dict[str, Any] = {}
    in_time = "velocity" in found and "vp" not in found
    grid, carried = None, False
    if not in_time:
        keys["model"], grid, carried = _model(found, volumes, target)
    shots = _shots_of(found["gathers"]) if "gathers" in found else None
    notes: list[str] = []
    if shots is not None:
        keys["acquisition"], more = _recorded(found["gathers"], shots, folder, grid, carried, volumes, in_time)
        notes += more
    else:
        if "velocity" in found:
            raise InputError(
                f"{found['velocity'].reference}: found without gathers; needed: velocities for `migrate-time` beside "
                "the recorded shots to migrate"
            )
        keys["acquisition"] = _geometry(found, folder, grid, _dimension(volumes, keys))
    if "velocity" in found:
        keys["time_migration"] = {"velocity": _velocity(found["velocity"], folder)}
        if in_time and shots is not None:
            keys["time_migration"] |= _places(shots)
    if not in_time:
        keys["wavelet"] = _wavelet(grid, volumes, shots, found)
        keys["propagation"] = _propagation(shots, "vs" in found, grid, volumes)
        if "vs" in found:
            keys["source"] = {}
    command = "migrate-time" if "velocity" in found else "migrate" if shots is not None else "model"
    keys["output"] = {"directory": Found("shots" if command == "model" else "image")}
    return Drafted(keys, command, notes)


def _roles(files: Sequence[GivenFile]) -> dict[str, GivenFile]:
    found: dict[str, GivenFile] = {}
    unknown: list[GivenFile] = []
    for file in files:
        role = file.role or _role(file)
        if not role:
            unknown.append(file)
        elif role in found:
            raise InputError(
                f"{file.reference}: is taken for {role}, and so is {found[role].reference}; allowed: one of them, or "
                f"NAME=FILE, NAME one of {', '.join(APPLICATION.identity.given)}"
            )
        else:
            found[role] = file
    for file in unknown:
        if "vp" in found or not _like_velocities(_described("", file)):
            raise InputError(unknown_role(file.reference, APPLICATION.identity.given))
        found["vp"] = file
    for role, file in found.items():
        if role == "gathers" and _kind(file) == "volume":
            raise InputError(f"{file.reference}: found for gathers, but is a volume; allowed: SEG-Y, SU or an index")
        if role in PROPERTIES and _kind(file) != "volume":
            raise InputError(f"{file.reference}: found for {role}, but is no volume; allowed: {role} over x, (y), z")
    return found


def _role(file: GivenFile) -> str:
    """What a file is by its contents, else by its name; "" where neither tells."""
    suffix = Path(file.reference).suffix.lower()
    by_words = role_by_words(file, WORDS)
    if suffix in (".csv", ".parquet", ".txt") and by_words in TABLES:
        return by_words
    if PICKS.is_picks_file(file.reference):
        return "velocity" if by_words not in TABLES else by_words
    if _kind(file) != "volume":
        return "gathers"
    if by_words in PROPERTIES:
        return by_words
    with open_volume(file.reference, Path()) as volume:
        if volume.info.in_time:
            return "velocity"
        return "vp" if known_units(volume.info.unit) is not None else ""


def _kind(file: GivenFile) -> str:
    if PICKS.is_picks_file(file.reference):
        return "text"
    kind = contents_of(file.reference, Path()).kind
    return "gathers" if kind == "index" else kind


def _described(name: str, file: GivenFile) -> VolumeDescription:
    """A volume, with its range of values. Raises InputError for NaN, and for what is no volume."""
    found = describe(file.reference, Path())
    if not isinstance(found, VolumeDescription):
        raise InputError(f"{file.reference}: found for {name or 'the model'}: gathers; needed: a volume over x, (y), z")
    if found.values.minimum is None or found.values.nan or found.values.infinite:
        bad = found.values.nan + found.values.infinite
        raise InputError(f"{file.reference}: found NaN or infinity in {bad} cells; allowed: finite numbers")
    return found


def _like_velocities(found: VolumeDescription) -> bool:
    return bool(_units_by_values(found))


def _units_by_values(found: VolumeDescription) -> str:
    """The unit in which all values are velocities of rocks; "": none is, or two are."""
    low, high = found.values.minimum or 0.0, found.values.maximum or 0.0
    fitting = [
        units
        for units in ("m/s", "km/s")
        if metres_per_second(low, units) >= SLOWEST and metres_per_second(high, units) <= FASTEST
    ]
    return fitting[0] if len(fitting) == 1 else ""


def _model(
    found: Mapping[str, GivenFile], volumes: Mapping[str, VolumeDescription], target: Path
) -> tuple[dict[str, Found], Grid | None, bool]:
    """The keys of [model]; its grid where all of that is known; whether a file says where the model is."""
    keys = {name: Found(found[name].beside(target.parent), _range(volumes[name])) for name in volumes}
    if "vs" in keys:
        keys.setdefault("density", gap("kg/m3, a file or a number"))
    if not volumes:
        return {"vp": gap("no model was given: a file, or a number beside files of other properties")}, None, False
    if "vp" not in keys:
        keys = {"vp": gap(), **keys}
    else:
        keys |= _units(volumes["vp"], found["vp"])
    opened = {name: open_volume(found[name].reference, Path()) for name in volumes}
    try:
        infos = [volume.info for volume in opened.values()]
        first = next(iter(opened.values()))
        dimensions = len(infos[0].shape)
        names = ("x", "y", "z") if dimensions == 3 else ("x", "z")
        axes = _axes(opened, keys)
        if axes:
            keys["axes"] = axes
        # Of a SEG-Y that was written here, whose traces may tell no places.
        depth_step = next((info.partial[-1] for info in infos if info.partial), None)
        unknown = all(info.spacing is None and info.survey is None for info in infos)
        if unknown:
            keys["spacing"] = gap(f"{first.path.name} carries none: [{', '.join('d' + name for name in names)}], m")
        elif all(info.spacing is None for info in infos) and depth_step is None:
            keys["spacing"] = gap("the trace headers give that along x and y: [dz] is enough, m")
    finally:
        for volume in opened.values():
            volume.close()
    files = _opened(target, keys, dimensions, depth_step)
    carried = any(info.origin is not None or info.survey is not None for info in infos)
    return keys, None if "spacing" in keys else files.grid, carried


def _opened(target: Path, keys: Mapping[str, Found], dimensions: int, depth_step: float | None) -> EarthFiles:
    """The files of the model as a run opens them, with stand-ins for gaps; depth_step: that files tell, m.

    Raises InputError where they contradict."""
    model = {name: found.value for name, found in keys.items() if found != gap(found.note)}
    if "units" in keys:
        model.setdefault("units", "m/s")
    if "spacing" in keys:
        model["spacing"] = [*[1.0] * (dimensions - 1), depth_step or 1.0]
    model.setdefault("vp", 2000.0)
    place = {"x": 0.0, "z": 0.0} | ({"y": 0.0} if dimensions == 3 else {})
    values: dict[str, Any] = {
        "model": model,
        "acquisition": {"sources": place, "receivers": place},
        "wavelet": {"kind": "ricker", "peak_frequency": 10.0},
        "propagation": {"duration": 1.0},
    }
    if "vs" in model:
        model.setdefault("density", 1000.0)
        values |= {"propagation": {"duration": 1.0, "physics": SOLID}, "source": {"kind": "explosion"}}
    return EarthFiles(survey_of(values, target), headers_only=True)


def _axes(opened: Mapping[str, Any], keys: Mapping[str, Found]) -> Found | None:
    """The key axes where no file names its axes: by the water on top, else as they are taken."""
    first = opened.get("vp") or next(iter(opened.values()))
    if not all(assumed_axes(volume, None) for volume in opened.values()):
        return None
    natural = "xyz" if len(first.info.shape) == 3 else "xz"
    units = keys["units"].value if "units" in keys else "m/s"
    cells = " x ".join(map(str, first.info.shape))
    if "vp" in opened and depth_first(first, lambda values: metres_per_second(values, units)):
        if natural == "xz":
            return Found("zx", f"by the water on top: {cells} cells, the slowest axis first; no file names its axes")
        return gap('"zxy" or "zyx": the first axis is depth, by the water on top; no file names its axes')
    if "vp" in opened and order_note(first, lambda values: metres_per_second(values, units), ""):
        return gap(
            f'"{natural}" if the last axis is depth; but velocities grow along another one as they do with depth; '
            "no file names its axes"
        )
    return Found(natural, f"taken: no file names its axes, {cells} cells, the slowest axis first; is it so?")


def _units(found: VolumeDescription, file: GivenFile) -> dict[str, Found]:
    """The key units of velocities, where their file does not say them. InputError where it cannot be right."""
    if stated := known_units(found.unit):
        with np.errstate(divide="ignore", invalid="ignore"):  # of slowness
            ends = metres_per_second(np.array([found.values.minimum, found.values.maximum]), stated)
        low, high = ends.min(), ends.max()
        if not SLOWEST <= low <= high <= FASTEST:
            raise InputError(
                f"{file.reference}: says {stated}, and holds values from {low:g} to {high:g} m/s then; allowed: "
                f"{SLOWEST:g} to {FASTEST:g} m/s{fitting_units(low, high, stated)}"
            )
        return {}
    by_values = _units_by_values(found)
    if found.unit:
        return {"units": gap(f"{file.reference} says {found.unit}")}
    if not by_values:
        return {"units": gap(f"values from {found.values.minimum:g} to {found.values.maximum:g}, and no unit")}
    return {"units": Found(by_values, f"by the values; {Path(file.reference).name} says none")}


def _shots_of(file: GivenFile) -> _Shots:
    contents = contents_of(file.reference, Path())
    if contents.kind == "index":
        index = describe_index(contents.path)
        if index.source is None or index.receiver is None:
            raise InputError(f"{file.reference}: no traces of it can be used; `fathometer info` says why")
        return _Shots(file.reference, index.source, index.receiver, None, f"{index.summary.shots} shots")
    table = scan(contents.path)
    count = len(np.unique(table.ffid))
    shots = f"{count} shot{'s' * (count > 1)}, {len(table.ffid)} traces"
    words = [f"{shots} of {table.samples} samples every {table.interval:g} s"]
    words += [peak] if (peak := _peak(table)) else []
    midpoints = (table.source + table.receiver)[:, :2] / 2
    return _Shots(file.reference, _ends(table.source), _ends(table.receiver), midpoints, "; ".join(words))


def _ends(points: npt.NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    """Extents of positions (n, 3), m, along each axis."""
    return tuple((float(axis.min()), float(axis.max())) for axis in points.T)


def _peak(table: TraceTable) -> str:
    """Where the mean spectrum of some traces is largest."""
    some = np.unique(np.linspace(0, len(table.ffid) - 1, MOST_TRACES).astype(int))
    values = np.nan_to_num(np.asarray(read_traces(table.path, some), np.float64))
    spectrum = np.abs(np.fft.rfft(values, axis=-1)).mean(axis=0)
    frequencies = np.fft.rfftfreq(values.shape[-1], table.interval)
    if len(spectrum) < 3 or not spectrum[1:].any():
        return ""
    return f"mean spectrum largest at {frequencies[1:][spectrum[1:].argmax()]:.3g} Hz"


def _recorded(
    file: GivenFile,
    shots: _Shots,
    folder: Path,
    grid: Grid | None,
    carried: bool,
    volumes: Mapping[str, VolumeDescription],
    in_time: bool,
) -> tuple[dict[str, Found], list[str]]:
    """The keys of [acquisition] of recorded shots, and notes.

    Raises InputError where they lie beside a model whose files say where it is.
    """
    where = f"sources x {_span(shots.source[0])}, y {_span(shots.source[1])}, z {_span(shots.source[2])} m"
    keys = {"gathers": Found(file.beside(folder), f"{shots.words}; {where}")}
    flat = grid is not None and grid.two_dimensional
    if grid is None or in_time:
        return keys, []
    axes = "xz" if flat else "xyz"
    beside = [axis for axis in axes[:-1] if not _meet(axis, shots, grid)]
    if not beside:
        return keys, _partly(shots, grid, axes)
    axis = beside[0]
    number = "xyz".index(axis)
    place = (
        f"{shots.reference} has sources and receivers at {axis} from {_least(shots, number):g} to "
        f"{_most(shots, number):g} m, the model is at {axis} from {grid.origin[number]:g} to {grid.upper[number]:g} m"
    )
    if carried:
        model = next(iter(volumes.values())).path
        raise InputError(f"{place}, as {model} says; needed: files of one place, in the same coordinates and units")
    keys["origin"] = gap(f"[x, y] of the model's first cell in the coordinates of the gathers, m: {place}")
    return keys, []


def _partly(shots: _Shots, grid: Grid, axes: str) -> list[str]:
    """A note where some sources or receivers lie outside the model."""
    for axis in axes:
        n = "xyz".index(axis)
        half = grid.spacing[n] / 2
        if _least(shots, n) < grid.origin[n] - half or _most(shots, n) > grid.upper[n] + half:
            return [
                f"sources and receivers are at {axis} from {_least(shots, n):g} to {_most(shots, n):g} m, the model "
                f"at {axis} from {grid.origin[n]:g} to {grid.upper[n]:g} m: `fathometer prepare --extend` makes a "
                'larger model, [acquisition] outside = "drop" leaves out what is outside'
            ]
    return []


def _meet(axis: str, shots: _Shots, grid: Grid) -> bool:
    n = "xyz".index(axis)
    return _most(shots, n) >= grid.origin[n] and _least(shots, n) <= grid.upper[n]


def _least(shots: _Shots, n: int) -> float:
    return min(shots.source[n][0], shots.receiver[n][0])


def _most(shots: _Shots, n: int) -> float:
    return max(shots.source[n][1], shots.receiver[n][1])


def _geometry(found: Mapping[str, GivenFile], folder: Path, grid: Grid | None, dimension: int | None) -> dict[str, Any]:
    """The keys of [acquisition] of a geometry to model."""
    keys: dict[str, Any] = {}
    for name, columns in (("sources", SOURCE_COLUMNS), ("receivers", RECEIVER_COLUMNS)):
        if name in found:
            table = read_positions(Path(found[name].reference), columns, dimension)
            _check_table(table, name, grid)
            keys[name] = Found(found[name].beside(folder), f"{len(table.positions)} positions")
            continue
        extent = {axis: _within(grid, axis) for axis in "xyz"}
        ends = "; a number, or [first, last, step]"
        keys[name] = {"x": gap(f"{extent['x']}{ends}".removeprefix("; "))}
        if dimension == 3:
            keys[name]["y"] = gap(extent["y"])
        keys[name]["z"] = gap(extent["z"])
    return keys


def _check_table(table: PositionTable, name: str, grid: Grid | None) -> None:
    """Raises InputError where all positions lie beside the model."""
    if grid is None:
        return
    for axis in "xz" if grid.two_dimensional else "xyz":
        n = "xyz".index(axis)
        low, high = float(table.positions[:, n].min()), float(table.positions[:, n].max())
        if high < grid.origin[n] - grid.spacing[n] / 2 or low > grid.upper[n] + grid.spacing[n] / 2:
            raise InputError(
                f"{table.path}: found {name} at {axis} from {low:g} to {high:g} m, all outside the model; allowed: "
                f"from {grid.origin[n]:g} to {grid.upper[n]:g} m, the model's, in m"
            )


def _within(grid: Grid | None, axis: str) -> str:
    n = "xyz".index(axis)
    return "" if grid is None else f"model from {grid.origin[n]:g} to {grid.upper[n]:g} m"


def _places(shots: _Shots) -> dict[str, Found]:
    """The places of an image in time: x of a line from its midpoints; gaps of what is no line."""
    if shots.midpoints is None or np.ptp(shots.midpoints[:, 1]) > 0:
        x, y = ([min(a[0], b[0]), max(a[1], b[1])] for a, b in list(zip(shots.source, shots.receiver, strict=True))[:2])
        return {axis: gap(f"[first, last, step], m; shots {e[0]:g} to {e[1]:g} m") for axis, e in (("x", x), ("y", y))}
    places = np.unique(np.round(shots.midpoints[:, 0], 3))
    step = float(np.median(np.diff(places))) if len(places) > 1 else 1.0
    last = places[0] + np.ceil((places[-1] - places[0]) / step - 1e-6) * step
    return {"x": Found([float(places[0]), float(last), step], "[first, last, step], m: the midpoints of the traces")}


def _wavelet(
    grid: Grid | None, volumes: Mapping[str, VolumeDescription], shots: _Shots | None, found: Mapping[str, GivenFile]
) -> dict[str, Found]:
    keys = {"kind": Found("ricker", "the usual one of models")}
    helps = []
    name = "vs" if "vs" in volumes else "vp"
    if grid is not None and name in volumes:
        slowest = _metres(volumes[name])
        widest = max(grid.spacing[axis] for axis in grid.axes)
        if slowest:
            most = slowest / (LEAST_CELLS * widest) / 2.5
            helps.append(f"up to {most:.3g} Hz fits cells of {widest:g} m and {slowest:g} m/s")
    if shots is not None:
        helps.append('`fathometer survey wavelet` finds the wavelet of marine shots (kind = "file")')
    keys["peak_frequency"] = gap("; ".join(helps))
    return keys


def _metres(found: VolumeDescription) -> float:
    """The least velocity, m/s; 0 where its unit is not known."""
    units = known_units(found.unit) or _units_by_values(found)
    return float(metres_per_second(found.values.minimum, units)) if units in ("m/s", "km/s", "ft/s") else 0.0


def _propagation(
    shots: _Shots | None, elastic: bool, grid: Grid | None, volumes: Mapping[str, VolumeDescription]
) -> dict[str, Found]:
    keys = {"physics": Found(SOLID)} if elastic else {}
    if shots is not None:
        return keys
    help = ""
    if grid is not None and "vp" in volumes and (slowest := _metres(volumes["vp"])):
        deep = grid.upper[2] - grid.origin[2]
        help = f"down to {deep:g} m and back at {slowest:g} m/s takes {2 * deep / slowest:.3g} s"
    return keys | {"duration": gap(help)}


def _velocity(file: GivenFile, folder: Path) -> Found:
    if PICKS.is_picks_file(file.reference):
        picks = PICKS.read_picks(Path(file.reference))
        return Found(file.beside(folder), f"picks at {len(picks.locations)} places")
    return Found(file.beside(folder), _range(_described("velocity", file)))


def _dimension(volumes: Mapping[str, VolumeDescription], keys: Mapping[str, Any]) -> int | None:
    return len(next(iter(volumes.values())).shape) if volumes else None


def _range(found: VolumeDescription) -> str:
    cells = " x ".join(map(str, found.shape))
    unit = f" {found.unit}" if found.unit else ""
    return f"{found.format}, {cells} cells, {found.values.minimum:g} to {found.values.maximum:g}{unit}"


def _span(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g}" if ends[0] == ends[1] else f"{ends[0]:g} to {ends[1]:g}"
