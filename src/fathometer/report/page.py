"""The page of a run or of a comparison, report.html: a single file that loads nothing from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathometer.base import formatting
from fathometer.base.errors import InputError
from fathometer.report import charts, figures, panels_beside, tables
from fathometer.report.configuration import (
    environment,
    flattened,
    hardware,
    listing,
    shown_parts,
    software,
    texts,
    value_text,
)
from fathometer.report.missing import missing
from fathometer.report.records import Run
from fathometer.report.template import render_page
from fathometer.report.verdict import verdict
from fathometer.runs.application import Heading, Panel
from fathometer.storage import atomic

# What is raised where a record holds what no run writes.
DAMAGE = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
MOST_BINDINGS = 64  # ranks whose cores are listed
NO_ROOFLINE = "The roofline is missing: the record holds no measured roofline or no work of the kernel."
DRAWN = {
    "points": figures.places,
    "traces": figures.gather,
    "sections": figures.sections,
    "bars": figures.bars,
    "columns": charts.columns,
    "cells": charts.cells,
    "course": charts.course,
    "curves": charts.curves,
    "fields": panels_beside.fields,
    "blocks": panels_beside.blocks,
    "lines": panels_beside.lines,
}


@dataclass(frozen=True)
class PagePanels:
    """What an application shows of a run on its page, beside the account: heading and panels to draw."""

    heading: Heading = field(default_factory=Heading)
    panels: Sequence[Panel] = ()


def write_page(path: Path, runs: Sequence[Run], shown: PagePanels) -> None:
    """Write the page of the first run, with its panels, and before it a comparison where there are several.

    The file appears whole or not at all. Raises FathometerError that names it where it cannot be written.
    """
    # Names that are not UTF-8 hold lone surrogates.
    atomic.write(path, render(runs, shown).encode(errors="backslashreplace"))


def check(run: Run) -> None:
    """Raises InputError where the parts of a record that its schema leaves free hold what no run writes."""
    record = run.record
    try:
        _run(run, Heading())
        _account(record)
        _configuration(record)
        _compared([run, run])
        _notes(record)
    except DAMAGE as error:
        raise InputError(f"{run.path}: damaged: {damage_message(error)}") from None


def damage_message(error: Exception) -> str:
    """What is wrong with a record that leads to an error of DAMAGE."""
    return (
        f"machine, input or results hold what no run writes ({type(error).__name__}: {' '.join(str(error).split())}); "
        f"allowed: a record as it was written"
    )


def render(runs: Sequence[Run], shown: PagePanels) -> str:
    """The page's text."""
    base = runs[0].record
    disturbed = base["validity"].get("times", [])  # records of before tell no reasons of the times apart
    account = _account(base, shown.heading.kernel)
    compared = _compared(runs) if len(runs) > 1 else None
    panels = [_panel_or_reason(panel) for panel in shown.panels]
    drawn = [
        part["figure"] for part in [*panels, *account, *(compared["figures"] if compared else [])] if part["figure"]
    ]
    volumes = [part["volume"] for part in panels if part["volume"]]
    return render_page(
        "page.html",
        {"figures": drawn, "volumes": volumes},
        title=_title(runs, shown.heading),
        comparing=compared,
        run=_run(runs[0], shown.heading),
        panels=panels,
        account=account,
        tables=[_table(table) for table in _tables(base)],
        overlapped=_table(tables.phases(base["ledger"], "overlapped")) if base["ledger"]["overlapped"] else None,
        waits=_waits(base["ledger"]),
        configuration=_configuration(base),
        notes=_notes(base),
        validity=base["validity"],
        doubts=[reason for reason in base["validity"]["reasons"] if reason not in disturbed],
        disturbed=disturbed,
    )


def _notes(record: dict[str, Any]) -> list[str]:
    return [str(note) for note in record["results"].get("notes", [])]


def _title(runs: Sequence[Run], heading: Heading) -> str:
    if len(runs) > 1:
        return f"Comparison of {len(runs)} runs"
    kind = heading.title or str(runs[0].record["application"])
    return f"{kind}: {heading.subject}" if heading.subject else kind


