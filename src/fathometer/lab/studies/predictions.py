"""Predictions of a program: what its own command says, and those that a study keeps in its folder."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, shortened
from fathometer.lab.recipes.json_path import values_at
from fathometer.lab.studies.store import PREDICTED
from fathometer.storage import atomic
from fathometer.storage.json_text import as_written, json_object, json_values

LONGEST_SECONDS = 120.0  # of a prediction


@dataclass(frozen=True)
class Predicted:
    """Of one number of nodes or ranks: seconds in all and, where they are told, of the kernel."""

    value: int
    total: float
    kernel: float | None = None


@dataclass(frozen=True)
class Predictions:
    """What was predicted. problem: why nothing was; machine: the file that the prediction is for."""

    factor: str
    machine: str
    found: Sequence[Predicted] = ()
    problem: str = ""


def read_predictions(folder: Path) -> Predictions | None:
    """What was kept; None where nothing was. Raises InputError where the file is damaged."""
    path = folder / PREDICTED
    if not path.exists():
        return None
    try:
        kept: Predictions = as_written(Predictions, json_object(path))
    except ValueError as error:
        raise InputError(f"{path}: damaged: {error}; allowed: what the study has written") from None
    return kept


def seconds_of(words: Sequence[str], path: str) -> tuple[float, Any]:
    """Run a command that predicts; the seconds at a path of its JSON, and all of that.

    Raises InputError where it fails or says no number there.
    """
    shown = shortened(" ".join(words), 100)
    try:
        done = subprocess.run(
            words, capture_output=True, timeout=LONGEST_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{shown}: took longer than {LONGEST_SECONDS:g} s; allowed: a study without it") from None
    if done.returncode:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise InputError(f"{shown}: {last}")
    try:
        answer = json_values(done.stdout)
        [value] = values_at(path, answer)
    except ValueError as error:
        raise InputError(f"{shown}: no prediction at {path}: {error}") from None
    if not is_number(value):
        raise InputError(f"{shown}: found {value!r} at {path}; allowed: seconds")
    return float(value), answer


def write_predictions(folder: Path, kept: Predictions) -> None:
    """Keep predictions in a study's folder. Raises FathometerError where that fails."""
    atomic.write(folder / PREDICTED, json.dumps(asdict(kept), indent=1).encode())


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
