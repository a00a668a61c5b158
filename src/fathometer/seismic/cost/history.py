"""The history that a run would choose, and the memory of its ranks, on a machine that is only described."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Decomposition
from fathometer.plan.machine_file import Machine
from fathometer.seismic.history.choice import HistoryChoice, HistoryShare, Rates
from fathometer.seismic.history.encoding import record_bytes
from fathometer.seismic.history.strategies import PLANNED_STORES, choose_history
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.memory import state_bytes

PLANNING_WORK = 1e6  # most operations to find a checkpoint schedule: many layouts are compared


def memory_beside_history(
    layout: SurveyLayout, block: Decomposition, time: TimeAxis, machine: Machine
) -> dict[str, int]:
    """Bytes of a rank without its history, by part."""
    return {"process": round(machine.process_bytes)} | layout.wavefield_bytes(block) | layout.shot_bytes(block, time)


def second_wavefield_bytes(layout: SurveyLayout, block: Decomposition) -> int:
    """Bytes of a second wavefield in the same model."""
    parts = layout.wavefield_bytes(block)
    return parts["wavefields"] + parts["absorbing layers"]


def predicted_history(
    layout: SurveyLayout,
    time: TimeAxis,
    blocks: Sequence[Decomposition],
    memories: Sequence[dict[str, int]],
    machine: Machine,
    ranks_per_node: int,
    store: str | None,
    rates: Rates,
) -> HistoryChoice:
    """The history that a run would choose; in memory, and marked as not fitting, where nothing fits.

    Args:
        memories: memory_beside_history of each of the blocks. store: instead of the survey's [history] store.
    """
    table = layout.survey.history
    if store is not None:
        table = table.model_copy(update={"store": PLANNED_STORES[store][0]})
    node_budget = layout.survey.parallel.memory_budget * machine.memory_bytes_per_node
    shares = []
    for block, memory in zip(blocks, memories, strict=True):
        shares.append(
            HistoryShare(
                max(0.0, node_budget / ranks_per_node - sum(memory.values())),
                math.inf if table.memory_budget == "auto" else table.memory_budget / ranks_per_node,
                math.inf if table.disk_budget == "auto" else table.disk_budget / ranks_per_node,
                layout.snapshot_bytes(block),
                record_bytes(layout.image_shape(block), layout.dtype),
                state_bytes(layout.physics, block, layout.dtype) + layout.wavefield_bytes(block)["absorbing layers"],
                second_wavefield_bytes(layout, block),
            )
        )
    try:
        return choose_history(table, time.snapshots, shares, lambda: rates, str(layout.survey.path), PLANNING_WORK)
    except InputError as error:
        needed, n = max(time.snapshots * share.snapshot for share in shares), time.snapshots
        return HistoryChoice(
            store="memory",
            encoding="float32",
            states_on_disk=False,
            snapshots=n,
            kept=n,
            states=0,
            room=n,
            memory_bytes=needed,
            reason=str(error),
            fits=False,
        )
