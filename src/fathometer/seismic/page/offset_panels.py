"""Panels of common-offset images in time: all bins of offset at one place, and sections of a near, a middle and a far
bin. Where the velocities are right an event lies at one time in all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import FathometerError
from fathometer.pictures.plane import downsampled
from fathometer.pictures.volume import BALANCED_LABEL
from fathometer.report.decimation import averaged, encoded, factors_for
from fathometer.runs.application import Panel
from fathometer.seismic.page.gather_panel import MOST_SAMPLES, MOST_TRACES
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.page.time_volumes import TWO_WAY_TIME, TimeVolume, Values, faded, time_volume
from fathometer.seismic.page.volume_panel import MOST_PROPERTY, balanced_codes
from fathometer.seismic.shots.offsets import bins_of, name_of

Bin = tuple[float, float]  # from, to: m
SHOWN = 3  # bins whose sections are shown


@dataclass(frozen=True)
class Place:
    """A column of an image: its numbers along x and y, its position, m, and whether the image is a section."""

    column: tuple[int, int]
    x: float
    y: float
    flat: bool

    def __str__(self) -> str:
        return f"x = {self.x:g} m" + ("" if self.flat else f", y = {self.y:g} m")


def fullest(run: RunData) -> Place:
    """The place with the largest fold over all times; of equal ones that nearest to the middle of the image."""
    with time_volume(run, "fold") as fold:
        nx, ny, nt = fold.shape
        fx, fy, _ = factors_for((nx, ny, 1), MOST_PROPERTY)
        sums = averaged(fold.read, fold.shape, (fx, fy, nt))[:, :, 0]
    along, across = np.nonzero(sums >= sums.max() * (1 - 1e-6))
    away = (fx * (along + 0.5) - nx / 2) ** 2 + (fy * (across + 0.5) - ny / 2) ** 2
    best = int(np.argmin(away))
    column = int(along[best]) * fx + fx // 2, int(across[best]) * fy + fy // 2
    x, y = (fold.origin[axis] + fold.spacing[axis] * column[axis] for axis in range(2))
    return Place(column, x, y, ny == 1)


def offset_gather_panel(run: RunData, place: Place) -> Panel:
    """All bins at one place, side by side over time."""
    bins = bins_of(run.survey.imaging)
    traces = []
    for edges in bins:
        with time_volume(run, name_of(*edges)) as volume:
            (x, y), nt = place.column, volume.shape[2]
            traces.append(volume.read((x, y, 0), (x + 1, y + 1, nt)).reshape(nt))
    velocity = _velocities(run, (place.column[0], place.column[0] + 1), place.column[1])
    gather, rock = faded(
        np.array(traces),
        None if velocity is None else np.repeat(velocity, len(bins), axis=0),
        volume.origin[2],
        volume.spacing[2],
    )
    shown, fold = _coarser(gather)
    mask = rock[:, : shown.shape[1] * fold : fold]
    codes = balanced_codes(shown, mask).T
    return {
        "kind": "traces",
        "name": "offset-gather",
        "title": f"Images of the bins of offset at {place}",
        "caption": "Where the fold is largest. Black: positive; balanced over time and clipped for display. Events "
        "that rise with offset have been migrated with too low a velocity, those that fall with too high a one.",
        "label": "offset (m)",
        "vertical": TWO_WAY_TIME,
        "scale": {"low": "\N{MINUS SIGN}1", "high": "1", "label": BALANCED_LABEL},
        "smooth": False,
        "x": [bins[0][0], *(far for _, far in bins)],
        "time": _axis(volume, fold),
        "shape": list(codes.shape),
        "codes": encoded(codes),
    }


def offset_sections_panel(run: RunData, place: Place) -> Panel:
    """Sections along x through one place of a near, a middle and a far bin, with one balance and clip."""
    bins = bins_of(run.survey.imaging)
    chosen = [bins[n] for n in sorted({0, len(bins) // 2, len(bins) - 1})][:SHOWN]
    sections = []
    for edges in chosen:
        with time_volume(run, name_of(*edges)) as volume:
            nx, _, nt = volume.shape
            y = place.column[1]
            sections.append(volume.read((0, y, 0), (nx, y + 1, nt)).reshape(nx, nt))
    velocity = _velocities(run, (0, nx), y)
    every = -(-nx // MOST_TRACES)
    faded_in = [
        faded(part[::every], None if velocity is None else velocity[::every], volume.origin[2], volume.spacing[2])
        for part in sections
    ]
    coarse = [_coarser(part) for part, _ in faded_in]
    fold, width, length = coarse[0][1], coarse[0][0].shape[0], coarse[0][0].shape[1]
    rock = np.concatenate([mask[:, : length * fold : fold] for _, mask in faded_in])
    codes = balanced_codes(np.concatenate([part for part, _ in coarse]), rock)
    return {
        "kind": "sections",
        "name": "offset-sections",
        "title": "Sections of bins of offset" + ("" if place.flat else f", y = {place.y:g} m"),
        "caption": "Black: positive; balanced over time and clipped for display, all alike.",
        "labels": ["x (m)", TWO_WAY_TIME],
        "scale": {"low": "\N{MINUS SIGN}1", "high": "1", "label": BALANCED_LABEL},
        "x": [volume.origin[0], volume.spacing[0] * every],
        "time": _axis(volume, fold),
        "shape": [length, width],
        "sections": [
            {"name": f"{near:g} to {far:g} m", "codes": encoded(codes[n * width : (n + 1) * width].T)}
            for n, (near, far) in enumerate(chosen)
        ],
    }


def _velocities(run: RunData, x: tuple[int, int], y: int) -> Values | None:
    """RMS velocities (columns, nt), m/s, of some columns; None where they are not available."""
    try:
        with time_volume(run, "velocity") as velocity:
            nt = velocity.shape[2]
            return velocity.read((x[0], y, 0), (x[1], y + 1, nt)).reshape(-1, nt)
    except (FathometerError, OSError):  # reported by the panel of the image
        return None


def _coarser(columns: Values) -> tuple[npt.NDArray[np.float64], int]:
    """Means (columns, n) over so many samples that at most MOST_SAMPLES are left, and how many."""
    shown, (_, fold) = downsampled(columns, max(MOST_SAMPLES, len(columns)))
    return np.asarray(shown, np.float64), fold


def _axis(volume: TimeVolume, fold: int) -> list[float]:
    """First time and step of means over `fold` samples, s."""
    return [volume.origin[2] + (fold - 1) / 2 * volume.spacing[2], fold * volume.spacing[2]]
