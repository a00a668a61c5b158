"""Groups of ranks, each with shots of its own: the fewest ranks a shot that the memory allows.

Shots need nothing of each other, so they are the better parallelism: within a group ranks exchange halos at each step.
"""

from __future__ import annotations

import math
from dataclasses import replace

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Decomposition, divisors
from fathometer.seismic.history.encoding import PLAIN, record_bytes
from fathometer.seismic.history.strategies import preferred_store
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.traces.time_axis import TimeAxis

COST_OF_DOUBLING = 0.15  # of the time of a shot: what each doubling of its ranks costs
SAMPLED_RANKS = 16  # blocks whose bytes are counted, spread over a group's


def largest_first(layout: SurveyLayout) -> list[Shot]:
    """The shots in the order in which they are begun: so that none is left over at the end that takes long."""
    if layout.survey.imaging.aperture is None:
        return list(layout.acquisition.shots)
    return sorted(layout.acquisition.shots, key=lambda shot: (-layout.cells_of(shot), shot.index))


def ranks_of_a_shot(layout: SurveyLayout, time: TimeAxis, size: int, room: float) -> int:
    """Ranks that work on one shot, of `size`, each of which may take `room` bytes.

    Raises InputError where the survey asks for more ranks than there are.
    """
    keys, shots = layout.survey.parallel, len(layout.acquisition.shots)
    wanted = keys.ranks_per_shot
    if wanted == "all":
        return size
    asked = None if keys.decomposition == "auto" else math.prod(keys.decomposition)
    if wanted != "auto":
        if wanted > size:
            raise InputError(
                f"{layout.survey.path}: [parallel] ranks_per_shot: found {wanted}; allowed: up to the {size} ranks "
                'that are running, "auto" or "all"'
            )
        return wanted
    if asked is not None:
        return min(asked, size)
    best, least, extremes = size, math.inf, {layout.largest, layout.smallest}
    for ranks in sorted({*divisors(size), min(size, -(-size // shots))}):
        if any(bytes_of_a_rank(shot, time, ranks) > room for shot in extremes):
            continue
        groups = size // ranks
        cost = math.ceil(shots / groups) / ranks * (1 + COST_OF_DOUBLING * math.log2(ranks))
        if cost < least:
            best, least = ranks, cost
    return best


def bytes_of_a_rank(layout: SurveyLayout, time: TimeAxis, ranks: int) -> float:
    """What the largest of some ranks needs for a shot; infinite where they cannot share it."""
    try:
        parts = layout.ranks(ranks)
    except InputError:
        return math.inf
    return bytes_of_largest(layout, time, Decomposition(layout.grid.full_shape, parts))


def bytes_of_largest(layout: SurveyLayout, time: TimeAxis, shared: Decomposition) -> float:
    """What the largest of the ranks that share a grid needs for a shot, its history in memory included where it may be
    kept there."""
    history = layout.survey.history
    encoding = PLAIN if history.encoding == "auto" else history.encoding
    needs = [0.0]
    ranks = shared.size
    for rank in {ranks * n // min(ranks, SAMPLED_RANKS) for n in range(min(ranks, SAMPLED_RANKS))}:
        block = replace(shared, rank=rank)
        own = sum((layout.wavefield_bytes(block) | layout.shot_bytes(block, time)).values())
        if layout.imaging and preferred_store(history).all_in_memory:
            own += time.snapshots * record_bytes(layout.image_shape(block), layout.dtype)[encoding]
        needs.append(own)
    return max(needs)


def mean_share(layout: SurveyLayout, largest: SurveyLayout) -> float:
    """Cells of a shot's grid over those of the largest, the mean of all shots."""
    if layout.survey.imaging.aperture is None:
        return 1.0
    shots = layout.acquisition.shots
    return sum(layout.cells_of(shot) for shot in shots) / len(shots) / math.prod(largest.grid.full_shape)
