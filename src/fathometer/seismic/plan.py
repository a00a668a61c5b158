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
from fathometer.grid.tuning import LEAST_UPDATES
from fathometer.parallel.decomposition import Index3, best_ranks, divisors
from fathometer.plan.machine_file import Machine
from fathometer.seismic.cost import Prediction, Store, predict
from fathometer.seismic.model.earth import FASTEST, SLOWEST, extremes
from fathometer.seismic.setup.checks import check_sampling, points_per_wavelength, time_step
from fathometer.seismic.setup.layout import SurveyLayout, survey_layout, wanted_ranks
from fathometer.seismic.setup.rank_groups import ranks_of_a_shot
from fathometer.seismic.shots.offsets import check_bins
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.time_axis import TimeAxis, time_axis

ASSUMED = (0.2, 0.1)  # epsilon and delta of a VTI model whose values are not there yet
AS_GOOD_AS = 1.02  # times the least time: then the fewer ranks
WORTH_MORE_NODES = 0.8  # of the time on fewer nodes
ALL_OF = 64  # nodes: up to so many each number is looked at


@dataclass(frozen=True)
class PlanRequest:
    """What the command line asks for; None: the plan's choice.

    Attributes:
        ranks, nodes, decomposition: of the run. store: instead of the survey's [history] store. within: most seconds.
        velocities: lowest and highest, m/s, instead of the model's values. imaging: plan a migration even where the
        survey has no gathers yet.
    """

    ranks: int | None = None
    nodes: int | None = None
    decomposition: Index3 | None = None
    within: float | None = None
    velocities: tuple[float, float] | None = None
    imaging: bool = False
    store: Store | None = None


@dataclass(frozen=True)
class Plan:
    """A prediction for what was asked for, and for what is recommended; the same where nothing was asked for."""

    layout: SurveyLayout
    machine: Machine
    time: TimeAxis
    slowest: float
    fastest: float
    limit: float
    velocities: str
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
            "time_step_seconds": time.dt,
            "time_step_limit_seconds": self.limit,
            "steps": time.steps,
            "imaging_step": time.every,
            "shots": len(self.layout.acquisition.shots),
            "traces": sum(len(shot.receivers) for shot in self.layout.acquisition.shots),
            "points_per_shortest_wavelength": self.points_per_wavelength,
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
    """Predict.

    Raises InputError for what is wrong with the survey, and for a request that no layout can meet: what it would need.
    """
    layout = survey_layout(survey, request.imaging or survey.acquisition.gathers is not None, headers_only=True)
    slowest, fastest, limit, told = _velocities(layout, request.velocities)
    dt = time_step(survey, limit)
    notes = check_sampling(survey, slowest, layout.grid, layout.wavelet, layout.acquisition, dt)
    notes += check_bins(survey, layout.acquisition.shots) if layout.imaging else ()
    time, more = layout.time(dt)
    asked = _asked(layout, time, machine, request)
    recommended, changed = _recommended(layout, time, machine, request)
    return Plan(
        layout,
        machine,
        time,
        slowest,
        fastest,
        limit,
        told,
        notes + more + layout.acquisition.notes + changed + _search(layout, time) + _over(asked, survey, machine),
        asked or recommended,
        recommended,
    )


def _velocities(layout: SurveyLayout, wanted: tuple[float, float] | None) -> tuple[float, float, float, str]:
    """Lowest and highest velocity (m/s), the limit of the time step (s), and where they come from."""
    survey = layout.survey
    if wanted is not None:
        arrays = [np.array(wanted, np.float32).reshape(1, 1, 2)]
        if not layout.files.isotropic:
            keys = (survey.model.epsilon, survey.model.delta)
            values = [given if isinstance(given, float) else a for given, a in zip(keys, ASSUMED, strict=True)]
            arrays += [np.full((1, 1, 2), value, np.float32) for value in values]
        told = f"assumed from {wanted[0]:g} to {wanted[1]:g} m/s" + (
            "" if layout.files.isotropic else f", epsilon {arrays[1].max():g}, delta {arrays[2].max():g}"
        )
    else:
        try:
            arrays, told = layout.files.sample()
        except InputError as error:
            raise InputError(f"{error}; a plan needs some rows of them, or --velocities LOWEST,HIGHEST") from None
        told = f"from {told}"
    vp = arrays[0]
    if not (np.isfinite(vp).all() and vp.min() >= SLOWEST and vp.max() <= FASTEST):
        raise InputError(
            f"{survey.path}: [model] vp: found {vp.min():g} to {vp.max():g} m/s; allowed: {SLOWEST:g} to {FASTEST:g} "
            "m/s; is [model] units right?"
        )
    epsilon, delta = arrays[1:] or (None, None)
    slowest, fastest, eigenvalue = extremes(
        vp, epsilon, delta, layout.grid, layout.radius, survey.propagation.space_weights
    )
    return slowest, fastest, time_step_limit(eigenvalue), told


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


