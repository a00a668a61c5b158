"""LOH.1 and LOH.3, a layer over a half space: Day & Bradley (2001), Bull. Seism. Soc. Am. 91; Day et al. (2001, 2003),
Tests of 3D elastodynamic codes (SCEC / PEER). LOH.3 is LOH.1 with attenuation.

A double couple Mxy at (0, 0, 2000) m; the receiver of the comparisons is at (6000, 8000, 0) m.
"""

from dataclasses import dataclass

import numpy as np
from layered_kernels import Layer
from source_functions import Bell, Brune
from wavenumber_integration import seismograms

LAYERS = (Layer(1000, 4000, 2000, 2600), Layer(0, 6000, 3464, 2700))
ATTENUATED = (Layer(1000, 4000, 2000, 2600, 120, 40), Layer(0, 6000, 3464, 2700, 155.9, 69.3))
REFERENCE = 2.5  # Hz, of the velocities of LOH.3
SOURCE = (0.0, 0.0, 2000.0)
RECEIVER = (6000.0, 8000.0, 0.0)
MOMENT = 1e18 * np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
RISE = 0.1


@dataclass(frozen=True)
class Filtered:
    """The moment 1 - (1 + t/T) exp(-t/T) after a zero-phase Gaussian filter of that standard deviation in s."""

    width: float

    def spectrum(self, w):
        """At angular frequencies w in 1/s."""
        return Brune(RISE).spectrum(w) * Bell(0, self.width).spectrum(w)


def loh1(t, width=0.06, receivers=(RECEIVER,), layers=LAYERS, **keys):
    """Velocities (receivers, 3, times) in m/s along x, y, z after a Gaussian filter of standard deviation `width` in s.

    Filter the seismograms to compare with the same one. t: s, from 0 on. keys: of `seismograms`.
    """
    highest = 5.3 / (2 * np.pi * width)  # there the filter is 1e-6
    keys = {"moment": MOMENT, "reference": REFERENCE} | keys
    return seismograms(layers, SOURCE, receivers, t, Filtered(width), highest, **keys)
