"""What the memory of a whole migration costs: one pass over as many fresh pages beside the run's set-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.command import clean, fathometer
from benchmarks.one_shot import migration, modelled
from benchmarks.table import Table
from fathometer.record.ranks import seconds

# In a process of its own, as the run is: what the system gives it was never its own before.
PASS = """
import sys, time
from fathometer import _native
_native.set_threads(int(sys.argv[1]))
begin = time.perf_counter()
memory = _native.zerosFloat32((int(sys.argv[2]) // 4 >> 20, 1024, 1024), 0)
print(time.perf_counter() - begin)
"""
# Before each: a virtual machine takes back within seconds what a process has left, and gives it again at a rate far
# below that of memory. All meet it in that state.
PAUSE = 10.0
SHOWN = ("set up", "first arrivals", "read model", "draw", "report", "start-up")


def fresh_memory(threads: int, quick: bool) -> Table:
    """In turns: the pass, and a whole `migrate` of all cells and with the cone, whose tilings are known."""
    rounds = 2 if quick else 7
    shape, steps = ((80, 80, 60), 60) if quick else ((240, 240, 200), 600)
    passes: list[float] = []
    runs: dict[str, list[dict[str, float]]] = {"off": [], "auto": []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        modelled(folder, shape, steps)
        for number in range(-1, rounds):
            for cone, done in runs.items():
                run = _migrated(folder, steps, cone, threads)
                if number >= 0:
                    done.append(run)
            if number >= 0:
                passes.append(_pass(threads, int(runs["off"][-1]["bytes"])))
    rows = []
    for cone, done in runs.items():
        cells = {name: median(run[name] for run in done) for name in done[0]}
        over = [run["set up"] / one for run, one in zip(done, passes, strict=True)]
        rows.append(
            (
                f'migration, cone = "{cone}"',
                f"{cells['bytes'] / 1e9:.2f}",
                f"{median(passes):.2f} ({min(passes):.2f} to {max(passes):.2f})",
                *(f"{cells[name]:.2f}" for name in SHOWN),
                f"{median(over):.2f} ({min(over):.2f} to {max(over):.2f})",
                f"{cells['wall']:.1f}",
                f"{cells['share']:.2f} ({min(run['share'] for run in done):.2f} to "
                f"{max(run['share'] for run in done):.2f})",
            )
        )
    return Table(
        "Fresh memory of a migration",
        f"One pass over as many bytes of fresh pages as the migration of all cells holds at most, by {threads} threads "
        f"in a process of its own; and whole runs of `migrate`, one shot of {' x '.join(map(str, shape))} cells with "
        f"absorbing layers, {steps} steps, tilings known. {rounds} rounds in turns, each after a pause of {PAUSE:g} s, "
        "in which a virtual machine takes back what was freed; medians and ranges, seconds. "
        "Wanted: set-up at most one pass; the share of the time steps in the wall time 0.85.",
        ("what", "memory, GB", "one pass", *SHOWN, "set-up over a pass", "wall", "share of the time steps"),
        tuple(rows),
    )


def _migrated(folder: str, steps: int, cone: str, threads: int) -> dict[str, float]:
    survey = migration(folder, steps, cone)
    time.sleep(PAUSE)
    wall = fathometer("migrate", survey, "--threads", threads, "--quiet", "--overwrite")
    run = json.loads((Path(folder) / "image" / "run.json").read_text())
    figures = {figure["name"]: figure["value"] for figure in run["figures"]}
    phases = {name: seconds(run["ledger"], (name,)) for name in SHOWN}
    return phases | {"bytes": figures["peak memory"], "wall": wall, "share": figures["kernel"] / wall}


def _pass(threads: int, bytes: int) -> float:
    time.sleep(PAUSE)
    command = [sys.executable, "-c", PASS, str(threads), str(bytes)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=clean()).stdout)
