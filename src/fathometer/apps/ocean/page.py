"""What a page shows of an ocean: heading, maps and section, time series, the two parts of a step, contents, blocks.

Nothing here needs MPI: a page can be made again from a record and the fields beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fathometer.apps.ocean.page_tables import balance_table, block_panel, parts_table, solver_table
from fathometer.apps.ocean.shown import MAPS, course_panel, map_panels
from fathometer.base.formatting import bytes_in_words, count, digits, number_of, time_text
from fathometer.report.missing import panels_of_results, panels_or_missing
from fathometer.runs.application import Heading, Panel

# Panels of what only a run that has ended knows, by their entries of the results.
OF_RESULTS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], Panel]], ...] = (
    ("Time series", "course", course_panel),
    ("Barotropic and baroclinic", "performance", parts_table),
    ("Contents of the tracers", "balance", balance_table),
    ("Blocks", "blocks", block_panel),
    ("The solver for the surface", "performance", solver_table),
)


def panels_of(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """The panels of a record that lies in a folder, with the fields beside it; a panel "missing" where one cannot be
    made."""
    return panels_or_missing(MAPS, lambda: map_panels(record, folder)) + panels_of_results(record, OF_RESULTS)


def heading(record: Mapping[str, Any]) -> Heading:
    """Title, name of the ocean file, and facts.

    Raises KeyError, TypeError and the like for a record that no run writes.
    """
    keys, results = record["input"], record["results"]
    facts = [("Grid", _grid(results["grid"])), ("Water", _water(keys))]
    if "course" in results:
        facts += [
            ("Blocks", _blocks(results)),
            ("Time steps", _steps(results)),
            ("Solver", _solver(keys["barotropic"], results["performance"])),
            ("Speed", f"{digits(results['performance']['simulated_years_per_day'])} simulated years a day"),
        ]
    return Heading("Ocean circulation", Path(str(keys["ocean_file"])).stem, facts, kernel=False)


def lines(record: Mapping[str, Any]) -> list[str]:
    """The time and rates of a run, for people."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    results = record["results"]
    found = [
        f"{figures['total']:.1f} s, of these {figures['baroclinic']:.1f} s baroclinic and "
        f"{figures['barotropic']:.1f} s barotropic in {figures['steps']:.0f} steps with "
        f"{figures['iterations a step']:.3g} iterations; at most {bytes_in_words(figures['peak memory'])} a rank"
    ]
    if figures["simulated years a day"]:
        found.append(
            f"{figures['simulated years a day']:.3g} simulated years a day, "
            f"{figures['reductions a second']:.3g} reductions a second"
        )
    error = max((row["error"] for row in results["balance"]), default=0.0)
    return [*found, f"contents of all tracers balance to {error:.1g}", *(f"note: {n}" for n in results["notes"])]


def _grid(grid: Mapping[str, Any]) -> str:
    nx, ny, nz = grid["shape"]
    step = [f"{h:g}°" if grid["spherical"] else f"{h / 1e3:g} km" for h in grid["spacing"]]
    text = f"{nx} × {ny} × {nz} cells of {step[0]} × {step[1]}, {sum(grid['thickness_metres']):.6g} m deep"
    text += ", periodic in x" if grid["periodic"] else ""
    return f"{text}; {grid['wet_columns'] / (nx * ny):.0%} of the columns are water"


def _water(keys: Mapping[str, Any]) -> str:
    mixing = keys["mixing"]
    return (
        f"equation of state: {keys['water']['equation_of_state']}; viscosity {mixing['viscosity']:g} and "
        f"{mixing['vertical_viscosity']:g} m²/s, diffusivity {mixing['diffusivity']:g} and "
        f"{mixing['vertical_diffusivity']:g} m²/s, along and across levels; wind: {keys['forcing']['wind']['kind']}"
    )


def _blocks(results: Mapping[str, Any]) -> str:
    blocks, (nx, ny, _) = results["blocks"], results["grid"]["shape"]
    ranks = 1 + max((rank for *_, rank in blocks["owners"]), default=0)
    text = f"{blocks['count']} on {number_of(ranks, 'rank')}"
    left = blocks["cells_left_out"]
    return text + (f"; {left / (nx * ny):.1%} of the cells, all land, are left out" if left else "")


def _steps(results: Mapping[str, Any]) -> str:
    steps, earlier = results["steps"], results["earlier_steps"]
    text = f"{count(steps)} of {results['step_seconds']:g} s, to {time_text(results['time_seconds'])}"
    return text + (f"; of these {earlier} by earlier runs" if earlier else "")


def _solver(keys: Mapping[str, Any], performance: Mapping[str, Any]) -> str:
    return (
        f"{keys['solver']} conjugate gradients, {keys['preconditioner']} preconditioner; "
        f"{performance['iterations_per_step']:.3g} iterations a step"
    )
