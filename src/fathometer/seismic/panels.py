"""What is seismic about a run's page: its title and facts, and panels: image over velocity, map, gather.

A panel is a plain dictionary with a `kind` that the page knows how to draw; arrays are base64 of uint8, places in m:

    volume    an image and a property below it on the cells of a 2D section or a 3D volume
    points    groups of places on a plane
    traces    one gather
    missing   what cannot be shown, and why; the page goes on

Volumes are averaged over blocks of cells (decimation.py). Nothing here needs MPI: a page can be made again from a
record and the files that it names.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.pictures.colours import below_water, depth_gain, full_range, symmetric_range
from fathometer.pictures.plane import downsampled
from fathometer.report.decimation import as_bytes, averaged, encoded, factors_for, first_centre, span, three
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey, survey_of
from fathometer.storage.traces.segy import read_traces
from fathometer.storage.volumes.volume import open_volume

Panel = dict[str, Any]

MOST_IMAGE, MOST_PROPERTY = 1_000_000, 250_000  # values on a page
MOST_TRACES, MOST_SAMPLES = 480, 640  # of the gather on a page
FILES = "panels"  # the kind of all that is read for the page, in the ledger
MOST_MARKS = 2500  # receivers on a map
MOST_SEEN = 500_000  # receivers among which those on a map are chosen
MOST_LINES = 60  # shots of a 2D line whose receivers are shown
GATHER_PERCENTILE = 98.0
SAME_LINE = 0.01  # m: receivers whose y differ less lie on one line


@dataclass(frozen=True)
class Subject:
    """What a run read and wrote: model and shots, opened when asked for; its files of results by kind."""

    survey: Survey
    earth: Callable[[], EarthFiles]
    acquisition: Callable[[], Acquisition]
    files: Mapping[str, Path]


def panels(subject: Subject) -> list[Panel]:
    """What the page shows of a run; for one rank."""
    migrated = subject.survey.acquisition.gathers is not None
    first = _guarded("The image", _image, subject) if migrated else _guarded("The model", _model, subject)
    return [first, _guarded("Sources and receivers", _map, subject), _guarded("One shot", _gather, subject)]


def panels_of_record(record: Mapping[str, Any], place: Path) -> list[Panel]:
    """The same, later: of the record in the file `place`, from the files that it names, where they still are."""
    try:
        subject = _subject(record, place)
    except InputError as error:
        return [_missing("The results", str(error))]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:  # entries that no run writes
        return [_missing("The results", f"{place}: results or input hold what no run writes: {error}")]
    return panels(subject)


def heading(record: Mapping[str, Any]) -> dict[str, Any]:
    """What ran, for people: title, and facts as pairs of label and text."""
    results, keys = record["results"], record["input"]
    migrated = keys.get("acquisition", {}).get("gathers") is not None
    what = "Reverse time migration" if migrated else "Modelling of shots"
    facts: list[tuple[str, str]] = []
    grid = results.get("grid", {})
    if {"shape", "spacing_metres"} <= grid.keys():
        axes = [axis for axis, n in enumerate(grid["shape"]) if n > 1]
        cells = " × ".join(str(grid["shape"][axis]) for axis in axes)
        size = " × ".join(f"{grid['spacing_metres'][axis]:g}" for axis in axes)
        kind = "VTI" if results.get("physics") == "vti" else "isotropic"
        facts.append(("Model", f"{len(axes)}D, {kind}, {cells} cells of {size} m"))
    if {"shots", "traces", "samples", "sample_interval_seconds"} <= results.keys():
        facts.append(
            (
                "Shots",
                f"{results['shots']} with {results['traces']} traces of {results['samples']} samples, "
                f"one every {1000 * results['sample_interval_seconds']:g} ms",
            )
        )
    if {"steps", "time_step_seconds", "maximum_frequency_hertz", "points_per_shortest_wavelength"} <= results.keys():
        facts.append(
            (
                "Time steps",
                f"{results['steps']} a shot{' and direction' if migrated else ''}, of "
                f"{1000 * results['time_step_seconds']:.3g} ms; frequencies up to "
                f"{results['maximum_frequency_hertz']:g} Hz, {results['points_per_shortest_wavelength']:.1f} cells in "
                "the shortest wavelength",
            )
        )
    if {"groups", "ranks_per_shot", "migrated_shots", "earlier_shots", "failed_shots"} <= results.keys():
        facts.append(("Shared", _shared(results)))
    if "history" in results:
        facts.append(("Source wavefield", _kept(results["history"])))
    return {"title": what, "subject": Path(str(keys.get("survey", ""))).stem, "facts": facts}


def _shared(results: Mapping[str, Any]) -> str:
    """Who has migrated the shots, in words."""
    groups, ranks = results["groups"], results["ranks_per_shot"]
    who = f"{groups} groups of ranks with shots of their own" if groups > 1 else "all ranks on each shot"
    shots, failed = len(results["migrated_shots"]), results["failed_shots"]
    parts = [f"{shots} shot{'s' * (shots != 1)} by {who}" + f", {ranks} a shot" * (groups > 1)]
    if results["earlier_shots"]:
        parts.append(f"{results['earlier_shots']} by earlier runs")
    if failed:
        more = ", …" * (len(failed) > 1)
        parts.append(f"{len(failed)} set aside: shot {failed[0]['shot'] + 1}: {failed[0]['reason']}{more}")
    return "; ".join(parts)


def _kept(history: Mapping[str, Any]) -> str:
    """How the history was kept, in words."""
    where = {"memory": "in memory", "disk": "on disk", "checkpoint": "some kept, the others computed again"}
    stored, logical = (sum(rank[f"{kind}_bytes"] for rank in history["ranks"]) for kind in ("stored", "logical"))
    said = f"{history['snapshots']} snapshots a shot, {where.get(history['store'], history['store'])}, "
    said += f"as {history['encoding']}" + (f": {stored / logical:.3g} of the plain bytes" if logical else "")
    if history["recomputed_imaging_steps"]:
        said += (
            f"; {100 * history['recomputed_imaging_steps'] / max(1, history['snapshots'] - 1):.0f} % of its steps twice"
        )
    errors = [rank["relative_l2_error"] for rank in history["ranks"] if "relative_l2_error" in rank]
    return said + (f"; snapshots lost up to {100 * max(errors):.2g} % (relative L2)" if errors else "")


def _subject(record: Mapping[str, Any], place: Path) -> Subject:
    """Model, shots and results of a record, found relative to it, else under the names that it holds."""
    values = {key: value for key, value in record["input"].items() if key != "survey"}
    told = Path(str(record["input"].get("survey", "survey.toml")))
    folder = place.resolve().parent
    survey = survey_of(values, told)
    back = os.path.relpath(".", survey.output.directory) if not Path(survey.output.directory).is_absolute() else "."
    moved = Path(os.path.normpath(folder / back)) / told.name
    if any(isinstance(name, str) and (moved.parent / name.split(":")[0]).exists() for name in values["model"].values()):
        survey = survey_of(values, moved)

    def found(name: str) -> Path:
        beside = folder / Path(name).name
        return beside if beside.exists() else Path(name)

    named = record["results"].get("files", {})
    earth = cache(lambda: _checked(EarthFiles(survey), record["results"].get("grid", {}).get("shape")))
    dimension = sum(n > 1 for n in record["results"].get("grid", {}).get("shape", ())) or None
    files = {kind: found(name) for kind, name in named.items() if isinstance(name, str)}
    return Subject(survey, earth, cache(lambda: acquisition_of(survey, dimension)), files)


def _checked(earth: EarthFiles, shape: Sequence[int] | None) -> EarthFiles:
    """Raises InputError where the model is no longer the one of the record."""
    if shape is not None and tuple(shape) != earth.grid.shape:
        raise InputError(
            f"{', '.join(map(str, earth.paths))}: holds {_times(earth.grid.shape)} cells now, the record "
            f"{_times(shape)}: the model has been replaced"
        )
    return earth


def _guarded(title: str, panel: Callable[[Subject], Panel], subject: Subject) -> Panel:
    try:
        return panel(subject)
    except (FathometerError, OSError) as error:
        return _missing(title, str(error))
    except Exception as error:  # a page is no reason to lose the record of a run
        return _missing(title, f"{type(error).__name__}: {error}")


def _missing(title: str, reason: str) -> Panel:
    return {"kind": "missing", "title": title, "reason": reason}


def _image(subject: Subject) -> Panel:
    """The image, or where there is one its Laplacian, over the velocity."""
    kind = "laplacian" if "laplacian" in subject.files else "image"
    if kind not in subject.files:
        raise InputError("no image was written")
    path = subject.files[kind]
    filtered = ", Laplacian-filtered" if kind == "laplacian" else ""
    with open_volume(path.name, path.parent) as volume, ledger.file(FILES, "read"):
        shape = three(volume.info.shape)
        flat = len(volume.info.shape) == 2

        def cells(lo: Sequence[int], hi: Sequence[int]) -> npt.NDArray[np.floating]:
            kept = (0, 2) if flat else (0, 1, 2)
            box = [hi[a] - lo[a] for a in range(3)]
            return volume.read([lo[a] for a in kept], [hi[a] for a in kept]).reshape(box)

        factors = factors_for(shape, MOST_IMAGE)
        image = averaged(cells, shape, factors)
    earth, why = _earth(subject, shape)
    spacing, origin = _place(earth, volume.info.spacing, volume.info.origin)
    seen: npt.NDArray[np.floating] = image.reshape(-1, image.shape[2])
    if earth is None:
        judged = np.ones(seen.shape, np.bool_)
        below = None
    else:
        with ledger.file(FILES, "read"):
            speed = averaged(earth.vp, shape, factors)
        seen, judged = below_water(seen, speed.reshape(seen.shape))
        below = _property(
            speed, [d * f for d, f in zip(spacing, factors, strict=True)], first_centre(origin, spacing, factors)
        )
    gain = depth_gain([seen], [judged])
    shown = seen * gain
    clip = symmetric_range([shown[judged]])
    codes = np.clip(np.rint(128 + 127 * np.nan_to_num(shown) / clip), 1, 255).astype(np.uint8)
    caption = (
        "Black: positive. For display only, the image is balanced over depth, clipped at the 99th percentile of its "
        "magnitude and faded out in the water; read amplitudes from the file."
    )
    if math.prod(factors) > 1:
        caption += f" Shown are means of {_times(factors)} cells."
    return {
        "kind": "volume",
        "title": f"The image{filtered}, over the velocity" if earth else f"The image{filtered}",
        "caption": f"{caption} {why}".strip(),
        "file": str(path),
        "span": span(shape, spacing, origin),
        "image": as_bytes(codes.reshape(image.shape), spacing, origin, factors),
        "property": below,
    }


def _earth(subject: Subject, shape: tuple[int, ...]) -> tuple[EarthFiles | None, str]:
    """The model of an image of this shape; None where it is gone, and why."""
    try:
        earth = subject.earth()
        if earth.grid.shape != shape:
            raise InputError(f"the image has {_times(shape)} cells, the model {_times(earth.grid.shape)}")
    except (FathometerError, OSError) as error:
        return None, f"The velocity is not shown: {error}."
    return earth, ""


def _place(
    earth: EarthFiles | None, spacing: Sequence[float] | None, origin: Sequence[float] | None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Spacing and origin (x, y, z) in m of the model, else of the image's file."""
    if earth is not None:
        return earth.grid.spacing, earth.grid.origin
    if spacing is None:
        raise InputError("neither the model nor the image tells the size of a cell")
    place = origin if origin is not None else [0.0] * len(spacing)
    if len(spacing) == 2:
        return (spacing[0], spacing[0], spacing[1]), (place[0], 0.0, place[1])
    return tuple(spacing), tuple(place)


