"""`fathometer messages` beside NetPIPE on the same pattern; halo seconds that plans promise beside those of runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import clean, fathometer
from benchmarks.plan import Case, prepare
from benchmarks.table import Table
from fathometer.lab.statistics.interval import Estimate, interval
from fathometer.lab.statistics.ratios import ratio
from fathometer.lab.statistics.told import ends

NETPIPE = "NPopenmpi"
# Bytes: repetitions of NetPIPE's, so many that its clock of microseconds and its first exchanges count for little.
LENGTHS = {8: 500, 1 << 20: 40}
TRIALS = 7  # series of NetPIPE at each length, of which it says the best
MEGABIT = 1 << 20  # bits, to NetPIPE
CASES = (
    Case("3D VTI, model, 2 ranks", (130, 90, 80), 20.0, True, 6, 3, 1.2, 8, 7.5, "model", 2, "all"),
    Case("3D isotropic, model, 2 ranks", (170, 130, 110), 20.0, False, 4, 4, 1.5, 8, 7.5, "model", 2, "all"),
)


def messages(threads: int, quick: bool) -> Table:
    """Seconds of a message, half of there and back by blocking sends, in turns with NetPIPE's."""
    title, columns = "Messages beside NetPIPE", ("length", "NetPIPE, µs", "messages, µs", "of medians", "of rounds")
    if shutil.which(NETPIPE) is None:
        return Table(title, f"Left out: found no {NETPIPE} (Debian: apt-get install netpipe-openmpi).", columns, ())
    rounds = 2 if quick else 10
    ours: dict[int, dict[int, float]] = {length: {} for length in LENGTHS}
    theirs: dict[int, dict[int, float]] = {length: {} for length in LENGTHS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(rounds):
            turns = [(netpipe, theirs), (own, ours)]
            for measure, kept in turns[:: -1 if number % 2 else 1]:
                for length, seconds in measure(folder).items():
                    kept[length][number] = seconds
    rows = tuple((f"{length} B", *_beside(theirs[length], ours[length])) for length in LENGTHS)
    repetitions = " and ".join(f"{count} at {length} B" for length, count in LENGTHS.items())
    note = (
        f"`NPopenmpi -l N -u N -p 0 -n R` (R: {repetitions}) and `fathometer messages --pattern echo --protocol send "
        f"--repeat {TRIALS}`, {rounds} rounds in turns on 2 ranks: half of there and back, blocking calls, one buffer "
        f"that stays in the caches. Each run says the least of {TRIALS} series, NetPIPE in Mbit/s (of 2²⁰ bits), from "
        "which its seconds are taken, since those that it prints have two digits. Medians of the rounds, the ratio of "
        "the medians, and the median of the ratios in the same rounds, with 95 % intervals; made by `python -m "
        f"benchmarks --only messages`. Wanted of the medians, on a quiet machine: within 10 % at {min(LENGTHS)} B, 5 "
        f"% at {max(LENGTHS)} B."
    )
    return Table(title, note, columns, rows)


def _beside(theirs: dict[int, float], ours: dict[int, float]) -> tuple[str, ...]:
    """Cells of a row: both medians with their intervals, their ratio, and that of the same rounds with its interval."""
    paired = ratio(ours, theirs)
    assert paired is not None, "seconds are above zero"
    medians = [interval(list(seconds.values())) for seconds in (theirs, ours)]
    of_medians = medians[1].median / medians[0].median
    return (*(_with_ends(found, 1e6) for found in medians), f"{of_medians:.3f}", _with_ends(paired, 1.0))


def _with_ends(found: Estimate, scale: float) -> str:
    low, high = ends(found)
    return f"{scale * found.median:.3f}" + (f" ({scale * low:.3f} to {scale * high:.3f})" if low and high else "")


def netpipe(folder: Path) -> dict[int, float]:
    """Seconds of a message by NetPIPE, by its length."""
    found = {}
    for length, count in LENGTHS.items():
        out = folder / "np.out"
        words = [NETPIPE, "-l", length, "-u", length, "-p", 0, "-n", count, "-o", out]
        mpirun = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", 2]
        command = [str(word) for word in (*mpirun, *words)]
        subprocess.run(command, check=True, capture_output=True, env=clean(), cwd=folder)
        rate = float(out.read_text().splitlines()[-1].split()[1])  # bytes, Mbit/s, seconds
        found[length] = 8 * length / (MEGABIT * rate)
    return found


def own(folder: Path) -> dict[int, float]:
    """The same by `fathometer messages`."""
    out = folder / "messages.json"
    words = ("--pattern", "echo", "--protocol", "send", "--length", ",".join(map(str, LENGTHS)), "--repeat", TRIALS)
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
