"""Activity coefficients of aqueous species.

With I = 1/2 sum z² c over all species (mol/kg) and s = sqrt(I),

    log10 gamma = -A z² (s / (1 + s) - 0.3 I)     Davies (1962), Ion Association, Butterworths
    log10 gamma = -A z² s / (1 + B å s) + b I     extended Debye-Hückel; with b that of Truesdell and Jones (1974)
    log10 gamma = b I                             uncharged species, with both; b is 0.1 where nothing else is said
    gamma = 1                                     ideal

as in PHREEQC (Parkhurst and Appelo 2013), whose forms these are. The second with å = 1/B and b = 0.3 A z² is the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.apps.reactive.chemistry.system import ChemicalSystem

MODELS = ("davies", "debye-hueckel", "ideal")
LN10 = np.log(10.0)


def ln_gamma(system: ChemicalSystem, root: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """ln gamma of all species, primary ones first, and its derivative by s = sqrt(I), which is finite at I = 0.

    root: (...), s, real or complex. Both results: (..., n + m).
    """
    s = np.asarray(root)[..., np.newaxis]
    if system.activity == "ideal":
        nothing = np.zeros(s.shape[:-1] + system.charge.shape, s.dtype)
        return nothing, nothing
    z2 = system.charge**2
    davies = system.activity == "davies"
    width = np.ones_like(z2) if davies else system.b * system.ion_size
    linear = np.where(z2 > 0, 0.3 * system.a * z2, system.ion_b) if davies else system.ion_b
    below = 1 + width * s
    log10 = -system.a * z2 * s / below + linear * s**2
    slope = -system.a * z2 / below**2 + 2 * linear * s
    return LN10 * log10, LN10 * slope
