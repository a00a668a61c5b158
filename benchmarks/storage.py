"""What volumes and traces cost by the ways they are moved: `fathometer io`, and whole migrations."""

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
from fathometer.lab.io.page_cache import drop

STRATEGIES = "posix-shared,mpiio-collective,mpiio-independent,root-broadcast"
ELEMENTS = "mpiio-independent,mpiio-independent:datatype=hindexed"

# name: keys of [storage]
WAYS: dict[str, dict[str, str]] = {
    "own parts": {},
    "model: root-broadcast": {"read": "root-broadcast"},
    "traces: slices": {"traces": "slices"},
    "traces: root-broadcast": {"traces": "root-broadcast"},
    "both: root-broadcast": {"read": "root-broadcast", "traces": "root-broadcast"},
}
OWN = next(iter(WAYS))
TRACES = ("read traces", "order traces", "resample traces", "read slices", "broadcast traces")


def storage(threads: int, quick: bool) -> Table:
    """`fathometer io` on 2 ranks: shared files, and lists of single elements."""
    grid, repeat = ("128,128,128", 1) if quick else ("1024,1024,512", 10)
    with tempfile.TemporaryDirectory() as name:
        large = measured(Path(name), grid, STRATEGIES, repeat)
        small = measured(Path(name), "256,128,128", ELEMENTS, repeat)
    rows = []
    for size, run in (("2 GiB" if not quick else "8 MiB", large), ("16 MiB", small)):
        for row in run["rows"]:
            again = run["winners_again"].get(row["operation"], {})
            rows.append(
                (
                    f"{row['operation']}, {row['strategy']}, {size}",
                    f"{1e-6 * row['bytes_per_second']:.0f}",
                    f"{1e-6 * row['ci_low']:.0f} to {1e-6 * row['ci_high']:.0f}" if row["ci_low"] else "",
                    f"{row['ratio_to_raw']:.2f}",
                    f"{again['ratio_to_raw']:.2f}" if again.get("strategy") == row["strategy"] else "",
                )
            )
    device = ", ".join(
        f"{operation} {1e-6 * raw['sequential_bytes_per_second']:.0f} "
        f"({' to '.join(f'{1e-6 * rate:.0f}' for rate in raw['sequential_interval'] or ())})"
        for operation, raw in large["raw"].items()
    )
    note = (
        f"`fathometer io DIR --ranks 2 --grid {grid} --strategy {STRATEGIES} --repeat {repeat} --budget 6m` and the "
        f"same with `--grid 256,128,128 --strategy {ELEMENTS}` (ext4; medians). The device in order, MB/s: {device}. "
        "Wanted of the best shared file, 2 GiB: 0.9 of the device in order both ways; a subarray 5 times as fast as a "
        f"list of single elements: {elements(small)}; own parts read 1.5 times as fast as by root-broadcast: "
        f"{own(large)}."
    )
    columns = ("operation, strategy", "MB/s", "interval", "of the device", "winner again")
    return Table("Shared files", note, columns, tuple(rows))


def rates(run: dict[str, Any], operation: str) -> dict[str, float]:
    return {row["strategy"]: row["bytes_per_second"] for row in run["rows"] if row["operation"] == operation}


def elements(run: dict[str, Any]) -> str:
    block, single = ELEMENTS.split(",")
    ratios = {operation: rates(run, operation) for operation in ("write", "read")}
    return ", ".join(f"{operation} {found[block] / found[single]:.0f}" for operation, found in ratios.items())


def own(run: dict[str, Any]) -> str:
    found = rates(run, "read")
    return f"{found['posix-shared'] / found['root-broadcast']:.1f}"


def measured(folder: Path, grid: str, strategies: str, repeat: int) -> dict[str, Any]:
    """`results` of one `fathometer io`."""
    found = folder / "io.json"
    words = ("--grid", grid, "--strategy", strategies, "--repeat", repeat, "--budget", "6m", "--json", found)
    fathometer("io", folder, "--ranks", 2, "--quiet", *words)
    results: dict[str, Any] = json.loads(found.read_text())["results"]
    return results


