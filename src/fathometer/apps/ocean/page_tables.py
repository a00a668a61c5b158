"""Tables of an ocean's page, and the map of its blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer.base.formatting import digits, number_of
from fathometer.report.panels_beside import OWNERS
from fathometer.runs.application import Panel

CONTENT = {"temperature": "°C m³", "salinity": "m³", "volume": "m³"}  # units; of other tracers that of salinity
SOLVER = {  # keys of [barotropic] as people say them
    "solver": "conjugate gradients",
    "preconditioner": "preconditioner",
    "tile": "cells of a tile",
    "tolerance": "tolerance",
    "iterations": "iterations, whatever the residual",
    "most_iterations": "most iterations",
    "check_every": "iterations between looks at the residual",
    "replace_every": "iterations after which the residual is computed anew",
    "sums": "sums over the ranks",
    "implicitness": "implicitness of the surface",
}
LOWEST, TALLEST = 0.3, 1.2  # height of the map of blocks over its width


def parts_table(record: Mapping[str, Any]) -> Panel:
    """The two parts of a step: seconds of the slowest rank, and what the barotropic one asks of the network."""
    results = record["results"]
    numbers, counts = results["performance"], results["counts"]
    own = results["steps"] - results.get("earlier_steps", 0)
    first, second = numbers["baroclinic_seconds"], numbers["barotropic_seconds"]
    both = first + second
    columns = [
        ["part", "part of a step", ""],
        ["seconds", "all steps", "seconds"],
        ["step_seconds", "a step", "seconds"],
        ["share", "of both", "share"],
        ["iterations", "iterations a step", "1"],
        ["reductions", "reductions a step", "1"],
        ["reductions_per_second", "reductions a second", "1"],
        ["halos", "halo exchanges a step", "1"],
    ]

    def row(name: str, seconds: float, *more: float | None) -> list[Any]:
        return [name, seconds, seconds / own if own else None, seconds / both if both else None, *more]

    a_step = [counts[name] / own if own else None for name in ("reductions", "halos")]
    solver = numbers["iterations_per_step"], a_step[0], numbers["reductions_per_second"], a_step[1]
    rows = [
        row("baroclinic", first, None, None, None, None),
        row("barotropic", second, *solver),
        row("both", both, None, None, None, None),
    ]
    speed = numbers["simulated_years_per_day"]
    title = f"Barotropic and baroclinic: {digits(speed)} simulated years a day"
    return {"kind": "table", "title": title, "columns": columns, "rows": rows}


def balance_table(record: Mapping[str, Any]) -> Panel:
    """What there is of each tracer and of water at the beginning, at the end, and what came through the surface."""
    columns = [
        ["tracer", "of", ""],
        ["content_unit", "in", ""],
        ["content_before", "at the beginning", "1"],
        ["content_after", "at the end", "1"],
        ["gained_at_surface", "came through the surface", "1"],
        ["error", "missing", "1"],
    ]
    keys = ("content_before", "content_after", "gained_at_surface", "error")
    rows = [
        [row["tracer"], CONTENT.get(row["tracer"], "m³"), *(row[key] for key in keys)]
        for row in record["results"]["balance"]
    ]
    title = "Contents of the tracers; missing: relative to the largest of the three"
    return {"kind": "table", "title": title, "columns": columns, "rows": rows}


def solver_table(record: Mapping[str, Any]) -> Panel:
    """What the solver for the surface was told."""
    keys = record["input"]["barotropic"]
    rows = [[words, _text(keys[key])] for key, words in SOLVER.items() if keys.get(key) is not None]
    columns = [["key", "", ""], ["value", "", ""]]
    return {"kind": "table", "title": "The solver for the surface", "columns": columns, "rows": rows}


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def block_panel(record: Mapping[str, Any]) -> Panel:
    """Which rank has which block. Raises ValueError where there is none."""
    results = record["results"]
    grid, owners = results["grid"], results["blocks"]["owners"]
    nx, ny, _ = grid["shape"]
    if not owners:
        raise ValueError("the record has no blocks")
    edges = [
        sorted({0, end, *(corner[axis] for lo, hi, _ in owners for corner in (lo, hi))})
        for axis, end in enumerate((nx, ny))
    ]
    places = [{edge: n for n, edge in enumerate(one)} for one in edges]
    columns, rows = (len(one) - 1 for one in edges)
    ranks: list[list[int | None]] = [[None] * columns for _ in range(rows)]
    texts = [[""] * columns for _ in range(rows)]
    for lo, hi, rank in owners:
        for row in range(places[1][lo[1]], places[1][hi[1]]):
            for column in range(places[0][lo[0]], places[0][hi[0]]):
                ranks[row][column] = rank
                texts[row][column] = f"rank {rank}: {hi[0] - lo[0]} × {hi[1] - lo[1]} cells"
    scale = 1.0 if grid["spherical"] else 1e-3
    unit, names = ("°", ("longitude", "latitude")) if grid["spherical"] else ("km", ("x", "y"))
    at = [
        [scale * (origin + edge * step) for edge in one]
        for one, origin, step in zip(edges, grid["origin"], grid["spacing"], strict=True)
    ]
    wide, high = (one[-1] - one[0] for one in at)
    count = max(rank for *_, rank in owners) + 1
    left = results["blocks"]["cells_left_out"]
    caption = "A colour is a rank." if count <= len(OWNERS) else f"Ranks have {len(OWNERS)} colours in turn."
    if left:
        caption += f" Grey: blocks of land, left out, {left / (nx * ny):.1%} of the cells."
    return {
        "kind": "blocks",
        "name": "blocks",
        "title": f"{number_of(len(owners), 'block')} on {number_of(count, 'rank')}",
        "caption": caption,
        "labels": [f"{name} ({unit})" for name in names],
        "edges": at,
        "owners": ranks,
        "texts": texts,
        "ratio": min(max(high / wide, LOWEST), TALLEST),
    }
