"""Heading and panels of a record of `fathometer io`: the rates of each operation as bars and as a table.

The module satisfies RecordPanels (runs/application.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.base import formatting
from fathometer.lab.io.ranking import (
    again_text,
    best_text,
    comparable,
    failures,
    filter_lines,
    ranked,
    remarks,
    volume_words,
    way_of,
)
from fathometer.lab.io.suites import published_panels, suite_panels
from fathometer.lab.io.trial import COPY
from fathometer.runs.application import Heading, Panel

NAMES = {"write": "Writing", "read": "Reading"}
COLUMNS = (
    ("strategy", "strategy", ""),
    ("format", "format", ""),
    ("bytes_per_second", "rate", "bytes_per_second"),
    ("ci_low", "from", "bytes_per_second"),
    ("ci_high", "to", "bytes_per_second"),
    ("repetitions", "n", "count"),
    ("ratio_to_raw", "of the device's", "ratio"),
)
PHASES = {"write": ("open", "transfer", "flush", "close"), "read": ("open", "transfer", "close")}


def heading(record: Mapping[str, Any]) -> Heading:
    """Folder, volume, blocks, and the winner of each operation against the device."""
    options, results = record["input"], record["results"]
    ranks = " × ".join(str(n) for n in results["decomposition"])
    folder, halo = Path(str(options["folder"])), options["halo"]
    around = f", {halo} {'cell' if halo == 1 else 'cells'} around each are read too" if halo else ""
    size = formatting.scaled(results["logical_bytes"], "B")
    facts = [
        ("Folder", str(folder)),
        ("Volume", f"{volume_words(options, ' × ')}, float32, {size}, {options['data']}"),
        ("Blocks", f"{ranks} ranks{around}"),
    ]
    for operation, device in results["raw"].items():
        rate = formatting.scaled(device["sequential_bytes_per_second"], "B/s")
        best = results["winners_again"].get(operation)
        text = f"the device gives {rate} to one process"
        if best is None:
            text += "; no winner"
        else:
            rate = formatting.scaled(best["bytes_per_second"], "B/s")
            again = "" if best == results["winners"].get(operation) else "on fresh files "
            text += f"; {best_text(results, operation)}; {again}{way_of(best)}, {best['format']}: {rate} "
            text += f"({again_text(best)}), {formatting.percent(best['ratio_to_raw'])} of it"
        facts.append((NAMES[operation], text))
    return Heading("Storage benchmark", folder.name, facts, kernel=False)


def panels(record: Mapping[str, Any], path: Path) -> list[Panel]:
    """For each operation bars and a table, and the same of compressed formats apart."""
    rows = record["results"]["rows"]
    suite = record["results"].get("suite")
    drawn: list[Panel] = suite_panels(suite) if suite else []
    for operation, device in record["results"]["raw"].items():
        for compressed in (False, True):
            ordered = [rows[n] for n in ranked(rows, operation, compressed)]
            if ordered:
                drawn += [_bars(ordered, operation, compressed, device), _table(ordered, operation, compressed)]
        if failed := failures(record["results"], operation):
            drawn.append(_failures(failed, operation))
    if filters := record["results"].get("filters"):
        title = "Which filters pay on this disk"
        drawn.append({"kind": "points of text", "title": title, "points": filter_lines(filters)})
    return drawn + (published_panels(suite) if suite else [])


def _bars(rows: Sequence[Mapping[str, Any]], operation: str, compressed: bool, device: Mapping[str, Any]) -> Panel:
    cached = formatting.scaled(device["cached_beyond_bytes_per_second"], "B/s")
    held = any(row["ci_low"] is not None for row in rows)
    interval = ", with the intervals that hold the true ones at 95 %" if held else ""
    return {
        "kind": "bars",
        "name": f"rates-{operation}{'-compressed' if compressed else ''}",
        "title": f"{NAMES[operation]}{', compressed (logical bytes)' if compressed else ''}",
        "caption": f"Medians{interval}. From the barrier before the files are opened to the one after they are closed; "
        "writes are flushed, files that are read were dropped from the page cache before. Pale: cached "
        f"(beyond {cached}, or in memory when it was read), capped or wrong, and not ranked.",
        "label": "GB/s",
        "bars": [
            {
                "name": f"{way_of(row)}, {row['format']}",
                "value": row["bytes_per_second"],
                "low": row["ci_low"],
                "high": row["ci_high"],
                "pale": not comparable(row),
            }
            for row in rows
        ],
        "mark": {"name": "the device, one process", "value": device["sequential_bytes_per_second"]},
    }


def _table(rows: Sequence[Mapping[str, Any]], operation: str, compressed: bool) -> Panel:
    names = (*([COPY] if f"{COPY}_seconds" in rows[0]["phases"][0] else []), *PHASES[operation])
    phases = [f"{name}_seconds" for name in names]
    notes = [remarks(row) for row in rows]
    # Before the phases, which go first where a screen is narrow.
    columns = [*COLUMNS, *([("remarks", "remarks", "")] if any(notes) else [])]
    return {
        "kind": "table",
        "title": f"{NAMES[operation]}{', compressed' if compressed else ''}: rates, and phases of the slowest rank",
        "columns": [*columns, *((key, key.removesuffix("_seconds"), "seconds") for key in phases)],
        "rows": [
            [
                *({"remarks": remark, **row, "strategy": way_of(row)}[key] for key, _, _ in columns),
                *(max(r[key] for r in row["phases"]) for key in phases),
            ]
            for row, remark in zip(rows, notes, strict=True)
        ],
    }


def _failures(failed: Sequence[Mapping[str, Any]], operation: str) -> Panel:
    return {
        "kind": "table",
        "title": f"{NAMES[operation]}: failed",
        "columns": [("strategy", "strategy", ""), ("format", "format", ""), ("why", "why", "")],
        "rows": [[way_of(case), case["format"], case["why"]] for case in failed],
    }
