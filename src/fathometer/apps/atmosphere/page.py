"""What a page shows of an atmosphere: heading, maps, zonal means, spectrum, time series, messages, parts of a step.

Nothing here needs MPI: a page can be made again from a record and the fields beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.apps.atmosphere.shown import MAPS, course_panel, field_panels, spectrum_panel
from fathometer.base.formatting import bytes_in_words, time_text
from fathometer.report.missing import panels_of_results, panels_or_missing
from fathometer.report.parts import messages_panels, parts_panel
from fathometer.runs.application import Heading, Panel

PARTS = {
    "Legendre": "transforms along latitude",
    "transpose": "wavenumbers brought to latitudes, and back",
    "grid": "Fourier transforms along longitude, columns of air",
    "physics": "forcing of columns of air",
    "move columns": "columns brought to the ranks that compute their forcing, and back",
    "tracers": "semi-Lagrangian steps, with halos of pairs of latitudes",
    "spectral": "winds, rates and implicit steps of coefficients",
}


def parts_table(record: Mapping[str, Any]) -> Panel:
    """What the parts of a step take."""
    return parts_panel(record, PARTS)


def panels_of(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """The panels of a record that lies in a folder, with the fields beside it; a panel "missing" where one cannot be
    made."""
    found = panels_or_missing(MAPS, lambda: field_panels(record, folder))
    if "course" in record["results"]:
        found += panels_or_missing("Spectrum", lambda: spectrum_panel(record))
        found += panels_or_missing("Messages of a step", lambda: messages_panels(record, "step"))
    return found + panels_of_results(
        record, (("Time series", "course", course_panel), ("Parts of a step", "balance", parts_table))
    )


def heading(record: Mapping[str, Any]) -> Heading:
    """Title, name of the input file, and facts.

    Raises KeyError, TypeError and the like for a record that no run writes.
    """
    keys, results = record["input"], record["results"]
    grid = results["grid"]
    facts = [
        ("Grid", f"T{grid['truncation']}, {grid['latitudes']} × {grid['longitudes']} points"),
        ("Levels", "shallow water" if results["shallow"] else str(grid["levels"])),
        ("Beginning", keys["start"]["kind"]),
        ("Forcing", keys["physics"]["forcing"]),
        *([("Tracers", ", ".join(results["tracers"]))] if results.get("tracers") else []),
        ("Step", f"{results['step_seconds']:g} s"),
    ]
    if "course" in results:
        facts.append(("Time steps", f"{results['steps']:,} to {time_text(results['time_seconds'])}".replace(",", " ")))
    return Heading("Atmosphere", Path(str(keys["atmosphere_file"])).stem, facts, kernel=False)


def lines(record: Mapping[str, Any]) -> list[str]:
    """The time and rates of a run, for people."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    results = record["results"]
    found = [
        f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s in {figures['steps']:.0f} steps, "
        f"{figures['rate']:.3g} years a day, {figures['communication share']:.0%} of it communication; at most "
        f"{bytes_in_words(figures['peak memory'])} a rank"
    ]
    if "physics imbalance" in figures and figures["physics"]:
        found.append(f"physics: the slowest rank takes {figures['physics imbalance']:.2f} times the mean")
    for entry in results["balance"]:
        found.append(f"{entry['quantity']}: changed by {entry['error']:.1e} of it")
    return found + [f"note: {note}" for note in results["notes"]]
