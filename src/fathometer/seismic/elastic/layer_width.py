"""How wide the absorbing layers of elastic waves are where the survey leaves that to the program.

What comes back from a layer depends on its width in wavelengths, not on its cells: so the width is meant in metres, and
refined grids get more cells. Beside fluids it is sound in them that comes back most, whose waves are long beside S
waves in soft sediments. Shares found by measurement (docs/verification.md):

    at least LEAST cells, SLOWEST wavelengths of the slowest waves, SOUND wavelengths of the slowest sound in fluids

at the wavelet's peak frequency. LEAST cells are SLOWEST wavelengths where the shortest wave has six cells: grids that
are finer than that keep the layers of the coarser ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import allreduce
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.survey import PmlTable, Survey
from fathometer.seismic.waves.boundary import MultiaxialPml

if TYPE_CHECKING:
    from mpi4py import MPI

LEAST = MultiaxialPml().width  # cells
SLOWEST, SOUND = 4 / 3, 0.8  # wavelengths


@dataclass(frozen=True)
class SlowWaves:
    """The least velocities of a whole model, m/s: of S waves and of sound in fluids; infinity: there is none."""

    shear: float = math.inf
    sound: float = math.inf

    @staticmethod
    def of(vp: np.ndarray, vs: np.ndarray) -> SlowWaves:
        """Of cells, in m/s. Values that are none do not count: the checks of the model refuse them later."""
        solid, fluid = vs[vs > 0], vp[(vs == 0) & (vp > 0)]
        return SlowWaves(float(solid.min(initial=math.inf)), float(fluid.min(initial=math.inf)))

    @property
    def slowest(self) -> float:
        """Whichever is less, m/s."""
        return min(self.shear, self.sound)

    def width(self, frequency: float) -> float:
        """Of layers, m. frequency: of the wavelet's peak, Hz."""
        lengths = (SLOWEST * self.slowest / frequency, SOUND * self.sound / frequency)
        return max((length for length in lengths if math.isfinite(length)), default=0.0)

    def in_words(self, metres: Sequence[float], frequency: float) -> str:
        """Widths of layers along the axes in wavelengths."""
        least, known = min(metres), dict.fromkeys(one for one in (self.slowest, self.sound) if math.isfinite(one))
        words = [f"{least * frequency / velocity:.3g} of {velocity:.4g} m/s" for velocity in known]
        return f"in wavelengths at {frequency:.3g} Hz {' and '.join(words)}" if words else ""


@dataclass(frozen=True)
class LayerWidth:
    """A width of layers that was chosen.

    Attributes:
        cells: on each side. notes: what a user should know. words: wavelengths in it; empty where the survey says how
            many cells there are.
    """

    cells: int
    notes: tuple[str, ...] = ()
    words: str = ""


def is_chosen(survey: Survey) -> bool:
    """Whether the width is left to the program."""
    keys = survey.propagation.boundary
    return not isinstance(keys, PmlTable) or keys.width == "auto"


def names_looked_at(survey: Survey) -> tuple[str, ...]:
    """Properties of the model whose values say how wide the layers are; none where numbers do or the survey does."""
    model = survey.needed_model
    if not is_chosen(survey) or (isinstance(model.vs, float) and model.vs > 0):
        return ()
    return ("vp",) if isinstance(model.vs, float) else ("vp", "vs")


def slow_waves(files: EarthFiles, survey: Survey, comm: MPI.Intracomm) -> SlowWaves:
    """Collective. Those of the whole model, from its files where numbers do not say it: each rank reads a part.

    Raises InputError, the same on all ranks, for a file that cannot be read.
    """
    vs = survey.needed_model.vs
    names = names_looked_at(survey)
    if not names:
        return SlowWaves(shear=float(files.number("vs"))) if isinstance(vs, float) else SlowWaves()
    found = SlowWaves()
    with ledger.phase("read model"):
        for piece in files.pieces(names, comm):
            part = SlowWaves.of(piece["vp"], piece.get("vs", np.zeros_like(piece["vp"])))
            found = SlowWaves(min(found.shear, part.shear), min(found.sound, part.sound))
    return SlowWaves(allreduce(comm, found.shear, "MIN"), allreduce(comm, found.sound, "MIN"))


def layer_width(survey: Survey, grid: Grid, waves: SlowWaves, frequency: float) -> LayerWidth:
    """The width that the survey says, or that waves need.

    Args:
        grid: of the model, without padding. waves: not looked at where the survey says a width. frequency: of the
            wavelet's peak, Hz.

    Raises InputError where the survey's width is more than the model has cells along its longest axis. A flat model may
    well have layers that are wider than it is deep, but auto does not choose them.
    """
    keys = survey.propagation.boundary
    if isinstance(keys, PmlTable) and keys.width != "auto":
        most, axis = max((grid.shape[axis], axis) for axis in grid.axes)
        if keys.width > most:
            raise InputError(
                f"{survey.path}: [propagation] boundary.width: found {keys.width} cells, wider than the model; "
                f'allowed: up to the {most} cells that it has along {"xyz"[axis]}, or "auto"'
            )
        return LayerWidth(keys.width)
    cells, axis = min((grid.shape[axis], axis) for axis in grid.axes)
    spacing = [grid.spacing[axis] for axis in grid.axes]
    wanted = max(LEAST, math.ceil(waves.width(frequency) / min(spacing) - 1e-6))
    width = min(wanted, max(LEAST, cells))
    notes: tuple[str, ...] = ()
    if width < wanted:
        notes = (
            f"[propagation] boundary.width: auto would be {wanted} cells, but the model has {cells} along "
            f"{'xyz'[axis]}: {width} are taken, and more of long waves comes back than from a model with more cells",
        )
    return LayerWidth(width, notes, waves.in_words([width * h for h in spacing], frequency))
