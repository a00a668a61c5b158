"""What a page shows of `fathometer io`: facts, the rates of each operation as bars and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.lab.io.ranking import failures, fair, in_order, remarks
from fathometer.report import words

Panel = dict[str, Any]
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


def heading(record: Mapping[str, Any]) -> dict[str, Any]:
    """What ran, for people: title, and facts as pairs of label and text."""
    request, results = record["input"], record["results"]
    cells = " × ".join(str(n) for n in request["grid"] if n > 1)
    ranks = " × ".join(str(n) for n in results["decomposition"])
    folder, halo = Path(str(request["folder"])), request["halo"]
    around = f", {halo} {'cell' if halo == 1 else 'cells'} around each are read too" if halo else ""
    facts = [
        ("Folder", str(folder)),
        ("Volume", f"{cells} cells, float32, {words.scaled(results['logical_bytes'], 'B')}, {request['data']}"),
        ("Blocks", f"{ranks} ranks{around}"),
    ]
    for operation, raw in results["raw"].items():
        own = words.scaled(raw["sequential_bytes_per_second"], "B/s")
        best = results["winners_again"].get(operation)
        text = f"the device gives {own} to one process"
        if best is None:
            text += "; no winner"
        else:
            rate = words.scaled(best["bytes_per_second"], "B/s")
            text += f"; best: {best['strategy']}, {best['format']}, on fresh files {rate}, "
            text += f"{words.percent(best['ratio_to_raw'])} of it"
        facts.append((NAMES[operation], text))
    return {"title": "Storage benchmark", "subject": folder.name, "facts": facts, "kernel": False}


def panels_of_record(record: Mapping[str, Any], place: Path) -> list[Panel]:
    """For each operation bars and a table, and the same of compressed formats apart."""
    rows, found = record["results"]["rows"], []
    for operation, raw in record["results"]["raw"].items():
        for compressed in (False, True):
            ordered = [rows[n] for n in in_order(rows, operation, compressed)]
            if ordered:
                found += [_bars(ordered, operation, compressed, raw), _table(ordered, operation, compressed)]
        if failed := failures(record["results"], operation):
            found.append(_failures(failed, operation))
    return found


def _bars(rows: Sequence[Mapping[str, Any]], operation: str, compressed: bool, raw: Mapping[str, Any]) -> Panel:
    sure = min(row["ci_coverage"] for row in rows)
    interval = f", with the interval that holds the true one at {words.percent(sure)} at least" if sure else ""
    return {
        "kind": "bars",
        "name": f"rates-{operation}{'-compressed' if compressed else ''}",
        "title": f"{NAMES[operation]}{', compressed (logical bytes)' if compressed else ''}",
        "caption": f"Medians{interval}. From the barrier before the files are opened to the one after they are closed; "
        "writes are flushed, files that are read were forgotten before. Pale: cached "
        f"(beyond {words.scaled(raw['cached_beyond_bytes_per_second'], 'B/s')}, or in memory when it was read), capped "
        "or wrong, and not ranked.",
        "label": "GB/s",
        "bars": [
            {
                "name": f"{row['strategy']}, {row['format']}",
                "value": row["bytes_per_second"],
                "low": row["ci_low"],
                "high": row["ci_high"],
                "pale": not fair(row),
            }
            for row in rows
        ],
        "mark": {"name": "the device, one process", "value": raw["sequential_bytes_per_second"]},
    }


def _table(rows: Sequence[Mapping[str, Any]], operation: str, compressed: bool) -> Panel:
    phases = [f"{name}_seconds" for name in PHASES[operation]]
    told = [remarks(row) for row in rows]
    # Before the phases, which go first where a screen is narrow.
    columns = [*COLUMNS, *([("remarks", "remarks", "")] if any(told) else [])]
    return {
        "kind": "table",
        "title": f"{NAMES[operation]}{', compressed' if compressed else ''}: rates, and phases of the slowest rank",
        "columns": [*columns, *((key, key.removesuffix("_seconds"), "seconds") for key in phases)],
        "rows": [
            [
                *({"remarks": remark, **row}[key] for key, _, _ in columns),
                *(max(r[key] for r in row["phases"]) for key in phases),
            ]
            for row, remark in zip(rows, told, strict=True)
        ],
    }


def _failures(failed: Sequence[Mapping[str, Any]], operation: str) -> Panel:
    return {
        "kind": "table",
        "title": f"{NAMES[operation]}: failed",
        "columns": [("strategy", "strategy", ""), ("format", "format", ""), ("why", "why", "")],
        "rows": [[one["strategy"], one["format"], one["why"]] for one in failed],
    }
