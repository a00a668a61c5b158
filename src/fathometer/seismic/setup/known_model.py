"""What is known of an acoustic model before its values are read: from some of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.stencil import time_step_limit
from fathometer.seismic.model.earth import WHOLE
from fathometer.seismic.model.extremes import extremes
from fathometer.seismic.model.weak_epsilon import REFUSE, WeakEpsilon, strengthened
from fathometer.seismic.setup.sampled_model import check_velocities, sampled
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.survey import Survey

ASSUMED = (0.2, 0.1)  # epsilon and delta of a VTI model whose values are not there yet


@dataclass(frozen=True, eq=False)
class KnownModel:
    """What is known of a model before a run has read it.

    Attributes:
        slowest, fastest: m/s. limit: of the time step, s. origin: where this comes from.
        weak_epsilon: what is done where epsilon < delta. speeds: the highest at each depth, (nz,) m/s; None: all cells
            are computed whatever they are.
    """

    slowest: float
    fastest: float
    limit: float
    origin: str
    weak_epsilon: WeakEpsilon | None = None
    speeds: np.ndarray | None = None


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
