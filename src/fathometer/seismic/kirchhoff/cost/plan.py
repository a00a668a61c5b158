"""`fathometer plan --migrate-time`: what a time migration will cost on a machine, and how it is best run there.

Headers are read, velocities of some columns of the image, of the traces none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import divisors
from fathometer.plan.formatting import bytes_in_words
from fathometer.plan.machine_file import Machine
from fathometer.plan.search import best_layout, node_counts
from fathometer.seismic.kirchhoff.cost.counts import Counts, SampledVelocities, counts_of, sampled_velocities
from fathometer.seismic.kirchhoff.cost.predict import COMMAND, predict
from fathometer.seismic.kirchhoff.cost.prediction import Prediction
from fathometer.seismic.kirchhoff.layout import TimeLayout, in_own_folder, tiles, time_layout
from fathometer.seismic.kirchhoff.setup import ADVICE, ranks_of_a_block
from fathometer.seismic.survey import Survey


@dataclass(frozen=True)
class TimePlanRequest:
    """What the command line asks for; None: the plan's choice.

    Attributes:
        ranks, nodes: of the run. within: most seconds. velocities: lowest and highest, m/s, instead of the survey's.
    """

    ranks: int | None = None
    nodes: int | None = None
    within: float | None = None
    velocities: tuple[float, float] | None = None


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
    asked: Prediction
    recommended: Prediction
    ways: tuple[Prediction, ...]

    @property
    def budget(self) -> float:
        """Bytes of a node that the run may take."""
        return budget_of(self.layout, self.machine)

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


def budget_of(layout: TimeLayout, machine: Machine) -> float:
    """Bytes of a node that a run may take."""
    return layout.survey.parallel.memory_budget * machine.memory_bytes_per_node


def plan_time_migration(survey: Survey, machine: Machine, request: TimePlanRequest) -> TimePlan:
    """Predicted cost of what was asked for, and of the layout that is recommended.

    Raises InputError for what is wrong with the survey, for a machine file without rates of the sum over traces, and
    for a request that no layout can meet.
    """
    layout = time_layout(in_own_folder(survey), headers_only=True)
    machine = machine.running(COMMAND)
    machine.sum_rate(2 if layout.grid.two_dimensional else 3, not layout.velocities.elliptic)
    velocities = sampled_velocities(layout, request.velocities)
    layouts = _Layouts(layout, counts_of(layout, velocities), machine)
    recommended = _recommended(layouts, request)
    asked = recommended
    if request.ranks is not None:
        nodes = request.nodes or (1 if request.ranks <= machine.cores_per_node else _needed(request.ranks, machine))
        asked = layouts.asked(request.ranks, nodes)
    notes = layout.notes
    if asked.node_bytes > layouts.budget:
        notes += (
            f"what is asked for takes {bytes_in_words(asked.node_bytes)} of a node, more than the "
            f"{bytes_in_words(layouts.budget)} of its budget: such a run would be refused",
        )
    ways = layouts.ways(asked)
    return TimePlan(layout, machine, layouts.counts, velocities, notes, asked, recommended, ways)


def _needed(ranks: int, machine: Machine) -> int:
    return -(-ranks // machine.cores_per_node)


class _Layouts:
    """Layouts of a time migration on a machine.

    Attributes:
        fewest_bytes: memory of all nodes that the smallest layout takes, of all that were predicted.
    """

    def __init__(self, layout: TimeLayout, counts: Counts, machine: Machine) -> None:
        self.layout, self.counts, self.machine = layout, counts, machine
        self.budget = budget_of(layout, machine)
        self.fewest_bytes = math.inf

    def on(self, nodes: int) -> list[Prediction]:
        """Those on so many nodes that fit: ranks that divide a node's cores, sharing the work as a run would choose."""
        fitting = []
        for per_node in divisors(self.machine.cores_per_node):
            try:
                one = self._chosen(per_node * nodes, nodes)
            except InputError:  # fewer places than ranks
                continue
            self.fewest_bytes = min(self.fewest_bytes, one.node_bytes * nodes)
            if one.node_bytes <= self.budget:
                fitting.append(one)
        return fitting

    def asked(self, ranks: int, nodes: int) -> Prediction:
        """The layout that was asked for, be it too large for the memory or not. InputError where it cannot be."""
        if nodes > self.machine.nodes:
            raise InputError(f"--nodes: {nodes} are needed or asked for; {self.machine.name} has {self.machine.nodes}")
        if ranks % nodes:
            raise InputError(f"--ranks {ranks}: allowed: a multiple of the {nodes} nodes")
        return self._chosen(ranks, nodes)

    def ways(self, of: Prediction) -> tuple[Prediction, ...]:
        """The same ranks at the same traces, and each with blocks of its own."""
        found = []
        for per_block, why in ((of.ranks, "all ranks"), (1, "each rank")) if of.ranks > 1 else ():
            try:
                found.append(self._of(of.ranks, per_block, of.nodes, why))
            except InputError:
                continue
        return tuple(found)

    def _chosen(self, ranks: int, nodes: int) -> Prediction:
        room = self.budget * nodes / ranks - self.machine.process_bytes
        per_block, why = ranks_of_a_block(self.layout, ranks, room)
        return self._of(ranks, per_block, nodes, why)

    def _of(self, ranks: int, per_block: int, nodes: int, why: str) -> Prediction:
        """InputError where the image, or the window of a block, has fewer places than ranks."""
        nx, ny, _ = self.layout.grid.shape
        tiles((nx, ny, 1), ranks)
        for block in self.counts.blocks:
            tiles((*block.shape, 1), per_block)
        return predict(self.layout, self.counts, self.machine, ranks, per_block, nodes, why)


def _recommended(layouts: _Layouts, request: TimePlanRequest) -> Prediction:
    """The fastest layout that fits the memory; with `within`, the fewest nodes that are fast enough."""
    machine = layouts.machine
    best, seconds = best_layout(node_counts(request.nodes, machine.nodes), layouts.on, request.within)
    last = request.nodes or machine.nodes
    nodes = f"{last} node{'s' * (last > 1)} of {machine.name}"
    if best is None and math.isinf(layouts.fewest_bytes):
        raise InputError(f"{layouts.layout.survey.path}: no layout on {nodes}: the image has fewer places than ranks")
    if best is None:
        raise InputError(
            f"{layouts.layout.survey.path}: no layout fits the memory: {layouts.fewest_bytes / 1e9:.4g} GB are needed, "
            f"{nodes} may use {last * layouts.budget / 1e9:.4g} GB; {ADVICE}"
        )
    if request.within is not None and best.seconds > request.within:
        raise InputError(
            f"--within {request.within:g} s: the fastest layout on up to {nodes} takes {seconds:.4g} s; needed: more "
            f"nodes, about {last * seconds / request.within:.3g} where the time goes down in proportion"
        )
    return best
