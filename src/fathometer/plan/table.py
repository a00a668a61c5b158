"""A predicted run beside the recommended one, line by line, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from fathometer.plan.formatting import bytes_in_words, seconds_in_words
from fathometer.plan.phase import Phase


class Predicted(Protocol):
    """The predicted cost of a run."""

    @property
    def phases(self) -> Sequence[Phase]: ...
    @property
    def seconds(self) -> float:
        """Of the whole run."""

    @property
    def kernel_seconds(self) -> float:
        """Of what the run is there for."""

    @property
    def rank_bytes(self) -> int:
        """Memory of the largest rank."""

    @property
    def node_bytes(self) -> int:
        """Memory of a node whose ranks all need as much as the largest."""


P = TypeVar("P", bound=Predicted)


def comparison(
    asked: P,
    recommended: P,
    layout: Callable[[P], str],
    further: Mapping[str, Callable[[P], str]],
    budget: float,
) -> list[str]:
    """Phases and totals of what was asked for and, where that is another one, of what is recommended.

    layout: in words. further: rows after those of seconds and memory, by their names. budget: bytes of a node.
    """
    other = asked != recommended
    text = [f"{'':24} {layout(asked):>24}" + f" {'recommended: ' + layout(recommended):>40}" * other]
    there = {phase.name: phase for phase in recommended.phases}
    for phase in asked.phases:
        line = f"{phase.name:<24} {seconds_in_words(phase.seconds):>12} {bytes_in_words(phase.bytes):>11}"
        if other:
            line += f" {seconds_in_words(there[phase.name].seconds) if phase.name in there else '-':>40}"
        text.append(line.rstrip())
    rows: dict[str, Callable[[P], str]] = {
        "total": lambda p: seconds_in_words(p.seconds),
        "kernel": lambda p: seconds_in_words(p.kernel_seconds),
        "memory a rank": lambda p: bytes_in_words(p.rank_bytes),
        "memory a node": lambda p: bytes_in_words(p.node_bytes),
        **further,
    }
    text.append("")
    for name, figure in rows.items():
        text.append(f"{name:<24} {figure(asked):>24}" + f" {figure(recommended):>40}" * other)
    return [*text, f"{'memory budget a node':<24} {bytes_in_words(budget):>24}"]
