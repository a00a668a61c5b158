"""Seconds and bytes of a time migration: what counts.py tells, at the rates of a machine.

    migrate             samples and nodes / rates of the node, filter banks of all traces, and the reading and filtering
                        of traces, which goes on beside the sum on the same cores
    wait for traces     the first batch of a block, and what reading takes longer than summing
    exchange traces     latency + bytes / bandwidth, of each batch, where ranks share blocks
    read velocities     samples that are made from a depth model, of each window and of the whole image at the end
    sum images          every value that blocks add, exactly; those that are summed in between once more

All times are those of the rank with the largest tile; nodes have equally many ranks. Nothing is read or measured here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from fathometer.plan.machine_file import Machine
from fathometer.plan.phase import Phase
from fathometer.runs.sum_file import CELL_BYTES, max_loose_bytes, on_disk
from fathometer.seismic.kirchhoff.cost.counts import Counts
from fathometer.seismic.kirchhoff.cost.prediction import TimePrediction
from fathometer.seismic.kirchhoff.products import DEPTH, product_files
from fathometer.seismic.kirchhoff.series import FINER
from fathometer.seismic.kirchhoff.setup import SAMPLE_BYTES, block_bytes, image_bytes
from fathometer.seismic.kirchhoff.time_layout import TimeLayout
from fathometer.seismic.kirchhoff.worker import BATCH_TRACES
from fathometer.storage.traces.headers import HEADER

PICTURE_BYTES = 65_000_000  # of what draws them on rank 0, where the machine file does not say: libraries, figures
COMMAND = "migrate-time"
KERNEL = "migrate"
CHECKED = 0.3  # of the seconds of adding a value: its checksum and copy
DRAWN_BYTES = 72  # of a sample of the sections that are drawn, image and velocities
LIMBS = CELL_BYTES // 8  # of a sum, each as much work as a value


@dataclass(frozen=True, eq=False)
class Workload:
    """What each rank does; counts are those of the rank with most."""

    layout: TimeLayout
    counts: Counts
    machine: Machine
    ranks: int
    ranks_per_block: int
    nodes: int

    @property
    def groups(self) -> int:
        return self.ranks // self.ranks_per_block

    @property
    def ranks_per_node(self) -> int:
        return max(1, self.ranks // self.nodes)

    @property
    def threads(self) -> int:
        """Of a rank."""
        return max(1, self.machine.cores_per_node // self.ranks_per_node)

    @cached_property
    def cores(self) -> float:
        """That a rank has: less than one where ranks share them."""
        return self.machine.cores_per_node / self.ranks_per_node if self.ranks_per_node else 1.0

    @cached_property
    def share(self) -> float:
        """Of all blocks that the group with most has."""
        return math.ceil(len(self.layout.blocks) / self.groups) / len(self.layout.blocks)

    @cached_property
    def cells(self) -> int:
        """Of the image."""
        return math.prod(self.layout.grid.shape)

    @cached_property
    def window_cells(self) -> float:
        """Of the windows of all blocks."""
        return self.counts.columns * self.layout.grid.shape[2]

    @cached_property
    def sum_seconds(self) -> float:
        """Of a group's sums over traces."""
        kind = self.machine.sum_rate(2 if self.layout.grid.two_dimensional else 3, not self.layout.velocities.elliptic)
        of_node = self.counts.samples / kind.samples_per_second + self.counts.nodes / kind.nodes_per_second
        of_rank = of_node * self.machine.cores_per_node / self.ranks_per_block / self.cores
        banks = self.counts.traces * self.counts.bank_rows * self.counts.bank_length * self.machine.bank_seconds
        return self.share * (self.counts.imbalance(self.ranks_per_block) * of_rank + banks / self.cores)

    @cached_property
    def trace_seconds(self) -> float:
        """Of one thread of a rank that reads and filters its share of a group's traces."""
        samples = self.share * self.counts.traces * self.layout.series.samples / self.ranks_per_block
        return samples * self.machine.filter_seconds + self.share * self.stored(self.trace_bytes, reading=True)

    @cached_property
    def trace_bytes(self) -> float:
        """Of the traces that are summed, in their files."""
        return self.counts.traces * (HEADER + SAMPLE_BYTES * self.layout.acquisition.samples)

    def stored(self, bytes: float, reading: bool = False) -> float:
        """Seconds for bytes of all ranks to or from files."""
        machine = self.machine
        rate = machine.read_bytes_per_second if reading else machine.write_bytes_per_second
        return bytes / min(rate * self.nodes, machine.storage_bytes_per_second or math.inf)

    def moved(self, bytes: float) -> float:
        """Seconds for bytes of a rank that move through the memory."""
        return bytes * self.ranks_per_node / self.machine.triad_bytes_per_second


def predict(
    layout: TimeLayout, counts: Counts, machine: Machine, ranks: int, ranks_per_block: int, nodes: int, why: str
) -> TimePrediction:
    """The cost of a run whose groups of ranks_per_block ranks take blocks of traces; nodes: a divisor of all ranks."""
    run = Workload(layout, counts, machine, ranks, ranks_per_block, nodes)
    image, disk = _image(run)
    ends, parts = machine.ends(COMMAND, run.ranks_per_node), memory(run)
    fresh = machine.fresh_seconds((sum(parts.values()) - parts["process"]) * run.ranks_per_node)
    headers = run.stored(HEADER * layout.traces, reading=True)
    phases = (
        Phase("start-up", ends.start_seconds),
        Phase("set up", ends.setup_seconds + fresh + headers, HEADER * layout.traces),
        _velocities(run),
        *_blocks(run),
        *image,
        Phase("finish", ends.finish_seconds),
    )
    return TimePrediction(
        nodes,
        ranks,
        phases,
        parts,
        (KERNEL,),
        ranks_per_block=ranks_per_block,
        why=why,
        threads=run.threads,
        disk_bytes=disk,
    )


