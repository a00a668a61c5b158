"""Counts of traces by rank, from the positions of the receivers."""

from __future__ import annotations

import math

import numpy as np

from fathometer.parallel.decomposition import Index3, split
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.waves.points import HALF_WIDTH

SAMPLE_BYTES = 4  # of a trace in a file: float32


def trace_counts(layout: SurveyLayout, ranks: Index3) -> tuple[int, int]:
    """Traces of all shots, and those of the rank whose block holds the most receivers."""
    by_rank_of_spread: dict[int, np.ndarray] = {}  # many shots share their receivers
    by_rank = np.zeros(math.prod(ranks), np.int64)
    for shot in layout.acquisition.shots:
        spread = id(shot.receivers)
        if spread not in by_rank_of_spread:
            places = [
                np.searchsorted(starts, cells, "right") - 1
                for starts, cells in zip(_block_starts(layout, ranks), layout.nearest_cells(shot), strict=True)
            ]
            by_rank_of_spread[spread] = np.bincount(np.ravel_multi_index(places, ranks), minlength=len(by_rank))
        by_rank += by_rank_of_spread[spread]
    return int(by_rank.sum()), int(by_rank.max())


def trace_halo_bytes(layout: SurveyLayout, ranks: Index3) -> int:
    """Bytes of the samples of receivers that lie within HALF_WIDTH cells of a cut: the ranks on both sides inject
    them."""
    near_cuts_of_spread: dict[int, int] = {}
    near_cuts = 0
    for shot in layout.acquisition.shots:
        spread = id(shot.receivers)
        if spread not in near_cuts_of_spread:
            near_cuts_of_spread[spread] = sum(
                int(((cells >= cut - HALF_WIDTH) & (cells < cut + HALF_WIDTH)).sum())
                for starts, cells in zip(_block_starts(layout, ranks), layout.nearest_cells(shot), strict=True)
                for cut in starts[1:]
            )
        near_cuts += near_cuts_of_spread[spread]
    return near_cuts * layout.acquisition.samples * SAMPLE_BYTES


def _block_starts(layout: SurveyLayout, ranks: Index3) -> list[list[int]]:
    """The first cell of each block, along x, y, z."""
    return [[split(n, p, c)[0] for c in range(p)] for n, p in zip(layout.grid.full_shape, ranks, strict=True)]
