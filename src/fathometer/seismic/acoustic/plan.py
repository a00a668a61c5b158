"""What a plan knows of an acoustic survey: its velocities from some rows of the model, and what its layouts cost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.stencil import time_step_limit
from fathometer.plan.machine_file import Machine
from fathometer.runs.application import CostEstimate
from fathometer.seismic.acoustic.predict import predict
from fathometer.seismic.cost.sampled_model import check_velocities, sampled
from fathometer.seismic.model.earth import WHOLE
from fathometer.seismic.model.extremes import extremes
from fathometer.seismic.model.weak_epsilon import REFUSE, WeakEpsilon, strengthened
from fathometer.seismic.plan import KnownModel, Plan, PlanRequest, plan_of_waves
from fathometer.seismic.plan_table import estimate
from fathometer.seismic.setup.checks import check_sampling, time_step
from fathometer.seismic.setup.grazing import grazing_notes, peak_frequency
from fathometer.seismic.setup.survey_layout import SurveyLayout, survey_layout
from fathometer.seismic.shots.offsets import check_bins
from fathometer.seismic.survey import Survey

ASSUMED = (0.2, 0.1)  # epsilon and delta of a VTI model whose values are not there yet


def estimate_acoustic(survey: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """The plan that `fathometer plan` shows."""
    return estimate(plan_acoustic(survey, machine, PlanRequest.of(options)))


def plan_acoustic(survey: Survey, machine: Machine, request: PlanRequest) -> Plan:
    """Of the migration of its gathers, or of a modelling. Raises InputError for what is wrong with the survey, and as
    `plan_of_waves`."""
    recorded = survey.acquisition.gathers is not None and not request.model
    layout = survey_layout(survey, request.migrate or recorded, headers_only=True)
    machine = machine.running("migrate" if layout.imaging else "model")
    known = known_model(layout, request.velocities)
    dt = time_step(survey, known.limit)
    notes = check_sampling(survey, known.slowest, layout.grid, layout.wavelet, layout.acquisition, dt)
    notes += grazing_notes(layout, known.slowest, known.fastest, peak_frequency(layout.wavelet))
    notes += check_bins(survey, layout.acquisition.shots) if layout.imaging else ()
    return plan_of_waves(layout, known, dt, notes, machine, request, partial(predict, layout))


def known_model(layout: SurveyLayout, given: tuple[float, float] | None) -> KnownModel:
    """Of some rows of the model; given: its lowest and highest velocity, m/s, instead.

    Raises InputError where a run would refuse such values.
    """
    survey = layout.survey
    weak = None
    if given is not None:
        arrays = [np.array(given, np.float32).reshape(1, 1, 2)]
        if not layout.files.isotropic:
            keys = (survey.needed_model.epsilon, survey.needed_model.delta)
            values = [key if isinstance(key, float) else a for key, a in zip(keys, ASSUMED, strict=True)]
            arrays += [np.full((1, 1, 2), value, np.float32) for value in values]
            if values == list(keys):  # nothing is assumed
                weak = _weak_epsilon(survey, arrays[1], arrays[2], "")
        origin = f"assumed from {given[0]:g} to {given[1]:g} m/s" + (
            "" if layout.files.isotropic else f", epsilon {arrays[1].max():g}, delta {arrays[2].max():g}"
        )
    else:
        arrays, rows = sampled(layout.files)
        origin = f"from {rows}"
        if not layout.files.isotropic:
            weak = _weak_epsilon(survey, arrays[1], arrays[2], rows)
    vp = arrays[0]
    check_velocities(survey, "[model] vp", float(vp.min()), float(vp.max()))
    epsilon, delta = (
        strengthened(arrays[1], arrays[2], survey.needed_model.on_weak_epsilon) if arrays[1:] else (None, None)
    )
    slowest, fastest, eigenvalue = extremes(
        vp, epsilon, delta, layout.grid, layout.radius, survey.propagation.space_weights
    )
    speeds = np.full(layout.grid.shape[2], fastest)
    if given is None and layout.files.axes[-1] == "z":
        horizontal = vp if epsilon is None else vp * np.sqrt(1 + 2 * np.maximum(epsilon, 0))
        speeds = np.broadcast_to(horizontal.max(axis=(0, 1)), speeds.shape)
    return KnownModel(slowest, fastest, time_step_limit(eigenvalue), origin, weak, speeds)


def _weak_epsilon(survey: Survey, epsilon: np.ndarray, delta: np.ndarray, rows: str) -> WeakEpsilon | None:
    """The cells of these with epsilon < delta; None where they are refused. rows: that were looked at, for the place.

    Raises InputError for such cells where they are refused, as a run does.
    """
    deficit, handling = delta - epsilon, survey.needed_model.on_weak_epsilon
    count = int(np.count_nonzero(deficit > 0))
    place = "" if not rows or rows == WHOLE else f"a cell of {rows}"
    weak = WeakEpsilon(handling, count, deficit.size, float(deficit.max(initial=0.0, where=deficit > 0)), place)
    if handling != REFUSE:
        return weak
    if count:
        raise InputError(f"{survey.path}: [model] epsilon: {weak.refusal}")
    return None
