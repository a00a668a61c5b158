"""`fathometer plan --migrate-time`: what a time migration will cost on a machine, and how it is best run there.

Headers are read, velocities of some columns of the image, of the traces none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words
from fathometer.parallel.decomposition import divisors
from fathometer.plan.machine_file import Machine
from fathometer.seismic.kirchhoff.cost.counts import Counts, SampledVelocities, counts_of, sampled_velocities
from fathometer.seismic.kirchhoff.cost.predict import COMMAND, predict
from fathometer.seismic.kirchhoff.cost.prediction import TimePrediction
from fathometer.seismic.kirchhoff.setup import ADVICE, ranks_of_a_block
from fathometer.seismic.kirchhoff.time_layout import TimeLayout, in_own_folder, tiles, time_layout
from fathometer.seismic.plan import PlanRequest, budget_of, fastest_layout, nodes_of, over_budget
from fathometer.seismic.survey import Survey


@dataclass(frozen=True)
class TimePlan:
    """A prediction for what was asked for, and for what is recommended; the same where nothing was asked for.

    Attributes:
        ways: the asked layout with all ranks at the same traces, and with blocks of their own: those that are possible.
    """

    layout: TimeLayout
    machine: Machine
    counts: Counts
    velocities: SampledVelocities
    notes: tuple[str, ...]
    asked: TimePrediction
    recommended: TimePrediction
    ways: tuple[TimePrediction, ...]

    @property
    def budget(self) -> float:
        """Bytes of a node that the run may take."""
        return budget_of(self.layout.survey, self.machine)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, SI units."""
        layout, grid = self.layout, self.layout.grid
        return {
            "schema_version": 1,
            "application": "plan",
            "survey": str(layout.survey.path),
            "command": "migrate-time",
            "machine": self.machine.name,
            "shape": grid.shape,
            "interval_seconds": grid.spacing[2],
            "velocities": self.velocities.origin,
            "shots": len(layout.acquisition.shots),
            "traces": layout.traces,
            "blocks": len(layout.blocks),
            "samples_computed": self.counts.samples,
            "nodes_computed": self.counts.nodes,
            "memory_budget_bytes_per_node": self.budget,
            "asked": self.asked.as_dict(),
            "recommended": self.recommended.as_dict(),
            "ways": {way.way: way.as_dict() for way in self.ways},
            "notes": self.notes,
        }


def plan_time_migration(survey: Survey, machine: Machine, request: PlanRequest) -> TimePlan:
    """Predicted cost of what was asked for, and of the layout that is recommended.

    Raises InputError for what is wrong with the survey, for a machine file without rates of the sum over traces, and
    for a request that no layout can meet.
    """
    layout = time_layout(in_own_folder(survey), headers_only=True)
    machine = machine.running(COMMAND)
    machine.sum_rate(2 if layout.grid.two_dimensional else 3, not layout.velocities.elliptic)
    velocities = sampled_velocities(layout, request.velocities)
    layouts = _Layouts(layout, counts_of(layout, velocities), machine)
    recommended = fastest_layout(layouts.on, request, machine, layouts.why_none_fits)
    asked = recommended
    if request.ranks is not None:
        asked = layouts.chosen(request.ranks, nodes_of(request.ranks, request, machine))
    notes = layout.notes + over_budget(asked, layouts.budget)
    ways = layouts.ways(asked)
    return TimePlan(
        layout=layout,
        machine=machine,
        counts=layouts.counts,
        velocities=velocities,
        notes=notes,
        asked=asked,
        recommended=recommended,
        ways=ways,
    )


class _Layouts:
    """Layouts of a time migration on a machine.

    Attributes:
        fewest_bytes: memory of all nodes that the smallest layout takes, of all that were predicted.
    """

    def __init__(self, layout: TimeLayout, counts: Counts, machine: Machine) -> None:
        self.layout, self.counts, self.machine = layout, counts, machine
        self.budget = budget_of(layout.survey, machine)
        self.fewest_bytes = math.inf

    def on(self, nodes: int) -> list[TimePrediction]:
        """Those on so many nodes that fit: ranks that divide a node's cores, sharing the work as a run would choose."""
        fitting = []
        for per_node in divisors(self.machine.cores_per_node):
            try:
                one = self.chosen(per_node * nodes, nodes)
            except InputError:  # fewer places than ranks
                continue
            self.fewest_bytes = min(self.fewest_bytes, one.node_bytes * nodes)
            if one.node_bytes <= self.budget:
                fitting.append(one)
        return fitting

    def ways(self, of: TimePrediction) -> tuple[TimePrediction, ...]:
        """The same ranks at the same traces, and each with blocks of its own."""
        found = []
        for per_block, why in ((of.ranks, "all ranks"), (1, "each rank")) if of.ranks > 1 else ():
            try:
                found.append(self._of(of.ranks, per_block, of.nodes, why))
            except InputError:
                continue
        return tuple(found)

    def chosen(self, ranks: int, nodes: int) -> TimePrediction:
        """The layout of a run, be it too large for the memory or not. InputError where it cannot be."""
        room = self.budget * nodes / ranks - self.machine.process_bytes
        per_block, why = ranks_of_a_block(self.layout, ranks, room)
        return self._of(ranks, per_block, nodes, why)

    def _of(self, ranks: int, per_block: int, nodes: int, why: str) -> TimePrediction:
        """InputError where the image, or the window of a block, has fewer places than ranks."""
        nx, ny, _ = self.layout.grid.shape
        tiles((nx, ny, 1), ranks)
        for block in self.counts.blocks:
            tiles((*block.shape, 1), per_block)
        return predict(self.layout, self.counts, self.machine, ranks, per_block, nodes, why)

    def why_none_fits(self, last: int, nodes: str) -> str:
        """last: the most nodes that were tried; nodes: the same in words."""
        path = self.layout.survey.path
        if math.isinf(self.fewest_bytes):
            return f"{path}: no layout on {nodes}: the image has fewer places than ranks"
        return (
            f"{path}: no layout fits the memory: {bytes_in_words(self.fewest_bytes, 4)} are needed, "
            f"{nodes} may use {bytes_in_words(last * self.budget, 4)}; {ADVICE}"
        )
