"""Tables of a study's report beside those of its own figures: predictions, another machine, profiles, practices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import FathometerError
from fathometer.base.formatting import listed, value_text
from fathometer.lab.studies.asked import Answer, answer_of, cases_of, varied
from fathometer.lab.studies.comparison import compare
from fathometer.lab.studies.levels import intervals_of
from fathometer.lab.studies.predictions import read_predictions
from fathometer.lab.studies.report.cells import NONE, Cell, Legend
from fathometer.lab.studies.report.compared import answered, sentences, view
from fathometer.lab.studies.report.functions import profile_views, suggestions, typical_profiles
from fathometer.lab.studies.report.practices import practices
from fathometer.lab.studies.report.tables import Head, View
from fathometer.lab.studies.results import Results
from fathometer.lab.studies.store import read_results


@dataclass(frozen=True)
class Part:
    """A part of the report: its heading, sentences, tables."""

    title: str
    sentences: Sequence[str] = ()
    views: Sequence[View] = ()


def further(results: Results, answer: Answer, folder: Path | None, legend: Legend) -> list[Part]:
    """The parts that a study has; legend: of its tables, to which signs are added."""
    profiles = typical_profiles(results, folder)
    parts = [
        _predicted(results, folder),
        _beside(results, folder, legend),
        Part("What the runs did with MPI", suggestions(profiles), profile_views(profiles)),
        Part("Practices that the data support", practices(results, answer)),
    ]
    return [part for part in parts if part.sentences or part.views]


def all_views(results: Results, folder: Path | None) -> tuple[list[View], dict[str, str]]:
    """All tables of the report but the published ones, and the legend of their signs. Raises InputError as
    `answer_of`."""
    answer = answer_of(results)
    _, shown, legend = answered(results, answer)
    more = [view for part in further(results, answer, folder, legend) for view in part.views]
    return [*shown, *more], legend.texts


def _predicted(results: Results, folder: Path | None) -> Part:
    """What was measured and what was predicted, by nodes or ranks."""
    title = "Prediction"
    if folder is None or not results.definition.get("predict"):
        return Part(title)
    try:
        known = read_predictions(folder)
    except FathometerError as error:
        return Part(title, [f"It cannot be read: {error}."])
    if known is None:
        return Part(title)
    told = [f"No prediction for more {known.factor}: {known.problem}."] if known.problem else []
    if not known.found:
        return Part(title, told)
    made = intervals_of(results)
    rows = []
    kernels = any(one.kernel is not None for one in known.found)
    for one in known.found:
        row = [Cell(str(one.value), "name")]
        for figure, seconds in (("total", one.total), ("kernel", one.kernel))[: 2 if kernels else 1]:
            values = [
                case.values(figure)
                for name in cases_of(results, None)
                if (case := results.cases[name]).case.settings.get(known.factor) == one.value
            ]
            measured = made.of(values[0]).median if len(values) == 1 and values[0] else None
            row.append(Cell(value_text(measured, "seconds") if measured else NONE, "value"))
            row.append(Cell(value_text(seconds, "seconds") if seconds is not None else NONE, "value"))
            row.append(Cell(f"{seconds / measured:.2f}" if seconds and measured else NONE, "value"))
        rows.append(row)
    heads = [Head(known.factor, number=False)]
    for figure in ("total", "kernel")[: 2 if kernels else 1]:
        heads += [Head(figure, "measured"), Head(figure, "predicted"), Head(figure, "predicted over measured")]
    note = f"Predicted by fathometer plan for the machine of {known.machine}"
    note += ", and as many of its nodes as a row says. " if known.factor == "nodes" else ". "
    note += "Where that is another machine than the one that measured, the ratio compares machines, not the plan."
    others = [name for name in varied(results, None) if name != known.factor]
    note += f" Of {listed(others)}, the first values." if others else ""
    return Part(title, told, [View(f"Measured and predicted, by {known.factor}", heads, rows, [note])])


def _beside(results: Results, folder: Path | None, legend: Legend) -> Part:
    """The comparison with a study of the same design on another machine."""
    asked = results.definition.get("beside")
    if not asked or folder is None:
        return Part("")
    title, other = "Another machine", Path(str(asked.get("study", "")))
    try:
        earlier = read_results(other)
        comparison = compare([earlier], results)
    except FathometerError as error:
        return Part(title, [f"It cannot be compared: {error}."])
    names = (_machine(earlier), _machine(results))
    if names[0] == names[1]:
        names = (f"{names[0]} (the record)", f"{names[1]} (here)")
    cannot = (
        "The two were not measured in turns: what differs holds the machines, but also the hour, their neighbours, and "
        "the builds. Ratios below 1 are faster in times, slower in rates."
    )
    return Part(title, [cannot, *sentences(comparison)], [view(comparison, names, legend)[0]])


def _machine(results: Results) -> str:
    return ", ".join(str(part) for key in ("host", "cpu") if (part := results.machine.get(key)))
