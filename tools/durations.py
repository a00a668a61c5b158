"""Runs the commands of README.md that have a duration beside them, in their order, and prints how long each takes here.

.venv/bin/python tools/durations.py [--write] [WORDS…]     in the checkout's folder

Of commands that hold one of the WORDS alone; --write: puts what was measured into README.md. On a machine that does
nothing else: MPI's ranks wait for each other with full load, and with other work beside them take many times as long.

A duration stands in a command's comment: "# 3 s", or "# the ocean, 2 min". Commands run in a new folder that holds the
files of docs/guide/first-survey.md, and with an empty cache, so that nothing is known of this machine; what has to be
done between them, such as a step of that page, is not counted. A command that fails ends it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
README, FIRST = ROOT / "README.md", ROOT / "docs" / "guide" / "first-survey.md"
SAID = re.compile(r"(?P<command>.*\S)\s+# (?:.*, )?(?P<said>\d+) (?P<unit>s|min)$")
SHORT = 100  # s, from which on durations are told in minutes
PREFIX = re.compile(r"^(\.v)?env/bin/")  # of the program, which is on the path here


@dataclass(frozen=True)
class Timed:
    """A command with the seconds that README.md says it takes."""

    command: str
    said: float


def commands(text: str) -> Iterator[Timed]:
    """The commands of a page that have a duration."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if found := SAID.fullmatch(line):
                yield Timed(
                    PREFIX.sub("", found["command"]), float(found["said"]) * (60 if found["unit"] == "min" else 1)
                )


def with_duration(text: str, command: str, seconds: float) -> str:
    """A page with another duration beside a command."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        found = SAID.fullmatch(line)
        if found and PREFIX.sub("", found["command"]) == command:
            lines[number] = f"{line[: found.start('said')]}{in_words(seconds)}"
    return "\n".join(lines)


def in_words(seconds: float) -> str:
    """A duration as README.md has it."""
    return f"{max(1, round(seconds))} s" if seconds < SHORT else f"{round(seconds / 60)} min"


def first_survey(folder: Path) -> dict[str, tuple[str, str]]:
    """Write the files of the first survey; by words of commands what has to be run before, and a file that it makes."""
    page = FIRST.read_text(encoding="utf-8")
    [model] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (folder / "model.py").write_text(model)
    for name in ("shots.toml", "image.toml"):
        text = re.search(rf"`{name}`.*?^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        assert text is not None, name
        (folder / name).write_text(text[1])
    [smooth] = re.findall(r"^fathometer prepare .*$", page, re.MULTILINE)
    return {
        "new survey": ("python model.py", "vp.npy"),
        "model shots.toml": ("python model.py", "vp.npy"),
        "migrate image.toml": (smooth, "smooth.rsf"),
        "plan image.toml": ("fathometer calibrate --for migrate && touch calibrated", "calibrated"),
    }


def run(command: str, folder: Path) -> float:
    """Run a command in a folder; how long it took, s. Raises SystemExit where it fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    begin = time.perf_counter()
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "XDG_CACHE_HOME": str(folder / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    took = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return took


def main() -> None:
    """Print a line a command."""
    write, words = "--write" in sys.argv[1:], [word for word in sys.argv[1:] if word != "--write"]
    chosen = [
        one for one in commands(README.read_text(encoding="utf-8")) if not words or any(w in one.command for w in words)
    ]
    if not chosen:
        sys.exit(f"README.md: found no command with a duration that holds one of {', '.join(words)}")
    print(f"{os.cpu_count()} cpus, load {os.getloadavg()[0]:.1f} at the beginning")
    print(f"{'README':>8} {'here':>8}   s")
    with TemporaryDirectory() as name:
        before = first_survey(Path(name))
        for one in chosen:
            for word, (command, made) in before.items():
                if word in one.command and not (Path(name) / made).exists():
                    run(command, Path(name))
            took = run(one.command, Path(name))
            print(f"{one.said:8g} {took:8.1f}   {one.command}", flush=True)
            if write:
                README.write_text(
                    with_duration(README.read_text(encoding="utf-8"), one.command, took), encoding="utf-8"
                )


if __name__ == "__main__":
    main()
