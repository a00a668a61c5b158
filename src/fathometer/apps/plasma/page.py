"""What a page shows of a plasma: heading, potential, growth rates, time series, messages, the parts of a step.

Nothing here needs MPI: a page can be made again from a record and the fields beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.apps.plasma.shown import FIELDS, course_panel, field_panels, growth_panels, spectrum_panel
from fathometer.base.formatting import bytes_in_words
from fathometer.report.missing import panels_of_results, panels_or_missing
from fathometer.report.parts import messages_panels, parts_panel
from fathometer.runs.application import Heading, Panel

PARTS = {
    "velocities": "mirror force and collisions",
    "fields": "velocity sums and potentials",
    "field lines": "streaming, drift, drive",
    "bracket": "the flow across the field, by Fourier transforms",
    "update": "rates added up",
    "transpose": "arrays brought to other layouts",
    "gather": "velocity sums and potentials of other ranks",
}


def parts_table(record: Mapping[str, Any]) -> Panel:
    """What the parts of a step take."""
    return parts_panel(record, PARTS)


def panels_of(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """The panels of a record that lies in a folder, with the fields beside it; a panel "missing" where one cannot be
    made."""
    found = panels_or_missing(FIELDS, lambda: field_panels(record, folder))
    if "course" in record["results"]:
        found += panels_or_missing("Growth rates", lambda: growth_panels(record))
        found += panels_or_missing("Spectrum", lambda: spectrum_panel(record))
        found += panels_or_missing("Messages of a stage", lambda: messages_panels(record, "stage"))
    return found + panels_of_results(
        record, (("Time series", "course", course_panel), ("Parts of a step", "balance", parts_table))
    )


def heading(record: Mapping[str, Any]) -> Heading:
    """Title, name of the input file, and facts.

    Raises KeyError, TypeError and the like for a record that no run writes.
    """
    keys, results = record["input"], record["results"]
    grid, species = results["grid"], [one["name"] for one in keys["species"]]
    facts = [
        ("Modes", f"{len(grid['ky'])} ky × {grid['kx']} kx, {grid['theta']} points along the field line"),
        ("Velocities", f"{grid['energies']} energies × {grid['cosines']} cosines of {', '.join(species)}"),
    ]
    fields = keys["fields"]
    electrons = "adiabatic" if fields["adiabatic_electrons"] else "kinetic"
    facts.append(("Fields", f"electrons {electrons}, β {fields['beta']:g}"))
    facts.append(("Modes act on each other", "yes" if results["nonlinear"] else "no: linear"))
    if "course" in results:
        facts.append(("Time steps", f"{results['steps']:,} to {results['time_R_over_v']:g} R/v".replace(",", " ")))
    return Heading("Plasma turbulence", Path(str(keys["plasma_file"])).stem, facts, kernel=False)


def lines(record: Mapping[str, Any]) -> list[str]:
    """The time and rates of a run, for people."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    results = record["results"]
    found = [
        f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s in {figures['steps']:.0f} steps, "
        f"{figures['rate']:.3g} R/v a second, {figures['communication share']:.0%} of it communication; at most "
        f"{bytes_in_words(figures['peak memory'])} a rank"
    ]
    for mode in results["modes"] if len(results["modes"]) <= 12 else ():
        found.append(
            f"ky {mode['ky']:g}: growth rate {mode['gamma']:.4g} v/R, frequency {mode['omega']:.4g} v/R "
            + ("(not settled)" if mode["change"] is None else f"(changed by {mode['change']:.1g})")
        )
    for entry in results["balance"]:
        found.append(f"free energy: {entry['error']:.2%} of what came and went is missing")
    return found + [f"note: {note}" for note in results["notes"]]
