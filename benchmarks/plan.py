"""What `plan` says beforehand of four surveys on this machine, and what they then take."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.command import fathometer
from benchmarks.table import Table
from fathometer.config.toml_text import toml_file


@dataclass(frozen=True)
class Case:
    """A survey: cells, their size (m), anisotropy, shots, receivers' step (cells), duration (s), order, frequency (Hz),
    command, ranks and how many of them work on a shot."""

    name: str
    shape: tuple[int, ...]
    spacing: float
    vti: bool
    shots: int
    step: int
    duration: float
    order: int
    frequency: float
    command: str
    ranks: int
    ranks_per_shot: int | str = "all"


CASES = (
    Case("2D VTI line, migrate", (1200, 400), 10.0, True, 12, 5, 2.0, 8, 15.0, "migrate", 1),
    Case("3D VTI, migrate, 2 ranks a shot", (130, 90, 80), 20.0, True, 6, 3, 1.2, 8, 7.5, "migrate", 2),
    Case("3D VTI, migrate, 2 groups", (130, 90, 80), 20.0, True, 6, 3, 1.2, 8, 7.5, "migrate", 2, 1),
    Case("3D isotropic, model, order 12", (170, 130, 110), 20.0, False, 4, 4, 1.5, 12, 7.5, "model", 1),
)


COLUMNS = ("survey", "plan, s", "run, s", "ratio", "kernel: plan, s", "run, s", "memory: plan, MB", "run, MB", "ratio")
SAID = ("total_seconds", "kernel_seconds", "memory_bytes_per_rank")


def plan(threads: int, quick: bool) -> Table:
    """Calibrate, then plan and run each in turn."""
    rounds = 1 if quick else 3
    calibrations: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = []
        for case in CASES:
            prepare(folder, case)
            survey = folder / f"{case.command}.toml"
            rows.append(
                (case.name, *compared(survey, case.command, folder / case.command, case.ranks, rounds, calibrations))
            )
    return Table(
        "Plans and runs",
        f"`fathometer calibrate` ({median(calibrations):.0f} s), `plan`, and the run, {rounds} times in turns; "
        "medians. Tilings are those of the model of the caches, as calibration takes them: a search finds better ones, "
        "and may err on a noisy machine. Wanted: the total within 20 %, the memory of the largest rank within 10 %.",
        COLUMNS,
        tuple(rows),
    )


def compared(
    survey: Path, command: str, results: Path, ranks: int, rounds: int, calibrations: list[float]
) -> tuple[str, ...]:
    """What a plan says and what the run then takes, as rows have it; the seconds of calibrations are appended."""
    machine = survey.parent / "machine.json"
    options = ["--ranks", ranks] if ranks > 1 else []
    plans, totals, peaks, kernels = [], [], [], []
    for _ in range(rounds):  # what the machine gives changes within minutes: each run has its own plan
        calibrations.append(fathometer("calibrate", "--quiet", "-o", machine, "--files", survey.parent))
        fathometer("plan", survey, "--on", machine, "--ranks", ranks, "--json", survey.parent / "plan.json")
        plans.append(json.loads((survey.parent / "plan.json").read_text())["asked"])
        anew = ["--overwrite"] if command == "migrate" else []
        fathometer(command, survey, "--quiet", *options, *anew)
        run = json.loads((results / "run.json").read_text())
        shown = {figure["name"]: figure["value"] for figure in run["figures"]}
        totals.append(shown["total"])
        kernels.append(shown["kernel"])
        peaks.append(shown["peak memory"])
    said = {key: median(one[key] for one in plans) for key in SAID}
    total, peak = median(totals), median(peaks)
    return (
        f"{said['total_seconds']:.1f}",
        f"{total:.1f}",
        f"{said['total_seconds'] / total:.2f}",
        f"{said['kernel_seconds']:.1f}",
        f"{median(kernels):.1f}",
        f"{said['memory_bytes_per_rank'] / 1e6:.0f}",
        f"{peak / 1e6:.0f}",
        f"{said['memory_bytes_per_rank'] / peak:.2f}",
    )


def prepare(folder: Path, case: Case) -> None:
    """The files of a survey, and its recorded shots where it is to be migrated."""
    *sides, depth = case.shape
    vp = np.broadcast_to(np.linspace(1600, 3200, depth, dtype=np.float32), case.shape)
    np.save(folder / "vp.npy", vp)
    far = [(n - 1) * case.spacing for n in sides]
    receivers = [[0.0, (n - 1) // case.step * case.step * case.spacing, case.step * case.spacing] for n in sides]
    first, last = (case.spacing * round(f * far[0] / case.spacing) for f in (0.1, 0.9))
    each = (last - first) / (case.shots - 1)
    geometry: dict[str, Any] = {
        "sources": {"x": [first, first + (case.shots - 1) * each, each], "z": 2 * case.spacing},
        "receivers": {"x": receivers[0], "z": 2 * case.spacing},
    }
    if len(sides) == 2:
        geometry["sources"]["y"] = case.spacing * (sides[1] // 2)
        geometry["receivers"]["y"] = receivers[1]
    acquisitions = {"model": geometry, "migrate": {"gathers": "model/shots.segy"}}
    for command, acquisition in acquisitions.items():
        values = {
            "model": {"vp": "vp.npy", "spacing": [case.spacing] * len(case.shape)}
            | ({"epsilon": 0.15, "delta": 0.05} if case.vti else {}),
            "acquisition": acquisition,
            "wavelet": {"kind": "ricker", "peak_frequency": case.frequency},
            "propagation": {"order": case.order} | ({"duration": case.duration} if command == "model" else {}),
            "parallel": {"ranks_per_shot": case.ranks_per_shot},
            "tuning": {"search": "never"},  # as calibration steps them
            "output": {"directory": command},
        }
        (folder / f"{command}.toml").write_text(toml_file(values))
    if case.command == "migrate":
        fathometer("model", folder / "model.toml", "--quiet")
