"""The image of a survey: what its shots have contributed, summed over all groups of ranks."""

from __future__ import annotations

import numpy as np

from fathometer.base import ledger
from fathometer.runs.journal import Journal
from fathometer.runs.summation import Terms, summing_bytes, total
from fathometer.seismic.rtm.conditions import condition_of
from fathometer.seismic.setup.layout import SurveyLayout
from fathometer.seismic.setup.setup import Setup
from fathometer.seismic.shots.offsets import ALL, volumes_of


def summed_image(setup: Setup, journal: Journal) -> dict[str, np.ndarray]:
    """Collective. The image, those of bins of offset, and the illumination, of all shots that are done, on this rank's
    cells of the whole model (nx, ny, nz).

    Raises FathometerError on all ranks: a partial image is damaged.
    """
    terms = Terms(journal, tuple(journal.sums), tuple(journal.loose))
    box = setup.grid.model_box(setup.block)
    with ledger.phase("sum images"):
        names = volumes_of(setup.survey.imaging)
        sums = {name: total(terms, name, box, setup.layout.dtype, setup.comm) for name in names}
        illumination = sums.pop("illumination")
        if ALL not in sums:  # the image of all offsets is the sum of those of the bins
            sums = {ALL: np.add.reduce(list(sums.values()))} | sums
        image = condition_of(setup.survey.imaging).image
        images = {name: image(product, illumination, setup.comm) for name, product in sums.items()}
        return images | {"illumination": illumination}


def image_sum_bytes(layout: SurveyLayout, cells: int) -> dict[str, int]:
    """Memory that a rank takes for its cells of the whole image while the contributions of shots are added up."""
    imaging = layout.survey.imaging
    volumes = len(volumes_of(imaging)) + (imaging.gathers != "none" or condition_of(imaging).makes_new_image)
    return {"sums of shots": volumes * cells * layout.dtype.itemsize, "sum under way": summing_bytes(cells)}