def _model(subject: Subject) -> Panel:
    """The velocity alone."""
    earth = subject.earth()
    shape, spacing, origin = earth.grid.shape, earth.grid.spacing, earth.grid.origin
    factors = factors_for(shape, MOST_PROPERTY)
    with ledger.file(FILES, "read"):
        speed = averaged(earth.vp, shape, factors)
    return {
        "kind": "volume",
        "title": "The model: vertical P velocity",
        "caption": f"Means of {_times(factors)} cells." if math.prod(factors) > 1 else "",
        "file": ", ".join(map(str, earth.paths[:1])),
        "span": span(shape, spacing, origin),
        "image": None,
        "property": _property(
            speed, [d * f for d, f in zip(spacing, factors, strict=True)], first_centre(origin, spacing, factors)
        ),
    }


def _property(values: npt.NDArray[np.floating], spacing: Sequence[float], origin: Sequence[float]) -> dict[str, Any]:
    """A velocity (x, y, z) in m/s as bytes, coarser still."""
    factors = factors_for(three(values.shape), MOST_PROPERTY)
    coarse = averaged(lambda lo, hi: values[lo[0] : hi[0], lo[1] : hi[1], lo[2] : hi[2]], three(values.shape), factors)
    low, high = full_range([coarse])
    codes = np.rint(255 * (np.nan_to_num(coarse, nan=low) - low) / (high - low)).clip(0, 255).astype(np.uint8)
    return as_bytes(codes, spacing, origin, factors) | {"low": low, "high": high, "label": "vp (m/s)"}


