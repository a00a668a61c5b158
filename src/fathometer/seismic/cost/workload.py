"""Counts of a run on one layout, and the machine's rates for them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from fathometer.grid.tiling import DEEP, stage_reach
from fathometer.parallel.decomposition import Cuts, Decomposition, Index3
from fathometer.plan.machine_file import GraphicsCard, Machine
from fathometer.seismic.cost.traces import trace_counts
from fathometer.seismic.setup.rank_groups import mean_share
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.checked_steps import steps_at_a_time
from fathometer.seismic.waves.physics import PHYSICS

FLOAT32 = 4  # bytes: rates are those of float32; others move as many more bytes

# Phases of modelling that write its traces: of each shot when it is done, of all at the end.
TRACE_WRITES = ("write finished shot", "write traces")


@dataclass(frozen=True, eq=False)
class Workload:
    """What each rank of a run computes and moves. All counts are those of the rank with the largest block.

    Attributes:
        survey: the layout on the whole model. ranks: of a shot, along x, y, z. groups: of so many ranks. nodes: with
            equally many ranks. machine: its graphics cards take the time steps, where there are some. cuts: as of
            Decomposition.
    """

    survey: SurveyLayout
    time: TimeAxis
    ranks: Index3
    groups: int
    nodes: int
    machine: Machine
    cuts: Cuts | None

    @cached_property
    def separate_grids(self) -> bool:
        """Whether each shot is migrated on a grid of its own, by one group of ranks."""
        return self.survey.imaging and (self.groups > 1 or self.survey.survey.imaging.aperture is not None)

    @cached_property
    def layout(self) -> SurveyLayout:
        """On the grid of the largest shot."""
        return self.survey.largest if self.separate_grids else self.survey

    @property
    def itemsize(self) -> int:
        """Bytes of a number of the wavefield."""
        return self.layout.dtype.itemsize

    @cached_property
    def size(self) -> int:
        """Ranks of all groups."""
        return math.prod(self.ranks) * self.groups

    @cached_property
    def ranks_per_node(self) -> int:
        return max(1, self.size // self.nodes)

    @property
    def card(self) -> GraphicsCard | None:
        """What takes a rank's time steps; None: the processors."""
        return self.machine.card

    @cached_property
    def ranks_per_card(self) -> int:
        """That share one."""
        return 1 if self.card is None else -(-self.ranks_per_node // self.card.per_node)

    @cached_property
    def threads(self) -> int:
        """Of a rank."""
        return max(1, self.machine.cores_per_node // self.ranks_per_node)

    @cached_property
    def shots(self) -> int:
        """Of the survey."""
        return len(self.survey.acquisition.shots)

    @cached_property
    def mean_share(self) -> float:
        """Cells of a shot over those of the largest, in the mean."""
        return mean_share(self.survey, self.layout) if self.separate_grids else 1.0

    @cached_property
    def shots_per_group(self) -> float:
        """In units of the largest shot."""
        return -(-self.shots // self.groups) * self.mean_share

    @cached_property
    def traces(self) -> tuple[int, int]:
        """Of all shots, and of the rank that has most."""
        of_all, of_rank = trace_counts(self.layout, self.ranks)
        if not self.separate_grids:
            return of_all, of_rank
        return sum(len(shot.receivers) for shot in self.survey.acquisition.shots), round(of_rank * self.shots_per_group)

    @cached_property
    def cells(self) -> int:
        """Of the model, or of the largest shot's window of it."""
        return math.prod(self.layout.grid.shape)

    @cached_property
    def blocks(self) -> list[Decomposition]:
        """The blocks of which one is the largest in each respect."""
        return list(_blocks(self.layout, self.ranks, self.cuts))

    @cached_property
    def image_cells(self) -> int:
        """Cells of the model in the block that has most of them."""
        grid = self.layout.grid
        return max(math.prod(hi - lo for lo, hi in zip(*grid.model_box(block), strict=True)) for block in self.blocks)

    @cached_property
    def points(self) -> int:
        """Cells of the largest block, padding included."""
        return max(math.prod(block.local_shape) for block in self.blocks)

    @property
    def equation(self) -> str:
        """Its name in the machine file."""
        return self.layout.physics.name

    @property
    def flops(self) -> Mapping[str, Callable[[int, bool], int]]:
        """Of a cell's step, from the order and whether the grid has two dimensions, of all equations of the kind."""
        return {name: physics.flops_per_point for name, physics in PHYSICS.items()}

    @cached_property
    def points_per_second(self) -> float:
        """Cells that a rank steps in a second."""
        layout, machine, per_node = self.layout, self.machine, self.ranks_per_node
        dimensions, order = len(layout.grid.axes), 2 * layout.radius
        if self.card is not None:
            rate = self.card.points_per_second(self.equation, dimensions, order, self.points, self.flops)
            return FLOAT32 / self.itemsize * rate / self.ranks_per_card
        busy = min(1.0, per_node * self.threads / machine.cores_per_node)
        node_rate = machine.points_per_second(self.equation, dimensions, order, self.points * per_node, self.flops)
        return busy * FLOAT32 / self.itemsize * node_rate / per_node

    @cached_property
    def calls(self) -> float:
        """Of the propagator, in one loop over all shots of a group."""
        every = self.time.every if self.layout.imaging else 1
        at_a_time = steps_at_a_time(self.layout.grid, math.prod(self.ranks), self.time.steps, every)
        return self.shots_per_group * math.ceil(self.time.steps / at_a_time)

    @cached_property
    def steps(self) -> float:
        """Time steps in one loop over all shots of a group."""
        return self.shots_per_group * self.time.steps

    @cached_property
    def stepping_seconds(self) -> float:
        """Of the time steps in one loop over all shots of a group."""
        of_a_call = (self.card or self.machine).step_seconds
        return self.steps * self.points / self.points_per_second + self.calls * of_a_call

    @cached_property
    def receiver_loops(self) -> int:
        """Receiver propagations of a shot: one for each bin of offset."""
        return len(volumes_of(self.layout.survey.imaging)) - 1

    @cached_property
    def snapshots(self) -> int:
        """Of all groups; 0 in modelling."""
        return self.time.snapshots * self.shots if self.layout.imaging else 0

    @cached_property
    def group_snapshots(self) -> float:
        """Of all shots of a group; 0 in modelling."""
        return self.time.snapshots * self.shots_per_group if self.layout.imaging else 0

    @cached_property
    def snapshot_bytes(self) -> int:
        """Of all plain snapshots of all groups."""
        return self.snapshots * self.cells * self.itemsize

    @cached_property
    def halo_bytes_per_step(self) -> int:
        """Sent by all ranks of a group; across the diamonds of a slab a level more in each of their rows."""
        shape, ranks, halo = self.layout.grid.full_shape, self.ranks, self.layout.halo(self.ranks)
        faces = (self._fields(axis) * (ranks[axis] - 1) * (math.prod(shape) // shape[axis]) for axis in range(3))
        bytes = 2 * sum(faces) * halo * self.itemsize
        return bytes + bytes // (2 * DEEP) if self.in_slabs else bytes

    @cached_property
    def in_slabs(self) -> bool:
        """Whether ranks share the grid along y alone, with rows enough for diamonds across the cuts; never on cards."""
        x, y, z = self.ranks
        slab = self.layout.slab
        return self.card is None and x == z == 1 and slab is not None and self.layout.grid.full_shape[1] // y >= slab

    @cached_property
    def exchange_seconds(self) -> float:
        """That exchanges, and what else cuts cost, add to a step of the rank with the most neighbours."""
        between_nodes = math.prod(self.ranks) > self.ranks_per_node and self.nodes > 1
        if self.card is not None:  # faces leave a card and come to another beside the computation
            share = 1.0 / self.ranks_per_node if between_nodes else 1.0
            travelling = self._travelling_seconds("network" if between_nodes else "local", share)
            number_bytes = self.layout.halo(self.ranks) * self.itemsize
            faces = sum(cells * fields for cells, fields, _ in self._faces) * number_bytes
            travelling += self.copied_seconds(faces, into_card=False) + self.copied_seconds(faces, into_card=True)
            return max(0.0, travelling - self.points / self.points_per_second)
        seconds = 0.0
        work = self.machine.cut_work(self.equation, self.in_slabs)
        if work is not None:
            seconds = work * sum(cells for cells, _, _ in self._faces) / self.points_per_second
        elif not between_nodes:
            seconds = self._travelling_seconds("local", 1.0)
        if between_nodes:  # beside the computation
            travelling = self._travelling_seconds("network", 1.0 / self.ranks_per_node)
            seconds += max(0.0, travelling - self.points / self.points_per_second)
        return seconds

    def _fields(self, axis: int) -> int:
        """That travel across cuts of an axis in a step: those that are differentiated along it; where receivers between
        cells take what they record of rows that are cut along z, all fields."""
        physics = self.layout.physics
        if axis == 2 and self.layout.off_grid:
            return physics.fields
        return sum(axis in axes for axes in physics.exchanged)

    @property
    def _faces(self) -> list[tuple[int, int, int]]:
        """Of each face that a rank shares with a neighbour, of the rank with the most: cells, fields, and messages each
        way in a step."""
        layout = self.layout
        shape = max((block.local_shape for block in self.blocks), key=math.prod)
        stages = layout.physics.stages
        messages = stages
        if self.in_slabs:
            # A message a block of planes for all steps of diamonds (docs/time-tiling.md).
            height, block = DEEP // stages, 2 * layout.radius
            reach = stage_reach(layout.radius, layout.radius)
            blocks = 2 * (shape[0] + (2 * height * stages - 1) * (block + reach)) / block
            messages = math.ceil(blocks / (2 * height))
        axes = [axis for axis, count in enumerate(self.ranks) for _ in range(min(count - 1, 2))]
        return [(math.prod(shape) // shape[axis], self._fields(axis), messages) for axis in axes]

    def _travelling_seconds(self, where: Literal["local", "network"], share: float) -> float:
        """Of a step's messages one after another; share: of a link's rate that a rank gets."""
        number_bytes = self.layout.halo(self.ranks) * self.itemsize
        return sum(
            messages * self.machine.exchange_seconds(where, cells * fields * number_bytes / messages, share)
            for cells, fields, messages in self._faces
        )

    def moved_seconds(self, bytes: float) -> float:
        """For bytes of a rank that move through the memory."""
        return bytes * self.ranks_per_node / self.machine.triad_bytes_per_second

    def passed_seconds(self, bytes: float) -> float:
        """For bytes of a rank's fields that move through the memory of what takes its time steps."""
        if self.card is None:
            return self.moved_seconds(bytes)
        return bytes * self.ranks_per_card / self.card.triad_bytes_per_second

    def copied_seconds(self, bytes: float, into_card: bool) -> float:
        """For bytes of a rank between its card and the host; 0 without cards."""
        if self.card is None:
            return 0.0
        rate = self.card.to_card_bytes_per_second if into_card else self.card.from_card_bytes_per_second
        return bytes * self.ranks_per_card / rate

    def stored_seconds(self, bytes: float, rate: float) -> float:
        """For bytes of all ranks to or from files, where a node alone moves `rate` bytes a second."""
        return bytes / min(rate * self.nodes, self.machine.storage_bytes_per_second or math.inf)


def _blocks(layout: SurveyLayout, ranks: Index3, cuts: Cuts | None) -> Iterator[Decomposition]:
    """The blocks of which one is the largest in each respect, and rank 0's: of each axis the first, the last and those
    in the middle, since the outer ones hold the padding and the inner ones more of the model, and the widest."""
    whole = Decomposition(layout.grid.full_shape, ranks, cuts=cuts)
    widths = [[b - a for a, b in whole.parts(axis)] for axis in range(3)]
    places = [
        sorted({0, p // 2, max(0, p // 2 - 1), p - 1, along.index(max(along))})
        for p, along in zip(ranks, widths, strict=True)
    ]
    for x, y, z in itertools.product(*places):
        yield replace(whole, rank=(x * ranks[1] + y) * ranks[2] + z)
