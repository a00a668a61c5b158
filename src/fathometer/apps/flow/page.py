"""What a page shows of an incompressible flow: heading, fields, time series, the parts of a step.

Nothing here needs MPI: a page can be made again from a record and the fields beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fathometer.apps.flow.shown import FIELDS, course_panel, field_panels
from fathometer.base.formatting import bytes_in_words, time_text
from fathometer.report.missing import panels_of_results, panels_or_missing
from fathometer.report.parts import parts_panel
from fathometer.runs.application import Heading, Panel

PARTS = {
    "momentum": "rates of velocity and temperature",
    "projection": "divergence and gradient",
    "transforms": "Fourier and cosine transforms",
    "solve columns": "elimination along the last axis",
    "transpose": "arrays cut along another axis",
    "halos": "cells of neighbours and sides",
}


def parts_table(record: Mapping[str, Any]) -> Panel:
    """What the parts of a step take."""
    return parts_panel(record, PARTS)


# Panels of what only a run that has ended knows, by their entries of the results.
OF_RESULTS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], Panel]], ...] = (
    ("Time series", "course", course_panel),
    ("Parts of a step", "balance", parts_table),
)


def panels_of(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """The panels of a record that lies in a folder, with the fields beside it; a panel "missing" where one cannot be
    made."""
    return panels_or_missing(FIELDS, lambda: field_panels(record, folder)) + panels_of_results(record, OF_RESULTS)


def heading(record: Mapping[str, Any]) -> Heading:
    """Title, name of the input file, and facts.

    Raises KeyError, TypeError and the like for a record that no run writes.
    """
    keys, results = record["input"], record["results"]
    grid = results["grid"]
    size = " × ".join(f"{n * h:.4g}" for n, h in zip(grid["shape"], grid["spacing_metres"], strict=True))
    facts = [("Grid", f"{' × '.join(map(str, grid['shape']))} cells, {size} m")]
    heat = keys.get("temperature")
    facts.append(("Fluid", f"viscosity {keys['fluid']['viscosity']:g} m²/s" + ("; with a temperature" if heat else "")))
    sides = "; ".join(f"{side['side']}: {side['kind']}" for side in keys["side"])
    facts.append(("Sides", f"{sides}; others periodic" if sides else "periodic"))
    if "course" in results:
        facts.append(("Time steps", f"{results['steps']:,} to {time_text(results['time_seconds'])}".replace(",", " ")))
    return Heading("Incompressible flow", Path(str(keys["flow_file"])).stem, facts, kernel=False)


def lines(record: Mapping[str, Any]) -> list[str]:
    """The time and rates of a run, for people."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    (divergence,) = record["results"]["balance"]
    return [
        f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s in {figures['steps']:.0f} steps, "
        f"{figures['cell updates'] / 1e6:.3g} million cells a second; at most "
        f"{bytes_in_words(figures['peak memory'])} a rank",
        f"largest divergence {divergence['largest_per_second']:.1g} 1/s",
        *(f"note: {note}" for note in record["results"]["notes"]),
    ]
