"""What a plan knows of an elastic survey: its velocities from some rows of the model, and what its layouts cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.plan.machine_file import Machine
from fathometer.runs.application import CostEstimate
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.checks import LARGEST_RATIO
from fathometer.seismic.elastic.contact import NEAREST, share_of_rock
from fathometer.seismic.elastic.cost import predict_elastic
from fathometer.seismic.elastic.earth import attenuation_of
from fathometer.seismic.elastic.elastic_layout import elastic_headers, elastic_layout
from fathometer.seismic.elastic.fields import WEIGHT_SUM
from fathometer.seismic.elastic.layer_width import SlowWaves
from fathometer.seismic.elastic.moduli import p_modulus
from fathometer.seismic.elastic.survey_checks import check_wavelengths
from fathometer.seismic.model.limits import DENSITIES
from fathometer.seismic.plan import Plan, PlanRequest, plan_of_waves
from fathometer.seismic.plan_table import estimate
from fathometer.seismic.setup.checks import time_step
from fathometer.seismic.setup.grazing import peak_frequency
from fathometer.seismic.setup.known_model import KnownModel
from fathometer.seismic.setup.sampled_model import check_velocities, sampled
from fathometer.seismic.setup.survey_layout import SurveyHeaders
from fathometer.seismic.survey import Survey

ASSUMED_QUALITY = 50.0  # of a model whose values are not there yet


def estimate_elastic(survey: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """The plan that `fathometer plan` shows."""
    return estimate(plan_elastic(survey, machine, PlanRequest.of(options)))


def plan_elastic(survey: Survey, machine: Machine, request: PlanRequest) -> Plan:
    """Of a modelling: elastic waves are not migrated. Raises InputError for what is wrong with the survey, and as
    `plan_of_waves`."""
    if request.migrate:
        survey.require_acoustic("plan --migrate")
    headers = elastic_headers(survey, headers_only=True)
    known, waves, floor_notes = known_model(headers, request.velocities)
    layout = elastic_layout(headers, waves)
    dt = time_step(survey, known.limit)
    notes = check_wavelengths(survey, known.slowest, layout.grid, layout.wavelet, layout.acquisition, dt)
    notes += layout.sources.notes + floor_notes
    return plan_of_waves(layout, known, dt, notes, machine.running("model"), request, partial(predict_elastic, layout))


def known_model(
    headers: SurveyHeaders, given: tuple[float, float] | None
) -> tuple[KnownModel, SlowWaves, tuple[str, ...]]:
    """Velocities of some rows of the model, and notes on the sea floor that they have. given: the lowest velocity of S
    waves (P waves in fluids) and the highest of P waves, m/s, instead: nothing is then known of fluids.

    Raises InputError where rows cannot be read, and for values that a run would refuse.
    """
    survey, files = headers.survey, headers.files
    attenuation = attenuation_of(survey, headers.wavelet, peak_frequency(headers.wavelet))
    if given is not None:
        quality = survey.needed_model.qp
        assumed = quality if isinstance(quality, float) else ASSUMED_QUALITY
        fastest = np.full((1, 1, 1), given[1], np.float32)
        one = {"vp": fastest, "density": np.ones_like(fastest), "qp": np.full_like(fastest, assumed)}
        limit = _limit(one, 2, files.grid, attenuation)
        check_velocities(survey, "--velocities", *given)
        origin = f"assumed from {given[0]:g} (S waves) to {given[1]:g} m/s (P waves)"
        return KnownModel(*given, limit, origin), SlowWaves(shear=given[0]), ()
    names = files.names if attenuation is not None else files.names[:3]
    arrays, rows = sampled(files, names)
    values = dict(zip(names, arrays, strict=True))
    _check(survey, values)
    vp, vs = values["vp"], values["vs"]
    waves = SlowWaves.of(*np.broadcast_arrays(vp, vs))
    limit = _limit(values, "xyz".index(files.axes[-1]), files.grid, attenuation)
    notes = _floor_notes(values, files.grid) if files.axes[-1] == "z" else ()
    return KnownModel(waves.slowest, float(vp.max()), limit, f"from {rows}"), waves, notes


def _floor_notes(values: dict[str, np.ndarray], grid: Grid) -> tuple[str, ...]:
    """Where columns (n, 1, cells) have a sea floor to which their points may move (sloping_floor.py)."""
    vp, vs, density = (some[:, 0] for some in np.broadcast_arrays(*(values[name] for name in ("vp", "vs", "density"))))
    solid = vs > 0
    if solid[:, 0].mean() > 0.5 or not solid.any():
        return ()
    rock = np.where(solid.any(axis=1), np.argmax(solid, axis=1), solid.shape[1])
    three = np.clip(rock[:, None] + [-2, -1, 0], 0, solid.shape[1] - 1)
    share = share_of_rock(*(np.take_along_axis(some, three, 1).T.astype(np.float64) for some in (vp, density)))
    depth = rock - 0.5 - share  # cells
    if np.ptp(rock) == 0 and (np.abs(depth % 1 - 0.5) <= 0.5 - NEAREST).all():
        return ()
    low, high = (grid.origin[2] + grid.spacing[2] * float(end) for end in (depth.min(), depth.max()))
    where = (
        f"lies close to a node, {low:.4g} m deep" if np.ptp(rock) == 0 else f"slopes, from {low:.4g} to {high:.4g} m"
    )
    return (
        f"the sea floor {where}: where columns move to it a step takes two to four times as long, and over soft rock "
        "there are up to 1.6 times as many, which is not counted here",
    )


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
