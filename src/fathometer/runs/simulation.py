"""A model in time as a run: begun or resumed, stepped, written, ended. What it computes is the application's.

begin, or go on from a state      restart_folder.py
for each step:                    step; a look; fields and states when they are due, after some minutes, and when a
                                  signal asks the run to end
at the end:                       fields, a state, picture, record, page
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.base.ledger import now
from fathometer.base.progress import Progress
from fathometer.base.signals import between_steps
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.record.envelope import Figure
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.runs.field_series import FOLDER as FIELDS_FOLDER
from fathometer.runs.field_series import FieldSeries
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.restart_folder import RestartFolder
from fathometer.runs.restart_hint import END_SECONDS
from fathometer.runs.restart_hint import FOLDER as RESTART_FOLDER
from fathometer.runs.restartable_run import restartable_run
from fathometer.runs.state_arrays import StateArray, load, save
from fathometer.runs.state_clock import StateClock
from fathometer.runs.value_range import joined, still_fields

if TYPE_CHECKING:
    from mpi4py import MPI


class Input(Protocol):
    """An input file that was read and checked."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""

    def resolved(self) -> dict[str, Any]:
        """All keys, JSON-ready."""


class Case(Protocol):
    """An input made ready for a run: the same on all ranks."""

    def facts(self) -> Mapping[str, Any]:
        """Results that are known before the first step."""

    def state_input(self) -> Mapping[str, Any]:
        """What of the input a state depends on, JSON-ready: a run of another one does not go on from it."""


class Simulation(ABC):
    """A model in time on a rank, and what is written of it. Methods are collective where they say so.

    Args:
        counts: names of what a step counts.

    Attributes:
        KEPT: names of attributes that are part of the state, JSON-ready and the same on all ranks.
        steps, time: steps taken and seconds simulated since the beginning, earlier runs included.
        earlier: steps of runs before. rows: of the time series. counts: sums by name.
        state_steps: a state is written after each so many steps. fields: the series of field files.
        files: of the results, by kind.
    """

    KEPT: ClassVar[tuple[str, ...]] = ("rows",)
    fields: FieldSeries
    files: Mapping[str, Path]

    def __init__(self, comm: MPI.Intracomm, counts: Sequence[str], state_steps: int) -> None:
        self.comm, self.state_steps = comm, state_steps
        self.steps, self.time, self.earlier = 0, 0.0, 0
        self.rows: list[dict[str, Any]] = []
        self.counts = dict.fromkeys(counts, 0.0)

    @abstractmethod
    def begin(self) -> None:
        """Collective. The state at the beginning."""

    @abstractmethod
    def resume(self) -> None:
        """Collective. Go on: arrays and attributes are those of a state. Raises InputError where its time is beyond
        the end."""

    @abstractmethod
    def arrays(self) -> Mapping[str, StateArray]:
        """The arrays of the state by name, from which it goes on with the same bits."""

    @property
    @abstractmethod
    def share(self) -> float:
        """How much of the run is done; 1: all of it."""

    @property
    def more(self) -> bool:
        """Whether there is a further step."""
        return self.share < 1.0

    @abstractmethod
    def step(self) -> None:
        """Collective. Take a step, and count it.

        Raises FathometerError where it cannot; the state is that before it then.
        """

    @abstractmethod
    def fields_due(self) -> bool:
        """Whether fields are to be written now."""

    @abstractmethod
    def write_fields(self) -> None:
        """Collective. Write the fields as they are now."""

    def look(self, row: bool, needed: bool) -> None:
        """Collective. Look at the state after a step where a row of the time series is due.

        row: one is due in any case. needed: whether or not there is a row, since a state is written next, and nothing
        is written that nobody has looked at. Raises FathometerError where the state has come apart.
        """

    @property
    def sound(self) -> bool:
        """Whether the state is one to go on from, as far as anybody has looked."""
        return True

    def values(self) -> dict[str, Any]:
        """Collective. The attributes of KEPT as they go into a state."""
        return {name: getattr(self, name) for name in self.KEPT}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Take over attributes of a state."""
        for name in self.KEPT:
            setattr(self, name, values[name])

    @abstractmethod
    def told(self) -> Iterator[str]:
        """What a user wants to know before the run, a line each."""

    @abstractmethod
    def draw(self) -> Path:
        """On one rank. Draw the picture; its path."""

    def balance(self) -> list[dict[str, Any]]:
        """Collective. What there was and is of each quantity that is conserved; `error`: what is missing, relative."""
        return []

    def notes(self) -> list[str]:
        """Collective. What is no error, and yet not what most users want."""
        return []

    def steady(self) -> Sequence[str]:
        """Names of fields that the input has the same everywhere at all times, which need no note."""
        return ()

    @abstractmethod
    def results(self) -> dict[str, Any]:
        """Collective. What the record says of the run beside what all such runs say."""

    @abstractmethod
    def figures(self, account: Mapping[str, Any]) -> list[Figure]:
        """The run in numbers; account: the ledgers of all ranks together."""

    def performance(self, account: Mapping[str, Any]) -> dict[str, Any]:
        """Results that follow from the account; none where figures say it all."""
        return {}

    def close(self) -> None:
        """Collective. Free what the model holds beside memory."""


class Simulated(Protocol):
    """What a run asks of an application whose model steps in time."""

    name: str
    kind: str
    results: tuple[str, ...]

    def input_files(self, input: Any) -> Sequence[Path]:
        """Files that a run reads, the input file first."""

    def case_bytes(self, input: Any) -> int:
        """Memory that `case` takes."""

    def case(self, input: Any, comm: MPI.Intracomm) -> Case:
        """The input made ready; raises InputError for what is wrong with it."""

    def simulation(self, case: Any, comm: MPI.Intracomm) -> Simulation:
        """Collective. The model of a case on these ranks."""

    def panels_of(self, record: Mapping[str, Any], folder: Path) -> list[Panel]:
        """The panels of a page."""


def simulate(application: Simulated, input: Input, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Run a model in time; fields, a state, picture and record are on disk afterwards.

    Raises InputError and FathometerError, the same on all ranks.
    """
    with ledger.phase("set up"):
        require_memory({"case": application.case_bytes(input)}, usable_memory(comm), comm)
    with ledger.phase("set up"), collective_errors(comm):
        case = application.case(input, comm)
        keys = input.resolved() | {f"{application.kind}_file": str(input.path)}
        files = application.input_files(input)
        run = KnownRun(application.name, keys, input.output_directory, files, case.facts())
    with restartable_run(
        files,
        run.output,
        application.results,
        (FIELDS_FOLDER, RESTART_FOLDER),
        partial(run.partial_record, context),
        comm,
        context,
    ):
        with ledger.phase("set up"):
            model = application.simulation(case, comm)
        try:
            return _run(application, model, run, case.state_input(), context)
        finally:
            model.close()


