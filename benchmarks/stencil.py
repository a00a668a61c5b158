"""The propagator against the figures that it should reach, each a ratio measured in one run, in turns."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from mpi4py import MPI

from benchmarks.table import Table
from fathometer import _native
from fathometer.lab.statistics import interleave
from fathometer.lab.stencil import FEWEST_ARRAYS, ITEM, TRIAD_ELEMENTS
from fathometer.parallel.launch import LAUNCHED
from fathometer.seismic.homogeneous import ISOTROPIC, VTI, Bare, Homogeneous
from fathometer.seismic.survey import Tuning
from fathometer.seismic.tiling import PLAIN, Tiling
from fathometer.seismic.tuning import Tuned, tune

STEPS = 12
"""Steps of one measurement; their first sweeps start from nothing in the cache."""
