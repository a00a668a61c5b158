"""What is shown of a plasma: the potential across the field or along it, growth rates, fluxes and energy over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.pictures import sheet
from fathometer.report.figures import COLOURS, POINT
from fathometer.report.missing import missing
from fathometer.report.scale import spread
from fathometer.runs.application import Panel
from fathometer.shown.lines import Lines, Series, lines_figure, lines_panel, time_series_panel
from fathometer.shown.planes import Extent, Plane, planes_figure, planes_panel, thinned
from fathometer.storage.datasets.reader import DatasetFile

PICTURE = "plasma.png"
FIELDS = "Potential"
TIME = ("R/v", "time_R_over_v")
MOST_TIMES, MOST_VALUES, PICTURE_VALUES = 8, 128, 600  # times of the page; along a side of a plane
MOST_LINES = 6
FINEST = 256  # points of a plane along a side, at least
ACROSS = "Potential e φ/T_i over ρ_i/R"
SERIES = (
    Series("free_energy", "free energy", COLOURS["compute"]),
    Series("phi_waves", "|φ|² of waves", COLOURS["communication"], zero=True),
    Series("phi_zonal", "|φ|² of zonal flows", POINT, zero=True),
    Series("phi_mean", "mean φ of the first mode", COLOURS["io"]),
    Series("phi_middle", "φ at θ = 0 of the first mode", COLOURS["io"]),
)


def potential(folder: Path, name: str) -> npt.NDArray[np.complex128]:
    """phi [ky, theta, kx] of a file. Raises InputError where it cannot be read."""
    with DatasetFile(folder / name) as file:
        re, im = np.asarray(file.read("phi"), np.float64)
    return np.asarray(re + 1j * im)


def on_plane(phi: npt.NDArray[np.complex128]) -> npt.NDArray[np.float64]:
    """The potential (x, y) at theta = 0 of the modes of a box."""
    modes, points, waves = phi.shape
    last = (waves - 1) // 2
    nx, ny = (FINEST * max(1, -(-2 * number // FINEST)) for number in (last + 1, modes))
    spectrum = np.zeros((nx, ny // 2 + 1), np.complex128)
    middle = phi[:, points // 2].T
    spectrum[: last + 1, :modes] = middle[last:]
    spectrum[nx - last :, :modes] = middle[:last]
    return np.fft.irfft2(spectrum, (nx, ny), norm="forward")


def _plane(results: Mapping[str, Any], parts: Sequence[npt.NDArray[np.float64]], most: int) -> Plane:
    ky, kx = results["grid"]["ky"], results["kx_least"]
    lengths = (2 * math.pi / kx, 2 * math.pi / ky[1])
    steps = (lengths[0] / parts[0].shape[0], lengths[1] / parts[0].shape[1])
    extent = Extent(
        first=(0.5 * steps[0], 0.5 * steps[1]),
        step=steps,
        labels=("x (ρ_i)", "y (ρ_i)"),
        units=("ρ_i", "ρ_i"),
        borders=((0.0, lengths[0]), (0.0, lengths[1])),
    )
    found = [thinned(np.asarray(part, np.float32), most) for part in parts]
    blocks = found[0][1]
    return Plane(ACROSS, tuple(part for part, _ in found), extent.of_blocks(blocks), blocks, "RdBu", True, robust=False)


def _along(results: Mapping[str, Any], phi: npt.NDArray[np.complex128], picked: Sequence[int]) -> Lines:
    """|phi| along the field line of some ky, each over its largest."""
    ky, points = results["grid"]["ky"], results["grid"]["theta"]
    waves = phi.shape[2]
    turns = waves if results["chain"] else 1
    theta = (np.arange(turns * points) - turns * points // 2) * 2 / points
    lines = []
    for number in picked:
        values = np.abs(phi[number].T.reshape(-1)[: turns * points])
        lines.append((f"ky {ky[number]:g}", theta, values / max(values.max(), 1e-300)))
    name = f"|φ| over its largest, ky {ky[picked[0]]:g}" if len(picked) == 1 else "|φ| over its largest"
    return Lines(name, "θ (π)", lines)


def _fastest(results: Mapping[str, Any]) -> int:
    """Number of the ky that grows most."""
    return int(np.argmax([entry["gamma"] for entry in results["modes"]])) if results["modes"] else 0


def _rates(results: Mapping[str, Any]) -> list[Lines]:
    """Growth rates and frequencies over ky."""
    modes = results["modes"]
    if len(modes) < 2:
        return []
    ky = np.array([entry["ky"] for entry in modes])
    return [
        Lines(label, "ky (1/ρ_i)", [("", ky, np.array([entry[name] for entry in modes]))])
        for name, label in (("gamma", "growth rate γ (v/R)"), ("omega", "frequency ω (v/R)"))
    ]


def field_panels(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """The potential at some output times. Raises KeyError, TypeError and the like for a record that no run writes."""
    results = record["results"]
    files, times = results.get("field_files", []), results.get("field_times_R_over_v", [])
    if not files:
        return [missing(FIELDS, "the record names no fields that were written")]
    if "kx_least" not in results:
        with ledger.file("fields", "read"):
            phi = potential(folder, files[-1])
        line = _along(results, phi, spread(len(phi), MOST_LINES))
        return [lines_panel("fields", FIELDS, [line], "At the end, along the field line.")]
    picked = spread(len(files), MOST_TIMES)
    with ledger.file("fields", "read"):
        parts = [on_plane(potential(folder, files[n])) for n in picked]
    plane = _plane(results, parts, MOST_VALUES)
    return [
        planes_panel(
            "fields", FIELDS, [plane], [times[n] for n in picked], "no value", first=["At θ = 0."], unit=TIME[0]
        )
    ]


def draw(record: Mapping[str, Any], folder: Path, title: str) -> Path:
    """Draw the potential, and growth rates of a linear run, on one rank; the picture's path."""
    results = record["results"]
    phi = potential(folder, results["field_files"][-1])
    path = folder / PICTURE
    if "kx_least" in results:
        plane = _plane(results, [on_plane(phi)], PICTURE_VALUES)
        times = results["field_times_R_over_v"][-1:]
        figure = planes_figure(title, [plane], times, "no value", first=["At θ = 0."], unit=TIME[0])
    else:
        figure = lines_figure(title, [*_rates(results), _along(results, phi, [_fastest(results)])])
    sheet.save(figure, path)
    return path


