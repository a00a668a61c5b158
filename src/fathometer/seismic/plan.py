"""`fathometer plan`: what a survey will cost on a machine, before it runs, and how it is best run there.

Headers are read, of the model's values at most some rows (EarthFiles.sample), of the traces none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fathometer.base.errors import InputError
from fathometer.grid.stencil import time_step_limit
from fathometer.parallel.decomposition import Index3, best_ranks, divisors
from fathometer.plan.formatting import bytes_in_words
from fathometer.plan.machine_file import Machine
from fathometer.plan.search import best_layout, node_counts
from fathometer.seismic.cost.elastic_survey import elastic_velocities
from fathometer.seismic.cost.predict import Store, predict
from fathometer.seismic.cost.prediction import Prediction
from fathometer.seismic.cost.sampled_model import check_velocities, sampled
from fathometer.seismic.elastic.layout import elastic_layout
from fathometer.seismic.elastic.survey_checks import check_wavelengths
from fathometer.seismic.history.strategies import STORES
from fathometer.seismic.model.earth import WHOLE
from fathometer.seismic.model.extremes import extremes
from fathometer.seismic.model.weak_epsilon import REFUSE, WeakEpsilon, strengthened, weak_epsilon_notes
from fathometer.seismic.setup.checks import check_sampling, points_per_wavelength, time_step
from fathometer.seismic.setup.cone import Saved, expected, record
from fathometer.seismic.setup.grazing import grazing_notes, peak_frequency
from fathometer.seismic.setup.layout import SurveyLayout, survey_layout, wanted_ranks
from fathometer.seismic.setup.rank_groups import ranks_of_a_shot
from fathometer.seismic.shots.offsets import check_bins
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.time_axis import TimeAxis, time_axis

ASSUMED = (0.2, 0.1)  # epsilon and delta of a VTI model whose values are not there yet


@dataclass(frozen=True)
class PlanRequest:
    """What the command line asks for; None: the plan's choice.

    Attributes:
        ranks, nodes, decomposition: of the run. store: instead of the survey's [history] store. within: most seconds.
        velocities: lowest and highest, m/s, instead of the model's values. imaging: plan a migration even where the
        survey has no gathers yet. modelling: plan a modelling even where it has some.
    """

    ranks: int | None = None
    nodes: int | None = None
    decomposition: Index3 | None = None
    within: float | None = None
    velocities: tuple[float, float] | None = None
    imaging: bool = False
    modelling: bool = False
    store: Store | None = None


@dataclass(frozen=True)
class Plan:
    """A prediction for what was asked for, and for what is recommended; the same where nothing was asked for.

    Attributes:
        cone: updates of cells that are saved in the loops of some shots; None: all are computed.
    """

    layout: SurveyLayout
    machine: Machine
    time: TimeAxis
    slowest: float
    fastest: float
    limit: float
    weak_epsilon: WeakEpsilon | None
    velocities: str
    cone: dict[str, Saved] | None
    notes: tuple[str, ...]
    asked: Prediction
    recommended: Prediction

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, SI units."""
        grid, time = self.layout.grid, self.time
        return {
            "schema_version": 1,
            "application": "plan",
            "survey": str(self.layout.survey.path),
            "command": "migrate" if self.layout.imaging else "model",
            "machine": self.machine.name,
            "shape": grid.shape,
            "padded_shape": grid.full_shape,
            "physics": self.layout.physics.name,
            "velocities": self.velocities,
            "weak_epsilon": None if self.weak_epsilon is None else self.weak_epsilon.as_dict(),
            "time_step_seconds": time.dt,
            "time_step_limit_seconds": self.limit,
            "steps": time.steps,
            "imaging_step": time.every if self.layout.imaging else None,
            "shots": len(self.layout.acquisition.shots),
            "traces": sum(len(shot.receivers) for shot in self.layout.acquisition.shots),
            "points_per_shortest_wavelength": self.points_per_wavelength,
            "cone": None if self.cone is None else record(self.cone),
            "memory_budget_bytes_per_node": self.budget,
            "asked": self.asked.as_dict(),
            "recommended": self.recommended.as_dict(),
            "notes": self.notes,
        }

    @property
    def points_per_wavelength(self) -> float:
        """Grid cells per shortest wavelength."""
        return points_per_wavelength(self.slowest, self.layout.wavelet.fmax, self.layout.grid)

    @property
    def budget(self) -> float:
        """Bytes of a node that the run may take."""
        return budget_of(self.layout.survey, self.machine)


def budget_of(survey: Survey, machine: Machine) -> float:
    """Bytes of a node that a run may take."""
    return survey.parallel.memory_budget * machine.memory_bytes_per_node


