"""What a plan knows of an elastic survey: its layout from headers, its velocities from some rows of the model."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.cost.sampled_model import check_velocities, sampled
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.checks import LARGEST_RATIO
from fathometer.seismic.elastic.earth import WEIGHT_SUM, attenuation_of, p_modulus
from fathometer.seismic.elastic.layout import ElasticLayout, elastic_layout
from fathometer.seismic.elastic.survey_checks import check_wavelengths
from fathometer.seismic.model.earth import ELASTIC_NAMES
from fathometer.seismic.model.limits import DENSITIES
from fathometer.seismic.setup.grazing import peak_frequency
from fathometer.seismic.setup.layout import SurveyLayout
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.time_axis import TimeAxis

ASSUMED_QUALITY = 50.0  # of a model whose values are not there yet


@dataclass(frozen=True, eq=False)
class ElasticSurveyLayout(SurveyLayout):
    """A survey layout whose time axis and memory are those of elastic waves."""

    elastic: ElasticLayout

    @property
    def attenuates(self) -> bool:
        return self.files.given("qp")

    def time(self, dt: float) -> tuple[TimeAxis, tuple[str, ...]]:
        """See SurveyLayout."""
        return self.elastic.time(dt), ()

    def wavefield_bytes(self, block: Decomposition) -> dict[str, int]:
        """See SurveyLayout."""
        return self.elastic.wavefield_bytes(block)

    def shot_bytes(self, block: Decomposition, time: TimeAxis) -> dict[str, int]:
        """See SurveyLayout."""
        return self.elastic.shot_bytes(block, time)

    def notes(self, slowest: float, dt: float) -> tuple[str, ...]:
        """What a run would note. Raises InputError where waves or traces are sampled too coarsely."""
        survey = self.survey
        notes = check_wavelengths(survey, slowest, self.grid, self.wavelet, self.acquisition, dt)
        return notes + self.elastic.sources.notes


def elastic_survey_layout(survey: Survey) -> ElasticSurveyLayout:
    """Look at the headers of a survey's files. Raises InputError for what is wrong."""
    elastic = elastic_layout(survey, headers_only=True)
    return ElasticSurveyLayout(
        **{f.name: getattr(elastic.whole, f.name) for f in fields(SurveyLayout)}, elastic=elastic
    )


@dataclass(frozen=True)
class ElasticVelocities:
    """What is known of a model.

    Attributes:
        slowest, fastest: m/s, of S waves (P waves in fluids), and of P waves. limit: of the time step, s.
        origin: where this comes from.
    """

    slowest: float
    fastest: float
    limit: float
    origin: str


def elastic_velocities(layout: ElasticSurveyLayout, given: tuple[float, float] | None) -> ElasticVelocities:
    """Velocities of some rows of the model; given: the lowest velocity of S waves (P waves in fluids) and the highest
    of P waves, m/s, instead.

    Raises InputError where rows cannot be read, and for values that a run would refuse.
    """
    survey, files = layout.survey, layout.files
    attenuation = attenuation_of(survey, layout.wavelet.fmax, peak_frequency(layout.wavelet))
    if given is not None:
        quality = survey.needed_model.qp
        assumed = quality if isinstance(quality, float) else ASSUMED_QUALITY
        fastest = np.full((1, 1, 1), given[1], np.float32)
        one = {"vp": fastest, "density": np.ones_like(fastest), "qp": np.full_like(fastest, assumed)}
        limit = _limit(one, 2, layout.grid, attenuation)
        check_velocities(survey, "--velocities", *given)
        return ElasticVelocities(*given, limit, f"assumed from {given[0]:g} (S waves) to {given[1]:g} m/s (P waves)")
    names = ELASTIC_NAMES if attenuation is not None else ELASTIC_NAMES[:3]
    arrays, rows = sampled(files, names)
    values = dict(zip(names, arrays, strict=True))
    _check(survey, values)
    vp, vs = values["vp"], values["vs"]
    slowest = float(np.where(vs > 0, vs, vp).min())
    limit = _limit(values, "xyz".index(files.axes[-1]), layout.grid, attenuation)
    return ElasticVelocities(slowest, float(vp.max()), limit, f"from {rows}")


def _check(survey: Survey, values: dict[str, np.ndarray]) -> None:
    vp, vs, density = (values[name] for name in ("vp", "vs", "density"))
    check_velocities(survey, "[model] vp", float(vp.min()), float(vp.max()))
    low, high = DENSITIES
    if not (density.min() >= low and density.max() <= high):
        raise InputError(
            f"{survey.path}: [model] density: found {density.min():g} to {density.max():g} kg/m3; allowed: {low:g} to "
            f"{high:g} kg/m3"
        )
    if not (vs.min() >= 0 and (vs < LARGEST_RATIO * vp).all()):
        raise InputError(
            f"{survey.path}: [model] vs: found {vs.min():g} to {vs.max():g} m/s; allowed: 0, or below "
            f"{LARGEST_RATIO:.4g} vp"
        )


def _limit(values: dict[str, np.ndarray], along: int, grid: Grid, attenuation: Attenuation | None) -> float:
    """The largest stable time step, s, as `read_earth` finds it, of rows (n, 1, cells) along an axis (0, 1, 2): across
    them the density is taken not to change."""
    density = values["density"].astype(np.float64)
    modulus = p_modulus(values["vp"], density, values.get("qp"), attenuation)
    around = np.pad(density, ((0, 0), (0, 0), (1, 1)), mode="edge")
    total = np.zeros_like(modulus)
    for axis in grid.axes:
        near = (around[..., :-2], around[..., 2:]) if axis == along else (density, density)
        total += sum(1 / (density + beside) for beside in near) / grid.spacing[axis] ** 2
    return 1 / (WEIGHT_SUM * math.sqrt(float((modulus * total).max())))
