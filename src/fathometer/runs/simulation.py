"""A model in time as its run sees it (time_run.py): what an application states of its model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from fathometer.record.envelope import Figure
from fathometer.runs.application import Panel
from fathometer.runs.field_series import FieldSeries
from fathometer.runs.state_arrays import StateArray

if TYPE_CHECKING:
    from mpi4py import MPI


class SimulationCase(Protocol):
    """An input made ready for a run: the same on all ranks."""

    def facts(self) -> Mapping[str, Any]:
        """Results that are known before the first step."""

    def state_input(self) -> Mapping[str, Any]:
        """What of the input a state depends on, JSON-ready: a run of another one does not go on from it."""


class ModelInTime(Protocol):
    """What a run asks of an application whose model steps in time: TimeApplication has it."""

    @property
    def name(self) -> str:
        """Of the application."""

    @property
    def kind(self) -> str:
        """Of its input file, such as "flow": the flow file."""

    @property
    def results(self) -> Sequence[str]:
        """Names of the files that a run writes beside fields, states, record and page."""

    def files(self, input: Any) -> Mapping[str, Path]:
        """The files that a run reads, the input file first."""

    def require(self, comm: MPI.Intracomm) -> None:
        """Collective. Raises InputError where something that each run needs is missing."""

    def case_bytes(self, input: Any) -> int:
        """Memory that `case_of` takes."""

    def case_of(self, input: Any) -> SimulationCase:
        """The input made ready, the same on all ranks. Raises InputError for what is wrong with it."""

    def simulation(self, case: SimulationCase, comm: MPI.Intracomm) -> Simulation:
        """Collective. The model of a case on these ranks."""

    def panels_of(self, record: Mapping[str, Any], folder: Path) -> list[Panel]:
        """What the page shows of a record that lies in a folder."""


class Simulation(ABC):
    """A model in time on a rank, and what is written of it. Methods are collective where they say so.

    Args:
        counts: names of what a step counts.

    Attributes:
        KEPT: names of attributes that are part of the state, JSON-ready and the same on all ranks.
        TIME: unit of the simulated time, and its name in records.
        steps, time: steps taken and time simulated since the beginning, earlier runs included.
        earlier: steps of runs before. rows: of the time series. counts: sums by name.
        state_steps: a state is written after each so many steps. fields: the series of field files.
        files: of the results, by kind.
    """

    KEPT: ClassVar[tuple[str, ...]] = ("rows",)
    TIME: ClassVar[tuple[str, str]] = ("s", "time_seconds")
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
        return

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
    def figures(self, account: dict[str, Any]) -> list[Figure]:
        """The run in numbers; account: the ledgers of all ranks together."""

    def performance(self, account: dict[str, Any]) -> dict[str, Any]:
        """Results that follow from the account; none where figures say it all."""
        return {}

    def close(self) -> None:
        """Collective. Free what the model holds beside memory."""
        return


def missing_share(before: float, now: float, gained: float) -> float:
    """What is missing of a conserved quantity, relative to the largest of what there was, is and has come in; for a row
    of `balance`."""
    largest = max(abs(before), abs(now), abs(gained))
    return abs(now - before - gained) / largest if largest else 0.0