def course_panel(record: Mapping[str, Any]) -> Panel:
    """The time series. Raises ValueError where there are no rows."""
    rows = record["results"]["course"]
    most = {name: max(abs(row[name]) for row in rows) for name in rows[0] if "_flux_" in name}
    # Beside adiabatic electrons ions do not leave: their flux is rounding.
    fluxes = [name for name, size in most.items() if size > 1e-12 * max(most.values())]
    more = [
        Series(name, f"{name.split('_')[0]} flux of {name.split('_', 2)[2]} (gyro-Bohm)", COLOURS["io"])
        for name in fluxes
    ]
    return time_series_panel(record, [one for one in (*SERIES, *more) if one.key in rows[0]], TIME)


def growth_panels(record: Mapping[str, Any]) -> list[Panel]:
    """Growth rates and frequencies: a table, over ky, and how they came about."""
    results = record["results"]
    modes, growth = results["modes"], results["growth"]
    if not modes:
        return []
    rows = [[entry[name] for name in ("ky", "gamma", "omega", "change")] for entry in modes]
    columns = [["ky (1/ρ_i)", "", "1"], ["γ (v/R)", "", "1"], ["ω (v/R)", "", "1"], ["change", "", "1"]]
    found: list[Panel] = [{"kind": "table", "title": "Growth rates", "columns": columns, "rows": rows}]
    if rates := _rates(results):
        found.append(lines_panel("rates", "Growth rates over ky", rates, "ω is positive where ions drift to."))
    times = np.array([row[TIME[1]] for row in growth])
    picked = spread(len(modes), MOST_LINES)
    plots = []
    for name, label in (("gamma", "growth rate γ (v/R)"), ("omega", "frequency ω (v/R)")):
        lines = [(f"ky {modes[n]['ky']:g}", times, np.array([row[name][n] for row in growth])) for n in picked]
        plots.append(Lines(label, "time (R/v)", lines))
    found.append(lines_panel("growth", "Growth rates over time", plots, "Of the time between two looks."))
    return found


def spectrum_panel(record: Mapping[str, Any]) -> list[Panel]:
    """|phi|² over ky at the end, of a box."""
    results = record["results"]
    if "kx_least" not in results:
        return []
    ky, squares = np.array(results["grid"]["ky"]), np.array(results["spectrum"])
    line = Lines("|φ|² at the end", "ky (1/ρ_i)", [("", ky, squares)], may_be_log=True)
    return [lines_panel("spectrum", "Spectrum", [line], "")]
