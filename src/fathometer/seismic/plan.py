"""`fathometer plan`: what a survey will cost on a machine, before it runs, and how it is best run there.

Headers are read, of the model's values at most some rows (EarthFiles.sample), of the traces none. What is known of a
model, and what a layout costs, each kind of waves says for itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, Self, TypeVar

from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, number_of
from fathometer.parallel.decomposition import Cuts, Index3, best_ranks, divisors
from fathometer.plan.machine_file import Machine
from fathometer.plan.prediction import Prediction
from fathometer.plan.search import best_layout, node_counts
from fathometer.seismic.cost.prediction import WavePrediction
from fathometer.seismic.history.card import CARD_STORES
from fathometer.seismic.history.strategies import STORES
from fathometer.seismic.model.weak_epsilon import weak_epsilon_notes
from fathometer.seismic.setup.checks import points_per_wavelength
from fathometer.seismic.setup.cone import Saved, expected, loops_of_some, record
from fathometer.seismic.setup.fair_cuts import Work
from fathometer.seismic.setup.known_model import KnownModel
from fathometer.seismic.setup.rank_groups import ranks_of_a_shot
from fathometer.seismic.setup.survey_layout import SurveyLayout, wanted_ranks
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.time_axis import TimeAxis, time_axis

# memory, disk, checkpoint: as [history] store; files: as older codes do it, the steps wait for the writing and reading.
Store = Literal["memory", "disk", "checkpoint", "files"]
P = TypeVar("P", bound=Prediction)


class NoRoomOnCards(InputError):
    """No layout of a survey fits the memory of the machine's graphics cards. why: by how much."""

    def __init__(self, text: str, why: str = "") -> None:
        super().__init__(text)
        self.why = why

    @classmethod
    def of(cls, survey: Survey, why: str) -> Self:
        """For a survey."""
        advice = "more nodes or cards, more [parallel] ranks_per_shot, a smaller [imaging] aperture, larger cells"
        return cls(f'{survey.path}: {why}; needed: {advice}, or [parallel] processor = "cpu"', why)


@dataclass(frozen=True)
class PlanRequest:
    """What the command line asks for; None: the plan's choice.

    Attributes:
        ranks, nodes, decomposition: of the run. history: instead of the survey's [history] store. within: most
        seconds. velocities: lowest and highest, m/s, instead of the model's values. migrate: plan a migration even
        where the survey has no gathers yet. model: plan a modelling even where it has some.
    """

    ranks: int | None = None
    nodes: int | None = None
    decomposition: Index3 | None = None
    within: float | None = None
    velocities: tuple[float, float] | None = None
    migrate: bool = False
    model: bool = False
    history: Store | None = None

    @staticmethod
    def of(options: Mapping[str, Any]) -> PlanRequest:
        """Of the options of `fathometer plan`."""
        return PlanRequest(**{one.name: options[one.name] for one in fields(PlanRequest)})


class Predict(Protocol):
    """The cost of a layout of one survey: `groups` of `ranks` (along x, y, z) work on a shot each, on some nodes (a
    divisor of all ranks). store: instead of the survey's [history] store. cuts: as of Decomposition."""

    def __call__(
        self,
        time: TimeAxis,
        ranks: Index3,
        nodes: int,
        machine: Machine,
        store: Store | None,
        groups: int,
        cuts: Cuts | None,
    ) -> WavePrediction: ...