def _map(subject: Subject) -> Panel:
    """Sources and receivers from above; of a line, along it and shot by shot."""
    acquisition, shots = subject.acquisition(), subject.acquisition().shots
    if not shots:
        raise InputError(f"{acquisition.name}: no shots")
    sources = np.array([shot.source for shot in shots])
    spreads = list({id(shot.receivers): shot.receivers for shot in shots}.values())
    each = max(1, MOST_SEEN // len(spreads))
    if _on_a_line(sources, spreads):
        chosen = shots[:: -(-len(shots) // MOST_LINES)]
        few = max(8, MOST_MARKS // len(chosen))
        places = [(float(x), shot.index + 1) for shot in chosen for x in _thinned(shot.receivers[:, 0], few)]
        groups = [
            {"name": "receivers", "x": [_round(x) for x, _ in places], "y": [n for _, n in places]},
            {"name": "sources", "x": _rounded(sources[:, 0]), "y": [shot.index + 1 for shot in shots]},
        ]
        return {"kind": "points", "title": "Sources and receivers along the line", "labels": ["x (m)", "shot"]} | {
            "groups": groups,
            "equal": False,
            "caption": _counts(shots),
        }
    receivers = np.unique(np.round(np.concatenate([_thinned(spread, each) for spread in spreads])[:, :2], 3), axis=0)
    receivers = _thinned(receivers, MOST_MARKS)
    outline = None
    try:
        grid = subject.earth().grid
        outline = span(grid.shape, grid.spacing, grid.origin)[:2]
    except (FathometerError, OSError):  # told in the image's panel
        pass
    return {"kind": "points", "title": "Sources and receivers from above", "labels": ["x (m)", "y (m)"]} | {
        "groups": [
            {"name": "receivers", "x": _rounded(receivers[:, 0]), "y": _rounded(receivers[:, 1])},
            {"name": "sources", "x": _rounded(sources[:, 0]), "y": _rounded(sources[:, 1])},
        ],
        "equal": True,
        "outline": outline,
        "caption": _counts(shots) + (" The frame is the model." if outline else ""),
    }


def _on_a_line(sources: npt.NDArray[np.float64], spreads: Sequence[npt.NDArray[np.float64]]) -> bool:
    """Whether all y are one."""
    first = sources[0, 1]
    return all(float(np.abs(places[:, 1] - first).max(initial=0.0)) <= SAME_LINE for places in (sources, *spreads))


def _counts(shots: Sequence[Shot]) -> str:
    numbers = sorted({len(shot.receivers) for shot in shots})
    spread = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    return f"{len(shots)} {'shot' if len(shots) == 1 else 'shots'}, {spread} receivers each."


def _gather(subject: Subject) -> Panel:
    """The middle shot: all its traces along a line, or those of the line of receivers that is nearest the source."""
    acquisition = subject.acquisition()
    shot = acquisition.shots[len(acquisition.shots) // 2]
    chosen, words = _line(shot)
    chosen = chosen[:: -(-len(chosen) // MOST_TRACES) or 1]
    with ledger.file(FILES, "read"):
        if acquisition.recorded:
            traces, kind = acquisition.traces(shot, chosen), "recorded"
            done = acquisition.conditioning.words
            kind += f", {done} as it was migrated" if done else ""
        else:
            if "shots" not in subject.files:
                raise InputError("no traces were written")
            before = sum(len(one.receivers) for one in acquisition.shots[: shot.index])
            traces, kind = read_traces(subject.files["shots"], before + chosen), "modelled"
    shown, (_, fold) = downsampled(traces, MOST_SAMPLES)
    clip = symmetric_range([shown], GATHER_PERCENTILE)
    codes = np.clip(np.rint(128 + 127 * shown / clip), 1, 255).astype(np.uint8)
    x = shot.receivers[chosen, 0]
    steps = np.diff(x)
    ordered = len(x) > 1 and bool(np.all(steps > 0) or np.all(steps < 0))
    return {
        "kind": "traces",
        "title": f"Shot {shot.index + 1} (FFID {shot.ffid}), {kind}",
        "caption": f"{words} Black: positive; clipped at the {GATHER_PERCENTILE:g}th percentile.",
        "label": "receiver x (m)" if ordered else "channel",
        "x": _rounded(x) if ordered else shot.channel[chosen].tolist(),
        "time": [acquisition.start + (fold - 1) / 2 * acquisition.sample_interval, fold * acquisition.sample_interval],
        "shape": list(codes.T.shape),
        "codes": encoded(codes.T),
    }


def _line(shot: Shot) -> tuple[npt.NDArray[np.int64], str]:
    """Which receivers of a shot are shown, and that in words."""
    every = np.arange(len(shot.receivers), dtype=np.int64)
    lines = np.unique(np.round(shot.receivers[:, 1] / SAME_LINE).astype(np.int64))
    source = f"Source at x = {shot.source[0]:g} m"
    if len(lines) == 1 or len(lines) > len(every) / 2:
        return every, f"{source}, {len(every)} traces."
    source += f", y = {shot.source[1]:g} m"
    near = lines[np.argmin(np.abs(lines * SAME_LINE - shot.source[1]))]
    own = np.flatnonzero(np.round(shot.receivers[:, 1] / SAME_LINE).astype(np.int64) == near)
    return own, f"{source}; the {len(own)} traces of the line y = {near * SAME_LINE:g} m, of {len(every)}."


def _thinned(values: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.float64]:
    """At most so many of the rows, evenly chosen."""
    return values[:: -(-len(values) // most) or 1]


def _rounded(values: npt.NDArray[np.float64]) -> list[float]:
    return [_round(float(value)) for value in values]


def _round(value: float) -> float:
    """To a centimetre."""
    return round(value, 2)


def _times(numbers: Sequence[int]) -> str:
    return " × ".join(str(n) for n in numbers)
