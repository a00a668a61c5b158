"""The layout that is asked for, and the one to recommend, of a run that any number of ranks a node may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, number_of
from fathometer.parallel.decomposition import divisors
from fathometer.plan.machine_file import Machine
from fathometer.plan.prediction import Prediction
from fathometer.plan.search import best_layout, node_counts
from fathometer.plan.table import comparison


@dataclass(frozen=True)
class Layouts:
    """What the two layouts cost. notes: lines on what was asked for."""

    asked: Prediction
    recommended: Prediction
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Entries of a plan's record."""
        return {
            "asked": self.asked.as_dict(),
            "recommended": self.recommended.as_dict(),
            "notes": list(self.notes),
        }

    def table(self, machine: Machine) -> list[str]:
        """Both for people, line by line, and the notes."""
        return [
            *comparison(
                self.asked,
                self.recommended,
                lambda p: f"{p.ranks} ranks on {number_of(p.nodes, 'node')}",
                {},
                machine.memory_bytes_per_node,
            ),
            *(f"note: {note}" for note in self.notes),
        ]


def layouts_of(
    path: Path, machine: Machine, options: Mapping[str, Any], predict: Callable[[int, int], Prediction]
) -> Layouts:
    """The layout with the ranks and nodes of the options, and the best one.

    Args:
        path: of the input file, for messages. predict: the cost on so many ranks and nodes; InputError where the grid
            does not allow so many ranks.

    Raises InputError where the run fits on no number of nodes, or what is asked for is not possible.
    """

    def on(nodes: int) -> list[Prediction]:
        found = []
        for per_node in divisors(machine.cores_per_node):
            try:
                one = predict(per_node * nodes, nodes)
            except InputError:  # more ranks than the grid allows
                continue
            if one.node_bytes <= machine.memory_bytes_per_node:
                found.append(one)
        return found

    recommended, _ = best_layout(node_counts(options["nodes"], machine.nodes), on)
    if recommended is None:
        raise InputError(f"{path}: fits on no number of nodes of {machine.name}; allowed: fewer cells, more nodes")
    asked = recommended
    if options["ranks"] is not None:
        nodes = options["nodes"] or -(-options["ranks"] // machine.cores_per_node)
        if options["ranks"] % nodes:
            raise InputError(f"--ranks {options['ranks']}: found {nodes} nodes; allowed: a multiple of them")
        asked = predict(options["ranks"], nodes)
    notes = []
    if asked.node_bytes > machine.memory_bytes_per_node:
        notes.append(f"what is asked for takes {bytes_in_words(asked.node_bytes)} of a node, which has less")
    return Layouts(asked, recommended, tuple(notes))
