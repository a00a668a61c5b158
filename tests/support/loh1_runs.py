"""LOH.1 through the product: the survey of examples/loh1.py beside the wavenumber integration (loh1.py).

The program's moment rate is Brune's up to 1.5 Hz and gone at 3 Hz, its traces are cut to 2.25 Hz; both are done to the
reference too, and misfits are those of 0.1 to 1.5 Hz.
"""

from __future__ import annotations

import importlib.util
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elastic_product import Product, product_of
from loh1_oracle import LAYERS, MOMENT, RISE, SOURCE
from source_functions import Brune
from wavenumber_integration import seismograms

from fathometer.seismic.survey import load_survey
from fathometer.seismic.traces.resampling import LowPass

EXAMPLE = Path(__file__).parents[2] / "examples" / "loh1.py"
LOWEST, HIGHEST = 0.1, 1.5  # Hz, of the misfits
COMPONENTS = ("x", "y", "z")


@dataclass(frozen=True)
class LowPassedMoment:
    """The moment 1 - (1 + t/T) exp(-t/T) after a zero-phase low-pass, `delay` s later."""

    kernel: LowPass
    delay: float

    def spectrum(self, w):
        """At angular frequencies w in 1/s."""
        t = np.linspace(-self.kernel.half_width, self.kernel.half_width, 4001)
        filtered = np.exp(-1j * w[:, None] * t) @ self.kernel(t) * (t[1] - t[0])
        return Brune(RISE).spectrum(w) * filtered * np.exp(-1j * w * self.delay)


def example():
    """The module examples/loh1.py."""
    spec = importlib.util.spec_from_file_location("loh1_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def modelled(spacing: float, *settings: str, box=None) -> Product:
    """The example's survey. settings: of keys, as --set takes them. box: corners of the model, if not its own, with
    the receivers in it."""
    module = example()
    if box is not None:
        module.LOW, module.HIGH = box
        inside = min(box[1][0] / 600, box[1][1] / 800)
        module.RECEIVERS = min(int(inside), module.RECEIVERS)
    with tempfile.TemporaryDirectory() as name:
        path = module.write_inputs(Path(name), spacing)
        return product_of(load_survey(path, settings))


def reference(found: Product) -> np.ndarray:
    """Velocities (3, receivers, samples) at the receivers and as recorded."""
    f = LowPassedMoment(LowPass(HIGHEST, 2 * HIGHEST), found.lead)
    receivers = found.setup.run.acquisition.shots[0].receivers
    exact = seismograms(LAYERS, SOURCE, receivers, found.fine_times, f, 2 * HIGHEST, moment=MOMENT)
    return found.as_recorded(exact.swapaxes(0, 1))
