"""Reactive flow: what `plan` says and what runs take, and where Newton's method spends its time."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import fathometer
from benchmarks.table import Table
from fathometer.apps.reactive.demo import demo_text

CUBE = Path(__file__).resolve().parent.parent / "examples" / "calcite_cube.toml"
PARTS = ("assemble residual", "assemble Jacobian", "solve")


def reactive(threads: int, quick: bool) -> Table:
    """The demo on one rank and on two, and some steps of the cube of a million cells: calibrate, run, plan by the run's
    own iterations, in turns."""
    rounds = 1 if quick else 3
    cases = [("demo, 32³, limited", demo_text(32, 20, "demo"), 1, 20), ("the same", demo_text(32, 20, "demo"), 2, 20)]
    if not quick:
        cases.append(("cube, 100³, central, 2 steps", CUBE.read_text(encoding="utf-8"), 2, 2))
    found: list[list[tuple[float, ...]]] = [[] for _ in cases]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(rounds):
            fathometer("calibrate", "--quiet", "-o", folder / "machine.json", "--files", folder)
            for rows, (_, text, ranks, steps) in zip(found, cases, strict=True):
                rows.append(_measured(folder, text, ranks, steps))
    table = []
    for (case, _, ranks, _), rows in zip(cases, found, strict=True):
        said, took, planned, used, newton, linear, *parts = (median(column) for column in zip(*rows, strict=True))
        table.append(
            (
                case,
                str(ranks),
                f"{said:.1f}",
                f"{took:.1f}",
                f"{said / took:.2f}",
                f"{planned / 1e6:.0f}",
                f"{used / 1e6:.0f}",
                f"{planned / used:.2f}",
                f"{newton:.0f}",
                f"{linear:.0f}",
                *(f"{part:.1f}" for part in parts),
            )
        )
    return Table(
        "Reactive flow",
        f"`fathometer calibrate`, then the run and `plan --like` its record, {rounds} times in turns; medians. Wanted: "
        "the total within 20 %, the memory of the largest rank within 10 %. Residual and Jacobian are assembled by our "
        "kernels, whose time includes what PETSc takes to put blocks into its matrix; the rest of Newton's method is "
        "PETSc's.",
        (
            "case",
            "ranks",
            "total: plan, s",
            "run, s",
            "ratio",
            "memory: plan, MB",
            "run, MB",
            "ratio",
            "Newton iterations",
            "linear ones",
            "residual, s",
            "Jacobian, s",
            "solve, s",
        ),
        tuple(table),
    )


def _measured(folder: Path, text: str, ranks: int, steps: int) -> tuple[float, ...]:
    path = folder / "flow.toml"
    path.write_text(text, encoding="utf-8")
    words = ["--ranks", ranks, "--set", f"time.most_steps={steps}", "--set", "output.directory=results"]
    fathometer("reactive", path, "--quiet", "--overwrite", *words)
    run: dict[str, Any] = json.loads((folder / "results" / "run.json").read_text())
    record = folder / "results" / "run.json"
    fathometer("plan", path, "--on", folder / "machine.json", "--like", record, "--json", folder / "plan.json", *words)
    plan = json.loads((folder / "plan.json").read_text())["asked"]
    figures = {figure["name"]: figure["value"] for figure in run["figures"]}
    return (
        plan["total_seconds"],
        figures["total"],
        plan["memory_bytes_per_rank"],
        figures["peak memory"],
        figures["newton iterations"],
        figures["linear iterations"],
        *(figures[part] for part in PARTS),
    )