def _recommended(
    layout: SurveyLayout, time: TimeAxis, machine: Machine, request: PlanRequest
) -> tuple[Prediction, tuple[str, ...]]:
    """The fastest layout that fits the memory; with `within`, the fewest nodes that are fast enough."""
    budget = budget_of(layout.survey, machine)
    last = request.nodes or machine.nodes
    refused = ""
    undecided = request.store is None and layout.survey.history.store == "auto"
    fewest_bytes, fastest = math.inf, math.inf
    best: Prediction | None = None
    for nodes in _numbers_of_nodes(request.nodes, machine.nodes):
        fitting: list[Prediction] = []
        for axis in _imaging_steps(layout, time):  # a longer one only where it must be
            for one in _layouts(layout, axis, machine, nodes, request.store):
                node_bytes = one.rank_bytes * one.ranks_per_node
                fewest_bytes = min(fewest_bytes, node_bytes * nodes)
                if one.kept is not None and not one.kept.fits:
                    refused = one.kept.reason
                elif node_bytes <= budget:
                    fitting.append(one)
            wanted = [one for one in fitting if not undecided or one.kept is None or one.kept.store == "memory"]
            if wanted:
                fitting = wanted
                break
        if fitting:
            here = min(one.seconds for one in fitting)
            one = min((o for o in fitting if o.seconds <= AS_GOOD_AS * here), key=lambda o: o.ranks_per_node)
            fastest = min(fastest, one.seconds)
            if request.within is not None and one.seconds <= request.within:
                return one, _changed(one, layout, time)
            if best is None or one.seconds < WORTH_MORE_NODES * best.seconds:
                best = one
    if best is None and math.isinf(fewest_bytes):
        raise InputError(
            f"{layout.survey.path}: no layout on {last} node{'s' * (last > 1)} of {machine.name}: parts of the grid "
            f"would be thinner than the {layout.halo} cells that the stencil reaches; allowed: fewer nodes"
        )
    if best is None and refused and fewest_bytes <= budget:
        raise InputError(refused)
    if best is None:
        needed = math.ceil(fewest_bytes / budget)
        raise InputError(
            f"{layout.survey.path}: no layout fits the memory: {fewest_bytes / 1e9:.4g} GB are needed, "
            f"{last} node{'s' * (last > 1)} of {machine.name} may use {last * budget / 1e9:.4g} GB "
            f"({100 * layout.survey.parallel.memory_budget:.0f} % of their memory, [parallel] memory_budget); needed: "
            f"about {needed} nodes, a larger [imaging] every, larger cells or a smaller model"
        )
    if request.within is not None:
        raise InputError(
            f"--within {request.within:g} s: the fastest layout on up to {last} node{'s' * (last > 1)} of "
            f"{machine.name} takes {fastest:.4g} s; needed: more nodes, about "
            f"{last * fastest / request.within:.3g} where the time goes down in proportion"
        )
    return best, _changed(best, layout, time)


