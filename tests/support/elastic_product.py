"""Elastic surveys run through the product in this process, and references filtered as its traces are.

A trace of the product is band-limited by its resampling; `as_recorded` does to a reference what that does to it.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer import _native
from fathometer.base.progress import Progress
from fathometer.seismic.elastic.setup import ElasticSetup, prepare_elastic
from fathometer.seismic.elastic.shot import model_shot
from fathometer.seismic.survey import Survey, survey_of
from fathometer.seismic.traces.resampling import resample

FINER = 2  # samples of a reference in one of its traces
NAMES = ("vp", "vs", "density", "qp", "qs")


def columns(layers, nodes, spacing):
    """vp, vs, density (3, nodes) of layers (of layered_kernels) at nodes in depth from 0 on: means over their cells, of
    density arithmetic ones, of moduli harmonic ones; 0 for shear where a part of the cell is fluid."""
    tops = np.concatenate([[-np.inf], np.cumsum([one.thickness for one in layers[:-1]]), [np.inf]])
    z = spacing * np.arange(nodes)
    share = np.clip((np.minimum(z[:, None] + spacing / 2, tops[1:]) - np.maximum(z[:, None] - spacing / 2, tops[:-1]))
                    / spacing, 0, 1)  # fmt: skip
    share[share < 1e-9] = 0
    density = share @ [one.density for one in layers]
    moduli = []
    for name in ("vp", "vs"):
        values = np.array([one.density * getattr(one, name) ** 2 for one in layers], float)
        with np.errstate(divide="ignore", invalid="ignore"):  # fluids
            weighted = np.where(share > 0, share / values, 0)
        moduli.append(1 / weighted.sum(1))
    return np.array([np.sqrt(moduli[0] / density), np.sqrt(moduli[1] / density), density])


@dataclass
class Run:
    """A survey: what its tables hold.

    Attributes:
        shape: nodes; in two dimensions 1 along y. model: name -> number, or values at the nodes along z.
        source, wavelet: tables of a survey. propagation: further keys. reference: frequency, Hz.
    """

    shape: tuple[int, int, int]
    spacing: float
    model: dict[str, Any]
    source_at: tuple[float, float, float]
    receivers: Any
    source: dict[str, Any]
    wavelet: dict[str, Any]
    duration: float
    interval: float
    components: tuple[str, ...] | None = None
    free_surface: bool = False
    propagation: dict[str, Any] = field(default_factory=dict)
    reference: float | None = None
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def survey(self, folder: Path):
        """The survey, with its files in a folder."""
        flat = self.shape[1] == 1
        model: dict[str, Any] = {"spacing": [self.spacing] * 3, "origin": list(self.origin)}
        model |= {"reference_frequency": self.reference} if self.reference else {}
        for name, value in self.model.items():
            shape = (self.shape[0], self.shape[2]) if flat else self.shape
            np.save(folder / f"{name}.npy", np.broadcast_to(np.asarray(value, np.float32), shape))
            model[name] = f"{name}.npy"
        if flat:
            model |= {"spacing": [self.spacing] * 2, "origin": [self.origin[0], self.origin[2]]}
        axes = [0, 2] if flat else [0, 1, 2]
        rows = "\n".join(",".join(f"{row[axis]:.17g}" for axis in axes) for row in np.atleast_2d(self.receivers))
        (folder / "receivers.csv").write_text(",".join("xyz"[axis] for axis in axes) + f"\n{rows}\n")
        values = {
            "model": model,
            "acquisition": {
                "sources": {"xyz"[axis]: self.source_at[axis] for axis in axes},
                "receivers": "receivers.csv",
                "sample_interval": np.floor(self.interval * 1e6) / 1e6,
            }
            | ({"components": list(self.components)} if self.components else {}),
            "source": self.source,
            "wavelet": self.wavelet,
            "propagation": {
                "physics": "elastic",
                "duration": self.duration,
                "top": "free-surface" if self.free_surface else "absorbing",
            }
            | self.propagation,
        }
        return survey_of(values, folder / "survey.toml")

    def __call__(self) -> Product:
        """Its traces."""
        with tempfile.TemporaryDirectory() as name:
            return product_of(self.survey(Path(name)))


@dataclass
class Product:
    """Traces (components, receivers, samples) and what they were made with."""

    setup: ElasticSetup
    traces: np.ndarray

    @property
    def times(self) -> np.ndarray:
        """Of the samples, s."""
        acquisition = self.setup.run.acquisition
        return acquisition.start + acquisition.sample_interval * np.arange(acquisition.samples)

    @property
    def lead(self) -> float:
        """Time before t = 0 from which on a reference is to be known, s."""
        return self.setup.time.before * self.setup.time.dt

    @property
    def fine_times(self) -> np.ndarray:
        """At which a reference is to be known, counted from `lead` before t = 0; s."""
        step = self.setup.run.acquisition.sample_interval / FINER
        return step * np.arange(round((self.times[-1] + self.lead) / step) + 1)

    def as_recorded(self, reference: np.ndarray) -> np.ndarray:
        """A reference (..., fine times) as the product would record it: (..., samples)."""
        run, step = self.setup.run, self.setup.run.acquisition.sample_interval / FINER
        acquisition = run.acquisition
        flat = np.ascontiguousarray(reference.reshape(-1, reference.shape[-1]), float)
        found = resample(
            flat,
            -self.lead,
            step,
            acquisition.start,
            acquisition.sample_interval,
            acquisition.samples,
            run.wavelet.fmax,
        )
        return found.reshape(*reference.shape[:-1], -1)


def product_of(survey: Survey) -> Product:
    """The traces of a survey's first shot."""
    setup = prepare_elastic(survey, MPI.COMM_SELF)
    wavefield = setup.propagator()
    try:
        with Progress(1, now=time.perf_counter, quiet=True) as progress:
            progress.start_task(0, setup.time.steps)
            traces = model_shot(setup, wavefield, setup.run.acquisition.shots[0], None, progress)
    finally:
        wavefield.close()
    assert traces is not None
    return Product(setup, traces.astype(float))


def misfit(found, wanted, last=None):
    """Relative L2 error over all axes."""
    found, wanted = found[..., :last], wanted[..., :last]
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def use_threads(count: int) -> None:
    """Threads of the kernels."""
    _native.set_threads(count)
