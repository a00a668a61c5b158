"""What a page shows of a reactive flow: heading, fields, time steps, PETSc's log, moles, waters.

Nothing here needs MPI or PETSc: a page can be made again from a record and the fields beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fathometer.apps.reactive.page_tables import balance_table, beside_table, event_table, water_table
from fathometer.apps.reactive.shown import TITLE, field_panels, step_panel
from fathometer.base.formatting import bytes_in_words, number_of, time_text
from fathometer.report.missing import panels_of_results, panels_or_missing
from fathometer.runs.application import Heading, Panel

# Panels of what only a run that has ended knows, by their entries of the results.
OF_RESULTS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], Panel]], ...] = (
    ("Time steps", "course", step_panel),
    ("Newton's method", "petsc", beside_table),
    ("PETSc's log", "petsc", event_table),
    ("Balance of moles", "balance", balance_table),
    ("Waters", "waters", water_table),
)


def panels_of(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """The panels of a record that lies in a folder, with the fields beside it; a panel "missing" where one cannot be
    made."""
    return panels_or_missing(TITLE, lambda: field_panels(record, folder)) + panels_of_results(record, OF_RESULTS)


def heading(record: Mapping[str, Any]) -> Heading:
    """Title, name of the flow file, and facts.

    Raises KeyError, TypeError and the like for a record that no run writes.
    """
    keys, results = record["input"], record["results"]
    facts = [("Grid", _grid(results["grid"])), ("Chemistry", _chemistry(results["chemistry"]))]
    facts.append(("Flow and transport", _transport(keys)))
    if "course" in results:
        facts.append(("Time steps", _steps(results)))
        facts.append(("Solver", _solver(keys, results)))
    return Heading("Reactive flow", Path(str(keys["flow_file"])).stem, facts, kernel=False)


def lines(record: Mapping[str, Any]) -> list[str]:
    """The time and rates of a run, for people."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    error = max((row["error"] for row in record["results"]["balance"]), default=0.0)
    return [
        f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s in {figures['steps']:.0f} steps with "
        f"{figures['newton iterations']:.0f} iterations of Newton's method and {figures['linear iterations']:.0f} "
        f"linear ones; at most {bytes_in_words(figures['peak memory'])} a rank",
        f"moles of all components balance to {error:.1g}",
        *(f"note: {note}" for note in record["results"]["notes"]),
    ]


def _grid(grid: Mapping[str, Any]) -> str:
    axes = [axis for axis, n in enumerate(grid["shape"]) if n > 1]
    if not axes:
        return "one cell"
    cells = " × ".join(str(grid["shape"][axis]) for axis in axes)
    size = " × ".join(f"{grid['spacing_metres'][axis]:g}" for axis in axes)
    return f"{len(axes)}D, {cells} cells of {size} m"


def _chemistry(chemistry: Mapping[str, Any]) -> str:
    minerals = chemistry["minerals"]
    parts = [
        f"components {', '.join(chemistry['primary'])}",
        f"{len(chemistry['secondary'])} further species",
        f"minerals {', '.join(minerals)}" if minerals else "no minerals",
        f"activities: {chemistry['activity']}",
        str(chemistry["title"]),
    ]
    return "; ".join(parts)


def _transport(keys: Mapping[str, Any]) -> str:
    flux, medium = keys.get("flow", {}).get("flux"), keys["medium"]
    heads = any(entry.get("head") is not None for entry in keys["boundary"])
    flow = "flow from heads" if heads else f"flux {', '.join(f'{q:g}' for q in flux)} m/s" if flux else "no flow"
    parts = [flow, f"{keys['transport']['scheme']} fluxes", f"diffusivity {medium['diffusivity']:g} m²/s"]
    if any(medium["dispersivity"]):
        parts.append(f"dispersivity {' and '.join(f'{a:g}' for a in medium['dispersivity'])} m")
    return "; ".join([*parts, f"porosity {medium['porosity']:g}"])


def _steps(results: Mapping[str, Any]) -> str:
    steps, earlier, cuts = results["steps"], results["earlier_steps"], results["counts"]["cut_steps"]
    text = f"{steps:,} to {time_text(results['time_seconds'])}".replace(",", " ")
    text += f", of these {earlier} by earlier runs" if earlier else ""
    return text + (f"; {number_of(round(cuts), 'cut')}" if cuts else "")


def _solver(keys: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    counts, steps = results["counts"], results["steps"]
    newton, linear = counts["newton_iterations"], counts["linear_iterations"]
    text = f"PETSc {results['petsc']['version']}"
    if newton and steps:
        text += f"; {newton / steps:.3g} Newton iterations a step, {linear / newton:.3g} linear ones in each"
    options = keys.get("petsc", {}).get("options")
    return text + (f"; options {options}" if options else "")
