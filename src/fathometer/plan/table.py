"""A predicted run beside the recommended one, line by line, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from fathometer.plan.formatting import bytes_in_words, seconds_in_words
from fathometer.plan.prediction import Prediction

P = TypeVar("P", bound=Prediction)


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
