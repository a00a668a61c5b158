"""What there is to go on from, of a run with restart files (restart_folder.py).

Imports next to nothing: the process that starts mpirun asks it, too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from fathometer.base.removal import Mark

FOLDER, FILE, BEFORE = "restart", "restart.json", "restart-before.json"
DIRECTORY = "out"  # of the results, where an input file names no other
BEGINS = b'{"restart": '  # what `sealed` writes first of a state, in any version (seal.py)
END_SECONDS = 60.0  # from a signal to the end of a run, at most: for a step, and the state after it
DEMO = "demo.toml"  # input file of a built-in case, in its folder


def has_state(output: Path) -> bool:
    """Whether a run has left a state in its folder of results: a file that begins as ours do, whatever follows."""
    return any(Mark(name, BEGINS).on(output / FOLDER) for name in (FILE, BEFORE))


def resume_hint(path: Path, settings: Sequence[str]) -> str:
    """What to tell people when the run of an input file, right or wrong, was interrupted. settings: of --set."""
    from fathometer.base.errors import FathometerError
    from fathometer.base.regular_file import read_regular
    from fathometer.config.settings import with_settings

    try:
        values = with_settings(tomllib.loads(read_regular(path).decode("utf-8")), settings)
        there = has_state(path.parent / values.get("output", {}).get("directory", DIRECTORY))
    except (OSError, ValueError, RecursionError, AttributeError, TypeError, FathometerError):
        there = False
    return (
        f"--resume {'goes on from the newest restart file' if there else 'begins anew: there is no restart file yet'}"
    )
