"""What `plan` says of six small runs of each application on this machine, and what they then take."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.command import fathometer
from benchmarks.table import Table
from fathometer.apps.flow.demo import flow_text as vortices_text
from fathometer.apps.ocean.cases import gyre_text
from fathometer.apps.reactive.demo import flow_text
from fathometer.config.toml_text import toml_file

COLUMNS = (
    "run",
    "ranks",
    "total: plan, s",
    "run, s",
    "ratio",
    "memory: plan, MB",
    "run, MB",
    "ratio",
)
RANKS = (1, 2)
SPACING = 10.0  # m


@dataclass(frozen=True)
class Small:
    """A small run: the command; its input file, made in a folder; what it takes of its own record (`--like`)."""

    name: str
    command: str
    made: Callable[[Path], Path]
    like: bool = False
    planned: tuple[str, ...] = ()


def _survey(folder: Path, cells: tuple[int, ...], values: dict[str, Any], command: str) -> Path:
    """A survey of one shot on a model whose velocity rises with depth."""
    vp = np.broadcast_to(np.linspace(1600, 3200, cells[-1], dtype=np.float32), cells)
    np.save(folder / "vp.npy", vp)
    far = [(n - 1) * SPACING for n in cells[:-1]]
    source: dict[str, Any] = {"x": SPACING * (cells[0] // 2), "z": 2 * SPACING}
    receivers: dict[str, Any] = {"x": [0.0, far[0] // 20 * 20, 20.0], "z": 2 * SPACING}
    if len(cells) == 3:
        source["y"] = receivers["y"] = SPACING * (cells[1] // 2)
    common: dict[str, Any] = {
        "model": {"vp": "vp.npy", "spacing": [SPACING] * len(cells)},
        "wavelet": {"kind": "ricker", "peak_frequency": 12.0},
        "tuning": {"search": "never"},
        "output": {"directory": "out"},
    }
    recording = {"acquisition": {"sources": source, "receivers": receivers}, "propagation": {"duration": 0.6}}
    if command != "model":
        text = toml_file(common | recording | {"output": {"directory": "shots"}})
        (folder / "shots.toml").write_text(text)
        fathometer("model", folder / "shots.toml", "--quiet")
        recording = {"acquisition": {"gathers": "shots/shots.segy"}}
    for section, keys in values.items():
        recording[section] = recording.get(section, {}) | keys
    path = folder / "survey.toml"
    path.write_text(toml_file(common | {k: common.get(k, {}) | v for k, v in recording.items()}))
    return path


ELASTIC = {
    "model": {"vs": 900.0, "density": 2200.0},
    "source": {"kind": "explosion"},
    "propagation": {"physics": "elastic", "top": "free-surface", "duration": 0.4},
    "wavelet": {"kind": "ricker", "peak_frequency": 6.0},
}


def _of_survey(cells: tuple[int, ...], command: str, values: dict[str, Any] | None = None) -> Callable[[Path], Path]:
    return lambda folder: _survey(folder, cells, values or {}, command)


def _of_text(text: str, name: str) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    return made


IN_TIME = ("--migrate-time",)
GRIDS = ((200, 120), (600, 300), (60, 50, 50))
OCEANS = (((48, 32, 8), 20), ((96, 64, 12), 20), ((128, 96, 20), 10))
FLOWS = ((12, 5), (20, 4), (32, 3))  # cells along a side, steps
VORTICES = ((16, 40), (32, 40), (64, 20))


def _cases() -> list[Small]:
    cases = []
    for cells in GRIDS:
        size = " x ".join(map(str, cells))
        cases += [
            Small(f"model, {size}", "model", _of_survey(cells, "model")),
            Small(f"migrate, {size}", "migrate", _of_survey(cells, "migrate")),
            Small(
                f"time migration, {size}",
                "migrate-time",
                _of_survey(cells, "migrate-time"),
                planned=IN_TIME,
            ),
            Small(f"elastic, {size}", "model", _of_survey(cells, "model", ELASTIC)),
        ]
    for shape, steps in OCEANS:
        size = " x ".join(map(str, shape))
        text = gyre_text(shape, steps, "out").replace("step = 7200", "step = 2400")
        cases.append(Small(f"ocean, {size}", "ocean", _of_text(text, "ocean.toml"), like=True))
    for side, steps in VORTICES:
        cases.append(Small(f"flow, {side}", "flow", _of_text(vortices_text(side, steps, 1.0), "flow.toml")))
    if find_spec("petsc4py") is not None:
        for side, steps in FLOWS:
            text = flow_text(side, steps, "out")
            cases.append(Small(f"reactive, {side}", "reactive", _of_text(text, "flow.toml"), like=True))
    return sorted(cases, key=lambda case: case.name.split(",")[0])


def small_plans(threads: int, quick: bool) -> Table:
    """Calibrate once, then plan and run each in turn."""
    rounds = 1 if quick else 3
    rows = []
    with tempfile.TemporaryDirectory() as name:
        machine = Path(name) / "machine.json"
        fathometer("calibrate", "--quiet", "-o", machine, "--files", name)
        for number, case in enumerate(_cases()):
            folder = Path(name) / str(number)
            folder.mkdir()
            rows += rows_of(case, folder, machine, rounds)
    without = "" if find_spec("petsc4py") else " Reactive flows are left out: PETSc is not installed."
    return Table(
        "Plans of small runs",
        f"`fathometer calibrate` once, then `plan` and the run, {rounds} times in turns; medians. Small runs are "
        "mostly start and end of a process; wanted all the same: the total within 20 %, the memory of the largest rank "
        f"within 10 %.{without}",
        COLUMNS,
        tuple(rows),
    )


def rows_of(case: Small, folder: Path, machine: Path, rounds: int) -> list[tuple[str, ...]]:
    """Rows of a run on each number of ranks: what is planned, what it takes."""
    path = case.made(folder)
    rows: list[tuple[str, ...]] = []
    for ranks in RANKS:
        figures = []
        for _ in range(rounds):
            fathometer(case.command, path, "--quiet", "--overwrite", "--ranks", ranks)
            (record,) = [p for p in folder.rglob("run.json") if "shots" not in p.parts]
            like = ["--like", record] if case.like else []
            words = [*case.planned, *like, "--on", machine, "--ranks", ranks, "--json", folder / "plan.json"]
            fathometer("plan", path, *words)
            plan = json.loads((folder / "plan.json").read_text())["asked"]
            shown = {figure["name"]: figure["value"] for figure in json.loads(record.read_text())["figures"]}
            figures.append((plan["total_seconds"], shown["total"], plan["memory_bytes_per_rank"], shown["peak memory"]))
        said, took, planned, used = (median(column) for column in zip(*figures, strict=True))
        rows.append(
            (
                case.name,
                str(ranks),
                f"{said:.2f}",
                f"{took:.2f}",
                f"{said / took:.2f}",
                f"{planned / 1e6:.0f}",
                f"{used / 1e6:.0f}",
                f"{planned / used:.2f}",
            )
        )
    return rows