def plan(survey: Survey, machine: Machine, request: PlanRequest) -> Plan:
    """Predicted cost of what was asked for, and of the layout that is recommended.

    Raises InputError for what is wrong with the survey, and for a request that no layout can meet: what it would need.
    """
    if survey.propagation.physics == "elastic":
        return _plan_of_elastic(survey, machine, request)
    recorded = survey.acquisition.gathers is not None and not request.modelling
    layout = survey_layout(survey, request.imaging or recorded, headers_only=True)
    machine = machine.running("migrate" if layout.imaging else "model")
    slowest, fastest, limit, weak, origin, speeds = _velocities(layout, request.velocities)
    dt = time_step(survey, limit)
    notes = check_sampling(survey, slowest, layout.grid, layout.wavelet, layout.acquisition, dt)
    notes += grazing_notes(layout, slowest, fastest, peak_frequency(layout.wavelet))
    notes += check_bins(survey, layout.acquisition.shots) if layout.imaging else ()
    time, more = layout.time(dt)
    asked = _asked(layout, time, machine, request)
    recommended, changed = _recommended(layout, time, machine, request)
    notes += weak_epsilon_notes(weak) + more + layout.acquisition.notes + changed
    notes += _over_budget(asked, survey, machine)
    cone = expected(layout, time, speeds)
    shares = {loop: 1 - saved.share for loop, saved in (cone or {}).items()}
    recommended = recommended.with_computed(shares)
    asked = recommended if asked is None else asked.with_computed(shares)
    return Plan(layout, machine, time, slowest, fastest, limit, weak, origin, cone, notes, asked, recommended)


def _plan_of_elastic(survey: Survey, machine: Machine, request: PlanRequest) -> Plan:
    """Of a modelling: elastic waves are not migrated."""
    if request.imaging:
        survey.require_acoustic("plan --migrate")
    layout = elastic_layout(survey, headers_only=True)
    machine = machine.running("model")
    known = elastic_velocities(layout, request.velocities)
    dt = time_step(survey, known.limit)
    notes = check_wavelengths(survey, known.slowest, layout.grid, layout.wavelet, layout.acquisition, dt)
    notes += layout.sources.notes
    time, _ = layout.time(dt)
    asked = _asked(layout, time, machine, request)
    recommended, changed = _recommended(layout, time, machine, request)
    notes += layout.acquisition.notes + changed + _over_budget(asked, survey, machine)
    return Plan(
        layout,
        machine,
        time,
        known.slowest,
        known.fastest,
        known.limit,
        None,
        known.origin,
        None,
        notes,
        recommended if asked is None else asked,
        recommended,
    )


