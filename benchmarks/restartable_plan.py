"""What `plan` says of runs that go on from restart files, by the iterations of the run itself, and what they take."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import fathometer

COLUMNS = ("case", "ranks", "total: plan, s", "run, s", "ratio", "memory: plan, MB", "run, MB", "ratio")


@dataclass(frozen=True)
class Case:
    """A run: its name, the text of its input file, ranks; settings: keys with other values, as of --set; like: whether
    its plan takes iterations from the run's record."""

    name: str
    text: str
    ranks: int
    settings: tuple[str, ...] = ()
    like: bool = True


def planned_rows(
    command: str,
    cases: Sequence[Case],
    rounds: int,
    more: Callable[[Mapping[str, Any], Mapping[str, float]], tuple[float, ...]],
    formats: Sequence[str],
) -> tuple[tuple[str, ...], ...]:
    """Rows of COLUMNS, and more: calibrate, run each case and plan it, in turns; medians.

    Args:
        more: further figures, from the plan and the run's figures by name. formats: of these.
    """
    found: list[list[tuple[float, ...]]] = [[] for _ in cases]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(rounds):
            fathometer("calibrate", "--quiet", "-o", folder / "machine.json", "--files", folder, "--for", command)
            for measured, case in zip(found, cases, strict=True):
                measured.append(_measured(folder, command, case, more))
    rows = []
    for case, measured in zip(cases, found, strict=True):
        said, took, planned, used, *others = (median(column) for column in zip(*measured, strict=True))
        shown = (f"{said:.1f}", f"{took:.1f}", f"{said / took:.2f}")
        shown += (f"{planned / 1e6:.0f}", f"{used / 1e6:.0f}", f"{planned / used:.2f}")
        rows.append((case.name, str(case.ranks), *shown, *map(format, others, formats)))
    return tuple(rows)


def _measured(
    folder: Path,
    command: str,
    case: Case,
    more: Callable[[Mapping[str, Any], Mapping[str, float]], tuple[float, ...]],
) -> tuple[float, ...]:
    """Seconds of the plan and of the run, bytes of both, more."""
    path, record = folder / "case.toml", folder / "results" / "run.json"
    path.write_text(case.text, encoding="utf-8")
    words: list[object] = ["--ranks", case.ranks]
    for setting in ("output.directory=results", *case.settings):
        words += ["--set", setting]
    fathometer(command, path, "--quiet", "--overwrite", *words)
    words += ["--like", record] if case.like else []
    fathometer("plan", path, "--on", folder / "machine.json", "--json", folder / "plan.json", *words)
    plan = json.loads((folder / "plan.json").read_text())["asked"]
    figures = {figure["name"]: figure["value"] for figure in json.loads(record.read_text())["figures"]}
    ends = (plan["total_seconds"], figures["total"], plan["memory_bytes_per_rank"], figures["peak memory"])
    return (*ends, *more(plan, figures))
