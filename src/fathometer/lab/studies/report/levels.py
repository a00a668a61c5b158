"""At which level a study's intervals are made, so that they hold at 95 % under its rule of when to end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer.lab.statistics.stopping import StoppingRule
from fathometer.lab.studies.results import Results


def level_of(results: Results) -> float:
    """The level of intervals and differences: see `StoppingRule.level`."""
    repetitions = _runs(results).get("repetitions")
    if isinstance(repetitions, Mapping):
        return StoppingRule(int(repetitions["least"]), int(repetitions["most"])).level
    rounds = int(repetitions) if isinstance(repetitions, int) and repetitions > 0 else 1
    return StoppingRule(rounds, rounds).level


def seed_of(results: Results) -> int:
    """Of what is drawn for the report."""
    seed = _runs(results).get("seed")
    return seed if isinstance(seed, int) else 1


def _runs(results: Results) -> Mapping[str, Any]:
    runs = results.definition.get("runs")
    return runs if isinstance(runs, Mapping) else {}
