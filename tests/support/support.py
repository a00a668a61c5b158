"""Small propagations for the tests, built from the same parts as the program."""

from __future__ import annotations

import math
import os

import numpy as np
from card_support import EMULATED, on_card
from mpi4py import MPI
from scipy.ndimage import gaussian_filter
from scipy.signal import firwin, oaconvolve

from fathometer.grid.grid import Grid
from fathometer.grid.stencil import second_derivative_weights, time_step_limit
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.model.extremes import largest_eigenvalue
from fathometer.seismic.model.medium import scaled_medium
from fathometer.seismic.waves.boundary import Boundary, Pml
from fathometer.seismic.waves.points import sinc_points
from fathometer.seismic.waves.propagator import Propagator
from fathometer.seismic.waves.scheme import Scheme

FULL = bool(os.environ.get("FATHOMETER_FULL"))  # full sizes: make verify


# Kernels that are built with sanitizers (tools/sanitize.sh), and those that stand for a card, have some orders alone.
ORDERS = [2, 8] if os.environ.get("FATHOMETER_FEW_RADII") else [2, 4, 8] if EMULATED else [2, 4, 6, 8, 10, 12, 14, 16]


def ricker(t, frequency):
    a = (np.pi * frequency * np.asarray(t)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def heterogeneous(shape, seed=0):
    """A random smooth VTI model in which epsilon = delta in about half of the cells."""
    rng = np.random.default_rng(seed)

    def field():
        noise = gaussian_filter(rng.standard_normal(shape), [3 if n > 1 else 0 for n in shape])
        return (noise - noise.min()) / np.ptp(noise)

    vp = 1500 + 2500 * field()
    delta = 0.2 * field() - 0.05
    return vp, delta + np.maximum(0, 0.4 * (field() - 0.5)), delta


class Medium:
    """One wavefield on one rank: `vp`, `epsilon`, `delta` are numbers or arrays of the padded shape.

    card: whether a graphics card takes the steps; None: as FATHOMETER_TEST_PROCESSOR says (card_support.py).
    """

    def __init__(
        self,
        shape,
        spacing,
        vp,
        epsilon=None,
        delta=None,
        *,
        order=8,
        dtype=np.float64,
        boundary: Boundary | None = None,
        share=0.95,
        frequency=15.0,
        free_surface=False,
        block: Decomposition | None = None,
        comm=MPI.COMM_SELF,
        off_grid=True,
        space_weights="taylor",
        card: bool | None = None,
    ):
        boundary = boundary or Pml()
        spacing = (spacing,) * 3 if np.isscalar(spacing) else spacing
        width = boundary.width
        pad = [(0, 0) if n == 1 else (width, width) for n in shape]
        if free_surface:
            pad[2] = (0, width)
        self.grid = Grid(tuple(shape), tuple(spacing), (0.0, 0.0, 0.0), tuple(pad))
        full = self.grid.full_shape
        block = block or Decomposition(full)
        vp = np.broadcast_to(np.asarray(vp, float), full)
        isotropic = epsilon is None
        epsilon = np.broadcast_to(np.asarray(0.0 if isotropic else epsilon, float), full)
        delta = np.broadcast_to(np.asarray(0.0 if isotropic else delta, float), full)
        eigenvalue = largest_eigenvalue(vp, epsilon, delta, self.grid.stencil_spacing, order // 2, space_weights)
        self.dt = share * time_step_limit(eigenvalue.max())
        scheme = Scheme(
            self.dt,
            order // 2,
            np.dtype(dtype),
            boundary,
            free_surface,
            float((vp * np.sqrt(1 + 2 * epsilon)).max()),
            frequency,
            space_weights,
        )
        mine = tuple(slice(lo, hi) for lo, hi in zip(block.lo, block.hi, strict=True))
        self.model = scaled_medium(
            vp[mine],
            None if isotropic else epsilon[mine],
            None if isotropic else delta[mine],
            self.dt,
            np.dtype(dtype),
        )
        kind = _card_propagator() if (on_card() if card is None else card) else Propagator
        self.propagator = kind(self.grid, block, self.model, scheme, off_grid, comm)

    def points(self, positions):
        surface = 0 if self.propagator.scheme.free_surface else None
        return sinc_points(self.grid.to_cells(np.atleast_2d(positions)), surface)

    def run(self, sources, receivers, series, active=None):
        """Traces (steps, receivers of this rank) for series (steps, sources), from a quiet medium; active: the rows
        that are computed."""
        p = self.propagator
        injectors, samplers = p.injectors(self.points(sources)), p.samplers(self.points(receivers))
        series = np.asarray(series).reshape(len(series), -1)[:, injectors.indices]
        traces = np.zeros((len(series), len(samplers.indices)), p.scheme.dtype)
        p.reset(active)
        p.advance(len(series), injectors, np.ascontiguousarray(series, p.scheme.dtype), samplers, traces)
        return traces


def _card_propagator():
    from fathometer.seismic.waves.card import CardPropagator
    from fathometer.seismic.waves.card_library import open_card

    open_card(0)
    return CardPropagator


def times(start, stop, dt):
    return start + dt * np.arange(math.ceil((stop - start) / dt) + 1)


def band_limited(rng, n, steps, highest=1.0):
    """Random series (n, steps), quiet at both ends, of angular frequencies times dt up to `highest` (-118 dB above)."""
    taps = firwin(161, highest / np.pi, width=0.15, window=("kaiser", 12.0))
    noise = np.zeros((n, steps))
    noise[:, 80:-80] = rng.standard_normal((n, steps - 160))
    return oaconvolve(noise, taps[None], mode="same", axes=1)


def second_derivative(values, axis, spacing, radius, kind="taylor"):
    """Discrete second derivative along an axis with zeros outside, in plain numpy."""
    weights = second_derivative_weights(radius, kind)
    pad = [(radius, radius) if a == axis else (0, 0) for a in range(values.ndim)]
    wide = np.pad(values, pad)
    n = values.shape[axis]

    def shifted(r):
        return wide[tuple(slice(radius + r, radius + r + n) if a == axis else slice(None) for a in range(wide.ndim))]

    total = weights[0] * shifted(0)
    for r in range(1, radius + 1):
        total = total + weights[r] * (shifted(r) + shifted(-r))
    return total / spacing**2
