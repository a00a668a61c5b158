"""What a first `make demo` takes in a bare Debian root: each step of the set-up, and what compiling consists of."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from pathlib import Path

from benchmarks.table import Table

BARE = Path(__file__).resolve().parent.parent / "tools" / "bare.sh"

# The log that ninja keeps of each compilation: begin and end in ms, …, file.
SCRIPT = "make demo{} && cat build/editable/*/.ninja_log"


def setup(threads: int, quick: bool) -> Table:
    """The lines that `make demo` prints, each with the time to the next one of its kind."""
    command = [BARE, "sh", "-c", SCRIPT.format(" ARGS=--quick" if quick else "")]
    begins: list[tuple[float, str]] = []
    compiled: Counter[str] = Counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            words = line.rstrip("\n").split("\t")
            if len(words) == 5 and words[0].isdigit():
                compiled[part(words[3])] += int(words[1]) - int(words[0])
            elif line.startswith(("· ", "bare.sh: running", "the model: ")):
                begins.append((time.monotonic(), step(line)))
        end = time.monotonic()
    if process.returncode:
        raise SystemExit("tools/bare.sh make demo failed")
    ends = [when for when, _ in begins[1:]] + [end]
    steps = [(name, f"{after - when:.0f}") for (when, name), after in zip(begins, ends, strict=True)]
    total = sum(compiled.values())
    shares = [(f"compiling: {name}", f"{100 * time / total:.0f} %") for name, time in compiled.most_common(8)]
    note = (
        f"`make {'demo ARGS=--quick' if quick else 'demo'}` in a bare root (`tools/bare.sh`), seconds from the "
        f"beginning of a step to that of the next: {end - begins[0][0]:.0f} s in all, with downloads kept from earlier "
        "runs. Packages are installed while the kernels compile. Below, what the compiler's time goes into; small "
        "parts are left out."
    )
    return Table("The first `make demo`", note, ("step", "seconds"), tuple([*steps, *shares]))


def step(line: str) -> str:
    """What a line says that begins a step."""
    if line.startswith("bare.sh"):
        return "make, and a look at the system packages"
    if line.startswith("the model"):
        return "the demo"
    return line.removeprefix("· ").partition(" (")[0].partition(": ")[0].strip()


def part(path: str) -> str:
    """What a compiled file belongs to."""
    names = path.split("/")
    if "bindings" in names[-1]:
        return "bindings of kernels to Python"
    if "native" in names:
        return f"kernels, {names[names.index('native') + 1]}" if "_native" in path else names[names.index("native") + 1]
    return {"nanobind-static.dir": "nanobind", "messages.dir": "messages"}.get(names[1], "profile of MPI programs")
