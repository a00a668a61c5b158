"""What a study will take, before it runs: from what it has measured already, or from its program's own prediction; and
what the program predicts of more nodes or ranks than are measured."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fathometer.base.errors import FathometerError
from fathometer.base.removal import remove_file
from fathometer.lab.recipes.json_path import values_at
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.predictions import Predicted, Predictions, is_number, seconds_of, write_predictions
from fathometer.lab.studies.store import PREDICTED, STUDY, read_case
from fathometer.lab.studies.study import ReadyStudy
from fathometer.storage.json_text import json_object

TOTAL, KERNEL = "total_seconds", "kernel_seconds"  # in the JSON of predictions


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
            known[tuple(words)], _ = seconds_of(words, path)
        found[case.name] = known[tuple(words)]
    return found


def predict(study: ReadyStudy) -> None:
    """Ask for the predictions of [predict], and keep them in the study's folder; why there are none is kept too.

    Nothing where none are asked for. Raises FathometerError where they cannot be written.
    """
    asked = study.file.predict
    if asked is None or not study.cases:
        remove_file(study.file.folder / PREDICTED)
        return
    machine = study.file.directory / asked.machine
    measured = [value for value in study.file.factors.get(asked.factor, ()) if type(value) is int]
    values = {*measured, *asked.values}
    found: list[Predicted] = []
    problem = ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            more = _of_more_nodes(machine, max(values), Path(folder)) if asked.factor == "nodes" else machine
            for value in sorted(values):
                found.append(_at(study, study.cases[0], asked.factor, value, more))
        except FathometerError as error:
            problem = str(error)
    kept = Predictions(asked.factor, str(machine), found, problem)
    write_predictions(study.file.folder, kept)


def _of_more_nodes(machine: Path, nodes: int, folder: Path) -> Path:
    """A machine file of so many nodes that are as those of the file; the file itself where it has them. Raises
    InputError where it cannot be read."""
    values = json_object(machine)
    if isinstance(known := values.get("nodes", 1), int) and known >= nodes:
        return machine
    more = folder / machine.name
    more.write_text(json.dumps({**values, "nodes": nodes}), encoding="utf-8")
    return more


def _at(study: ReadyStudy, case: Case, factor: str, value: int, machine: Path) -> Predicted:
    """For so many nodes, with as many ranks on each as the case has, or for so many ranks."""
    more = ["--on", str(machine), *(["--nodes", str(value)] if factor == "nodes" else [])]
    words, path = study.runs.prediction(case, factor, value)
    total, answer = seconds_of([*words, *more], path)
    kernels = values_at(path.replace(TOTAL, KERNEL), answer) if path.endswith(TOTAL) else []
    kernel = float(kernels[0]) if len(kernels) == 1 and is_number(kernels[0]) else None
    return Predicted(value, total, kernel)
