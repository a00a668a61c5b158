"""What a study measured and how it is repeated: application, factors, cases, figures, the command, the file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from fathometer.base.errors import shortened
from fathometer.base.formatting import counted, duration_text, listed
from fathometer.lab.studies.design import text_of
from fathometer.lab.studies.results import Results
from fathometer.report.configuration import (
    Part,
    environment,
    flattened,
    hardware,
    listing,
    shown_parts,
    software,
    texts,
)

LONGEST = 300  # letters of a list
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": "neither is better"}


def description(results: Results) -> list[tuple[str, str]]:
    """Names and texts: application, recipe, factors, cases, figures, runs."""
    rows = [("Application", _application(results.definition))]
    for job in results.definition.get("job") or ():
        rows.append((f"Job {job.get('name', '')}", _program(job)))
    rows += [(f"Factor {name}", _values(values)) for name, values in results.factors.items()]
    keep = (results.definition.get("constraints") or {}).get("keep")
    if keep:
        rows.append(("Kept where", keep if isinstance(keep, str) else " and ".join(map(str, keep))))
    designs = [f"{name} ({len(cases)})" for name, cases in results.designs.items()]
    rows.append(("Cases", counted(len(results.cases), "case") + (f": {listed(designs)}" if len(designs) > 1 else "")))
    for name, info in results.figures.items():
        rows.append((f"Figure {name}", f"{info.unit}, {BETTER[info.direction]}"))
    rows.append(("Rounds", _rounds(results)))
    return [(name, text) for name, text in rows if text]


def facts(results: Results) -> list[tuple[str, str]]:
    """The few lines at the top of the page."""
    begin, end = _time_span(results)
    machine = results.machine
    rows = [
        ("Application", _application(results.definition)),
        ("Machine", ", ".join(str(part) for part in (machine.get("host"), machine.get("cpu")) if part)),
        ("Measured", f"{begin} to {end}" if begin else "not yet"),
    ]
    return [(name, text) for name, text in rows if text]


def command(results: Results) -> str:
    """The command line with which the study was started."""
    return " ".join(shlex.quote(str(word)) for word in results.command) or "fathometer study run STUDY.toml"


def keys(results: Results) -> list[tuple[str, str]]:
    """All keys of the study file with their values."""
    return texts(flattened(results.definition))


def configuration(results: Results) -> list[Part]:
    """Hardware, software and versions of programs; what the study's machine does not tell is left out."""
    parts: list[Part] = []
    for part_of in (hardware, software, environment, listing):
        try:
            parts.append(part_of(results.machine))
        except (AttributeError, KeyError, TypeError, ValueError):
            continue  # a machine described by another version, or not at all
    if results.versions:
        parts.insert(0, {"title": "Programs", "rows": texts(list(results.versions.items())), "open": True})
    return shown_parts(parts)


def _application(definition: Mapping[str, Any]) -> str:
    return _program(definition.get("application") or {})


def _program(program: Mapping[str, Any]) -> str:
    words = program.get("command")
    name = shlex.join(map(str, words)) if words else program.get("recipe")
    if not name:
        return ""
    known = ("recipe", "command", "figure", "validity", "name", "set")
    others = [
        key if value is True else f"{key} = {value}"
        for key, value in program.items()
        if key not in known and value is not False and value not in (None, [], {})
    ]
    others += [f"{key} = {value}" for key, value in (program.get("set") or {}).items()]
    return shortened(f"{name}{': ' if others else ''}{', '.join(others)}", LONGEST)


def _values(values: object) -> str:
    return shortened(", ".join(text_of(value) for value in values), LONGEST)  # type: ignore[attr-defined]


def _rounds(results: Results) -> str:
    runs = results.definition.get("runs") or {}
    repetitions = runs.get("repetitions")
    if isinstance(repetitions, Mapping):
        text = f"{repetitions.get('least')} to {repetitions.get('most')}"
        text += (
            f", until each 95 % interval is at most {100 * repetitions.get('interval', 0.05):g} % of its median wide"
        )
    else:
        text = str(repetitions or results.rounds())
    warm_up = runs.get("warm_up")
    text += f"; {counted(warm_up, 'run')} of each case before, which do not count" if warm_up else ""
    text += f"; page cache {runs['page_cache']}" if runs.get("page_cache") not in (None, "as it is") else ""
    text += f"; budget {runs['budget']}" if runs.get("budget") else ""
    return f"{text}. Every case once a round, in an order drawn with a seed, in the next round reversed."


def _time_span(results: Results) -> tuple[str, str]:
    from datetime import datetime

    runs = [run for case in results.cases.values() for run in case.runs]
    if not runs:
        return "", ""
    begin, end = min(run.begin for run in runs), max(run.begin + run.seconds for run in runs)
    first, last = datetime.fromtimestamp(begin), datetime.fromtimestamp(end)
    same = first.date() == last.date()
    return (
        f"{first:%Y-%m-%d %H:%M}",
        f"{last:%H:%M}, {duration_text(end - begin)}" if same else f"{last:%Y-%m-%d %H:%M}",
    )
