"""What a run of elastic waves will cost: see acoustic/predict.py. Rates of time steps are those of elastic or
viscoelastic waves without absorbing layers; what surrounds the steps is in the machine's `elastic`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from fathometer.grid.arrays import padded
from fathometer.parallel.decomposition import Cuts, Decomposition, Index3, halo_cells
from fathometer.plan.elastic_rates import ElasticRates
from fathometer.plan.machine_file import Machine
from fathometer.plan.phase import Phase
from fathometer.seismic.cost.history import memory_beside_history
from fathometer.seismic.cost.prediction import WavePrediction
from fathometer.seismic.cost.traces import trace_halo_bytes
from fathometer.seismic.cost.workload import TRACE_WRITES, Workload
from fathometer.seismic.elastic.elastic_layout import ElasticLayout
from fathometer.seismic.elastic.homogeneous import EQUATIONS
from fathometer.seismic.elastic.layer_width import names_looked_at
from fathometer.seismic.elastic.layers import cells_in_layers
from fathometer.seismic.elastic.memory import PARAMETER_BYTES, READ_AT_ONCE
from fathometer.seismic.elastic.propagator import flops_per_point
from fathometer.seismic.elastic.snapshots import Nodes, field_names, steps_between
from fathometer.seismic.elastic.time_functions import LENGTH
from fathometer.seismic.plan import Store
from fathometer.seismic.setup.run_record import KERNEL
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.checked_steps import advances, steps_at_a_time
from fathometer.storage.traces.headers import HEADER

FLOPS: Mapping[str, Callable[[int, bool], int]] = {
    name: partial(lambda relaxing, order, flat: flops_per_point(flat, relaxing), relaxing)
    for name, relaxing in EQUATIONS.items()
}

OF_SERIES = 2.0  # what a sample of a source's series takes to compute and transform, in samples of traces


@dataclass(frozen=True, eq=False)
class ElasticWorkload(Workload):
    """What each rank of an elastic run computes and moves."""

    elastic: ElasticLayout

    @property
    def equation(self) -> str:
        """Which equation is stepped: with attenuation or without."""
        return next(name for name, relaxing in EQUATIONS.items() if relaxing == self.elastic.attenuates)

    @property
    def flops(self) -> Mapping[str, Callable[[int, bool], int]]:
        """Operations of a cell and step, by equation."""
        return FLOPS

    @property
    def work(self) -> float:
        """Of a step of the block with most of it, in cells without layers; rows are whole cache lines."""
        layout, rates = self.layout, self.machine.elastic or ElasticRates()
        layer = rates.layer_work_2d if layout.grid.two_dimensional else rates.layer_work_3d
        if self.elastic.attenuates:  # the layers' own is the same, a cell's more
            flat = layout.grid.two_dimensional
            layer *= flops_per_point(flat, False) / flops_per_point(flat, True)
        shape, width, free = layout.grid.full_shape, layout.boundary.width, layout.free_surface
        item = layout.dtype.itemsize
        return max(
            self._row_share(block) * math.prod(block.local_shape[:2]) * padded(block.local_shape[2], item)
            + layer * cells_in_layers(block, shape, width, free, item)
            for block in self.blocks
        )

    def _row_share(self, block: Decomposition) -> float:
        """Work of a cell in rows as long as the block's over that in the cube whose rate is taken."""
        if self.layout.grid.two_dimensional:
            return 1.0
        measured = [rate.points for rate in self.machine.rates if (rate.physics, rate.dimensions) == (self.equation, 3)]
        points = float(self.points * self.ranks_per_node)
        if measured:  # beyond them the rate is that of the nearest
            points = min(max(points, min(measured)), max(measured))
        row = (self.machine.elastic or ElasticRates()).row_work_3d
        cells = padded(block.local_shape[2], self.layout.dtype.itemsize)
        return (1 + row / cells) / (1 + row / math.cbrt(points))

    @cached_property
    def series_seconds(self) -> float:
        """Of the transforms of the sources' series, of all shots, by one thread of the rank that has most."""
        if not self.layout.corrected:
            return 0.0
        most = max(self.elastic.series(block) for block in self.blocks)
        samples = LENGTH * self.time.steps
        return self.shots * most * samples * OF_SERIES * self.machine.trace_step_seconds

    @property
    def snapshot_file_bytes(self) -> int:
        """Of the snapshots of all shots."""
        keys, grid = self.elastic.survey.snapshots, self.elastic.grid
        if keys is None:
            return 0
        nodes = math.prod(Nodes(grid, self.blocks[0], keys).shape)
        kept = self.time.steps // keys.every_steps
        return 4 * self.shots * kept * nodes * len(field_names(grid, keys))

    @cached_property
    def stops(self) -> float:
        """Advances of all shots: snapshots are taken between them."""
        steps, stop = self.time.steps, steps_between(self.elastic.survey.snapshots)
        at_a_time = steps_at_a_time(self.layout.grid, math.prod(self.ranks), steps, stop=stop)
        return self.shots * advances(steps, at_a_time, stop)[0]