def _numbers_of_nodes(wanted: int | None, most: int) -> Iterator[int]:
    """The numbers of nodes to look at: the one wanted, or all up to ALL_OF, then fewer and fewer."""
    if wanted is not None:
        if wanted > most:
            raise InputError(f"--nodes {wanted}: the machine has {most}")
        yield wanted
        return
    looked = set(range(1, min(most, ALL_OF) + 1)) | {most}
    looked |= {n << k for n in (1, 3, 5, 7) for k in range(most.bit_length()) if n << k <= most}
    yield from sorted(looked)


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
    """Ranks that divide a node's cores, as shots and grid can be shared among them."""
    for per_node in divisors(machine.cores_per_node):
        size = per_node * nodes
        shot = _ranks_of_a_shot(layout, time, machine, size, nodes)
        shape = (layout if shot == size else layout.largest).grid.full_shape
        most = math.prod(max(1, shape[axis] // layout.halo) for axis in layout.grid.axes)
        ranks = best_ranks(shape, shot, layout.halo) if shot <= most else None
        if ranks is not None:
            yield predict(layout, time, ranks, nodes, machine, store, size // shot)


def _search(layout: SurveyLayout, time: TimeAxis) -> tuple[str, ...]:
    loops = 2 if layout.imaging else 1
    updates = float(math.prod(layout.grid.full_shape)) * time.steps * len(layout.acquisition.shots) * loops
    if layout.survey.tuning.search == "never" or updates < LEAST_UPDATES:
        return ()
    return ("the first run of its kind on a machine also searches for its tiling, which is not in these times",)


def _over(asked: Prediction | None, survey: Survey, machine: Machine) -> tuple[str, ...]:
    if asked is None or asked.rank_bytes * asked.ranks_per_node <= (budget := budget_of(survey, machine)):
        return ()
    return (
        f"what is asked for takes {_bytes(asked.rank_bytes * asked.ranks_per_node)} of a node, more than the "
        f"{_bytes(budget)} of its budget: such a run would be refused",
    )


def _changed(one: Prediction, layout: SurveyLayout, time: TimeAxis) -> tuple[str, ...]:
    """What the survey must say otherwise for this layout."""
    notes = []
    if one.every != time.every:
        notes.append(
            f"the history fits with a snapshot every {one.every} steps instead of {time.every}: set [imaging] every = "
            f"{one.every}, which the highest frequency just allows"
        )
    wanted = wanted_ranks(layout.survey, layout.grid)
    if wanted is not None and wanted != one.ranks:
        notes.append(
            f'the recommended layout needs [parallel] decomposition = "auto"; the survey\'s is for '
            f"{math.prod(wanted)} rank{'s' * (math.prod(wanted) > 1)}"
        )
    return tuple(notes)


def lines(one: Plan) -> list[str]:
    """The plan as a table for people."""
    layout, time, asked = one.layout, one.time, one.asked
    grid = layout.grid
    cells = " x ".join(str(grid.full_shape[axis]) for axis in grid.axes)
    shots = len(layout.acquisition.shots)
    text = [
        f"{'migrate' if layout.imaging else 'model'} {layout.survey.path} on {one.machine.name}",
        f"{cells} cells with absorbing sides, {shots} shot{'s' * (shots > 1)}, {time.steps} time steps of "
        f"{1000 * time.dt:.4g} ms, {one.points_per_wavelength:.1f} cells per shortest wavelength",
        f"velocities: {one.velocities}; a snapshot every {time.every} steps" * layout.imaging
        or f"velocities: {one.velocities}",
        *(f"note: {note}" for note in one.notes),
        "",
        f"{'':24} {_layout(asked):>24}"
        + f" {'recommended: ' + _layout(one.recommended):>40}" * (asked != one.recommended),
    ]
    other = {phase.name: phase for phase in one.recommended.phases}
    for phase in asked.phases:
        line = f"{phase.name:<24} {_seconds(phase.seconds):>12} {_bytes(phase.bytes):>11}"
        if asked != one.recommended:
            there = other.get(phase.name)
            line += f" {_seconds(there.seconds) if there else '-':>40}"
        text.append(line.rstrip())
    rows = [
        ("total", [_seconds(p.seconds) for p in (asked, one.recommended)]),
        ("kernel", [_seconds(p.kernel_seconds) for p in (asked, one.recommended)]),
        ("memory a rank", [_bytes(p.rank_bytes) for p in (asked, one.recommended)]),
        ("memory a node", [_bytes(p.rank_bytes * p.ranks_per_node) for p in (asked, one.recommended)]),
        ("snapshots", [_snapshots(p) for p in (asked, one.recommended)]),
        ("disk", [_bytes(p.disk_bytes) for p in (asked, one.recommended)]),
        ("halo bytes a step", [_bytes(p.halo_bytes_per_step) for p in (asked, one.recommended)]),
        ("overlap, model", [_bytes(p.model_halo_bytes) for p in (asked, one.recommended)]),
        ("overlap, traces", [_bytes(p.trace_halo_bytes) for p in (asked, one.recommended)]),
    ]
    text.append("")
    for name, (first, second) in rows:
        text.append(f"{name:<24} {first:>24}" + f" {second:>40}" * (asked != one.recommended))
    text.append(f"{'memory budget a node':<24} {_bytes(one.budget):>24}")
    return text


def _snapshots(one: Prediction) -> str:
    if one.kept is None:
        return ""
    return f"{one.kept.store}, {one.kept.encoding}, every {one.every} steps"


def _layout(one: Prediction) -> str:
    times = " x ".join(str(n) for n in one.ranks)
    groups = f"{one.groups} groups of " * (one.groups > 1)
    return f"{one.nodes} node{'s' * (one.nodes > 1)}, {groups}{times} ranks x {one.threads}"


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s" if value < 10000 else f"{value / 3600:.3g} h"


def _bytes(value: float) -> str:
    if not value:
        return ""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"
