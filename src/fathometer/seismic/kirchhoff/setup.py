"""What is decided before the first trace is summed: who works on what, and whether it fits into memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, number_of
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Decomposition, divisors
from fathometer.parallel.groups import Group
from fathometer.parallel.memory_budget import memory_of_rank, require_memory, usable_memory
from fathometer.runs.context import Context
from fathometer.runs.summation import summing_bytes
from fathometer.seismic.kirchhoff.operator import WORKSPACE_BYTES, segments
from fathometer.seismic.kirchhoff.series import FINER
from fathometer.seismic.kirchhoff.time_layout import TimeLayout, tiles, time_layout
from fathometer.seismic.kirchhoff.velocities.limits import SLAB_VALUES
from fathometer.seismic.kirchhoff.worker import BATCH_TRACES
from fathometer.seismic.shots.loud_search import treated, with_dead_traces
from fathometer.seismic.survey import Survey

SAMPLE_BYTES = 4
VELOCITY_BYTES = 12  # of a sample of velocity or eta that is read: double and float
WORKING_BYTES = 96  # of a sample that velocities or coverage are being made of: a dozen arrays of doubles at a time
READING_BYTES = 80  # of a fine sample of a batch while it is filtered: transforms in double precision
ADVICE = (
    "use more hosts or ranks, a smaller image ([time_migration] x, y, end), a smaller aperture, or a larger "
    "[parallel] memory_budget"
)


@dataclass(frozen=True, eq=False)
class TimeSetup:
    """A time migration made ready.

    Attributes:
        block: this rank's part of the whole image. ranks_per_block: of a group. why: they are so many.
        memory_bytes: of a rank while it works on a block.
    """

    layout: TimeLayout
    comm: MPI.Intracomm
    block: Decomposition
    ranks_per_block: int
    why: str
    memory_bytes: int

    @property
    def survey(self) -> Survey:
        return self.layout.survey

    def summary(self) -> list[str]:
        """What a user wants to know before the run, a line each."""
        layout, grid = self.layout, self.layout.grid
        group = Group.of(0, self.comm.size, self.ranks_per_block)
        places = " x ".join(str(grid.shape[a]) for a in grid.axes[:-1])
        first, last = grid.origin[2], grid.upper[2]
        ranks = number_of(self.comm.size, "rank")
        shared = (
            f"{ranks}, each with its part of the image and all traces"
            if group.groups == 1
            else f"{ranks} in {group.groups} groups with blocks of traces of their own"
        )
        return [
            f"image of {places} places, {grid.shape[2]} samples from {first:g} to {last:g} s; "
            f"{layout.traces} traces in {number_of(len(layout.blocks), 'block')}",
            f"{shared}, {bytes_in_words(self.memory_bytes)} on rank 0 ({self.why})",
        ]


def block_bytes(layout: TimeLayout, ranks: int, bank: int | None = None) -> dict[str, int]:
    """Bytes of a rank of `ranks` that share the largest block, by part: while its velocities are read, or while traces
    are summed, whichever takes more.

    bank: bytes of the filter bank of a trace; None: not known, the most that those of some traces may take.
    """
    columns = 1
    for shots in layout.blocks:
        lo, hi = layout.window(shots)
        columns = max(columns, (hi[0] - lo[0]) * (hi[1] - lo[1]))
    own = -(-columns // ranks) * segments(layout.grid.shape[2])
    eta = 0 if layout.velocities.elliptic else 1
    fine = FINER * layout.series.samples * BATCH_TRACES
    working = {
        "image": 2 * len(layout.volumes) * own * SAMPLE_BYTES,  # as it is summed, and without the ends of its columns
        "velocities": (1 + eta) * own * SAMPLE_BYTES,
        "filter banks": WORKSPACE_BYTES if bank is None else max(1, min(WORKSPACE_BYTES // bank, BATCH_TRACES)) * bank,
        "traces": 2 * fine * SAMPLE_BYTES + READING_BYTES * fine // ranks,
    }
    return max(working, {"velocities": velocity_bytes(layout, own)}, key=_sum)


def velocity_bytes(layout: TimeLayout, samples: int) -> int:
    """Bytes of so many samples of the velocities while they are read: in double, in float, and what is computed."""
    each = (1 if layout.velocities.elliptic else 2) * VELOCITY_BYTES
    return each * samples + WORKING_BYTES * min(samples, SLAB_VALUES)


def image_bytes(layout: TimeLayout, ranks: int) -> dict[str, int]:
    """Bytes of a rank while the velocities of its part are read, or while images are added up, whichever takes more;
    fewer are needed when they are written."""
    cells = -(-math.prod(layout.grid.shape) // ranks)
    adding = {
        "sums": (len(layout.volumes) + 4) * cells * SAMPLE_BYTES,
        "sum under way": summing_bytes(cells),
        "velocities": cells * SAMPLE_BYTES,
        "coverage": WORKING_BYTES * min(cells, SLAB_VALUES),
    }
    return max(adding, {"velocities": velocity_bytes(layout, cells)}, key=_sum)


def _sum(parts: dict[str, int]) -> int:
    return sum(parts.values())


def ranks_of_a_block(layout: TimeLayout, size: int, room: float) -> tuple[int, str]:
    """Ranks that work on one block, of `size` with `room` bytes each, and why. Raises InputError where an image has too
    few places for them."""
    work, blocks = layout.survey.time_migration.work, len(layout.blocks)
    if size == 1:
        return 1, "one rank"
    if work == "tiles":
        return size, 'as work = "tiles" says'
    if work == "blocks":
        return 1, 'as work = "blocks" says'
    for ranks in divisors(size):
        if sum(block_bytes(layout, ranks).values()) <= room and blocks >= size // ranks:
            why = "fewer do not fit into memory" if blocks >= 2 * size // ranks else f"there are {blocks} blocks"
            return ranks, why if ranks > 1 else f"{blocks} blocks, each of which fits into the memory of a rank"
    return size, "fewer do not fit into memory"


def prepare(
    survey: Survey, comm: MPI.Intracomm, context: Context, before_reading: Callable[[TimeLayout], None]
) -> TimeSetup:
    """Collective. Make a time migration ready; notes and a summary for people.

    before_reading: collective; called when the files are known.

    Raises InputError, the same on all ranks, for whatever is wrong with it.
    """
    with ledger.phase("set up"):
        usable = usable_memory(comm, survey.parallel.memory_budget)
        with collective_errors(comm):
            layout = time_layout(survey, comm.size)
        acquisition = treated(survey, layout.acquisition, comm, find_silent=layout.weighted)
        if layout.weighted:
            acquisition = with_dead_traces(acquisition, comm)
        more = acquisition.notes[len(layout.acquisition.notes) :]
        layout = replace(layout, acquisition=acquisition, notes=layout.notes + more)
        with collective_errors(comm):
            layout = replace(layout, notes=layout.notes + layout.velocities.hard_notes())
            if layout.weighted:
                _ = layout.shares  # now, as part of the set-up: minutes where there are tens of millions of traces
        before_reading(layout)
        room = memory_of_rank(comm, usable)
        with collective_errors(comm):
            ranks, why = ranks_of_a_block(layout, comm.size, room)
            nx, ny, nt = layout.grid.shape
            try:
                tiles((nx, ny, nt), ranks)
                block = Decomposition(layout.grid.shape, tiles((nx, ny, nt), comm.size), comm.rank)
            except InputError as error:
                raise InputError(f"{survey.path}: [time_migration] work: {error}") from None
        memory = require_memory(block_bytes(layout, ranks), usable, comm, ADVICE)
        require_memory(image_bytes(layout, comm.size), usable, comm, ADVICE)
    setup = TimeSetup(layout, comm, block, ranks, why, memory)
    with ledger.phase("set up"):
        context.tell(layout.notes, survey.path)
    for line in setup.summary():
        context.say(line)
    return setup
