"""Heading and panels of a record of `fathometer messages`: curves over length, the matrix of all pairs, what to use.

The module satisfies RecordPanels (runs/application.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.base import formatting
from fathometer.base.formatting import length_in_words, number_of
from fathometer.lab.messages.rows import CHOICE, grouped, leader_of, way_of
from fathometer.lab.messages.tables import ends_text, loggp_text, seconds_text, title_of
from fathometer.runs.application import Heading, Panel

# Okabe & Ito 2008, then shades that can still be told apart.
COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#3b4046", "#8a6d00"),
    *("#7b61a8", "#4d8f63", "#a34f4f", "#5f7fb8", "#b58900", "#2aa198", "#6c71c4", "#859900"),
)
FEWEST_LENGTHS = 2  # of a curve
MOST_FOUND = 3  # places that the sentence at the top has


def heading(record: Mapping[str, Any]) -> Heading:
    """Ranks, hosts, MPI, clock, and the limits of eager messages."""
    results = record["results"]
    clock = results["clock"]
    hosts = list(dict.fromkeys(results["hosts"]))
    facts = [
        ("MPI", f"{results['mpi']}, thread support {results['thread_level']}"),
        ("Ranks", f"{len(results['hosts'])} on {number_of(len(hosts), 'host')}"),
        (
            "Clock",
            f"resolution {seconds_text(clock['resolution_seconds'])}, a reading {seconds_text(clock['cost_seconds'])}",
        ),
    ]
    for limit in results["eager_limits"]:
        text = f"up to {limit['bytes']} B" if limit["bytes"] is not None else "in all lengths that were tried"
        facts.append(("Sent eagerly", f"{text} ({limit['place']})"))
    facts += [("LogGP", f"{loggp_text(fit)} ({fit['place']})") for fit in results["loggp"]]
    options = record["input"]
    finding = _finding(results["rows"], options["seed"])
    return Heading("Messages", ", ".join(options["patterns"]), facts, kernel=False, finding=finding)


def _finding(rows: Sequence[Mapping[str, Any]], seed: int) -> str:
    """The shortest time and the highest rate of each place where pairs exchange, with how they were reached."""
    found = []
    for (place,), members in grouped([row for row in rows if row["place"] and row["seconds"]], ("place",)).items():
        least = min(members, key=lambda row: row["seconds"])
        most = max(members, key=lambda row: row["aggregate_bytes_per_second"] or 0.0)
        rate = formatting.scaled(most["aggregate_bytes_per_second"], "B/s")
        ends = ends_text(least["ci_low"], least["ci_high"]) or f"(n = {least['samples']})"
        found.append(
            f"{place}: {seconds_text(least['seconds'])} {ends} at {length_in_words(least['length_bytes'])} by "
            f"{_named(least, members, seed)}; {rate} at {length_in_words(most['length_bytes'])} by "
            f"{_named(most, members, seed)}"
        )
    return "; ".join(found[:MOST_FOUND])


def _named(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], seed: int) -> str:
    """Pattern and way of a row, and how many other ways of the same exchange are as good."""
    keys = (*CHOICE, "length_bytes")
    beside = [other for other in rows if all(other[key] == row[key] for key in keys)]
    others = len(leader_of(beside, seed).as_good)
    return f"{row['pattern']}, {way_of(row)}" + (f" ({others} other ways are as good)" if others else "")


def panels(record: Mapping[str, Any], path: Path) -> list[Panel]:
    """Curves of seconds and rates, what is fastest, fits, contention, the matrix of all pairs, all rows."""
    results = record["results"]
    rows = results["rows"]
    drawn: list[Panel] = []
    for seconds, rates in zip(time_panels(rows), rate_panels(rows), strict=True):
        drawn += [seconds, *([rates] if rates["curves"] else [])]
    drawn += _choices(results["choices"])
    if results["curves"]:
        drawn.append(_fits(results["curves"]))
    if results["contention"]:
        drawn.append(_contention(results["contention"]))
    if results["matrix"] is not None and len(results["hosts"]) > 1:
        drawn += _matrices(results["matrix"])
    return [*drawn, _rows(rows)]


def time_panels(rows: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """Seconds over length, a panel for each pattern and place with two lengths or more."""
    return [
        _curves(
            members,
            "seconds",
            "seconds",
            "Seconds of an exchange; medians, from six rounds on with their 95 % intervals.",
        )
        for members in _with_lengths(rows)
    ]


def rate_panels(rows: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """Bytes a second of all ranks over length, of the same."""
    return [
        _curves(members, "aggregate_bytes_per_second", "bytes a second", "Sent by all ranks together.")
        for members in _with_lengths(rows)
    ]


def _with_lengths(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    groups = grouped([row for row in rows if row["seconds"]], CHOICE).values()
    return [list(members) for members in groups if len({row["length_bytes"] for row in members}) >= FEWEST_LENGTHS]


def _curves(rows: Sequence[Mapping[str, Any]], key: str, label: str, caption: str) -> Panel:
    ways: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row[key]:
            ways.setdefault(way_of(row), []).append(row)
    curves = []
    for number, (name, members) in enumerate(ways.items()):
        ordered = sorted(members, key=lambda row: row["length_bytes"])
        curve = {
            "name": name,
            "colour": COLOURS[number % len(COLOURS)],
            "x": [row["length_bytes"] for row in ordered],
            "y": [row[key] for row in ordered],
        }
        if key == "seconds":
            curve |= {"low": [row["ci_low"] for row in ordered], "high": [row["ci_high"] for row in ordered]}
        curves.append(curve)
    place = title_of(rows[0])
    return {
        "kind": "curves",
        "name": f"curves-{key}-{place}".replace(" ", "-").replace(",", ""),
        "title": f"{place}: {label}",
        "caption": caption,
        "labels": ("bytes", label),
        "curves": curves,
    }


def _choices(choices: Sequence[Mapping[str, Any]]) -> list[Panel]:
    return [
        {
            "kind": "table",
            "title": f"What to use, {title_of(members[0])}",
            "columns": [
                ("length", "length", ""),
                ("best", "fastest", ""),
                ("as_good", "as good as each other", ""),
                ("seconds", "median", ""),
                ("others", "another would have the least", "share"),
                ("rounds", "rounds", "count"),
                ("needed", "needed", "count"),
                ("slowest", "largest median", ""),
                ("ratio", "times as long", "ratio"),
                ("from", "from", "ratio"),
                ("to", "to", "ratio"),
            ],
            "rows": [
                [
                    length_in_words(choice["length_bytes"]),
                    choice["best"] or "",
                    "" if choice["best"] else ", ".join(choice["as_good"]),
                    seconds_text(choice["seconds"]),
                    choice["others_share"],
                    choice["rounds"],
                    choice["rounds_needed"],
                    choice["slowest"] or "",
                    choice["slowest_ratio"],
                    choice["slowest_ratio_low"],
                    choice["slowest_ratio_high"],
                ]
                for choice in members
            ],
        }
        for members in grouped(choices, CHOICE).values()
    ]


def _fits(curves: Sequence[Mapping[str, Any]]) -> Panel:
    rows = []
    for curve in curves:
        line, half = curve["hockney"], curve["half_performance_bytes"]
        latency, rate = line["latency_seconds"], line["bytes_per_second"]
        rows.append(
            [
                f"{title_of(curve)}, {way_of(curve)}",
                *(seconds_text(latency[key]) for key in ("value", "low", "high")),
                *(rate[key] for key in ("value", "low", "high")),
                length_in_words(half["value"] or 0.0),
                length_in_words(curve["half_of_best_bytes"]),
                line["misfit"],
                ", ".join(f"{length_in_words(a)} to {length_in_words(b)}" for a, b in curve["breaks_bytes"]),
            ]
        )
    return {
        "kind": "table",
        "title": "Latency + length / rate, fitted to the medians; half-performance lengths; breaks",
        "columns": [
            ("what", "what", ""),
            ("latency", "latency", ""),
            ("from", "from", ""),
            ("to", "to", ""),
            ("rate", "rate", "bytes_per_second"),
            ("low", "from", "bytes_per_second"),
            ("high", "to", "bytes_per_second"),
            ("half", "n½ of the fit", ""),
            ("measured", "n½ measured", ""),
            ("misfit", "misfit", "share"),
            ("breaks", "breaks between", ""),
        ],
        "rows": rows,
    }


def _contention(entries: Sequence[Mapping[str, Any]]) -> Panel:
    return {
        "kind": "table",
        "title": "All pairs at the same time against one alone",
        "columns": [
            ("what", "what", ""),
            ("length", "length", ""),
            ("pairs", "pairs", "count"),
            ("aggregate", "together", "bytes_per_second"),
            ("alone", "one alone", "bytes_per_second"),
            ("efficiency", "each, of one alone", "share"),
            ("from", "from", "share"),
            ("to", "to", "share"),
        ],
        "rows": [
            [
                f"{entry['pattern']}, {entry['class']}, distance {entry['distance']}, {entry['protocol']}",
                length_in_words(entry["length_bytes"]),
                entry["pairs"],
                entry["aggregate_bytes_per_second"],
                entry["alone_bytes_per_second"],
                entry["efficiency"],
                entry["efficiency_low"],
                entry["efficiency_high"],
            ]
            for entry in entries
        ],
    }


def _matrices(matrix: Mapping[str, Any]) -> list[Panel]:
    names = [f"{rank} {host}" for rank, host in enumerate(matrix["hosts"])]
    shown = (
        ("latency_seconds", f"latency, {length_in_words(matrix['short_bytes'])}", "µs", 1e6),
        ("bytes_per_second", f"rate, {length_in_words(matrix['long_bytes'])}", "B/s", 1.0),
    )
    return [
        {
            "kind": "cells",
            "name": f"matrix-{key}",
            "title": f"All pairs, one at a time: {title}",
            "caption": f"By {matrix['protocol']}, half of there and back; medians of {matrix['rounds']} rounds.",
            "label": unit,
            "axes": ["rank", "rank"],
            "places": names,
            "cells": [
                [None if row == column else value * scale for column, value in enumerate(line)]
                for row, line in enumerate(matrix[key])
            ],
            "texts": [[formatting.scaled(value * scale, unit) for value in line] for line in matrix[key]],
        }
        for key, title, unit, scale in shown
    ]


def _rows(rows: Sequence[Mapping[str, Any]]) -> Panel:
    return {
        "kind": "table",
        "title": "All that was measured",
        "columns": [
            ("what", "what", ""),
            ("way", "protocol", ""),
            ("length", "length", ""),
            ("least", "least", ""),
            ("median", "median", ""),
            ("low", "from", ""),
            ("high", "to", ""),
            ("tail", "99 % of single ones", ""),
            ("aggregate", "all ranks", "bytes_per_second"),
            ("samples", "n", "count"),
            ("wrong", "wrong bytes", "count"),
        ],
        "rows": [
            [
                title_of(row),
                way_of(row),
                length_in_words(row["length_bytes"]),
                *(seconds_text(row[key]) for key in ("seconds_min", "seconds", "ci_low", "ci_high", "seconds_p99")),
                row["aggregate_bytes_per_second"],
                row["samples"],
                row["wrong_bytes"],
            ]
            for row in rows
        ],
    }
