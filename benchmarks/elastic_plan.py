"""What `plan` says beforehand of elastic runs on this machine, and what they then take."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.plan import COLUMNS, compared
from benchmarks.table import Table
from examples import loh1
from fathometer.config.toml_text import toml_file

LOH1, SECTION = "loh1", "section"
SPACING, CELLS = 10.0, (900, 400)  # m and cells, of the section
QUICK = 0.25  # of the time computed
DURATIONS = {LOH1: 9.0, SECTION: 2.0}  # s


def elastic_plan(threads: int, quick: bool) -> Table:
    """Calibrate, then plan and run each in turn."""
    rounds, share = (1, QUICK) if quick else (3, 1.0)
    calibrations: list[float] = []
    rows = []
    with tempfile.TemporaryDirectory() as name:
        surveys = {
            "LOH.1 at 200 m": _loh1(Path(name) / LOH1, share * DURATIONS[LOH1]),
            "2D section with attenuation": _section(Path(name) / SECTION, share * DURATIONS[SECTION]),
        }
        for what, survey in surveys.items():
            for ranks in (1, 2):
                results = survey.parent / "results"
                words = f"{ranks} rank{'s' * (ranks > 1)}"
                rows.append((f"{what}, {words}", *compared(survey, "model", results, ranks, rounds, calibrations)))
    return Table(
        "Plans and elastic runs",
        f"`fathometer calibrate` ({median(calibrations):.0f} s), `plan`, and the run with {threads} threads, {rounds} "
        "times in turns; medians. Tilings are those of the model of the caches, as calibration takes them. Wanted: the "
        "total within 20 %, the memory of the largest rank within 10 %.",
        COLUMNS,
        tuple(rows),
    )


def _loh1(folder: Path, duration: float) -> Path:
    """The example, with tilings as calibration takes them."""
    path = loh1.write_inputs(folder, 200.0)
    text = path.read_text()
    for old, new in (
        ("duration = 9.0 ", f"duration = {duration} "),
        ('directory = "seismograms"', 'directory = "results"'),
    ):
        if old not in text:
            raise RuntimeError(f"{path}: has no {old}")
        text = text.replace(old, new)
    path.write_text(f'{text}\n[tuning]\nsearch = "never"\n')
    return path


def _section(folder: Path, duration: float) -> Path:
    """An explosion in a section whose velocities rise with depth."""
    folder.mkdir()
    vp = np.broadcast_to(np.linspace(1800, 3600, CELLS[1], dtype=np.float32), CELLS)
    np.save(folder / "vp.npy", vp)
    np.save(folder / "vs.npy", (vp / np.float32(1.8)).astype(np.float32))
    far = (CELLS[0] - 1) * SPACING
    values = {
        "model": {"vp": "vp.npy", "vs": "vs.npy", "density": 2200.0, "qp": 80.0, "qs": 40.0, "spacing": [SPACING] * 2},
        "acquisition": {
            "sources": {"x": [far / 4, 3 * far / 4, far / 2], "z": 200.0},
            "receivers": {"x": [0.0, far // 50 * 50, 50.0], "z": 0.0},
        },
        "source": {"kind": "explosion"},
        "wavelet": {"kind": "ricker", "peak_frequency": 8.0},
        "propagation": {"physics": "elastic", "top": "free-surface", "duration": duration},
        "snapshots": {"every_steps": 50, "every_nodes": 2},
        "tuning": {"search": "never"},
        "output": {"directory": "results"},
    }
    path = folder / "section.toml"
    path.write_text(toml_file(values))
    return path
