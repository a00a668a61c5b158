"""Many shots of unlike sizes on groups of ranks: how busy the groups are, and what the journal costs."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.command import fathometer
from benchmarks.table import Table
from fathometer.config.toml_text import toml_file
from fathometer.storage.traces.segy import GatherWriter

SPACING, INTERVAL = 10.0, 0.004
SHOTS = 24
ALSO = ("take a shot", "write partial image", "sum images")  # phases that a run without a journal would not have


def shots(threads: int, quick: bool) -> Table:
    """A 3D VTI survey of shots whose windows differ 4 : 1 in cells, on 2 ranks with shots of their own."""
    full, duration, rounds = ((120, 60, 40), 0.2, 1) if quick else ((240, 120, 100), 0.6, 2)
    rows, found = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        survey = prepare(folder, full, duration)
        fathometer("migrate", survey, "--quiet", "--ranks", 2, "--overwrite")  # finds the tiling
        for _ in range(rounds):
            wall = fathometer("migrate", survey, "--quiet", "--ranks", 2, "--overwrite")
            found.append(measured(folder / "out", wall))
    for what, wanted in (
        ("groups at work until the last shot is done, share", "at least 0.95"),
        ("partial images, journal and their sum, share of the wall time", "at most 0.01"),
        ("wall time, s", ""),
        ("largest of a shot's seconds over the smallest", ""),
    ):
        values = [one[what] for one in found]
        rows.append((what, f"{median(values):.3f}", f"{min(values):.3f} to {max(values):.3f}", wanted))
    note = (
        f"`fathometer migrate` on 2 ranks, `ranks_per_shot = 1`: {SHOTS} shots in windows of a VTI model of "
        f"{' x '.join(map(str, full))} cells whose receivers cover 1 to 4 quarters of its length; medians of {rounds} "
        "runs. The share at work is the sum of the shots' seconds over both groups in twice those of the longer one."
    )
    return Table("Many shots", note, ("what", "median", "range", "wanted"), tuple(rows))


def measured(folder: Path, wall: float) -> dict[str, float]:
    """What a run tells of itself."""
    record = json.loads((folder / "run.json").read_text())
    also = sum(one["seconds"]["mean"] for one in record["ledger"]["phases"] if one["phase"] in ALSO)
    groups: list[list[float]] = []
    for path in sorted((folder / "journal").glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        groups.append([line["seconds"] for line in lines if "seconds" in line])
    sums = [sum(one) for one in groups]
    every = [seconds for one in groups for seconds in one]
    return {
        "groups at work until the last shot is done, share": sum(sums) / (len(sums) * max(sums)),
        "partial images, journal and their sum, share of the wall time": also / wall,
        "wall time, s": wall,
        "largest of a shot's seconds over the smallest": max(every) / min(every),
    }


def prepare(folder: Path, shape: tuple[int, int, int], duration: float) -> Path:
    """Model, gathers (pulses: the cost does not depend on what is in them), survey."""
    z = np.linspace(0, 1, shape[2], dtype=np.float32)
    np.save(folder / "vp.npy", np.broadcast_to(1700 + 900 * z, shape).astype(np.float32))
    nx, ny, _ = shape
    samples = int(duration / INTERVAL) + 1
    gathers: list[tuple[np.ndarray, np.ndarray]] = []
    for n in range(SHOTS):
        length = nx * (1 + n % 4) // 4
        first = (nx - length) * n // SHOTS
        x = SPACING * np.arange(first, first + length, 4)
        y = SPACING * np.arange(0, ny, 4)
        spread = np.stack([*(one.ravel() for one in np.meshgrid(x, y)), np.full(len(x) * len(y), 2 * SPACING)], axis=1)
        gathers.append((np.array([x.mean() // SPACING * SPACING, y.mean() // SPACING * SPACING, 2 * SPACING]), spread))
    time = INTERVAL * np.arange(samples)
    with GatherWriter(folder / "shots.segy", samples, INTERVAL, sum(len(one) for _, one in gathers)) as writer:
        at = 0
        for n, (source, spread) in enumerate(gathers):
            away = np.linalg.norm(spread - source, axis=1)
            traces = np.exp(-((60 * (time[None] - 0.05 - away[:, None] / 1700)) ** 2))
            writer.write(at, n + 1, source, spread, traces)
            at += len(spread)
    keys: dict[str, Any] = {
        "model": {"vp": "vp.npy", "epsilon": 0.1, "delta": 0.04, "spacing": [SPACING] * 3},
        "acquisition": {"gathers": "shots.segy"},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
        "imaging": {"aperture": 0.0},
        "parallel": {"ranks_per_shot": 1},
        "output": {"directory": "out"},
    }
    path = folder / "survey.toml"
    path.write_text(toml_file(keys))
    return path
