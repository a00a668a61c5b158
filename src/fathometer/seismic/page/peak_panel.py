"""Panel of peak ground velocities: maps, with a choice of the shot; in two dimensions curves along x."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.report.panels_beside import OWNERS
from fathometer.report.scale import field_entry, range_of, spread
from fathometer.runs.application import Panel
from fathometer.seismic.page.run_data import FILES, RunData
from fathometer.storage.volumes.volume import Volume, open_volume

PREFIX = "peak velocity"  # of the kinds of files with maps
COMPONENTS = ("horizontal", "vertical")
MOST_SHOTS, MOST_NODES = 8, 300  # maps of a component; nodes along a side of a map
LOWEST, TALLEST = 0.3, 1.4  # height of a map over its width: beyond these it is stretched
TITLE, CAPTION = "Peak ground velocity", "Largest sqrt(vx² + vy²) and |vz| of all time steps at the nodes of the {}."


def peak_panel(run: RunData) -> Panel:
    """Horizontal and vertical peaks in the free surface, or in the model's first plane. InputError: there are none."""
    kinds = [kind.removesuffix(" horizontal") for kind in run.files if _is_map(kind, "horizontal")]
    if not kinds:
        raise InputError("no peak velocities were written")
    kinds = [kinds[n] for n in spread(len(kinds), MOST_SHOTS)]
    maps: dict[str, list[npt.NDArray[np.floating]]] = {name: [] for name in COMPONENTS}
    with ledger.file(FILES, "read"):
        for name in COMPONENTS:
            for kind in kinds:
                path = run.files[f"{kind} {name}"]
                with open_volume(path.name, path.parent) as volume:
                    values, first, step = _map(volume)
                    maps[name].append(values)
    free = run.survey.propagation.top == "free-surface"
    caption = CAPTION.format("free surface" if free else "model's first plane")
    choices = [kind.removeprefix(PREFIX).strip() or "the shot" for kind in kinds]
    if values.shape[1] == 1:
        return _curves(maps, choices, first[0], step[0], caption)
    return _maps(maps, choices, first, step, caption)


def _is_map(kind: str, component: str) -> bool:
    return kind.startswith(PREFIX) and kind.endswith(f" {component}")


def _map(volume: Volume) -> tuple[npt.NDArray[np.floating], list[float], list[float]]:
    """Values (nx, ny), every n-th where there are many; place of the first and distance, m."""
    shape, info = volume.info.shape, volume.info
    every = [max(1, -(-n // MOST_NODES)) for n in shape]
    values = volume.read((0, 0), shape)[:: every[0], :: every[1]]
    spacing, origin = info.spacing or (1.0, 1.0), info.origin or (0.0, 0.0)
    return values, [float(o) for o in origin], [n * float(d) for n, d in zip(every, spacing, strict=True)]


def _maps(
    maps: dict[str, list[npt.NDArray[np.floating]]],
    choices: list[str],
    first: list[float],
    step: list[float],
    caption: str,
) -> Panel:
    fields = [field_entry(f"{name} (m/s)", parts, range_of([*parts, np.zeros((1, 1))])) for name, parts in maps.items()]
    nx, ny = maps[COMPONENTS[0]][0].shape
    extent = ny * step[1] / (nx * step[0])
    return {
        "kind": "fields",
        "name": "peaks",
        "title": TITLE,
        "caption": caption,
        "labels": ["x (m)", "y (m)"],
        "x": [first[0], step[0]],
        "y": [first[1], step[1]],
        "shape": [ny, nx],
        "ratio": min(max(extent, LOWEST), TALLEST),
        "choice": "shot",
        "choices": choices,
        "fields": fields,
    }


def _curves(
    maps: dict[str, list[npt.NDArray[np.floating]]], choices: list[str], first: float, step: float, caption: str
) -> Panel:
    plots = []
    for name, parts in maps.items():
        x = [float(f"{first + step * n:.8g}") for n in range(len(parts[0]))]
        lines = [
            {"name": choice, "colour": colour, "x": x, "y": [float(f"{v:.5g}") for v in part[:, 0]]}
            for choice, colour, part in zip(choices, OWNERS, parts, strict=False)
        ]
        plots.append(
            {
                "label": name,
                "labels": ["x (m)", "m/s"],
                "from": "tozero",
                "lines": lines,
            }
        )
    legend = [[choice, colour] for choice, colour in zip(choices, OWNERS, strict=False)] if len(choices) > 1 else []
    return {"kind": "lines", "name": "peaks", "title": TITLE, "caption": caption, "legend": legend, "plots": plots}
