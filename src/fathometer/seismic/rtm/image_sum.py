"""The image of a survey: what its shots have contributed, summed over all groups of ranks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fathometer.base import ledger
from fathometer.runs.held_sums import HeldSums
from fathometer.runs.journal import Journal
from fathometer.runs.summation import Terms, summing_bytes, total
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.rtm.illumination import Illumination, illumination_of
from fathometer.seismic.rtm.steps_gain import steps_gain
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.shots.offsets import ALL, volumes_of


def summed_image(
    setup: Setup, journal: Journal, held: HeldSums | None
) -> tuple[dict[str, np.ndarray], Illumination | None]:
    """Collective. The image, those of bins of offset, and the illumination, of all shots that are done, on this rank's
    cells of the whole model (nx, ny, nz); and the level of the illumination where images are divided by it.

    held: their sums that are in memory. Raises FathometerError on all ranks: a partial image is damaged.
    """
    terms = Terms(journal, tuple(journal.sums), tuple(journal.loose), held)
    box = setup.grid.model_box(setup.block)
    with ledger.phase("sum images"):
        names = volumes_of(setup.survey.imaging)
        sums = {name: total(terms, name, box, setup.layout.dtype, setup.comm) for name in names}
        illumination = sums.pop("illumination")
        if ALL not in sums:  # the image of all offsets is the sum of those of the bins
            sums = {ALL: np.add.reduce(list(sums.values()))} | sums
        condition = condition_of(setup.survey.imaging)
        level = illumination_of(illumination, setup.comm) if condition.by_illumination else None
        if level is not None:
            gain = steps_gain(setup.wavelet, setup.time, setup.corrected, setup.grid.two_dimensional)
            level = replace(level, gain=gain)
            for name in list(sums):  # one after the other: its sum goes
                sums[name] = condition.image(sums[name], illumination, level.stabilisation, level.gain)
        return sums | {"illumination": illumination}, level


def image_sum_bytes(layout: SurveyLayout, cells: int) -> dict[str, int]:
    """Memory that a rank takes for its cells of the whole image while the contributions of shots are added up."""
    imaging = layout.survey.imaging
    volumes = len(volumes_of(imaging)) + (imaging.gathers != "none") + condition_of(imaging).by_illumination
    return {"sums of shots": volumes * cells * layout.dtype.itemsize, "sum under way": summing_bytes(cells)}