def _run(run: Run, heading: Heading) -> dict[str, Any]:
    """The top of the page."""
    record = run.record
    machine, ledger = record["machine"], record["ledger"]
    hosts = list(dict.fromkeys(rank["host"] for rank in ledger["ranks"]))
    ranks = len(machine.get("binding") or ledger["ranks"])
    ranks = max(ranks, int(machine.get("ranks") or 1))
    threads = sorted({int(rank.get("threads", 1)) for rank in machine.get("binding") or []})
    where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts ({hosts[0]} …)"
    each = f", {_range(threads)} {'thread' if threads[-1] == 1 else 'threads'} each" if threads else ""
    facts = [("Command", " ".join(record["command"])), *heading.facts]
    facts.append(
        ("Machine", f"{formatting.counted(ranks, 'rank')}{each} on {where}, {machine['cpu'] or formatting.NONE}")
    )
    merits = [figure for figure in record["figures"] if figure["role"] == "merit"]
    return {
        "title": heading.title or record["application"],
        "subject": heading.subject,
        "finding": _sentence(heading.finding) if heading.finding and run.finished else "",
        "verdict": _sentence(verdict(record)),
        "facts": facts,
        "merits": [(figure["name"], _merit(figure)) for figure in merits],
        "finished": run.finished,
        "path": str(run.path),
    }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _merit(figure: Mapping[str, Any]) -> str:
    """The value of a figure of merit as text, a share in percent."""
    if figure["unit"] == "1" and figure["name"].endswith("share"):
        return formatting.percent(figure["value"])
    if figure["unit"] == "seconds" and figure["value"] is not None:
        return formatting.short_seconds(figure["value"])
    return formatting.quantity(figure["value"], figure["unit"])


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _panel_or_reason(panel: Panel) -> dict[str, Any]:
    """As `_panel`; with the reason in place of a panel that holds what no run writes."""
    try:
        return _panel(panel)
    except DAMAGE as error:
        return _panel(missing(panel["title"], f"damaged: {damage_message(error)}"))


def _panel(panel: Panel) -> dict[str, Any]:
    """A panel as the template takes it: with a figure, with a volume for sliders, or with the reason for neither."""
    shown: dict[str, Any] = {"figure": None, "volume": None, "reason": None, "table": None}
    shown |= {"title": panel["title"], "points": None}
    if panel["kind"] == "volume":
        shown |= {"volume": panel, "caption": panel["caption"], "flat": _flat(panel), "file": panel["file"]}
        shown["scales"] = [(layer, _scale(panel[layer])) for layer in ("image", "property") if panel[layer]]
    elif panel["kind"] in DRAWN:
        shown["figure"] = DRAWN[panel["kind"]](panel)
    elif panel["kind"] == "points of text":
        shown["points"] = [str(point) for point in panel["points"]]
    elif panel["kind"] == "table":
        columns = tuple(tables.Column(*column) for column in panel["columns"])
        shown["table"] = _table(tables.Table(panel["title"], columns, panel["rows"]))
    else:
        shown["reason"] = panel.get("reason", "unknown kind of panel")
    return shown


def _scale(layer: Mapping[str, Any]) -> dict[str, str]:
    """Texts of a layer's scale of colours."""
    low, high = (formatting.thousands(f"{layer[end]:,.4g}") for end in ("low", "high"))
    return {"label": layer["label"], "low": low, "high": high}


def _flat(panel: Panel) -> bool:
    return bool((panel["image"] or panel["property"])["shape"][1] == 1)


def _account(record: dict[str, Any], kernel: bool = True) -> list[dict[str, Any]]:
    ledger = record["ledger"]
    drawn = [
        (figures.by_category(ledger), ""),
        (figures.by_phase(ledger), ""),
        (figures.timeline_of_ranks(ledger), ""),
        (figures.timeline_of_phases(ledger), ""),
        (figures.roofline(record), NO_ROOFLINE if kernel else ""),
    ]
    return [{"figure": figure, "reason": reason} for figure, reason in drawn if figure or reason]


def _tables(record: dict[str, Any]) -> list[tables.Table]:
    ledger = record["ledger"]
    shown = [tables.shortened(tables.phases(ledger)), tables.ranks(record)]
    if ledger["files"]:
        shown += [table for table in (tables.files(ledger), tables.compression(ledger)) if table.rows]
    return shown


def _table(table: tables.Table) -> dict[str, Any]:
    columns, rows = tables.readable(table)
    return {
        "title": table.title,
        "heads": [(column.title, bool(column.unit)) for column in columns],
        "rows": [list(zip(row, (bool(column.unit) for column in columns), strict=True)) for row in rows],
        "categories": [column.key for column in columns].index("category")
        if table.columns[1].key == "category"
        else None,
    }


