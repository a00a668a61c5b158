"""What a run will cost: counts that follow from the survey, and seconds that follow from counts and a machine's rates.

    time steps      points / rate of the node for so many points, + a constant for each call
    halo exchange   latency x neighbours + bytes / bandwidth; between nodes it hides behind the computation of the step,
                    within a node the same cores copy, and it adds
    snapshots       in memory: written and read in the time steps, bytes / triad; in files: bytes / storage beside them
    set up          bytes of the arrays / what a node writes for the first time in a second
    files           bytes / (what the nodes together can move, at most what the storage can)
    on cards        rates of a graphics card; copies between it and the host beside the time steps, bytes / rate
    traces          resampling: a part for each shot, a part for each trace, both in proportion to the time steps

All times are those of the rank with the largest block; nodes have equally many ranks. Nothing is read or measured here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fathometer.parallel.decomposition import Cuts, Index3, halo_cells
from fathometer.plan.machine_file import Machine
from fathometer.plan.phase import Phase
from fathometer.runs.sum_file import on_disk
from fathometer.seismic.cost.history import (
    card_room,
    memory_beside_history,
    predicted_history,
    second_wavefield_bytes,
)
from fathometer.seismic.cost.prediction import WavePrediction
from fathometer.seismic.cost.traces import trace_halo_bytes
from fathometer.seismic.cost.workload import TRACE_WRITES, Workload
from fathometer.seismic.history.card import CARD_STORES
from fathometer.seismic.history.choice import HistoryChoice, Rates
from fathometer.seismic.history.encoding import EXPECTED, SPEED
from fathometer.seismic.history.strategies import PLANNED_STORES
from fathometer.seismic.plan import Store
from fathometer.seismic.rtm.image_sum import image_sum_bytes
from fathometer.seismic.rtm.products import products_of
from fathometer.seismic.setup.processor import card_parts
from fathometer.seismic.setup.run_record import KERNEL
from fathometer.seismic.setup.setup import held_sum_bytes
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.storage.traces.headers import HEADER

SNAPSHOT_MOVES, IMAGE_MOVES = 2, 5  # numbers moved for a cell: of a snapshot; of snapshot, image and illumination

CODED_BY_CARD = ("card", "memory")  # stores whose snapshots a graphics card encodes and decodes

SUMS = "sums of images"  # in memory, of runs on one rank with a card

MODEL_ITEM = 4  # bytes: a volume of the model is read for the page of a modelling while its arrays are there


def predict(
    survey: SurveyLayout,
    time: TimeAxis,
    ranks: Index3,
    nodes: int,
    machine: Machine,
    store: Store | None = None,
    groups: int = 1,
    cuts: Cuts | None = None,
) -> WavePrediction:
    """The cost of a run in which `groups` of `ranks` (along x, y, z) work on a shot each, on some nodes (a divisor of
    all ranks).

    store: instead of the survey's [history] store. cuts: as of Decomposition.
    """
    run = Workload(survey, time, ranks, groups, nodes, machine, cuts)
    layout = run.layout
    memories = [memory_beside_history(layout, block, time, machine) for block in run.blocks]
    held = _held_bytes(run, memories)
    if held:
        memories = [parts | {SUMS: held} for parts in memories]
    memory: dict[str, int] = max(memories, key=lambda parts: sum(parts.values())).copy()
    ends = machine.ends("migrate" if layout.imaging else "model", run.ranks_per_node)
    trace_bytes = run.traces[0] * (HEADER + 4 * layout.acquisition.samples)
    history: HistoryChoice | None = None
    image_phases: list[Phase] = []
    disk_bytes: float = 2 * trace_bytes  # finished shots are kept until all are done
    if layout.imaging:
        history = _history(run, memories, store)
        fresh = sum(memory.values()) + history.memory_bytes - memory["process"]
        memory = _imaging_memory(run, memory, history, ends.finish_bytes)
        image_phases, disk_bytes = _image(run, held > 0)
        loops = _migration_phases(run, history, store, trace_bytes)
    else:
        fresh = sum(memory.values()) - memory["process"]
        memory["page"] = MODEL_ITEM * math.prod(layout.grid.shape)
        loops = _modelling_phases(run, trace_bytes)
    finish = Phase("finish", ends.finish_seconds)
    set_up = ends.setup_seconds + machine.fresh_seconds(fresh * run.ranks_per_node)
    phases = (*_start_phases(run, ends.start_seconds, set_up), *loops, *_exchange_phase(run), *image_phases, finish)
    return WavePrediction(
        nodes,
        run.size,
        phases,
        memory,
        KERNEL,
        shot_ranks=ranks,
        groups=groups,
        threads=run.threads,
        every=time.every,
        disk_bytes=disk_bytes + (history.disk_bytes * run.size if history is not None else 0),
        halo_bytes_per_step=run.halo_bytes_per_step,
        model_halo_bytes=2 * layout.radius * halo_cells(layout.grid.shape, ranks) * layout.files.bytes_per_cell,
        trace_halo_bytes=trace_halo_bytes(layout, ranks),
        history=history,
        card_bytes=_card_bytes(run, history),
        card_room=card_room(machine, run.ranks_per_card),
    )


def _card_bytes(run: Workload, history: HistoryChoice | None) -> dict[str, int]:
    """Of a graphics card, of the rank that takes most, by part; {} without cards."""
    if run.card is None:
        return {}
    volumes = len(volumes_of(run.layout.survey.imaging)) if run.layout.imaging else 1
    parts = max((card_parts(run.layout, b, volumes) for b in run.blocks), key=lambda parts: sum(parts.values())).copy()
    if history is not None:
        parts["wavefield history"] = history.card_bytes
        if history.twin:
            parts["source wavefield"] = max(sum(card_parts(run.layout, block, 0).values()) for block in run.blocks)
    return parts


def _history(run: Workload, memories: list[dict[str, int]], store: Store | None) -> HistoryChoice:
    """How the snapshots of a shot would be kept."""
    machine = run.machine
    writing = min(machine.write_bytes_per_second * run.nodes, machine.storage_bytes_per_second or math.inf)
    rates = Rates(run.time.every * run.points / run.points_per_second, 0.0, writing / run.size)
    return predicted_history(
        layout=run.layout,
        time=run.time,
        blocks=run.blocks,
        memories=memories,
        machine=machine,
        ranks_per_node=run.ranks_per_node,
        ranks_per_card=run.ranks_per_card,
        store=store,
        rates=rates,
    )


def _imaging_memory(
    run: Workload, memory: dict[str, int], history: HistoryChoice, finish_bytes: float
) -> dict[str, int]:
    """Bytes of the largest rank of a migration, by part: while shots are migrated, while their images are added up, or
    while pictures are drawn, whichever takes most (the sum, where shots lie on small windows; pictures of small runs).

    finish_bytes: of a process that draws, beside arrays.
    """
    memory = memory | {"wavefield history": history.memory_bytes}
    if history.twin:
        memory["source wavefield"] = second_wavefield_bytes(run.layout, run.blocks[0], run.machine)
    summing = image_sum_bytes(run.survey, -(-math.prod(run.survey.grid.shape) // run.size))
    process = {"process": memory["process"]}
    held = {name: size for name, size in memory.items() if name == SUMS}  # added up from there
    stages = (memory, process | held | summing, process | {"drawing": round(finish_bytes) - memory["process"]})
    return max(stages, key=lambda parts: sum(parts.values()))


@dataclass(frozen=True)
class _HistorySeconds:
    """What the history adds to the loops over all shots of a group, s."""

    push: float
    pop: float
    recomputation: float


def _history_seconds(run: Workload, history: HistoryChoice, store: Store | None) -> _HistorySeconds:
    plain_bytes = run.group_snapshots * run.image_cells * run.itemsize
    by_card = run.card is not None and history.store in CODED_BY_CARD and history.encoding not in EXPECTED
    if by_card:
        encoding = run.passed_seconds(SNAPSHOT_MOVES * plain_bytes) if history.encoded else 0.0
    else:
        encoding = plain_bytes / (run.threads * SPEED[history.encoding]) if history.encoded else 0.0
    one_shot = run.time.snapshots * run.image_cells * run.itemsize
    stored_share = history.disk_bytes / one_shot if run.image_cells else 0.0
    strategy = CARD_STORES["card"] if history.store == "card" else PLANNED_STORES[store or history.store][1]
    push, pop = strategy.push_pop_seconds(
        encoding,
        stored_share,
        run.stored_seconds(run.snapshot_bytes, run.machine.write_bytes_per_second),
        run.stored_seconds(run.snapshot_bytes, run.machine.read_bytes_per_second),
        run.stepping_seconds,
    )
    if history.store != "card":  # copies between host and card go beside the time steps
        share = history.memory_bytes / one_shot if by_card and one_shot else 1.0
        push, pop = (
            max(seconds, run.copied_seconds(share * plain_bytes, into_card) - run.stepping_seconds)
            for seconds, into_card in ((push, False), (pop, True))
        )
    recomputation = run.shots_per_group * history.recomputed * run.time.every * run.points / run.points_per_second
    return _HistorySeconds(push, pop, recomputation)


def _start_phases(run: Workload, start: float, set_up: float) -> list[Phase]:
    """start, set_up: seconds, the latter beside weights of receivers."""
    machine, (traces, _) = run.machine, run.traces
    model_cells = run.cells * run.shots if run.separate_grids else run.cells
    model_bytes = run.layout.files.bytes_per_cell * model_cells
    reading = run.stored_seconds(model_bytes, machine.read_bytes_per_second)
    opening = run.card.start_seconds if run.card is not None else 0.0
    return [
        Phase("start-up", start),
        Phase("read model", reading + run.points * machine.model_cell_seconds, model_bytes),
        Phase(
            "set up",
            set_up + opening + traces / run.groups * machine.point_seconds,
        ),
    ]


def _resampling_seconds(run: Workload) -> float:
    """A part for each shot, and one for each trace, which the threads share."""
    _, traces = run.traces
    seconds = run.shots_per_group * run.time.steps * run.machine.shot_step_seconds
    threads = min(run.threads, max(1.0, traces / max(1.0, run.shots_per_group) / 2))
    return seconds + traces / threads * run.time.steps * run.machine.trace_step_seconds


def _modelling_phases(run: Workload, trace_bytes: int) -> list[Phase]:
    writing = run.stored_seconds(trace_bytes, run.machine.write_bytes_per_second)
    return [
        Phase("source propagation", run.stepping_seconds, calls=run.calls),
        Phase("resample traces", _resampling_seconds(run)),
        *(Phase(name, writing, trace_bytes) for name in TRACE_WRITES),
    ]


def _migration_phases(run: Workload, history: HistoryChoice, store: Store | None, trace_bytes: int) -> list[Phase]:
    """The source loop, and a receiver loop for each bin of offset."""
    loops, seconds = run.receiver_loops, _history_seconds(run, history, store)
    # A shot's first snapshot is handed over by itself, the others with the advances that write them.
    handed = run.groups * (run.shots_per_group + run.calls) if history.several else run.snapshots
    writing, correlating = (
        run.passed_seconds(run.group_snapshots * run.image_cells * run.itemsize * moves)
        for moves in (SNAPSHOT_MOVES, IMAGE_MOVES)
    )
    # Images come to the card for a shot, and go back.
    images = run.shots_per_group * len(volumes_of(run.layout.survey.imaging)) * run.image_cells * run.itemsize
    imaged = run.copied_seconds(images, True) + run.copied_seconds(images, False)
    return [
        Phase("read traces", run.stored_seconds(trace_bytes, run.machine.read_bytes_per_second), trace_bytes),
        Phase("resample traces", _resampling_seconds(run)),
        Phase("source propagation", run.stepping_seconds + writing, calls=run.calls),
        Phase("history push", seconds.push, run.snapshot_bytes, handed),
        *([Phase("source recomputation", seconds.recomputation)] if seconds.recomputation else []),
        Phase("receiver propagation", loops * (run.stepping_seconds + correlating) + imaged, calls=loops * run.calls),
        Phase("history pop", loops * seconds.pop, loops * run.snapshot_bytes, loops * handed),
    ]


def _exchange_phase(run: Workload) -> list[Phase]:
    """None where one rank has the whole grid."""
    if math.prod(run.ranks) == 1:
        return []
    loops = 1 + run.receiver_loops if run.layout.imaging else 1
    sent = loops * run.steps * run.groups * run.halo_bytes_per_step
    return [Phase("halo exchange", loops * run.steps * run.exchange_seconds, sent, loops * run.steps)]


def _held_bytes(run: Workload, memories: list[dict[str, int]]) -> int:
    """Of sums of images in the memory of a rank: as a run on one rank with a card decides."""
    if run.card is None or run.size > 1 or not run.layout.imaging:
        return 0
    usable = run.survey.survey.parallel.memory_budget * run.machine.memory_bytes_per_node
    return held_sum_bytes(run.survey, sum(memories[0].values()), usable)


def _image(run: Workload, held: bool) -> tuple[list[Phase], float]:
    """The phases that write partial images and the image, and the bytes on disk at most, those of the history left
    out. held: whether the sums are in memory, too."""
    survey, itemsize = run.survey, run.itemsize
    volumes = volumes_of(run.layout.survey.imaging)
    contribution = run.mean_share * run.cells * itemsize  # of a shot to a volume
    partial_bytes = len(volumes) * run.shots * contribution
    cells = math.prod(survey.grid.shape)
    products = len(products_of(survey.survey.imaging))
    image_bytes = products * cells * itemsize
    shots = -(-run.shots // run.groups)
    most, left = (run.groups * len(volumes) * n for n in on_disk(cells, contribution, shots, held))
    phases = [
        Phase("write partial image", run.moved_seconds(partial_bytes / run.size), partial_bytes, run.shots),
        Phase("write image", run.stored_seconds(image_bytes, run.machine.write_bytes_per_second), image_bytes),
    ]
    return phases, max(most, left + image_bytes)
