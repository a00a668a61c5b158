"""What is done to traces before they are summed: the derivative that belongs to the sum, and finer samples.

The sum of a trace along a diffraction curve integrates it: a derivative (3D) or a half derivative (2D) undoes that.
Waves of line sources are half integrals themselves, which another half derivative undoes (docs/theory.md). All and the
finer sampling are done in the frequency domain, of each trace by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import fft

FINER = 4  # samples for one of the trace: linear interpolation between them loses at most 5 %, at the Nyquist frequency


Summed = Literal["space", "points", "lines"]  # traces of a 3D survey, or, along a line, of point or line sources
# Power of ω, phase in units of π: -iω, its root, and that root times the root of iω, which undoes the half integral.
RESPONSES: dict[Summed, tuple[float, float]] = {"space": (1.0, -0.5), "points": (0.5, -0.25), "lines": (1.0, 0.0)}


@dataclass(frozen=True)
class SeriesFilter:
    """The filter of traces.

    Attributes:
        interval: of the traces, s. samples: of a trace. summed: what the sum is over.
    """

    interval: float
    samples: int
    summed: Summed

    @property
    def _length(self) -> int:
        return int(fft.next_fast_len(2 * self.samples, real=True))  # what a filter spreads does not come round

    @property
    def _response(self) -> npt.NDArray[np.complex128]:
        """1/s or 1/s^½; the highest frequency, whose sign is not known, is left out."""
        omega = 2 * np.pi * fft.rfftfreq(self._length, self.interval)
        power, phase = RESPONSES[self.summed]
        response = omega**power * np.exp(1j * np.pi * phase)
        if self._length % 2 == 0:
            response[-1] = 0.0
        return np.asarray(response, np.complex128)

    def __call__(self, traces: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
        """Traces (n, samples) filtered and at FINER times as many samples, float32 (n, FINER samples)."""
        spectrum = fft.rfft(np.asarray(traces, np.float64), self._length) * self._response
        fine = fft.irfft(spectrum, FINER * self._length) * FINER
        return np.ascontiguousarray(fine[:, : FINER * self.samples], np.float32)

    def transposed(self, fine: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
        """The transpose: traces (n, samples), float32, from fine ones (n, FINER samples)."""
        spectrum = fft.rfft(np.asarray(fine, np.float64), FINER * self._length)[:, : self._length // 2 + 1]
        traces = fft.irfft(spectrum * np.conj(self._response), self._length)
        return np.ascontiguousarray(traces[:, : self.samples], np.float32)