def reading(threads: int, quick: bool) -> Table:
    """A migration of few steps with a large model and many traces, in all ways to read them, in turns."""
    side, rounds = (48, 1) if quick else (360, 5)
    times: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs, survey = prepare(folder, side)
        surveys = {}
        for number, (way, keys) in enumerate(WAYS.items()):
            surveys[way] = folder / f"way{number}.toml"
            surveys[way].write_text(toml_file(survey | {"storage": keys, "output": {"directory": f"way{number}"}}))
        fathometer("migrate", surveys[OWN], "--quiet", "--overwrite", "--ranks", 2)  # finds the tiling
        images = {}
        for _ in range(rounds):
            for way, path in surveys.items():
                for one in inputs:
                    drop(one)
                wall = fathometer("migrate", path, "--quiet", "--overwrite", "--ranks", 2)
                record = json.loads((folder / path.stem / "run.json").read_text())
                times[way].append({"whole": wall} | seconds(record["ledger"]["phases"]))
                images[way] = (folder / path.stem / "image.rsf@").read_bytes()
        bytes_read = sum(one.stat().st_size for one in inputs)
    assert len(set(images.values())) == 1, "the image depends on how its input was read"
    rows = []
    for way, found in times.items():
        cells = [way]
        for what in ("whole", "model", "traces"):
            ratios = [mine[what] / base[what] for mine, base in zip(found, times[OWN], strict=True)]
            cells += [f"{median(one[what] for one in found):.2f}", f"{median(ratios):.2f}"]
        rows.append(tuple(cells))
    note = (
        f"Whole `fathometer migrate` commands on 2 ranks with `[storage] read` and `traces`: {side}³ cells, VTI from "
        f"three volumes, one shot of {((side - 1) // 2 + 1) ** 2} traces, few steps; {1e-6 * bytes_read:.0f} MB of "
        f"input, dropped from the page cache before each; {rounds} rounds in turns, medians, ratios to the first way "
        "in the same round. Model and traces: seconds of the phases that read, send, order and resample them, the mean "
        "of the ranks. All images are the same bit by bit."
    )
    columns = ("what is read how", "whole, s", "ratio", "model, s", "ratio", "traces, s", "ratio")
    return Table("Reading in whole migrations", note, columns, tuple(rows))


def seconds(phases: list[dict[str, Any]]) -> dict[str, float]:
    """Of reading the model, and of the traces on their way to the time steps."""
    total = {"model": 0.0, "traces": 0.0}
    for one in phases:
        if one["phase"] == "read model":
            total["model"] += one["seconds"]["mean"]
        elif one["phase"] in TRACES:
            total["traces"] += one["seconds"]["mean"]
    return total


def prepare(folder: Path, side: int) -> tuple[list[Path], dict[str, Any]]:
    """Model and a recorded shot; the input files, and the survey's keys."""
    x = np.linspace(0, 1, side, dtype=np.float32)
    wavy = np.sin(14 * x + 2 * x[:, None, None] + np.cos(5 * x)[:, None])
    volumes = {"vp": 1900 + 200 * wavy, "epsilon": 0.1 + 0.02 * wavy, "delta": 0.04 + 0.01 * wavy}
    for name, values in volumes.items():
        np.save(folder / f"{name}.npy", values.astype(np.float32))
    common: dict[str, Any] = {
        "model": {name: f"{name}.npy" for name in volumes} | {"spacing": [10.0] * 3},
        "wavelet": {"kind": "ricker", "peak_frequency": 20.0},
        "imaging": {"laplacian": False},
    }
    places = [0.0, 20.0 * ((side - 1) // 2), 20.0]
    middle = 10.0 * (side // 2)
    geometry = common | {
        "acquisition": {
            "sources": {"x": middle, "y": middle, "z": 20.0},
            "receivers": {"x": places, "y": places, "z": 20.0},
            "sample_interval": 0.001,
        },
        "propagation": {"duration": 0.05},
        "output": {"directory": "shots"},
    }
    (folder / "shots.toml").write_text(toml_file(geometry))
    fathometer("model", folder / "shots.toml", "--quiet", "--ranks", 2)
    inputs = [*(folder / f"{name}.npy" for name in volumes), folder / "shots" / "shots.segy"]
    return inputs, common | {"acquisition": {"gathers": "shots/shots.segy"}}
