"""A run that consists of tasks, as its run sees it (task_run.py): what an application states of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from fathometer.runs.options import RunKind

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.base.errors import FathometerError
    from fathometer.base.progress import Progress
    from fathometer.parallel.decomposition import Index3
    from fathometer.runs.application import Panel
    from fathometer.runs.context import Context, Outcome
    from fathometer.runs.contributions import Kept, Window
    from fathometer.runs.finished_run import KnownRun
    from fathometer.runs.held_sums import HeldSums
    from fathometer.runs.journal import Journal
    from fathometer.runs.run_input import InputFiles


class TaskWorker(Protocol):
    """An application's work on the tasks of one group of ranks; all methods but `abandon` are collective.

    Attributes:
        beside: threads for what goes on beside a task where a device does its work: the next task is expected, and the
            contribution of the one before is written; None: tasks take the processors, which do one thing after the
            other.
    """

    beside: ThreadPoolExecutor | None

    def prepare(self, task: int, tasks: int) -> None:
        """Prepare for a task; tasks: the maximum number for this group. Raises errors that are not the task's own."""

    def expect(self, task: int) -> None:
        """The next task, which may be made ready beside the one that has been prepared; not without `beside`."""

    def work(self, task: int, progress: Progress, written: Callable[[], None]) -> Window | Kept:
        """Do the task; returns its contribution.

        written: to be called before the arrays of the task before are changed, which may be being written until then.
        Raises InputError or NotFiniteError for errors of this task alone.
        """

    def reset(self) -> None:
        """Discard the unfinished work of a task that has failed."""

    def input_of(self, task: int) -> str:
        """Hash of what a task reads; "" where it cannot be read. On one rank alone, not collective."""

    def close(self) -> None:
        """Free everything, after all tasks."""

    def abandon(self) -> None:
        """Free what would outlast the process, after any other error; on this rank alone."""

    def figures(self) -> Any:
        """After `close`: what this rank has counted, for the record."""


@dataclass(frozen=True)
class Volumes:
    """The volumes that the results of tasks add up to: their names, cells of each (nx, ny, nz), bytes of a cell."""

    names: Sequence[str]
    shape: Index3
    itemsize: int


@dataclass
class GroupWork:
    """What a rank has done.

    Attributes:
        done, errors: on the first rank of its group the finished tasks, and the errors of failed tasks by number.
        figures: of its worker.
    """

    done: list[int] = field(default_factory=list)
    errors: dict[int, FathometerError] = field(default_factory=dict)
    figures: Any = None


class Tasks(ABC):
    """The tasks of a run on a rank, and what is made of their results. Methods are collective where they say so.

    Args:
        output: folder of the results. patience: s without a sign of life of a rank, after which the run ends.

    Attributes:
        KIND: the application's terms. LABEL: of the display of progress.
        inputs: what the run reads; there from `prepare` on.
        held: sums of what the tasks contribute that are kept in memory too; None: there is none. From `worker` on.
    """

    KIND: ClassVar[RunKind]
    LABEL: ClassVar[str]
    inputs: InputFiles
    held: HeldSums | None = None

    def __init__(self, output: Path, patience: float, comm: MPI.Intracomm, context: Context) -> None:
        self.output, self.patience, self.comm, self.context = output, patience, comm, context

    @abstractmethod
    def check(self) -> None:
        """Collective. Look at what can be refused before anything is made. Raises InputError."""

    @abstractmethod
    def prepare(self, earlier: Mapping[str, Any]) -> None:
        """Collective. Read what is needed to begin. earlier: on rank 0, RunInput.files of the run that is resumed.

        Raises InputError or FathometerError, the same on all ranks."""

    @property
    @abstractmethod
    def results(self) -> Sequence[Path]:
        """The files of the results; before `prepare`, those of them that are known."""

    @property
    @abstractmethod
    def numbers(self) -> Sequence[int]:
        """Numbers of all tasks, in the order in which they are begun."""

    @property
    def volumes(self) -> Volumes | None:
        """The volumes that the tasks' results add up to; None: each task's stand for themselves."""
        return None

    @property
    @abstractmethod
    def ranks_per_task(self) -> int:
        """The ranks of a group."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Steps of a task, for the display of progress."""

    def whole(self, task: int) -> bool:
        """On one rank. Whether what a finished task has written beside the journal is still there."""
        return True

    @property
    @abstractmethod
    def known(self) -> KnownRun:
        """What is known of the run before its end; from `prepare` on."""

    def opened(self, journal: Journal) -> AbstractContextManager[None]:
        """Collective. Context from the first task to the results, of what is open meanwhile; entered when there is a
        worker."""
        return nullcontext()

    @abstractmethod
    def worker(self, ranks: MPI.Intracomm, left: int) -> TaskWorker:
        """Collective in a group of ranks. Who does its share of the tasks that are left."""

    def combine(self, journal: Journal) -> None:
        """Collective. Add up the results of all tasks, before an earlier run's results are replaced."""
        return

    @abstractmethod
    def write(self, journal: Journal, work: Sequence[GroupWork]) -> tuple[Outcome, list[Panel]]:
        """Collective. Write the results and the record; work: of all ranks. The outcome, and what its page shows.

        An earlier run's record goes when its results are replaced (`remove_record`)."""

    @abstractmethod
    def earlier_outcome(self) -> Outcome:
        """Collective. The outcome of a run that was finished before, in this folder, where its journal has stayed.

        Raises InputError where a file of it is missing."""

    def remove_outdated(self, outdated: Mapping[str, Path], made: Iterable[Path]) -> None:
        """On one rank. Remove those files of an earlier run's results, by kind, that are not made any more."""
        return
