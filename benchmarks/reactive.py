"""Reactive flow: what `plan` says and what runs take, and where Newton's method spends its time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.restartable_plan import COLUMNS, Case, planned_rows
from benchmarks.table import Table
from fathometer.apps.reactive.demo import flow_text

CUBE = Path(__file__).resolve().parent.parent / "examples" / "calcite_cube.toml"
PARTS = ("assemble residual", "assemble Jacobian", "solve")


def reactive(threads: int, quick: bool) -> Table:
    """The demo on one rank and on two, and some steps of the cube of a million cells: calibrate, run, plan by the run's
    own iterations, in turns."""
    rounds = 1 if quick else 3
    demo, few = flow_text(32, 20, "demo"), "time.most_steps={}".format
    cases = [Case("demo, 32³, limited", demo, 1, (few(20),)), Case("the same", demo, 2, (few(20),))]
    if not quick:
        cases.append(Case("cube, 100³, central, 2 steps", CUBE.read_text(encoding="utf-8"), 2, (few(2),)))
    return Table(
        "Reactive flow",
        f"`fathometer calibrate`, then the run and `plan --like` its record, {rounds} times in turns; medians. Wanted: "
        "the total within 20 %, the memory of the largest rank within 10 %. Residual and Jacobian are assembled by our "
        "kernels, whose time includes what PETSc takes to put blocks into its matrix; the rest of Newton's method is "
        "PETSc's.",
        (*COLUMNS, "Newton iterations", "linear ones", "residual, s", "Jacobian, s", "solve, s"),
        planned_rows("reactive", cases, rounds, _parts, (".0f", ".0f", *[".1f"] * len(PARTS))),
    )


def _parts(plan: Mapping[str, Any], figures: Mapping[str, float]) -> tuple[float, ...]:
    """Iterations, and seconds of the parts of Newton's method, of the run."""
    return figures["newton iterations"], figures["linear iterations"], *(figures[part] for part in PARTS)
