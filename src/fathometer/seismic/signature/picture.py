"""Picture of a wavelet's estimate: aligned reflections, the wavelet beside their stack, amplitude spectra."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fathometer.pictures import sheet
from fathometer.pictures.colours import symmetric_range
from fathometer.seismic.signature.driver import SurveyWavelet
from fathometer.seismic.signature.sea_floor import BEFORE
from fathometer.storage.traces.notches import WATER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT, GAP = 4.0, 4.2, 0.95  # inches of a panel, and between them
DATA, FIT = "#4a5568", "#c53030"
LEAST_DB = -60.0


def wavelet_picture(wavelet: SurveyWavelet, path: Path) -> None:
    """Draw the estimate into a PNG. Raises FathometerError where it cannot be written."""
    with sheet.style():
        width = sheet.LEFT + 3 * WIDTH + 2 * GAP + sheet.RIGHT
        title = f"Source wavelet of {wavelet.survey.path.name}"
        figure = sheet.sheet(width, sheet.TOP + 0.25 + HEIGHT + sheet.BOTTOM, title, note=wavelet.holds)
        panels = (_reflections, _wavelets, _spectra)
        for number, draw in enumerate(panels):
            left = sheet.LEFT + number * (WIDTH + GAP)
            draw(sheet.place(figure, left, sheet.TOP + 0.25, WIDTH, HEIGHT), wavelet)
        sheet.save(figure, path)


def _times(wavelet: SurveyWavelet, count: int) -> np.ndarray:
    """Times (count,) of samples of the pieces after the onset, s."""
    return np.asarray(wavelet.estimate.interval * np.arange(count) - BEFORE - wavelet.estimate.onset)


def _reflections(axes: Axes, wavelet: SurveyWavelet) -> None:
    pieces = wavelet.aligned.pieces
    times = _times(wavelet, pieces.shape[1])
    clip = symmetric_range([pieces], 99.0)
    extent = (0.5, len(pieces) + 0.5, times[-1], times[0])
    axes.imshow(pieces.T, cmap="gray_r", vmin=-clip, vmax=clip, extent=extent, aspect="auto")
    axes.axhline(0.0, color=FIT, linewidth=0.8)
    axes.set_title("sea-floor reflections, aligned", loc="left")
    axes.set_xlabel("trace")
    axes.set_ylabel("time after the onset (s)")


def _wavelets(axes: Axes, wavelet: SurveyWavelet) -> None:
    estimate, stack = wavelet.estimate, wavelet.aligned.stack
    # The stack is of the files' sign, and is drawn with that of the traces as they are migrated.
    stack = -stack if wavelet.reversed else stack
    own = estimate.interval * np.arange(len(estimate.series))
    scale = np.abs(stack).max()
    axes.plot(_times(wavelet, len(stack)), stack / scale, color=DATA, label="stack")
    axes.plot(own, estimate.recorded, color=FIT, linewidth=1.0, linestyle="--", label="as in the traces")
    axes.plot(own, estimate.series, color=FIT, label="written")
    axes.axhline(0.0, color=sheet.INK, linewidth=0.5)
    axes.axvline(0.0, color=sheet.INK, linewidth=0.5)
    axes.set_xlim(-0.5 * BEFORE, own[-1])
    axes.set_title("wavelet, minimum phase", loc="left")
    axes.set_xlabel("time after the onset (s)")
    axes.legend(loc="upper right")


def _spectra(axes: Axes, wavelet: SurveyWavelet) -> None:
    estimate = wavelet.estimate
    for amplitude, colour, label in ((estimate.stacked, DATA, "stack"), (estimate.amplitude, FIT, "written")):
        decibels = 20.0 * np.log10(np.maximum(amplitude, 10.0 ** (LEAST_DB / 20.0)))
        axes.plot(estimate.frequency, decibels, color=colour, label=label)
    for depth in (wavelet.source, wavelet.receiver):
        notch = 0.5 * WATER / depth if depth > 0.0 else np.inf
        if notch < estimate.frequency[-1]:
            axes.axvline(notch, color=sheet.INK, linewidth=0.6, linestyle=":", label=f"notch of {depth:.4g} m")
    axes.axvspan(*estimate.band, color="#00000010")
    axes.set_xlim(0.0, estimate.frequency[-1])
    axes.set_ylim(LEAST_DB, 3.0)
    axes.set_title("amplitude (dB); shaded: the band of the traces", loc="left")
    axes.set_xlabel("frequency (Hz)")
    axes.legend(loc="lower left")
