"""`fathometer messages` beside NetPIPE on the same pattern; halo seconds that plans promise beside those of runs."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import clean, fathometer
from benchmarks.plan import Case, prepare
from benchmarks.table import Table

LENGTHS = (8, 1 << 20)
CASES = (
    Case("3D VTI, model, 2 ranks", (130, 90, 80), 20.0, True, 6, 3, 1.2, 8, 7.5, "model", 2, "all"),
    Case("3D isotropic, model, 2 ranks", (170, 130, 110), 20.0, False, 4, 4, 1.5, 8, 7.5, "model", 2, "all"),
)


def messages(threads: int, quick: bool) -> Table:
    """Least seconds of a message, half of there and back by blocking sends, in turns with NetPIPE's."""
    rounds = 3 if quick else 15
    ours: dict[int, list[float]] = {length: [] for length in LENGTHS}
    theirs: dict[int, list[float]] = {length: [] for length in LENGTHS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(rounds):
            for length, seconds in netpipe(folder).items():
                theirs[length].append(seconds)
            for length, seconds in own(folder).items():
                ours[length].append(seconds)
    rows = tuple(
        (
            f"{length} B",
            f"{1e6 * min(theirs[length]):.3f}",
            f"{1e6 * min(ours[length]):.3f}",
            f"{min(ours[length]) / min(theirs[length]):.3f}",
        )
        for length in LENGTHS
    )
    note = (
        f"`NPopenmpi -l N -u N -p 0` and `fathometer messages --pattern echo --protocol send`, {rounds} times in "
        "turns on 2 ranks: half of there and back, blocking calls, one buffer that stays in the caches; the least of "
        "all. Wanted: within 5 %."
    )
    return Table("Messages beside NetPIPE", note, ("length", "NetPIPE, µs", "messages, µs", "ratio"), rows)


def netpipe(folder: Path) -> dict[int, float]:
    """Seconds of a message by NetPIPE, by its length."""
    found = {}
    for length in LENGTHS:
        out = folder / "np.out"
        words = ["NPopenmpi", "-l", length, "-u", length, "-p", 0, "-o", out]
        mpirun = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", 2]
        command = [str(word) for word in (*mpirun, *words)]
        subprocess.run(command, check=True, capture_output=True, env=clean(), cwd=folder)
        last = out.read_text().splitlines()[-1].split()  # bytes, Mbit/s, seconds
        found[length] = float(last[2])
    return found


def own(folder: Path) -> dict[int, float]:
    """The same by `fathometer messages`."""
    out = folder / "messages.json"
    words = ("--pattern", "echo", "--protocol", "send", "--length", ",".join(map(str, LENGTHS)), "--repeat", 10)
    fathometer("messages", "--ranks", 2, *words, "--json", out, "--quiet")
    rows = json.loads(out.read_text())["results"]["rows"]
    return {row["length_bytes"]: row["seconds_min"] for row in rows}


def halos(threads: int, quick: bool) -> Table:
    """Seconds of the halo exchange of whole runs on 2 ranks: planned by two machine files, and taken."""
    rounds = 1 if quick else 5
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before, after = folder / "calibrated.json", folder / "messages.json"
        for case in CASES:
            prepare(folder, case)
            survey = folder / "model.toml"
            said: dict[Path, list[float]] = {before: [], after: []}
            taken = []
            for _ in range(rounds):  # what the machine gives changes within minutes
                fathometer("calibrate", "--quiet", "-o", before, "--files", folder)
                after.write_bytes(before.read_bytes())
                words = ("--pattern", "swap", "--protocol", "persistent", "--length", "8", "--repeat", 1, "--quiet")
                fathometer("messages", "--ranks", 2, *words, "--machine", after)
                for machine, seconds in said.items():
                    fathometer("plan", survey, "--on", machine, "--ranks", 2, "--json", folder / "plan.json")
                    seconds.append(planned(json.loads((folder / "plan.json").read_text())["asked"]["phases"]))
                fathometer("model", survey, "--quiet", "--ranks", 2)
                taken.append(spent(json.loads((folder / "model" / "run.json").read_text())["ledger"]["phases"]))
            run = median(taken)
            cells = [f"{median(seconds):.3f}" for seconds in said.values()]
            ratios = [f"{median(seconds) / run:.2f}" for seconds in said.values()]
            rows.append((case.name, f"{run:.3f}", cells[0], ratios[0], cells[1], ratios[1]))
    note = (
        f"Communication of the phase halo exchange, the mean of two ranks, {rounds} times in turns; medians. Planned "
        "from `fathometer calibrate` alone, and after `fathometer messages --machine`. Wanted of it: within 15 %."
    )
    columns = ("survey", "run, s", "calibrate, s", "ratio", "messages, s", "ratio")
    return Table("Halo exchanges, planned and taken", note, columns, tuple(rows))


def planned(phases: list[dict[str, Any]]) -> float:
    return sum(phase["seconds"] for phase in phases if phase["phase"] == "halo exchange")


def spent(phases: list[dict[str, Any]]) -> float:
    found = (entry for entry in phases if (entry["phase"], entry["category"]) == ("halo exchange", "communication"))
    return sum(entry["seconds"]["mean"] for entry in found)
