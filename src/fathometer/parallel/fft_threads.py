"""The threads of SciPy's transforms, on the cpus of a rank."""

from __future__ import annotations

import itertools
import os

import numpy as np
from scipy import fft

from fathometer import _native


def make_fft_threads(workers: int) -> None:
    """Have SciPy make the threads of its transforms on all cpus of this rank: it does that once, at the first one, and
    they inherit the only cpu of the thread that calls it."""
    if workers == 1:
        return
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(itertools.chain(*_native.thread_binding())) or own)
    try:
        fft.rfft(np.zeros((16 * workers, 16)), axis=1, workers=workers)
    finally:
        os.sched_setaffinity(0, own)
