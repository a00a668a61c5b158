"""What a run will cost: counts that follow from the survey, and seconds that follow from counts and a machine's rates.

    time steps      points / rate of the node for so many points, + a constant for each call
    halo exchange   latency x neighbours + bytes / bandwidth; between nodes it hides behind the computation of the step,
                    within a node the same cores copy, and it adds
    snapshots       in memory: written and read in the time steps, bytes / triad; in files: bytes / storage beside them
    files           bytes / (what the nodes together can move, at most what the storage can)
    traces          resampling: a part for each shot, a part for each trace, both in proportion to the time steps

All times are those of the rank with the largest block; nodes have equally many ranks. Nothing is read or measured here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Decomposition, Index3, halo_cells, split
from fathometer.plan.machine_file import Machine
from fathometer.runs.sum_file import on_disk
from fathometer.seismic.history.choice import HistoryChoice, HistoryShare, Rates
from fathometer.seismic.history.encoding import SPEED, record_bytes
from fathometer.seismic.history.strategies import PLANNED_STORES, choose_history
from fathometer.seismic.modelling.shot import modelling_steps
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.image_sum import image_sum_bytes
from fathometer.seismic.rtm.products import products_of
from fathometer.seismic.setup.layout import SurveyLayout
from fathometer.seismic.setup.rank_groups import mean_share
from fathometer.seismic.setup.run_record import KERNEL
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.points import HALF_WIDTH
from fathometer.storage.traces.headers import HEADER

FLOAT32 = 4  # bytes: rates are those of float32; others move as many more bytes
SNAPSHOT_MOVES, IMAGE_MOVES = 2, 5  # numbers moved for a cell: of a snapshot; of snapshot, image and illumination

# memory, disk, checkpoint: as [history] store; files: as older codes do it, the steps wait for the writing and reading.
Store = Literal["memory", "disk", "checkpoint", "files"]
PLANNING_WORK = 1e6  # of a schedule: many layouts are looked at


@dataclass(frozen=True)
class Phase:
    """A phase of the run: seconds of the slowest rank, bytes of all ranks."""

    name: str
    seconds: float
    bytes: float = 0.0
    calls: float = 0.0


@dataclass(frozen=True)
class Prediction:
    """The cost of one layout.

    Attributes:
        ranks: of a shot, along x, y, z. groups: of so many ranks. ranks_per_node, threads: of a rank.
        memory_bytes: of the largest rank, by part. halo_bytes_per_step: sent by all ranks together.
        disk_bytes: results, the history, and a migration's journal, at most. kept: how the history is; None for
            modelling. model_halo_bytes, trace_halo_bytes: what would be read twice if each rank read the halo of its
            part as well (codes that keep the model's halo do; this one reads own parts of the model alone).
    """

    nodes: int
    ranks: Index3
    groups: int
    ranks_per_node: int
    threads: int
    every: int
    phases: tuple[Phase, ...]
    memory_bytes: dict[str, int]
    disk_bytes: float
    halo_bytes_per_step: int
    model_halo_bytes: int
    trace_halo_bytes: int
    kept: HistoryChoice | None = None

    @property
    def seconds(self) -> float:
        """In all."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def kernel_seconds(self) -> float:
        """Of the time steps, exchanges included."""
        return sum(p.seconds for p in self.phases if p.name in KERNEL)

    @property
    def rank_bytes(self) -> int:
        """Memory of the largest rank."""
        return sum(self.memory_bytes.values())

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, SI units."""
        return {
            "nodes": self.nodes,
            "ranks": self.ranks,
            "groups": self.groups,
            "ranks_per_node": self.ranks_per_node,
            "threads": self.threads,
            "imaging_step": self.every,
            "total_seconds": self.seconds,
            "kernel_seconds": self.kernel_seconds,
            "phases": [
                {"phase": p.name, "seconds": p.seconds, "bytes": p.bytes, "calls": p.calls} for p in self.phases
            ],
            "memory_bytes_per_rank": self.rank_bytes,
            "memory_bytes": self.memory_bytes,
            "disk_bytes": self.disk_bytes,
            "history": self.kept.as_dict() if self.kept is not None else None,
            "halo_bytes_per_step": self.halo_bytes_per_step,
            "model_halo_bytes": self.model_halo_bytes,
            "trace_halo_bytes": self.trace_halo_bytes,
        }


def predict(
    whole: SurveyLayout,
    time: TimeAxis,
    ranks: Index3,
    nodes: int,
    machine: Machine,
    store: Store | None = None,
    groups: int = 1,
) -> Prediction:
    """The cost of a run whose shots are worked on by `ranks` along x, y, z each, in groups, on some nodes (a
    divisor of all ranks)."""
    apart = whole.imaging and (groups > 1 or whole.survey.imaging.aperture is not None)
    layout = whole.largest if apart else whole
    grid, itemsize, size = layout.grid, layout.dtype.itemsize, math.prod(ranks) * groups
    per_node = max(1, size // nodes)
    threads = max(1, machine.cores_per_node // per_node)
    shots = len(whole.acquisition.shots)
    share = mean_share(whole, layout) if apart else 1.0  # of the largest shot's cells, in the mean
    each = -(-shots // groups) * share  # largest shots of a group
    traces, mine = _traces(layout, ranks)
    if apart:
        traces, mine = sum(len(shot.receivers) for shot in whole.acquisition.shots), round(mine * each)
    cells = math.prod(grid.shape)
    blocks = list(_blocks(layout, ranks))
    own = max(math.prod(hi - lo for lo, hi in zip(*grid.model_box(block), strict=True)) for block in blocks)
    memories = [_memory(layout, block, time, machine) for block in blocks]
    memory: dict[str, int] = max(memories, key=lambda parts: sum(parts.values())).copy()
    snapshots = time.snapshots * shots if layout.imaging else 0  # of all groups
    own_snapshots = time.snapshots * each if layout.imaging else 0

    # Time steps.
    points = math.prod(-(-n // p) for n, p in zip(grid.full_shape, ranks, strict=True))
    busy = min(1.0, per_node * threads / machine.cores_per_node)
    rate = (
        busy
        * FLOAT32
        / itemsize
        * machine.points_per_second(layout.physics.name, len(grid.axes), 2 * layout.radius, points * per_node)
        / per_node
    )
    at_a_time = time.every if layout.imaging else modelling_steps(time)
    calls = each * math.ceil(time.steps / at_a_time)
    steps = each * time.steps
    stepping = steps * points / rate + calls * machine.step_seconds
    volumes = volumes_of(layout.survey.imaging)
    bins = len(volumes) - 1  # receiver propagations of a shot
    loops = 1 + bins if layout.imaging else 1
    exchanged = layout.physics.fields if layout.off_grid else 1  # along each axis
    step_bytes = 2 * halo_cells(grid.full_shape, ranks) * layout.halo * itemsize * exchanged
    spread = nodes if math.prod(ranks) > per_node else 1  # of a group
    exchange = _exchange(layout, ranks, spread, per_node, points / rate, machine)

    # Memory that moves with snapshots and images, files.
    def moved(bytes: float) -> float:
        return bytes * per_node / machine.triad_bytes_per_second

    def stored(bytes: float, rate: float) -> float:
        most = machine.storage_bytes_per_second or math.inf
        return bytes / min(rate * nodes, most)

    snapshot_bytes = snapshots * cells * itemsize
    reading, writing = machine.read_bytes_per_second, machine.write_bytes_per_second
    pushing, imaging = (moved(own_snapshots * own * itemsize * n) for n in (SNAPSHOT_MOVES, IMAGE_MOVES))
    pushed = popped = again = 0.0
    kept = None
    if layout.imaging:
        rates = Rates(
            time.every * points / rate, 0.0, min(writing * nodes, machine.storage_bytes_per_second or math.inf) / size
        )
        kept = _kept(layout, time, blocks, memories, machine, per_node, store, rates)
        memory["wavefield history"] = kept.memory_bytes
        if kept.twin:
            memory["source wavefield"] = _twin(layout, blocks[0])
        summing = image_sum_bytes(whole, -(-math.prod(whole.grid.shape) // size))
        if sum(summing.values()) + machine.process_bytes > sum(memory.values()):  # shots on small windows
            memory = {"process": memory["process"]} | summing
        encoding = 0.0
        if kept.encoding != "float32":
            encoding = own_snapshots * own * itemsize / (threads * SPEED[kept.encoding])
        part = kept.disk_bytes / (time.snapshots * own * itemsize) if own else 0.0
        _, strategy = PLANNED_STORES[store or kept.store]
        pushed, popped = strategy.push_pop_seconds(
            encoding, part, stored(snapshot_bytes, writing), stored(snapshot_bytes, reading), stepping
        )
        again = each * kept.recomputed * time.every * points / rate
    model_bytes = layout.files.bytes_per_cell * (cells * shots if apart else cells)
    trace_bytes = traces * (HEADER + 4 * layout.acquisition.samples)
    resampling = each * time.steps * machine.shot_step_seconds
    resampling += mine / min(threads, max(1.0, mine / max(1.0, each) / 2)) * time.steps * machine.trace_step_seconds
    phases = [
        Phase("start-up", machine.start_seconds),
        Phase("read model", stored(model_bytes, reading) + points * machine.model_cell_seconds, model_bytes),
        Phase("set up", traces / groups * machine.point_seconds),
    ]
    if layout.imaging:
        phases += [
            Phase("read traces", stored(trace_bytes, reading), trace_bytes),
            Phase("resample traces", resampling),
            Phase("source propagation", stepping + pushing, calls=calls),
            Phase("history push", pushed, snapshot_bytes, snapshots),
            *([Phase("source recomputation", again)] if again else []),
            Phase("receiver propagation", bins * (stepping + imaging), calls=bins * calls),
            Phase("history pop", bins * popped, bins * snapshot_bytes, bins * snapshots),
        ]
    else:
        phases += [
            Phase("source propagation", stepping, calls=calls),
            Phase("resample traces", resampling),
            Phase("write traces", stored(trace_bytes, writing), trace_bytes),
        ]
    if math.prod(ranks) > 1:
        travelling = loops * steps * groups * step_bytes
        phases.append(Phase("halo exchange", loops * steps * exchange, travelling, loops * steps))
    disk_bytes: float = trace_bytes
    if layout.imaging:
        contribution = share * cells * itemsize  # of a shot to a volume
        partial_bytes = len(volumes) * shots * contribution
        phases.append(Phase("write partial image", moved(partial_bytes / size), partial_bytes, shots))
        cells = math.prod(whole.grid.shape)
        products = len(products_of(whole.survey.imaging))
        filtered = products - 1 if condition_of(whole.survey.imaging).laplacian else 0  # all but the illumination
        image_bytes = (products + filtered) * cells * itemsize
        phases.append(Phase("write image", stored(image_bytes, writing), image_bytes))
        most, left = (groups * len(volumes) * n for n in on_disk(cells, contribution, -(-shots // groups)))
        disk_bytes = max(most, left + (products + bool(filtered)) * cells * itemsize)
    phases.append(Phase("finish", machine.finish_seconds))
    return Prediction(
        nodes,
        ranks,
        groups,
        per_node,
        threads,
        time.every,
        tuple(phases),
        memory,
        disk_bytes + (kept.disk_bytes * size if kept is not None else 0),
        step_bytes,
        2 * layout.radius * halo_cells(grid.shape, ranks) * layout.files.bytes_per_cell,
        _trace_halo_bytes(layout, ranks),
        kept,
    )


def _blocks(layout: SurveyLayout, ranks: Index3) -> Iterator[Decomposition]:
    """The blocks of which one is the largest in each respect: the first, the last and those in the middle of each axis,
    since the outer ones hold the padding and the inner ones more of the model; and rank 0's."""
    places = [sorted({0, p // 2, max(0, p // 2 - 1), p - 1}) for p in ranks]
    for x, y, z in itertools.product(*places):
        yield Decomposition(layout.grid.full_shape, ranks, (x * ranks[1] + y) * ranks[2] + z)


def _memory(layout: SurveyLayout, block: Decomposition, time: TimeAxis, machine: Machine) -> dict[str, int]:
    """Bytes of a rank beside the history, by part."""
    return {"process": round(machine.process_bytes)} | layout.wavefield_bytes(block) | layout.shot_bytes(block, time)


def _twin(layout: SurveyLayout, block: Decomposition) -> int:
    """Bytes of a second wavefield in the same model."""
    parts = layout.wavefield_bytes(block)
    return parts["wavefields"] + parts["absorbing layers"]


def _kept(
    layout: SurveyLayout,
    time: TimeAxis,
    blocks: Sequence[Decomposition],
    memories: Sequence[dict[str, int]],
    machine: Machine,
    per_node: int,
    store: Store | None,
    rates: Rates,
) -> HistoryChoice:
    """How the history would be kept; in memory where nothing fits, so that what is missing can be told."""
    wanted = layout.survey.history
    if store is not None:
        wanted = wanted.model_copy(update={"store": PLANNED_STORES[store][0]})
    node = layout.survey.parallel.memory_budget * machine.memory_bytes_per_node
    shares = []
    for block, memory in zip(blocks, memories, strict=True):
        parts = layout.wavefield_bytes(block)
        shares.append(
            HistoryShare(
                max(0.0, node / per_node - sum(memory.values())),
                math.inf if wanted.memory_budget == "auto" else wanted.memory_budget / per_node,
                math.inf if wanted.disk_budget == "auto" else wanted.disk_budget / per_node,
                layout.snapshot_bytes(block),
                record_bytes(layout.image_shape(block), layout.dtype),
                2 * layout.physics.fields * math.prod(block.local_shape) * layout.dtype.itemsize
                + parts["absorbing layers"],
                _twin(layout, block),
            )
        )
    try:
        return choose_history(wanted, time.snapshots, shares, lambda: rates, str(layout.survey.path), PLANNING_WORK)
    except InputError as error:
        needed, n = max(time.snapshots * share.snapshot for share in shares), time.snapshots
        return HistoryChoice("memory", "float32", False, n, n, 0, n, needed, reason=str(error), fits=False)


def _exchange(
    layout: SurveyLayout, ranks: Index3, nodes: int, per_node: int, computing: float, machine: Machine
) -> float:
    """Seconds that an exchange adds to a step of the rank with the most neighbours."""
    shape = [-(-n // p) for n, p in zip(layout.grid.full_shape, ranks, strict=True)]
    fields = layout.physics.fields if layout.off_grid else 1
    neighbours, bytes = 0, 0
    for axis, count in enumerate(ranks):
        beside = min(count - 1, 2)
        neighbours += beside
        bytes += beside * layout.halo * math.prod(shape) // shape[axis] * fields * layout.dtype.itemsize
    if nodes == 1:
        return neighbours * machine.local_latency_seconds + bytes / machine.local_bytes_per_second
    travelling = neighbours * machine.network_latency_seconds + bytes * per_node / machine.network_bytes_per_second
    return max(0.0, travelling - computing)


def _traces(layout: SurveyLayout, ranks: Index3) -> tuple[int, int]:
    """Traces of all shots, and of the rank that has most."""
    counts: dict[int, np.ndarray] = {}
    mine = np.zeros(math.prod(ranks), np.int64)
    for shot in layout.acquisition.shots:  # many share their receivers
        spread = id(shot.receivers)
        if spread not in counts:
            places = [
                np.searchsorted(starts, cells, "right") - 1
                for starts, cells in zip(_starts(layout, ranks), _cells(layout, shot), strict=True)
            ]
            counts[spread] = np.bincount(np.ravel_multi_index(places, ranks), minlength=len(mine))
        mine += counts[spread]
    return int(mine.sum()), int(mine.max())


def _trace_halo_bytes(layout: SurveyLayout, ranks: Index3) -> int:
    """Bytes of the samples of receivers that lie within HALF_WIDTH cells of a cut: both sides inject them."""
    known: dict[int, int] = {}
    total = 0
    for shot in layout.acquisition.shots:
        spread = id(shot.receivers)
        if spread not in known:
            known[spread] = sum(
                int(((cells >= cut - HALF_WIDTH) & (cells < cut + HALF_WIDTH)).sum())
                for starts, cells in zip(_starts(layout, ranks), _cells(layout, shot), strict=True)
                for cut in starts[1:]
            )
        total += known[spread]
    return total * layout.acquisition.samples * 4


def _starts(layout: SurveyLayout, ranks: Index3) -> list[list[int]]:
    """The first cell of each block, along x, y, z."""
    return [[split(n, p, c)[0] for c in range(p)] for n, p in zip(layout.grid.full_shape, ranks, strict=True)]


def _cells(layout: SurveyLayout, shot: Shot) -> np.ndarray:
    """The cells of a shot's receivers, (3, n)."""
    cells: np.ndarray = np.rint(layout.grid.to_cells(shot.receivers)).astype(np.int64)
    return cells.T