def predict_elastic(
    layout: ElasticLayout,
    time: TimeAxis,
    ranks: Index3,
    nodes: int,
    machine: Machine,
    store: Store | None = None,
    groups: int = 1,
    cuts: Cuts | None = None,
) -> WavePrediction:
    """The cost of a run on `ranks` along x, y, z on some nodes (a divisor of all ranks), which work on a shot together
    and keep no history. cuts: as of Decomposition.

    Raises InputError where the machine file has no rates of elastic waves.
    """
    run = ElasticWorkload(layout, time, ranks, 1, nodes, machine, cuts, layout)
    rates = machine.elastic or ElasticRates(
        start_seconds=machine.start_seconds, finish_seconds=machine.finish_seconds, finish_bytes=machine.process_bytes
    )
    components, (of_all, _) = len(layout.components), run.traces
    trace_bytes = of_all * components * (HEADER + 4 * layout.acquisition.samples)
    map_bytes = 2 * 4 * math.prod(layout.grid.shape[:2]) * run.shots
    phases = [
        *_start_phases(run, rates),
        Phase(
            "source propagation",
            run.steps * run.work / run.points_per_second + run.stops * machine.step_seconds,
            calls=run.stops,
        ),
        *_exchange_phase(run),
        *_writing_phases(run, rates, components, trace_bytes, map_bytes),
        Phase("finish", rates.finish_seconds),
    ]
    return WavePrediction(
        nodes,
        run.size,
        tuple(phases),
        _memory(run, rates),
        KERNEL,
        shot_ranks=ranks,
        groups=1,
        threads=run.threads,
        every=time.every,
        disk_bytes=2 * trace_bytes + map_bytes + run.snapshot_file_bytes,
        halo_bytes_per_step=run.halo_bytes_per_step,
        model_halo_bytes=2 * halo_cells(layout.grid.shape, ranks) * layout.files.bytes_per_cell,
        trace_halo_bytes=components * trace_halo_bytes(layout, ranks),
    )


def _start_phases(run: ElasticWorkload, rates: ElasticRates) -> list[Phase]:
    machine, layout = run.machine, run.elastic
    looked_at = layout.files.bytes_of(names_looked_at(layout.survey))
    model_bytes = (layout.files.bytes_per_cell + looked_at) * run.cells
    medium = rates.medium_cell_seconds + (rates.relaxation_cell_seconds if layout.attenuates else 0.0)
    points = run.shots * len(layout.sources.offset) + run.traces[0] * len(layout.components)
    arrays = sum(_memory(run, rates, reading=True).values()) - machine.process_bytes
    fresh = machine.fresh_seconds(arrays * run.ranks_per_node)
    return [
        Phase("start-up", rates.start_seconds + machine.more_to_start(run.ranks_per_node)),
        Phase(
            "read model",
            run.stored_seconds(model_bytes, machine.read_bytes_per_second) + run.points * rates.model_cell_seconds,
            model_bytes,
        ),
        Phase(
            "set up",
            rates.setup_seconds + fresh + run.points * medium + points * machine.point_seconds + run.series_seconds,
        ),
    ]


def _exchange_phase(run: ElasticWorkload) -> list[Phase]:
    """None where one rank has the whole grid."""
    if math.prod(run.ranks) == 1:
        return []
    calls = run.layout.physics.stages * run.steps
    return [Phase("halo exchange", run.steps * run.exchange_seconds, run.steps * run.halo_bytes_per_step, calls)]


def _writing_phases(
    run: ElasticWorkload, rates: ElasticRates, components: int, trace_bytes: int, map_bytes: int
) -> list[Phase]:
    machine, traces = run.machine, components * run.traces[1]
    threads = min(run.threads, max(1.0, traces / max(1, run.shots)))
    resampling = run.time.steps * (
        run.shots * machine.shot_step_seconds + traces / threads * machine.trace_step_seconds
    )
    written = machine.write_bytes_per_second
    snapshots = run.snapshot_file_bytes
    kept = [Phase("write snapshots", run.stored_seconds(snapshots, written), snapshots)] if snapshots else []
    maps = (run.shots - 1) * rates.map_seconds + run.stored_seconds(map_bytes, written)
    return [
        *kept,
        Phase("resample traces", resampling),
        *(Phase(name, run.stored_seconds(trace_bytes, written), trace_bytes) for name in TRACE_WRITES),
        Phase("write peak velocities", maps, map_bytes, run.shots),
    ]


def _memory(run: ElasticWorkload, rates: ElasticRates, reading: bool = False) -> dict[str, int]:
    """Bytes of the largest rank, by part: with what the model is read into, or, where not only that is asked for, while
    maps are drawn, whichever takes more."""
    memories = [memory_beside_history(run.elastic, block, run.time, run.machine) for block in run.blocks]
    memory = max(memories, key=lambda parts: sum(parts.values()))
    read = READ_AT_ONCE * PARAMETER_BYTES * run.points
    drawing = round(rates.finish_bytes - run.machine.process_bytes)
    if reading or drawing <= read:
        return memory
    return memory | {"model": memory["model"] - read, "drawing": drawing}
