"""What a study will take, before it runs: from what it has measured already, or from its program's own prediction."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from fathometer.base.errors import InputError, shortened
from fathometer.lab.recipes.json_path import values_at
from fathometer.lab.studies.store import STUDY, read_case
from fathometer.lab.studies.study import ReadyStudy
from fathometer.storage.json_text import json_values

LONGEST_SECONDS = 120.0  # of a prediction


@dataclass(frozen=True)
class Forecast:
    """Seconds of a run of each case, by its name; and where they come from: "runs", "prediction" or "" for none."""

    seconds: Mapping[str, float]
    source: str = ""

    def of_rounds(self, study: ReadyStudy, rounds: int) -> float | None:
        """Seconds of warm-up, so many rounds and the winners' runs; None where a case's are not known."""
        if not study.cases or len(self.seconds) < len(study.cases):
            return None
        a_round = sum(self.seconds.values())
        return a_round * (rounds + study.limits.warm_up) + study.limits.winners * min(
            rounds, study.limits.least
        ) * a_round / len(study.cases)


def forecast(study: ReadyStudy, predict: bool) -> Forecast:
    """What is known: medians of runs where the study has been begun, else with `predict` the program's predictions.

    Raises InputError where these are asked for and the recipe has none, or where one fails.
    """
    measured = {}
    if (study.file.folder / STUDY).exists():
        for case in study.cases:
            seconds = [run.seconds for run in read_case(study.file.folder, case) if not run.failed]
            if seconds:
                measured[case.name] = median(seconds)
    if measured:
        return Forecast(measured, "runs")
    return Forecast(_predictions(study), "prediction") if predict else Forecast({})


def _predictions(study: ReadyStudy) -> dict[str, float]:
    known: dict[tuple[str, ...], float] = {}  # cases may differ in what the prediction does not see
    found = {}
    for case in study.cases:
        words, path = study.runs.prediction(case)
        if tuple(words) not in known:
            known[tuple(words)] = _seconds(words, path)
        found[case.name] = known[tuple(words)]
    return found


def _seconds(words: list[str], path: str) -> float:
    shown = shortened(" ".join(words), 100)
    try:
        done = subprocess.run(
            words, capture_output=True, timeout=LONGEST_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{shown}: took longer than {LONGEST_SECONDS:g} s; allowed: a study without --predict"
        ) from None
    if done.returncode:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise InputError(f"{shown}: {last}")
    try:
        [value] = values_at(path, json_values(done.stdout))
    except ValueError as error:
        raise InputError(f"{shown}: no prediction at {path}: {error}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{shown}: found {value!r} at {path}; allowed: seconds")
    return float(value)
