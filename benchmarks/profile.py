"""What it costs to be profiled: a call of MPI that does nothing, with the library that counts and without, in turns."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.command import clean
from benchmarks.table import Table
from fathometer.lab.profile.launching import environment
from fathometer.lab.profile.rank_file import OPTIONS

SOURCE = Path(__file__).with_name("call_cost.c")
READS = 3  # of the clock: what a call may cost beyond 250 ns


def profile(threads: int, quick: bool) -> Table:
    """One rank, with what is counted always and with all that is counted on request but for waiting."""
    rounds, samples = (3, 500) if quick else (9, 5000)
    with tempfile.TemporaryDirectory() as name:
        program = Path(name, "call_cost")
        subprocess.run(["mpicc", "-O2", "-o", program, SOURCE], check=True)
        counted = {"always": (), "all on request": tuple(option for option in OPTIONS if option != "wait")}
        bare: list[float] = []
        clock: list[float] = []
        with_library: dict[str, list[float]] = {kind: [] for kind in counted}
        for number in range(rounds):
            call, read = _run(program, samples, {})
            bare.append(call)
            clock.append(read)
            for kind, options in counted.items():
                folder = Path(name, f"{kind}-{number}")
                folder.mkdir()
                with_library[kind].append(_run(program, samples, environment(folder, options, False, os.environ))[0])
    rows = [
        (
            kind,
            f"{min(bare):.1f}",
            f"{min(calls):.1f}",
            f"{min(calls) - min(bare):.1f}",
            f"{median(calls) - median(bare):.1f}",
            f"{READS * min(clock):.1f}",
        )
        for kind, calls in with_library.items()
    ]
    return Table(
        "The cost of a profile",
        f"MPI_Send to no rank, the least of {samples} means of 1000 calls, in {rounds} rounds in turns with and "
        "without the library. Wanted: at most 250 ns added, or three reads of the clock, whichever is more.",
        (
            "counted",
            "bare, ns",
            "profiled, ns",
            "added, ns",
            "added, medians of rounds",
            "three reads of the clock, ns",
        ),
        tuple(rows),
    )


def _run(program: Path, samples: int, variables: dict[str, str]) -> tuple[float, float]:
    """Nanoseconds of a call and of a read of the clock."""
    words = [program, str(samples)]
    done = subprocess.run(words, env=clean() | variables, stdout=subprocess.PIPE, text=True, check=True)
    call, read, _ = done.stdout.split()
    return float(call), float(read)
