"""A predicted run beside the recommended one, line by line, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from fathometer.base.formatting import bytes_in_words, seconds_in_words
from fathometer.base.text_tables import TextColumn, aligned
from fathometer.plan.prediction import Prediction

COLUMNS = (TextColumn(least=24, gap=0), TextColumn(right=True, least=24), TextColumn(right=True, least=40))
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
    there = {phase.name: phase for phase in recommended.phases}
    table = [["", layout(asked), f"recommended: {layout(recommended)}"]]
    for phase in asked.phases:
        beside = seconds_in_words(there[phase.name].seconds) if phase.name in there else "-"
        table.append([phase.name, f"{seconds_in_words(phase.seconds)} {amount(phase.bytes):>11}", beside])
    table.append([])
    rows: dict[str, Callable[[P], str]] = {
        "total": lambda p: seconds_in_words(p.seconds),
        "kernel": lambda p: seconds_in_words(p.kernel_seconds),
        "memory a rank": lambda p: bytes_in_words(p.rank_bytes),
        "memory a node": lambda p: bytes_in_words(p.node_bytes),
        **further,
    }
    table += [[name, figure(asked), figure(recommended)] for name, figure in rows.items()]
    table.append(["memory budget a node", bytes_in_words(budget)])
    return aligned(COLUMNS, table if other else [row[:2] for row in table])


def amount(size: float) -> str:
    """Bytes; nothing where there are none."""
    return bytes_in_words(size) if size else ""
