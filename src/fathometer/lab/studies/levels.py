"""How a study's intervals are made: at a level that holds at 95 % under its rule of when to end, for its sessions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fathometer.lab.statistics.dependence import FEWEST_DEPENDENT, FEWEST_SESSIONS, telling
from fathometer.lab.statistics.differences import Difference, differences, rounds_needed
from fathometer.lab.statistics.interval import Estimate, interval
from fathometer.lab.statistics.ratios import ByRound, ratio_interval, ratios_by_round
from fathometer.lab.statistics.stopping import StoppingRule
from fathometer.lab.studies.results import Results

K = TypeVar("K", bound=Hashable)

FEWEST_ROUNDS = rounds_needed(1)  # of an interval of 95 %


@dataclass(frozen=True)
class Intervals:
    """What makes the intervals of a study.

    Attributes:
        level: see `StoppingRule.level`. sessions: in which each round was made, of FEWEST_SESSIONS or more.
    """

    level: float
    sessions: Mapping[int, int] = field(default_factory=dict)

    def of(self, values: ByRound) -> Estimate:
        """The median of values by round, and its interval. Raises InputError for none."""
        return interval(list(values.values()), self.level, sessions=self._sessions(values))

    def ratio(self, numerator: ByRound, denominator: ByRound) -> Estimate | None:
        """The median of the ratios within rounds and its interval; None where there is no ratio."""
        ratios = ratios_by_round(numerator, denominator)
        return self.of_ratios(ratios) if ratios else None

    def of_ratios(self, ratios: ByRound) -> Estimate:
        """The same of ratios by round."""
        return ratio_interval(list(ratios.values()), self.level, sessions=self._sessions(ratios))

    def differences(self, ratios: Mapping[K, ByRound], level: float | None = None) -> dict[K, Difference]:
        """Which ratios differ from 1, corrected for how many there are; level: in place of its own."""
        values = {name: list(each.values()) for name, each in ratios.items()}
        sessions = {name: self._sessions(each) for name, each in ratios.items()}
        return differences(values, self.level if level is None else level, sessions)

    def _sessions(self, values: ByRound) -> list[int]:
        return [self.sessions.get(number, 1) for number in values] if self.sessions else []


def intervals_of(results: Results) -> Intervals:
    """Of a study as far as it is."""
    sessions = results.sessions()
    return Intervals(level_of(results), sessions if telling([*sessions.values()]) else {})


def assumption(results: Results) -> str:
    """What the intervals of a study are and what they take for granted, in a sentence for below its tables."""
    sessions, rounds = len(set(results.sessions().values())), results.rounds()
    if rounds < FEWEST_ROUNDS:
        return f"Medians. Fewer than {FEWEST_ROUNDS} rounds have no interval of 95 %."
    text = "Medians with their 95 % intervals, which"
    if sessions >= FEWEST_SESSIONS:
        return f"{text} allow for how far the {sessions} sessions differ."
    alone = "All are of one session: another one may differ by more."
    if sessions > 1:
        alone = f"They are of {sessions} sessions, too few to tell how far sessions differ."
    if rounds >= FEWEST_DEPENDENT:
        return f"{text} allow for rounds that depend on those before. {alone}"
    return f"{text} take rounds as independent of each other ({FEWEST_DEPENDENT} rounds would not). {alone}"


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