@dataclass(frozen=True)
class Plan:
    """A prediction for what was asked for, and for what is recommended; the same where nothing was asked for.

    Attributes:
        cone: updates of cells that are saved in the loops of some shots; None: all are computed.
    """

    layout: SurveyLayout
    machine: Machine
    time: TimeAxis
    known: KnownModel
    cone: dict[str, Saved] | None
    notes: tuple[str, ...]
    asked: WavePrediction
    recommended: WavePrediction

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, SI units."""
        grid, time = self.layout.grid, self.time
        return {
            "schema_version": 1,
            "application": "plan",
            "survey": str(self.layout.survey.path),
            "command": "migrate" if self.layout.imaging else "model",
            "machine": self.machine.name,
            "processor": self.processor,
            "shape": grid.shape,
            "padded_shape": grid.full_shape,
            "physics": self.layout.physics.name,
            "absorbing_layers": self.layout.layers_in_words or None,
            "velocities": self.known.origin,
            "weak_epsilon": None if self.known.weak_epsilon is None else self.known.weak_epsilon.as_dict(),
            "time_step_seconds": time.dt,
            "time_step_limit_seconds": self.known.limit,
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
    def processor(self) -> dict[str, Any]:
        """What takes the time steps, JSON-ready."""
        card = self.machine.card
        if card is None:
            return {"kind": "cpu"}
        return {"kind": "gpu", "name": card.name, "per_node": card.per_node, "memory_bytes": card.memory_bytes}

    @property
    def points_per_wavelength(self) -> float:
        """Grid cells per shortest wavelength."""
        return points_per_wavelength(self.known.slowest, self.layout.wavelet.fmax, self.layout.grid)

    @property
    def budget(self) -> float:
        """Bytes of a node that the run may take."""
        return budget_of(self.layout.survey, self.machine)


def budget_of(survey: Survey, machine: Machine) -> float:
    """Bytes of a node that a run may take."""
    return survey.parallel.memory_budget * machine.memory_bytes_per_node


def plan_of_waves(
    layout: SurveyLayout,
    known: KnownModel,
    dt: float,
    notes: tuple[str, ...],
    machine: Machine,
    request: PlanRequest,
    predict: Predict,
) -> Plan:
    """Predicted cost of what was asked for, and of the layout that is recommended.

    dt: time step, s. notes: on the survey. machine: as it runs the command.

    Raises InputError for a request that no layout can meet: what it would need. NoRoomOnCards where that is memory of
    graphics cards.
    """
    time, more = layout.time(dt)
    loops = loops_of_some(layout, time, known.speeds) if known.speeds is not None else []
    cone = expected(loops)
    layouts = _Layouts(layout, time, machine, request.history, predict, Work(layout, loops))
    asked = layouts.asked(request)
    recommended = fastest_layout(layouts.on, request, machine, layouts.why_none_fits)
    notes += weak_epsilon_notes(known.weak_epsilon) + more + layout.acquisition.notes
    notes += _changed(recommended, layout, time)
    notes += (*over_budget(asked, layouts.budget), *_over_card(asked, layout)) if asked is not None else ()
    asked = asked or recommended
    return Plan(
        layout=layout,
        machine=machine,
        time=time,
        known=known,
        cone=cone,
        notes=notes,
        asked=asked,
        recommended=recommended,
    )


def nodes_of(ranks: int, request: PlanRequest, machine: Machine) -> int:
    """How many nodes so many ranks are asked for; with a graphics card each, as far as there are cards. Raises
    InputError where the machine does not allow it."""
    nodes = request.nodes or -(-ranks // machine.cores_per_node)
    if request.nodes is None and machine.card is not None:
        with_cards = min(machine.nodes, -(-ranks // machine.card.per_node))
        nodes = max(nodes, with_cards if ranks % with_cards == 0 else 1)
    if nodes > machine.nodes:
        raise InputError(f"--nodes: {nodes} are needed or asked for; {machine.name} has {machine.nodes}")
    if ranks % nodes:
        raise InputError(f"--ranks {ranks}: allowed: a multiple of the {nodes} nodes")
    return nodes


def fastest_layout(
    layouts_on: Callable[[int], Sequence[P]],
    request: PlanRequest,
    machine: Machine,
    why_none_fits: Callable[[int, str], str],
) -> P:
    """The fastest layout that fits the memory; with `within`, the fewest nodes that are fast enough.

    why_none_fits: from the most nodes that were tried, and the same in words.

    Raises InputError where there is none: what it would need.
    """
    best, seconds = best_layout(node_counts(request.nodes, machine.nodes), layouts_on, request.within)
    last = request.nodes or machine.nodes
    nodes = f"{number_of(last, 'node')} of {machine.name}"
    if best is None:
        raise InputError(why_none_fits(last, nodes))
    if request.within is not None and best.seconds > request.within:
        raise InputError(
            f"--within {request.within:g} s: the fastest layout on up to {nodes} takes {seconds:.4g} s; needed: more "
            f"nodes, about {last * seconds / request.within:.3g} where the time goes down in proportion"
        )
    return best


def over_budget(asked: Prediction, budget: float) -> tuple[str, ...]:
    """A note where the layout that was asked for takes more than the memory budget of a node."""
    if asked.node_bytes <= budget:
        return ()
    return (
        f"what is asked for takes {bytes_in_words(asked.node_bytes)} of a node, more than the {bytes_in_words(budget)} "
        "of its budget: such a run would be refused",
    )


def _over_card(asked: WavePrediction, layout: SurveyLayout) -> tuple[str, ...]:
    """A note where the layout that was asked for takes more than a graphics card has for a rank."""
    if asked.fits_card:
        return ()
    then = "would be refused" if layout.survey.parallel.processor == "gpu" else "goes by the processors"
    return (f"what is asked for takes {_of_card(asked)}: such a run {then}",)


def _of_card(prediction: WavePrediction) -> str:
    needed, room = sum(prediction.card_bytes.values()), prediction.card_room
    return f"{bytes_in_words(needed, 4)} of a graphics card a rank, more than its {bytes_in_words(room, 4)}"


class _Layouts:
    """Layouts of a survey that fit the memory of a machine's nodes, and what those that do not fit would need.

    Attributes:
        fewest_bytes: memory of all nodes that the smallest layout takes, of all that were predicted.
        refusal: why a history does not fit, where one does not; else empty. least_on_card: the layout that takes least
        of a graphics card, of those that take too much; None: there was none.
    """

    def __init__(
        self,
        layout: SurveyLayout,
        time: TimeAxis,
        machine: Machine,
        store: Store | None,
        predict: Predict,
        work: Work,
    ) -> None:
        self._layout, self._time, self._machine, self._store = layout, time, machine, store
        self._predict, self._work = predict, work
        self.budget = budget_of(layout.survey, machine)
        self._store_is_free = store is None and layout.survey.history.store == "auto"
        self.fewest_bytes, self.refusal = math.inf, ""
        self.least_on_card: WavePrediction | None = None

    def asked(self, request: PlanRequest) -> WavePrediction | None:
        """The layout that was asked for, be it too large for the memory or not; None where none was."""
        cut = request.decomposition
        size = request.ranks or (math.prod(cut) if cut else None)
        if size is None:
            return None
        nodes = nodes_of(size, request, self._machine)
        shot = self._ranks_of_a_shot(size, nodes, cut)
        place = self._layout if shot == size else self._layout.largest
        return self._predicted(self._time, place.ranks(shot, cut), nodes, size // shot)

    def on(self, nodes: int) -> list[WavePrediction]:
        """The layouts on so many nodes that fit. A longer imaging step is tried only where the history does not fit the
        memory otherwise."""
        fitting: list[WavePrediction] = []
        for time in _imaging_steps(self._layout, self._time):
            for prediction in self._all_on(nodes, time):
                self.fewest_bytes = min(self.fewest_bytes, prediction.node_bytes * nodes)
                if not prediction.fits_card:
                    found = filter(None, (prediction, self.least_on_card))
                    self.least_on_card = min(found, key=lambda one: sum(one.card_bytes.values()))
                elif prediction.history is not None and not prediction.history.fits:
                    self.refusal = prediction.history.reason
                elif prediction.node_bytes <= self.budget:
                    fitting.append(prediction)
            preferred = [prediction for prediction in fitting if self._is_preferred(prediction)]
            if preferred:
                return preferred
        return fitting

    def _all_on(self, nodes: int, time: TimeAxis) -> Iterator[WavePrediction]:
        """Predictions for numbers of ranks that divide a node's cores, or its graphics cards, and can share shots and
        grid."""
        layout, card = self._layout, self._machine.card
        for per_node in divisors(self._machine.cores_per_node if card is None else card.per_node):
            size = per_node * nodes
            shot = self._ranks_of_a_shot(size, nodes)
            shape = (layout if shot == size else layout.largest).grid.full_shape
            most = math.prod(max(1, shape[axis] // layout.thinnest[axis]) for axis in layout.grid.axes)
            # What a run takes by itself comes first; where another one is faster, a note says so.
            grids = (best_ranks(shape, shot, layout.thinnest, slab) for slab in (layout.slab, None) if shot <= most)
            for ranks in dict.fromkeys(ranks for ranks in grids if ranks is not None):
                yield self._predicted(time, ranks, nodes, size // shot)

    def _predicted(self, time: TimeAxis, ranks: Index3, nodes: int, groups: int) -> WavePrediction:
        """With the cuts that a run makes, and with the rows that it computes."""
        layout, cuts = self._layout, None
        if groups == 1 and layout.survey.imaging.aperture is None:
            room = self.budget * nodes / math.prod(ranks) - self._machine.process_bytes
            cuts = self._work.cuts_with(time, ranks, room)
        whole = self._predict(time, ranks, nodes, self._machine, self._store, groups, cuts)
        return whole.with_computed(self._work.computed_shares(ranks, cuts))

    def _ranks_of_a_shot(self, size: int, nodes: int, cut: Index3 | None = None) -> int:
        """How many of all ranks work on one shot."""
        if not self._layout.imaging:
            return size
        if cut is not None:
            return min(size, math.prod(cut))
        room = self.budget * nodes / size - self._machine.process_bytes
        return ranks_of_a_shot(self._layout, self._time, size, room)

    def _is_preferred(self, prediction: WavePrediction) -> bool:
        history = prediction.history
        stores = STORES if self._machine.card is None else CARD_STORES
        return not self._store_is_free or history is None or stores[history.store].all_in_memory

    def why_none_fits(self, last: int, nodes: str) -> str:
        """last: the most nodes that were tried; nodes: the same in words. Raises NoRoomOnCards."""
        survey, budget, needed = self._layout.survey, self.budget, self.fewest_bytes
        if math.isinf(needed):
            return (
                f"{survey.path}: no layout on {nodes}: parts of the grid would be thinner than the "
                f"{self._layout.radius} cells that the stencil reaches; allowed: fewer nodes"
            )
        if self.least_on_card is not None and not self.refusal:
            least = _of_card(self.least_on_card)
            raise NoRoomOnCards.of(survey, f"no layout on {nodes} fits the graphics cards: it takes at least {least}")
        if self.refusal and needed <= budget:
            return self.refusal
        return (
            f"{survey.path}: no layout fits the memory: {bytes_in_words(needed, 4)} are needed, {nodes} may use "
            f"{bytes_in_words(last * budget, 4)} ({100 * survey.parallel.memory_budget:.0f} % of their memory, "
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


def _changed(best: WavePrediction, layout: SurveyLayout, time: TimeAxis) -> tuple[str, ...]:
    """Notes on keys of the survey that must be changed for this layout."""
    notes = []
    if best.every != time.every:
        notes.append(
            f"the history fits with a snapshot every {best.every} steps instead of {time.every}: set [imaging] every = "
            f"{best.every}, which the highest frequency just allows"
        )
    wanted = wanted_ranks(layout.survey, layout.grid)
    shape = (layout if best.groups == 1 else layout.largest).grid.full_shape
    size = math.prod(best.shot_ranks)
    if best.shot_ranks != best_ranks(shape, size, layout.thinnest, layout.slab):
        needed = [best.shot_ranks[axis] for axis in layout.grid.axes]
        if wanted != best.shot_ranks:
            notes.append(f"the recommended layout needs [parallel] decomposition = {needed}")
    elif wanted is not None and wanted != best.shot_ranks:
        notes.append(
            f'the recommended layout needs [parallel] decomposition = "auto"; the survey\'s is for '
            f"{number_of(math.prod(wanted), 'rank')}"
        )
    return tuple(notes)