def memory(run: Workload) -> dict[str, int]:
    """Bytes of the largest rank, by part: while it works on a block, or while images are added up and drawn."""
    bank = run.counts.bank_rows * run.counts.bank_length * SAMPLE_BYTES
    (nx, ny, nt), volumes = run.layout.grid.shape, len(run.layout.volumes)
    drawn = nx * nt if ny == 1 else nx * nt + ny * nt + nx * ny
    ends = run.machine.ends(COMMAND, run.ranks_per_node)
    pictures = ends.finish_bytes - run.machine.process_bytes or PICTURE_BYTES
    stages = (
        block_bytes(run.layout, run.ranks_per_block, bank),
        image_bytes(run.layout, run.ranks),
        {
            "sums": volumes * SAMPLE_BYTES * -(-run.cells // run.ranks),
            "pictures": round(pictures) + DRAWN_BYTES * drawn,
        },
    )
    return {"process": int(run.machine.process_bytes)} | max(stages, key=lambda parts: sum(parts.values()))


def _velocities(run: Workload) -> Phase:
    """Those of each window that differs from the one before, and those of the image at the end."""
    windows = 1 if run.layout.survey.time_migration.aperture is None else len(run.layout.blocks) * run.share
    mean = run.window_cells / len(run.layout.blocks)
    samples = windows * mean / run.ranks_per_block + run.cells / run.ranks
    made = run.layout.survey.time_migration.velocity is None
    seconds = samples * run.machine.velocity_seconds if made else run.moved(samples * SAMPLE_BYTES)
    return Phase("read velocities", seconds, samples * SAMPLE_BYTES, windows + 1)


def _blocks(run: Workload) -> list[Phase]:
    """Sums over traces, what they wait for, and what is written of them."""
    counts, layout = run.counts, run.layout
    per_block = counts.traces / len(layout.blocks)
    batches = len(layout.blocks) * max(1, math.ceil(per_block / BATCH_TRACES)) if counts.traces else 0
    beside = run.trace_seconds
    summing = run.sum_seconds + beside / max(1.0, run.cores)
    first = beside * len(layout.blocks) / max(1, batches)  # nothing is summed yet
    waiting = min(beside, first + max(0.0, beside - first - summing))
    partial = len(layout.volumes) * run.window_cells * SAMPLE_BYTES
    written = run.share * partial / run.ranks_per_block
    return [
        Phase(KERNEL, summing, calls=batches),
        Phase("wait for traces", waiting, run.trace_bytes, batches),
        *_exchange(run, batches),
        Phase(
            "write partial image",
            run.moved(written) + written / SAMPLE_BYTES * run.machine.term_seconds * CHECKED,
            partial,
            len(layout.blocks),
        ),
    ]


def _exchange(run: Workload, batches: int) -> list[Phase]:
    """None where each rank has blocks of its own."""
    ranks = run.ranks_per_block
    if ranks == 1:
        return []
    length = FINER * run.layout.series.samples * SAMPLE_BYTES
    each = run.counts.traces / max(1, batches) * length  # bytes of a batch
    if ranks > run.ranks_per_node:
        one = run.machine.exchange_seconds("network", each * (ranks - 1) / ranks, 1.0 / run.ranks_per_node)
    else:
        one = run.machine.exchange_seconds("local", each * (ranks - 1) / ranks)
    sent = batches * each * (ranks - 1)
    return [Phase("exchange traces", batches * run.share * one, sent, batches)]


def _image(run: Workload) -> tuple[list[Phase], float]:
    """The phases that add up partial images and write the image, and the bytes on disk at most."""
    layout, cells = run.layout, run.cells
    volumes, blocks = len(layout.volumes), len(layout.blocks)
    block_cells = run.window_cells / blocks
    tasks = math.ceil(blocks / run.groups)
    together = max(1, math.ceil(max_loose_bytes(cells) / (block_cells * SAMPLE_BYTES)))
    folds = tasks // together
    # Values that a rank adds: in sums in between those of its group, at the end those of all.
    between = volumes * (folds * together * block_cells + max(0, folds - 1) * LIMBS * cells) / run.ranks_per_block
    loose = run.groups * (tasks - folds * together) * block_cells
    last = volumes * (min(loose, run.window_cells) + run.groups * min(folds, 1) * LIMBS * cells + cells) / run.ranks
    sums = volumes * folds * CELL_BYTES * cells * run.groups
    seconds = (between + last) * run.machine.term_seconds + run.stored(sums)
    names = [name for name in product_files(layout.survey) if name not in ("picture", DEPTH)]
    image = SAMPLE_BYTES * len(names) * cells
    most, left = (run.groups * volumes * n for n in on_disk(cells, block_cells * SAMPLE_BYTES, tasks))
    return [
        Phase("sum images", seconds, volumes * run.window_cells * SAMPLE_BYTES + sums, 1 + folds * run.groups),
        Phase("write image", run.stored(image), image, len(names)),
    ], max(most, left + image)