def _waits(ledger: dict[str, Any]) -> str:
    """The longest wait of one rank for another."""
    waits = [
        (seconds, rank["rank"], int(other))
        for rank in ledger["ranks"]
        for other, seconds in rank["waited_seconds"].items()
    ]
    if not waits:
        return ""
    seconds, who, other = max(waits)
    return f"The longest wait of one rank for another: rank {who} for rank {other}, {formatting.seconds(seconds)}."


def _configuration(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Hardware, software, input: titles with pairs of name and text."""
    machine = record["machine"]
    bound = machine.get("binding") or []
    binding = [(f"rank {rank.get('rank')} on {rank.get('host')}", _binding(rank)) for rank in bound[:MOST_BINDINGS]]
    if len(bound) > MOST_BINDINGS:
        binding.append(("and", f"{len(bound) - MOST_BINDINGS} more, in the record"))
    parts: list[dict[str, Any]] = [
        hardware(machine),
        software(machine),
        {"title": "Input, with all defaults", "rows": texts(flattened(record["input"])), "open": True},
        {"title": "Where the ranks ran", "wide": True, "rows": texts(binding), "open": False},
        environment(machine),
        {"title": "Results in the record", "wide": True, "rows": texts(_results(record["results"])), "open": False},
        listing(machine),
    ]
    return shown_parts(parts)


def _results(results: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return flattened({name: value for name, value in results.items() if name not in ("notes", "scaling", "rows")})


def _binding(rank: Mapping[str, Any]) -> str:
    threads, cpus = rank.get("threads", 1), rank.get("cpus", [])
    pinned = "pinned" if rank.get("pinned") else "not pinned"
    shared = ", cores shared" if rank.get("oversubscribed") else ""
    return f"{formatting.counted(int(threads), 'thread')} on cpus {', '.join(map(str, cpus))}, {pinned}{shared}"


def labels(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: a letter, and what tells its file from the others'."""
    places = [run.path.resolve().parent for run in runs]
    common = Path(os.path.commonpath(places)) if len(set(places)) > 1 else places[0].parent
    return [
        f"{_letters(number)}: {place.relative_to(common) if place != common else place.name}"
        for number, place in enumerate(places)
    ]


def _letters(number: int) -> str:
    """A … Z, AA …"""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(65 + digit) + text
    return text


def comparison_tables(runs: Sequence[Run]) -> list[tables.Table]:
    """Phases and figures of all runs against the first."""
    records, names = [run.record for run in runs], labels(runs)
    compared = [tables.compare_phases(records, names)]
    if records[0]["figures"]:
        compared.append(tables.compare_figures(records, names))
    return compared


def run_tables(run: Run) -> list[tables.Table]:
    """Figures, phases and files of one run, complete."""
    ledger = run.record["ledger"]
    complete = [tables.figures(run.record), tables.phases(ledger), tables.files(ledger), tables.compression(ledger)]
    return [table for table in complete if table.rows]


def _compared(runs: Sequence[Run]) -> dict[str, Any]:
    records, names = [run.record for run in runs], labels(runs)
    settings = [
        dict(flattened({"input": record["input"], "machine": _compared_machine(record["machine"])}))
        for record in records
    ]
    keys = dict.fromkeys(key for values in settings for key in values)
    different = [
        (key, [value_text(values.get(key)) for values in settings])
        for key in keys
        if any(values.get(key) != settings[0].get(key) for values in settings)
    ]
    base = records[0]["ledger"]["wall_seconds"]["max"]
    return {
        "runs": [
            {"name": name, "path": str(run.path), "command": " ".join(run.record["command"]), "finished": run.finished}
            | {"verdict": verdict(run.record), "valid": run.record["validity"]["valid"]}
            for name, run in zip(names, runs, strict=True)
        ],
        "names": names,
        "base": f"{names[0]}, {formatting.seconds(base)}",
        "tables": [_table(table) for table in comparison_tables(runs)],
        "figures": [{"figure": figures.compared_phases(records, names), "reason": ""}],
        "different": different,
    }


def _compared_machine(machine: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a machine that runs are compared by: not each rank's binding, nor the launcher's variables."""
    left_out = ("binding", "environment", "file_systems")
    compared = {name: value for name, value in machine.items() if name not in left_out}
    compared["processor"] = {name: value for name, value in machine["processor"].items() if name != "lscpu"}
    threads = {rank.get("threads") for rank in machine.get("binding") or []}
    return compared | {"threads": sorted(str(number) for number in threads)}