def _velocities(
    layout: SurveyLayout, given: tuple[float, float] | None
) -> tuple[float, float, float, WeakEpsilon | None, str, np.ndarray]:
    """Lowest and highest velocity (m/s), the limit of the time step (s), what is done where epsilon < delta in what is
    known of the model, where all this comes from, and the highest velocity at each depth, (nz,) m/s.

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
    return slowest, fastest, time_step_limit(eigenvalue), weak, origin, speeds


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


def _asked(layout: SurveyLayout, time: TimeAxis, machine: Machine, request: PlanRequest) -> Prediction | None:
    """The layout that was asked for, be it too large for the memory or not; None where none was."""
    size = request.ranks or (math.prod(request.decomposition) if request.decomposition else None)
    if size is None:
        return None
    nodes = request.nodes or (1 if size <= machine.cores_per_node else -(-size // machine.cores_per_node))
    if nodes > machine.nodes:
        raise InputError(f"--nodes: {nodes} are needed or asked for; {machine.name} has {machine.nodes}")
    if size % nodes:
        raise InputError(f"--ranks {size}: allowed: a multiple of the {nodes} nodes")
    shot = _ranks_of_a_shot(layout, time, machine, size, nodes, request.decomposition)
    place = layout if shot == size else layout.largest
    return predict(layout, time, place.ranks(shot, request.decomposition), nodes, machine, request.store, size // shot)


def _ranks_of_a_shot(
    layout: SurveyLayout, time: TimeAxis, machine: Machine, size: int, nodes: int, decomposition: Index3 | None = None
) -> int:
    """How many of all ranks work on one shot."""
    if not layout.imaging:
        return size
    if decomposition is not None:
        return min(size, math.prod(decomposition))
    room = budget_of(layout.survey, machine) * nodes / size - machine.process_bytes
    return ranks_of_a_shot(layout, time, size, room)


class _Layouts:
    """Layouts of a survey that fit the memory of a machine's nodes, and what those that do not fit would need.

    Attributes:
        fewest_bytes: memory of all nodes that the smallest layout takes, of all that were predicted.
        refusal: why a history does not fit, where one does not; else empty.
    """

    def __init__(self, layout: SurveyLayout, time: TimeAxis, machine: Machine, store: Store | None) -> None:
        self._layout, self._time, self._machine, self._store = layout, time, machine, store
        self._budget = budget_of(layout.survey, machine)
        self._store_is_free = store is None and layout.survey.history.store == "auto"
        self.fewest_bytes, self.refusal = math.inf, ""

    def on(self, nodes: int) -> list[Prediction]:
        """The layouts on so many nodes that fit. A longer imaging step is tried only where the history does not fit the
        memory otherwise."""
        fitting: list[Prediction] = []
        for axis in _imaging_steps(self._layout, self._time):
            for prediction in _layouts(self._layout, axis, self._machine, nodes, self._store):
                self.fewest_bytes = min(self.fewest_bytes, prediction.node_bytes * nodes)
                if prediction.history is not None and not prediction.history.fits:
                    self.refusal = prediction.history.reason
                elif prediction.node_bytes <= self._budget:
                    fitting.append(prediction)
            preferred = [prediction for prediction in fitting if self._is_preferred(prediction)]
            if preferred:
                return preferred
        return fitting

    def _is_preferred(self, prediction: Prediction) -> bool:
        history = prediction.history
        return not self._store_is_free or history is None or STORES[history.store].all_in_memory


def _recommended(
    layout: SurveyLayout, time: TimeAxis, machine: Machine, request: PlanRequest
) -> tuple[Prediction, tuple[str, ...]]:
    """The fastest layout that fits the memory, with notes; with `within`, the fewest nodes that are fast enough.

    Raises InputError where there is none: what it would need.
    """
    layouts = _Layouts(layout, time, machine, request.store)
    best, seconds = best_layout(node_counts(request.nodes, machine.nodes), layouts.on, request.within)
    last = request.nodes or machine.nodes
    nodes = f"{last} node{'s' * (last > 1)} of {machine.name}"
    if best is None:
        raise InputError(_why_none_fits(layout, machine, layouts, last, nodes))
    if request.within is not None and best.seconds > request.within:
        raise InputError(
            f"--within {request.within:g} s: the fastest layout on up to {nodes} takes {seconds:.4g} s; needed: more "
            f"nodes, about {last * seconds / request.within:.3g} where the time goes down in proportion"
        )
    return best, _changed(best, layout, time)


def _why_none_fits(layout: SurveyLayout, machine: Machine, layouts: _Layouts, last: int, nodes: str) -> str:
    """last: the most nodes that were tried; nodes: the same in words."""
    budget, needed = budget_of(layout.survey, machine), layouts.fewest_bytes
    if math.isinf(needed):
        return (
            f"{layout.survey.path}: no layout on {nodes}: parts of the grid would be thinner than the {layout.halo} "
            "cells that the stencil reaches; allowed: fewer nodes"
        )
    if layouts.refusal and needed <= budget:
        return layouts.refusal
    return (
        f"{layout.survey.path}: no layout fits the memory: {needed / 1e9:.4g} GB are needed, {nodes} may use "
        f"{last * budget / 1e9:.4g} GB ({100 * layout.survey.parallel.memory_budget:.0f} % of their memory, "
        f"[parallel] memory_budget); needed: about {math.ceil(needed / budget)} nodes, a larger [imaging] every, "
        "larger cells or a smaller model"
    )


def _imaging_steps(layout: SurveyLayout, time: TimeAxis) -> Iterator[TimeAxis]:
    """The time axis as it is, then with fewer snapshots, as far as the highest frequency allows."""
    yield time
    if layout.imaging and layout.survey.imaging.every == "auto":
        most = math.floor(1 / (2 * layout.wavelet.fmax * time.dt))
        if most > time.every:
            yield time_axis(time.dt, layout.wavelet.lead, layout.acquisition.end, most)


def _layouts(
    layout: SurveyLayout, time: TimeAxis, machine: Machine, nodes: int, store: Store | None
) -> Iterator[Prediction]:
    """Predictions for numbers of ranks that divide a node's cores and can share shots and grid."""
    for per_node in divisors(machine.cores_per_node):
        size = per_node * nodes
        shot = _ranks_of_a_shot(layout, time, machine, size, nodes)
        shape = (layout if shot == size else layout.largest).grid.full_shape
        most = math.prod(max(1, shape[axis] // layout.thinnest[axis]) for axis in layout.grid.axes)
        ranks = best_ranks(shape, shot, layout.thinnest) if shot <= most else None
        if ranks is not None:
            yield predict(layout, time, ranks, nodes, machine, store, size // shot)


def _over_budget(asked: Prediction | None, survey: Survey, machine: Machine) -> tuple[str, ...]:
    """A note where the layout that was asked for takes more than the memory budget."""
    budget = budget_of(survey, machine)
    if asked is None or asked.node_bytes <= budget:
        return ()
    return (
        f"what is asked for takes {bytes_in_words(asked.node_bytes)} of a node, more than the {bytes_in_words(budget)} "
        "of its budget: such a run would be refused",
    )


def _changed(best: Prediction, layout: SurveyLayout, time: TimeAxis) -> tuple[str, ...]:
    """Notes on keys of the survey that must be changed for this layout."""
    notes = []
    if best.every != time.every:
        notes.append(
            f"the history fits with a snapshot every {best.every} steps instead of {time.every}: set [imaging] every = "
            f"{best.every}, which the highest frequency just allows"
        )
    wanted = wanted_ranks(layout.survey, layout.grid)
    if wanted is not None and wanted != best.ranks:
        notes.append(
            f'the recommended layout needs [parallel] decomposition = "auto"; the survey\'s is for '
            f"{math.prod(wanted)} rank{'s' * (math.prod(wanted) > 1)}"
        )
    return tuple(notes)
