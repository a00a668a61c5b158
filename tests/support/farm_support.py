"""Farms of tasks for tests: input files, results, the processes of one that runs."""

from __future__ import annotations

import json
import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

from input_values import changed, text_of

from fathometer.apps.farm.extract import Results

BUILT_IN = {"kind": "built-in", "count": 60, "seconds": 0.001, "bytes": 500, "spread": "uniform"}
MODULES = {
    "worker": "fathometer.apps.farm.worker",
    "writer": "fathometer.apps.farm.writer",
    "application master": "fathometer.apps.farm.application_master",
}


def farm(folder: Path, *tasks: dict[str, Any], name: str = "farm.toml", **keys: Any) -> Path:
    """Write a farm file; keys: table__key = value, of the others."""
    path = folder / name
    path.write_text(text_of(changed({"tasks": list(tasks or [BUILT_IN])}, keys)))
    return path


def results(folder: Path) -> dict[int, bytes | None]:
    """All results that a farm has left, by task."""
    with Results(folder) as found:
        return dict(found.all(1, found.count, found.places()))


def copies(folder: Path) -> int:
    """How many results the files hold, the same twice counted twice."""
    with Results(folder) as found:
        return len(found.places())


def record(folder: Path) -> dict[str, Any]:
    """What the record of a farm tells of its results."""
    values: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return values["results"]


def processes(root: int) -> dict[str, list[int]]:
    """The processes of a farm, by what they are: `root` and its descendants, and theirs."""
    parents: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError, IndexError, ValueError):
            stat = Path("/proc", name, "stat").read_text()
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found: dict[str, list[int]] = {}
    todo = [(root, "")]
    while todo:
        number, of = todo.pop()
        with suppress(OSError):
            words = Path("/proc", str(number), "cmdline").read_bytes().decode(errors="replace").split("\0")
            kind = next((kind for kind, module in MODULES.items() if module in words), "")
            if not kind and of == "worker":
                kind = "task"
            elif not kind and "farm" in words and "mpirun" not in words[0]:
                kind = "node master"
            found.setdefault(kind, []).append(number)
            todo += [(child, kind) for child in parents.get(number, [])]
    masters = found.get("node master", [])
    if len(masters) > 1:  # the first one has started mpirun, which has started the others
        found["node master"] = [one for one in masters if one != root]
    return found


def chosen(chance: random.Random, kind: str, root: int) -> int | None:
    """One of the processes of a kind; None where there is none."""
    found = processes(root).get(kind, [])
    return chance.choice(found) if found else None


def running(words: str) -> bool:
    """Whether a process of this host has these words in its command line."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            if words in Path("/proc", name, "cmdline").read_bytes().decode(errors="replace").replace("\0", " "):
                return True
    return False
