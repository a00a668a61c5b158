"""The history that a run would choose, and the memory of its ranks, on a machine that is only described."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Decomposition
from fathometer.plan.machine_file import Machine
from fathometer.seismic.history.card import CARD_STORES
from fathometer.seismic.history.choice import HistoryChoice, HistoryShare, Rates
from fathometer.seismic.history.encoding import record_bytes
from fathometer.seismic.history.strategies import PLANNED_STORES, STORES, choose_history
from fathometer.seismic.setup.processor import CARD_SHARE, ON_CARD, card_parts
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.shots.offsets import volumes_of
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.waves.memory import state_bytes

PLANNING_WORK = 1e6  # most operations to find a checkpoint schedule: many layouts are compared


def memory_beside_history(
    layout: SurveyLayout, block: Decomposition, time: TimeAxis, machine: Machine
) -> dict[str, int]:
    """Bytes of a rank of the host without its history, by part."""
    process = {"process": round(machine.process_bytes + (machine.card.process_bytes if machine.card else 0.0))}
    return process | _of_host(layout, block, machine) | layout.shot_bytes(block, time, machine.card is not None)


def second_wavefield_bytes(layout: SurveyLayout, block: Decomposition, machine: Machine) -> int:
    """Bytes of the host of a second wavefield in the same model."""
    parts = _of_host(layout, block, machine)
    return parts["wavefields"] + parts["absorbing layers"]


def _of_host(layout: SurveyLayout, block: Decomposition, machine: Machine) -> dict[str, int]:
    """Bytes of a wavefield that are not on a graphics card, by part."""
    on_card = ON_CARD if machine.card is not None else ()
    return {name: 0 if name in on_card else bytes for name, bytes in layout.wavefield_bytes(block).items()}


def card_room(machine: Machine, ranks_per_card: int) -> float:
    """Bytes of a graphics card that each of its ranks may take; 0 without cards."""
    return CARD_SHARE * machine.card.memory_bytes / ranks_per_card if machine.card is not None else 0.0


def _shares_of_card(
    layout: SurveyLayout, block: Decomposition, machine: Machine, ranks_per_card: int
) -> tuple[int, int]:
    """Bytes of a card that are left for the history, and that a second wavefield takes there; 0 without cards."""
    if machine.card is None:
        return 0, 0
    taken, twin = (sum(card_parts(layout, block, n).values()) for n in (len(volumes_of(layout.survey.imaging)), 0))
    return max(0, int(card_room(machine, ranks_per_card)) - taken), twin


def predicted_history(
    layout: SurveyLayout,
    time: TimeAxis,
    blocks: Sequence[Decomposition],
    memories: Sequence[dict[str, int]],
    machine: Machine,
    ranks_per_node: int,
    ranks_per_card: int,
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
    stores = STORES if machine.card is None else CARD_STORES
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
                second_wavefield_bytes(layout, block, machine),
                *_shares_of_card(layout, block, machine, ranks_per_card),
            )
        )
    try:
        where = str(layout.survey.path)
        return choose_history(table, time.snapshots, shares, lambda: rates, where, PLANNING_WORK, stores)
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