def _run(
    application: Simulated, model: Simulation, run: KnownRun, state_input: Mapping[str, Any], context: Context
) -> Outcome:
    comm = model.comm
    with ledger.phase("set up"):
        states = RestartFolder(run.output, state_input, ("steps", "time", "written", *model.KEPT), comm)
        _begin(model, states, context)
        for line in model.told():
            context.say(line)
    with between_steps(END_SECONDS) as asked_to_end:
        if not model.fields.written:
            _write_fields(model)
        with ledger.phase("set up"):
            remove_record(run.output, comm)
        _advance(application, model, partial(_write_state, application, model, states), asked_to_end, context)
        if not model.fields.is_written(model.steps, model.time):
            _write_fields(model)
        _write_state(application, model, states)
    files = dict(model.files)
    with ledger.phase("draw"), collective_errors(comm):
        if comm.rank == 0:
            files["picture"] = model.draw()
    return _finish(application, model, run, files, context)


def _begin(model: Simulation, states: RestartFolder, context: Context) -> None:
    """The state at the beginning, or one that was written."""
    if context.options.resume:
        arrays = model.arrays()
        values = states.read(
            lambda folder: load(folder, arrays, model.comm),
            lambda values: model.fields.require(values["written"]),
            context.options.resume_from,
        )
        if values is not None:
            model.steps = model.earlier = values["steps"]
            model.time = values["time"]
            model.restore(values)
            model.resume()
            model.fields.begin(values["written"])
            context.say(f"resumed at {model.time:g} s, after {model.steps} steps")
            return
        context.say("nothing to resume: begins anew")
    states.remove()
    model.begin()
    model.fields.begin()


def _advance(
    application: Simulated,
    model: Simulation,
    write_state: Callable[[], None],
    asked_to_end: Callable[[], bool],
    context: Context,
) -> None:
    """Take all steps that are left. A state is written when all results up to its step are on disk."""
    clock = StateClock(asked_to_end, model.comm)
    began = model.share
    with (
        Progress(
            1, now=now, rank=model.comm.rank, quiet=context.quiet, label=application.kind, task="simulation"
        ) as display,
        ledger.phase("between time steps"),
    ):
        display.start_task(0, 1)
        while model.more:
            try:
                model.step()
            except FathometerError:
                if model.sound:
                    write_state()
                raise
            fields = model.fields_due()
            kept = model.steps % model.state_steps == 0
            late, ends = clock.after_step()
            state = kept or late or ends
            model.look(fields or kept or not model.more, state)
            if fields:
                _write_fields(model)
            if state and model.more:
                write_state()
                clock.written()
                if ends:
                    raise KeyboardInterrupt
            display.advance(1, (model.share - began) / (1.0 - began))
        display.finish_task()


def _write_fields(model: Simulation) -> None:
    with ledger.phase("write fields"):
        model.write_fields()


def _write_state(application: Simulated, model: Simulation, states: RestartFolder) -> None:
    with ledger.phase("write restart"):
        values = {"steps": model.steps, "time": model.time, "written": model.fields.written} | model.values()
        title: dict[str, Any] = {"title": f"state of a run of {application.name}", "time_seconds": model.time}
        states.write(
            values, lambda folder: save(folder, model.arrays(), title | {"steps": model.steps}, model.comm)
        )


def _finish(
    application: Simulated, model: Simulation, run: KnownRun, files: Mapping[str, Path], context: Context
) -> Outcome:
    """Collective. Write run.json, and then the page, on rank 0."""
    doubts: list[str] = []

    def gather() -> dict[str, Any]:
        still, why = still_fields(joined(model.fields.ranges, model.comm), model.steady())
        doubts.extend(why)
        return {
            "time_seconds": model.time,
            "steps": model.steps,
            "earlier_steps": model.earlier,
            "counts": model.counts,
            "course": model.rows,
            "balance": model.balance(),
            "notes": [*model.notes(), *still],
        } | model.results()

    def tell(told: dict[str, Any], account: dict[str, Any]) -> tuple[list[Figure], dict[str, Any]]:
        return model.figures(account), told | model.performance(account)

    return run.finish(files, context, model.comm, gather, tell, application.panels_of, lambda told: doubts)
